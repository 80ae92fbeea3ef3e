//! The panel of sparks: their fates, rates, pool sizes and run times.

use std::ops::Range;
use std::rc::Rc;

use yew::prelude::*;

use super::summary::words::{CONVERTED, DUD, FIZZLED, GCD, OVERFLOWED, SPARK};
use crate::chart::{Bin, Histogram, OverTime, Series, patterns};
use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::dom::state_callback;
use crate::goto_link::GotoLink;
use crate::guide::{guide, how_to_record};
use crate::panel::{Answered, Extent, PanelProps, use_answered};
use crate::viewer::NavigationTarget;
use analysis::numbers::sparks_query::{Pool, SparkRow, SparkRunBin, SparkSlice, SparksReply};
use analysis::numbers::summary::SparkTotals;
use analysis::timeline::spark_runs::SparkRun;
use eventlog::ids::{CapId, Nanos};
use model::time::Interval;
use scene::chart::short;
use scene::format;
use session::queries::SparksQuery;
use session::tracks::sparks::{SparkQuantity, Sparks as SparksTrack};

#[component]
pub(super) fn Sparks(props: &PanelProps) -> Html {
    let answered = use_answered(&props.source, Some(SparksQuery(props.range)));
    let chosen = use_state_eq(|| None::<CapId>);
    // Run time range of the selected histogram bar, whose sparks are listed.
    let lengths = use_state_eq(|| None::<Range<u64>>);
    let Some(Answered { extent, answer, .. }) = answered else {
        return html! { <p class="empty">{ "Loading the sparks…" }</p> };
    };
    let reply = &*answer;
    if let Some(why) = why_empty(extent, reply) {
        return html! {
            <div class="empty">
                <p>{ why }</p>
                <p>{ "A spark is an expression that may be evaluated in parallel. par, parMap and the Strategies of the package parallel create sparks; idle capabilities run them." }</p>
                if reply.rows.is_empty() {
                    { how_to_record("record-sparks") }
                }
            </div>
        };
    }
    let row = reply.rows.iter().find(|row| row.cap == *chosen);
    let charts = row
        .or(reply.rows.first())
        .and_then(|row| Some(charts(reply.range?, row)));
    let on_choose = state_callback(&chosen);
    html! {
        <div class="sparks">
            { patterns() }
            <header class="numbers-head">
                <h2>{ props.track_selection.about_all(extent.title()) }</h2>
                if reply.rows.len() > 1 {
                    <p class="faint">{ "The charts show the selected row of the table" }</p>
                }
            </header>
            { table(reply, *chosen, &on_choose, &props.on_goto) }
            <div class="charts">
                { charts }
                { runs((props, extent), reply, &lengths) }
            </div>
        </div>
    }
}

/// Returns the reason if there is nothing to show.
fn why_empty(extent: Extent, reply: &SparksReply) -> Option<&'static str> {
    let Some(all) = reply.rows.first() else {
        return Some(if reply.has_single_sparks {
            "This log has events of single sparks, but no spark counters: run the program with +RTS -lpf."
        } else if extent.complete {
            "This log has no spark events. Only programs count sparks that are linked with -\u{2060}threaded and run with +RTS -l."
        } else {
            "No spark events so far."
        });
    };
    let nothing = all.totals == SparkTotals::default()
        && all.pool.is_none_or(|pool| pool.max == 0)
        && reply.runs.is_empty();
    nothing.then_some(match (extent.range, extent.complete) {
        (Some(_), _) => {
            "No spark activity in the selected range. Clear the range (Esc) to see the whole log."
        }
        (None, true) => "This program created no sparks.",
        (None, false) => "This program has created no sparks so far.",
    })
}

fn name(row: &SparkRow) -> String {
    row.cap
        .map_or_else(|| "All".to_owned(), |cap| format!("Capability {cap}"))
}

fn per_second(rate: f64) -> String {
    format!("{}/s", short(rate))
}

/// Renders the fates of sparks, by capability and in total.
fn table(
    reply: &SparksReply,
    chosen: Option<CapId>,
    on_choose: &Callback<Option<CapId>>,
    on_goto: &Callback<NavigationTarget>,
) -> Html {
    // No total row for a single capability.
    let rows = match &reply.rows[..] {
        [_, one] => std::slice::from_ref(one),
        rows => rows,
    };
    let choice = rows.len() > 1;
    let line = |row: &SparkRow| {
        let cap = row.cap;
        let pressed = cap == chosen;
        let onclick = on_choose.reform(move |_: MouseEvent| cap);
        let head = html! {
            <th scope="row">
                if choice {
                    <button class="choice" aria-pressed={pressed.to_string()} {onclick}>{ name(row) }</button>
                } else {
                    { name(row) }
                }
            </th>
        };
        let head = TableCell::new(name(row), head);
        TableRow {
            class: if choice && pressed { "selected" } else { "" },
            ..TableRow::new(head, cells(row, on_goto))
        }
    };
    let columns = TableColumn::all_explained(&[
        [
            "Capability",
            "capability",
            "Virtual processor that runs Haskell threads, and sparks when it is idle. A spark taken from another capability's pool counts where it was converted.",
        ],
        ["Total", "total", SPARK],
        ["Created", "created", "Added to the pool."],
        ["Converted", "converted", CONVERTED],
        ["Overflowed", "overflowed", OVERFLOWED],
        ["Dud", "dud", DUD],
        ["GC’d", "gcd", GCD],
        ["Fizzled", "fizzled", FIZZLED],
        [
            "Created/s",
            "created_per_second",
            "Mean number created per second.",
        ],
        [
            "Converted/s",
            "converted_per_second",
            "Mean number converted per second.",
        ],
        [
            "Pool min",
            "pool_min",
            "Minimum of the samples of the pool size, most of them taken at collections.",
        ],
        ["Pool mean", "pool_mean", "Mean size of the pool over time."],
        [
            "Pool max",
            "pool_max_at_least",
            "Maximum of the samples of the pool size, most of them taken at collections. It was greater in between if sparks overflowed: a full pool holds 4096.",
        ],
    ]);
    let rows: Vec<TableRow> = rows.iter().map(line).collect();
    html! { <DataTable name="sparks" box_label="Sparks by capability" {columns} {rows} /> }
}

fn cells(row: &SparkRow, on_goto: &Callback<NavigationTarget>) -> Vec<TableCell> {
    let totals = &row.totals;
    let numbers = [
        totals.count,
        totals.pooled,
        totals.converted,
        totals.overflowed,
        totals.dud,
        totals.gcd,
        totals.fizzled,
    ];
    let rate = |rate: f64| TableCell::number(rate, per_second(rate));
    let [min, mean, max] = pool_numbers(row.pool);
    // The timeline has pool graphs of single capabilities only.
    let graph = |cap| SparksTrack {
        cap,
        quantity: SparkQuantity::Pool,
    };
    let (min_ns, max_ns) = row.pool.unwrap_or_default().min_and_max_ns;
    let extreme = |size: fn(Pool) -> u64, text: String, what: &'static str, at_ns: u64| {
        let graph = row.cap.filter(|_| row.pool.is_some()).map(graph);
        let place = graph
            .map(|graph| NavigationTarget::details(graph.into(), Interval::empty_at(Nanos(at_ns))));
        TableCell::new(
            row.pool.map(size),
            html! { <td class="number"><GotoLink {text} {what} target={place} on_goto={on_goto.clone()} /></td> },
        )
    };
    let others = [
        rate(row.created_per_second),
        rate(row.converted_per_second),
        extreme(|pool| pool.min, min, "when the pool was smallest", min_ns),
        TableCell::number(row.pool.map(|pool| pool.mean), mean),
        extreme(|pool| pool.max, max, "when the pool was largest", max_ns),
    ];
    let numbers = numbers.into_iter().map(TableCell::count);
    numbers.chain(others).collect()
}

/// Formats minimum, mean and maximum of the pool size. The maximum is a lower bound.
fn pool_numbers(pool: Option<Pool>) -> [String; 3] {
    pool.map_or_else(
        || [format::NO_VALUE; 3].map(str::to_owned),
        |pool| {
            [
                format::count(pool.min),
                short(pool.mean),
                format!("≥ {}", format::count(pool.max)),
            ]
        },
    )
}

const fn series(name: &'static str, class: &'static str, pattern: usize) -> Series {
    Series {
        name: AttrValue::Static(name),
        class,
        pattern,
    }
}

/// Getters of the rates in a stacked chart, bottom first.
type Rates = [fn(&SparkSlice) -> f64; 3];

/// Returns the lower and upper edge of each stacked rate in each slice.
fn stacked(slices: &[SparkSlice], rates: Rates) -> Vec<Vec<(f64, f64)>> {
    let mut below = vec![0.0; slices.len()];
    let mut band = |rate: fn(&SparkSlice) -> f64| {
        let slices = slices.iter().zip(&mut below);
        let pairs = slices.map(|(slice, below)| {
            let from = std::mem::replace(below, *below + rate(slice));
            (from, *below)
        });
        pairs.collect()
    };
    rates.into_iter().map(&mut band).collect()
}

/// Renders the creation, conversion and pool charts of a table row.
fn charts(range: Interval, row: &SparkRow) -> Html {
    let slices: Rc<[SparkSlice]> = row.slices.as_slice().into();
    let rates = |rates: Rates| {
        let slices = Rc::clone(&slices);
        Callback::from(move |i: usize| {
            let slice = slices.get(i).copied().unwrap_or_default();
            rates
                .iter()
                .map(|rate| per_second(rate(&slice)))
                .collect::<Vec<_>>()
        })
    };
    let most = |rate: fn(&SparkSlice) -> f64| {
        let most = row.slices.iter().map(rate).fold(0.0, f64::max);
        per_second(most)
    };
    let created: Rates = [|s| s.created, |s| s.dud, |s| s.overflowed];
    let converted: Rates = [|s| s.converted, |s| s.fizzled, |s| s.gcd];
    let of = name(row);
    html! {
        <>
            <OverTime title="Creation" unit="sparks per second" {range} values={rates(created)}
                series={vec![series("Created", "running", 0), series("Dud", "io", 1), series("Overflowed", "gc", 2)]}
                bands={stacked(&row.slices, created)}
                summary={format!("Sparks created per second, {of}: at most {} created, {} dud, {} overflowed", most(created[0]), most(created[1]), most(created[2]))} />
            <OverTime title="Conversion" unit="sparks per second" {range} values={rates(converted)}
                series={vec![series("Converted", "running", 0), series("Fizzled", "mvar", 1), series("GC’d", "gc", 2)]}
                bands={stacked(&row.slices, converted)}
                summary={format!("Sparks converted per second, {of}: at most {} converted, {} fizzled, {} GC’d", most(converted[0]), most(converted[1]), most(converted[2]))} />
            { pool_chart(range, row, &slices) }
        </>
    }
}

fn pool_chart(range: Interval, row: &SparkRow, slices: &Rc<[SparkSlice]>) -> Html {
    let none = Pool::default();
    let pools = || row.slices.iter().map(|slice| slice.pool.unwrap_or(none));
    let band: Vec<(f64, f64)> = pools()
        .map(|pool| (pool.min as f64, pool.max as f64))
        .collect();
    let values = {
        let slices = Rc::clone(slices);
        Callback::from(move |i: usize| {
            let pool = slices.get(i).and_then(|slice| slice.pool);
            let [min, mean, max] = pool_numbers(pool);
            vec![format!("{min} to {max}, {mean} on average")]
        })
    };
    let summary = match row.pool {
        Some(pool) => format!(
            "Sparks in the pool, {}: from {} to at least {}, {} on average",
            name(row),
            format::count(pool.min),
            format::count(pool.max),
            short(pool.mean)
        ),
        None => "No samples of the pool in this range".to_owned(),
    };
    html! {
        <OverTime title="Pool" unit="waiting sparks" whole={true} {range} {values} {summary}
            series={vec![series("minimum to maximum; the line is the mean", "ready", 0)]}
            bands={vec![band]} line={pools().map(|pool| pool.mean).collect::<Vec<_>>()} />
    }
}

/// Renders the histogram of spark run times.
fn runs(
    (props, extent): (&PanelProps, Extent),
    reply: &SparksReply,
    lengths: &UseStateHandle<Option<Range<u64>>>,
) -> Html {
    if !reply.has_single_sparks {
        return html! {
            <p class="faint hint-card">{ "This log has no run times of sparks: run the program with +RTS -lf, which logs an event for each spark. " }{ guide("record-sparks", "More in the guide") }</p>
        };
    }
    if reply.runs.is_empty() {
        let why = match extent.range {
            _ if !extent.complete => "Run times of sparks appear once the log is read.",
            Some(_) => "No spark with a known end started in the selected range.",
            None => "No spark with a known end ran.",
        };
        return html! { <p class="faint hint-card">{ why }</p> };
    }
    let bin = |bin: &SparkRunBin| Bin {
        from_ns: bin.from_ns,
        to_ns: bin.to_ns,
        counts: vec![bin.count],
        total_ns: Some(bin.total_ns),
    };
    let bins: Vec<Bin> = reply.runs.iter().map(bin).collect();
    let (count, total_ns) = reply.runs.iter().fold((0_u64, 0_u64), |(count, ns), bin| {
        (
            count.saturating_add(bin.count),
            ns.saturating_add(bin.total_ns),
        )
    });
    let mean = format::duration_ns(total_ns / count.max(1));
    let most = reply.runs.iter().max_by_key(|bin| bin.total_ns);
    let most = most.map_or_else(String::new, |bin| {
        let share = format::percent_short(bin.total_ns, total_ns.max(1));
        let [from, to] = [bin.from_ns, bin.to_ns].map(format::duration_ns);
        let together = format::duration_ns(total_ns);
        format!(" Together they ran for {together}, {share} of it in sparks of {from} to {to}.")
    });
    html! {
        <div>
            <Histogram title="Run times" unit="sparks of all capabilities" {bins}
                series={vec![series("Sparks", "running", 0)]}
                chosen={(**lengths).clone()} on_choose={state_callback(lengths)} />
            { places(props, reply, lengths.as_ref()) }
            <p class="faint">{ format!("{} sparks ran for {mean} on average.{most} Short sparks (a few microseconds) cost more than they gain.", format::count(count)) }</p>
        </div>
    }
}

/// Lists the longest sparks of the selected bar, with links to the timeline.
fn places(props: &PanelProps, reply: &SparksReply, chosen: Option<&Range<u64>>) -> Html {
    let is_chosen = |bin: &&SparkRunBin| Some(&(bin.from_ns..bin.to_ns)) == chosen;
    let Some(bin) = reply.runs.iter().find(is_chosen) else {
        return Html::default();
    };
    let place = |run: &SparkRun| {
        let end = Nanos(run.start.0.saturating_add(run.ran_ns));
        let goto = NavigationTarget::zoomed(None, Interval::new(run.start, end));
        let text = format!(
            "{} at {}",
            format::duration_ns(run.ran_ns),
            format::time(run.start)
        );
        html! { <li><GotoLink {text} what="this spark" target={goto} on_goto={props.on_goto.clone()} /></li> }
    };
    let title = match bin.count as usize {
        count if count > bin.longest.len() => {
            format!(
                "The {} longest of {} sparks",
                bin.longest.len(),
                format::count(bin.count)
            )
        }
        _ => "These sparks, the longest first".to_owned(),
    };
    html! {
        <div class="spark-places" role="group" aria-label={title.clone()}>
            <strong>{ title }</strong>
            <ul>{ for bin.longest.iter().map(place) }</ul>
        </div>
    }
}
