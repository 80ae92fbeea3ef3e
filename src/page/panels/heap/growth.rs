//! The growth tab: growing bands, bands correlated with them, and short-lived bursts.

use std::rc::Rc;

use yew::prelude::*;

use super::counted::{band_name, censuses_text, maximum_link, no_census, select, spark};
use super::table::all_bands;
use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::dom::{state_callback, value_of};
use crate::panel::{Extent, PanelProps, Source, edited, span_text, use_answer, use_answered};
use crate::term::{heading, plain_table};
use crate::viewer::NavigationTarget;
use model::time::Interval;
use scene::format;
use session::heap::growth::{
    BurstRow, Bursts, BurstsQuery, Companions, CompanionsQuery, ConcurrentActivity,
    ConcurrentActivityQuery, ConcurrentSpan, ConcurrentThread, GrowingBands, GrowthBy, GrowthQuery,
};
use session::heap::table::{BandLabel, BandNumbers, BandRow};
use session::tracks::thread::Thread;
use session::tracks::user_span::UserSpan;
use views::heap::settings::HeapView;
use views::heap::words;

#[component]
pub(super) fn GrowthList(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<HeapView>();
    let choice = all_bands(&view.choice);
    let query = GrowthQuery {
        choice: choice.clone(),
        range: props.range,
        by: view.growth,
    };
    let growing = use_answered(&props.source, Some(query));
    let bursts = use_answer(
        &props.source,
        BurstsQuery {
            choice: choice.clone(),
            range: props.range,
        },
    );
    let Some((extent, growing)) = growing
        .as_ref()
        .and_then(|it| Some((it.extent, it.answer.as_ref().as_ref()?)))
    else {
        return html! { <p class="empty">{ "Ranking bands by growth…" }</p> };
    };
    if growing.census_range.censuses == 0 {
        return no_census(props, &growing.census_range);
    }
    let first = growing.rows.first().map(|row| row.band_label.key.clone());
    let suspect = view.choice.pinned.clone().or(first);
    let on_pin = edited(&view, &on_view, |view, key: String| view.pin(&key));
    html! {
        <div class="heap-growth">
            { list(extent, &view, growing, &on_view, &on_pin) }
            <div>
                if let Some(suspect) = suspect {
                    <CorrelatedBands source={props.source.clone()} pinned={view.choice.pinned.clone()} {on_pin}
                        query={CompanionsQuery { choice, range: props.range, suspect }} />
                }
                if let Some(bursts) = bursts.as_deref().and_then(Option::as_ref) {
                    <BurstList ..BurstProps { panel: props.clone(), bursts: Rc::new(bursts.clone()) } />
                }
            </div>
        </div>
    }
}

/// Renders a band as a button that pins it.
fn band(called: &BandLabel, pinned: Option<&str>, on_pin: &Callback<String>) -> Html {
    let (key, is_pinned) = (called.key.clone(), pinned == Some(called.key.as_str()));
    let onclick = on_pin.reform(move |_: MouseEvent| key.clone());
    html! {
        <button class="quiet band" aria-pressed={is_pinned.to_string()} {onclick}>{ band_name(called, is_pinned) }</button>
    }
}

/// Returns a band as the heading of a row.
fn band_cell(called: &BandLabel, pinned: Option<&str>, on_pin: &Callback<String>) -> TableCell {
    let shown = html! { <th scope="row">{ band(called, pinned, on_pin) }</th> };
    TableCell::new(called.name.clone(), shown)
}

fn gained_cell(numbers: &BandNumbers) -> TableCell {
    let gained = numbers.gained();
    TableCell::number(gained as f64, words::gained(gained))
}

/// Renders the list of growing bands.
fn list(
    extent: Extent,
    view: &HeapView,
    growing: &GrowingBands,
    on_view: &Callback<HeapView>,
    on_pin: &Callback<String>,
) -> Html {
    let onchange = edited(view, on_view, |view, event: Event| {
        view.growth = GrowthBy::from_name(&value_of(event)).unwrap_or_default();
    });
    let option = |by: GrowthBy, title: &'static str| {
        html! { <option value={by.name()} selected={view.growth == by}>{ title }</option> }
    };
    let pinned = view.choice.pinned.as_deref();
    let row = |(place, row): (usize, &BandRow)| {
        let numbers = &row.numbers;
        let growth = html! { <td class="words">{ words::growth(numbers) }</td> };
        TableRow::new(
            band_cell(&row.band_label, pinned, on_pin),
            [
                TableCell::drawn(html! { <td>{ spark(growing.spark(place)) }</td> }),
                gained_cell(numbers),
                TableCell::number(numbers.share, format::fraction(numbers.share)),
                TableCell::new(numbers.bytes_per_second, growth),
                TableCell::new(numbers.r2, Html::default()),
            ],
        )
    };
    let columns = || {
        vec![
            TableColumn::explained(
                "Band",
                "Click to highlight it in all views; click again to stop",
                "band",
            ),
            TableColumn::drawn(heading(
                "Over time",
                "Bytes from the first to the last census, scaled to the maximum of the band",
            )),
            TableColumn::explained("Gained", "Last census minus first census", "gained_bytes"),
            TableColumn::explained(
                "Share",
                "Share of the bytes of all bands, summed over these censuses",
                "share",
            ),
            TableColumn::explained(
                "Slope",
                "Slope of the least-squares line through its bytes. R², 0 to 1, is the part of the variation that the line explains. Lists bands in at least half of the censuses, by slope",
                "slope_bytes_per_second",
            ),
            TableColumn::new("r_squared", Html::default()),
        ]
    };
    let shown = growing.rows.len() as u64;
    html! {
        <section aria-labelledby="growth-title">
            <p class="tools">
                <strong id="growth-title">{ "Growing bands" }</strong>
                <label>{ "ranked by " }
                    <select {onchange}>
                        { option(GrowthBy::Slope, "slope") }
                        { option(GrowthBy::Gained, "bytes gained") }
                    </select>
                </label>
            </p>
            <p class="faint">{ censuses_text(extent, &growing.census_range) }</p>
            if growing.rows.is_empty() {
                <p class="empty">{ "No growth in this range: no band in at least half of these censuses rises." }</p>
            } else {
                <DataTable name="heap-growth" columns={columns()}
                    rows={growing.rows.iter().enumerate().map(row).collect::<Vec<_>>()} />
                if growing.total > shown {
                    <p class="faint">{ format!("{} of {} growing bands; the table lists all.", format::count(shown), format::count(growing.total)) }</p>
                }
            }
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct CorrelatedBandsProps {
    source: Source,
    query: CompanionsQuery,
    pinned: Option<String>,
    on_pin: Callback<String>,
}

/// Renders the bands that correlate with the pinned one.
#[component]
fn CorrelatedBands(props: &CorrelatedBandsProps) -> Html {
    let answer = use_answer(&props.source, props.query.clone());
    let Some(Companions {
        bands,
        correlation,
        explanation,
    }) = answer.as_deref().and_then(Option::as_ref)
    else {
        return html! {
            if answer.is_some() {
                <p class="empty">{ "The highlighted band is in no census of this range." }</p>
            }
        };
    };
    let suspect = bands
        .rows
        .first()
        .map_or("", |row| row.band_label.name.as_str());
    let row = |(place, row): (usize, &BandRow)| {
        let like = correlation.get(place).copied().unwrap_or_default();
        let likeness = match place {
            0 => TableCell::number(1.0, "itself".to_owned()),
            _ => TableCell::number(like, format!("{like:.3}")),
        };
        let mean = row.numbers.mean;
        TableRow::new(
            band_cell(&row.band_label, props.pinned.as_deref(), &props.on_pin),
            [
                TableCell::drawn(html! { <td>{ spark(bands.spark(place)) }</td> }),
                likeness,
                TableCell::number(mean, words::about(mean)),
                gained_cell(&row.numbers),
            ],
        )
    };
    let columns = vec![
        TableColumn::explained("Band", "Click to highlight it instead", "band"),
        TableColumn::drawn(heading("Over time", "Each scaled to its own maximum")),
        TableColumn::explained(
            "Correlation",
            "Pearson’s coefficient of both bands over the censuses of the range: 1 if they rise and fall in proportion. Lists bands from 0.9 on, with at least a thousandth of all bytes",
            "correlation",
        ),
        TableColumn::explained(
            "Average",
            "Mean over all censuses of the range",
            "mean_bytes",
        ),
        TableColumn::explained("Gained", "Last census minus first census", "gained_bytes"),
    ];
    let title = format!("Bands that correlate with {suspect}");
    let more = bands.total.saturating_sub(bands.rows.len() as u64 - 1);
    html! {
        <section aria-label={title.clone()}>
            <p class="tools"><strong>{ title }</strong></p>
            if let Some(explanation) = explanation {
                <p>{ explanation.clone() }</p>
            }
            if bands.total == 0 {
                <p class="faint">{ "No other band with at least a thousandth of the bytes has this shape." }</p>
            } else {
                <p class="faint">{ "These bands rise and fall together: often the suspect retains them, or they retain it." }
                    if more > 0 { { format!(" The {} most similar of {}.", bands.rows.len() - 1, format::count(bands.total)) } }</p>
            }
            <DataTable name="heap-alike" {columns}
                rows={bands.rows.iter().enumerate().map(row).collect::<Vec<_>>()} />
        </section>
    }
}

#[derive(Clone, Properties, PartialEq)]
struct BurstProps {
    panel: PanelProps,
    bursts: Rc<Bursts>,
}

/// Renders the list of bursts: bands that held memory only briefly.
#[component]
fn BurstList(props: &BurstProps) -> Html {
    let open = use_state_eq(|| None::<Interval>);
    let (panel, bursts) = (&props.panel, &props.bursts);
    let (view, on_view) = panel.settings::<HeapView>();
    let on_pin = edited(&view, &on_view, |view, key: String| view.pin(&key));
    let pinned = view.choice.pinned.as_deref();
    let row = |row: &BurstRow| {
        let (span, is_open) = (row.span, row.span.is_some() && *open == row.span);
        let next = span.filter(|_| !is_open);
        let onclick = state_callback(&open).reform(move |_: MouseEvent| next);
        let when = match row.peak.time {
            Some(time) => html! {
                <button class="quiet" aria-expanded={is_open.to_string()} {onclick}
                    title="Show the threads that ran">{ format!("{} {}", if is_open { "▾" } else { "▸" }, format::time(time)) }</button>
            },
            None => words::census(&row.peak).into(),
        };
        html! {
            <>
                <tr>
                    <th scope="row">{ band(&row.band_label, pinned, &on_pin) }</th>
                    <td>{ when }</td>
                    <td>{ maximum_link(&row.band_label.name, (row.bytes, row.peak.time), &panel.on_goto, false) }</td>
                    <td>{ format::bytes(row.usual_bytes) }</td>
                    <td>{ format::count(row.censuses.into()) }</td>
                </tr>
                if let Some(span) = span.filter(|_| is_open) {
                    <tr class="then"><td colspan="5"><DuringBurst panel={panel.clone()} {span} /></td></tr>
                }
            </>
        }
    };
    let shown = bursts.rows.len() as u64;
    let all = if bursts.total > shown {
        format!(
            " The {} highest of {}.",
            format::count(shown),
            format::count(bursts.total)
        )
    } else {
        String::new()
    };
    html! {
        <section aria-labelledby="bursts-title">
            <p class="tools"><strong id="bursts-title">{ "Bursts" }</strong></p>
            if bursts.rows.is_empty() {
                <p class="faint">{ "No bursts: no band was far above its usual size for only a few censuses." }</p>
            } else {
                <p class="faint">{ format!("Far above the usual size for only a few censuses.{all}") }</p>
                { plain_table(&[
                    ("Band", "Click to highlight it in all views"),
                    ("When", "Census with the most bytes; click to show the threads that ran"),
                    ("Maximum", "Bytes of the band in that census"),
                    ("Usually", "Median over the range. A burst exceeds twice the median, exceeds the median by six times the usual distance from it and by at least 1 % of the largest census, in at most a tenth of the censuses"),
                    ("Censuses", "Number of censuses in which it was that high"),
                ], bursts.rows.iter().map(row).collect()) }
            }
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct DuringBurstProps {
    panel: PanelProps,
    span: Interval,
}

/// Renders the threads and spans that ran during a burst.
#[component]
fn DuringBurst(props: &DuringBurstProps) -> Html {
    let (panel, span) = (&props.panel, props.span);
    let answer = use_answer(&panel.source, ConcurrentActivityQuery(span));
    let onclick = panel
        .on_change
        .reform(move |_: MouseEvent| select(Some(span)));
    html! {
        <>
            <p><button class="small" {onclick} title="From the preceding census to its last one">{ format!("Select {}", span_text(span)) }</button></p>
            if let Some(then) = answer.as_deref() {
                { threads(panel, span, then) }
                { spans(panel, then) }
            }
        </>
    }
}

fn threads(panel: &PanelProps, span: Interval, then: &ConcurrentActivity) -> Html {
    if !then.known {
        return html! { <p class="faint">{ "The threads that ran appear once the log is read." }</p> };
    }
    if then.threads.is_empty() {
        return html! { <p class="faint">{ "No thread ran according to the log. Scheduler events may be missing: +RTS -l writes them, -l-a does not." }</p> };
    }
    let thread = |thread: &ConcurrentThread| {
        let goto = NavigationTarget::zoomed(Some(Thread(thread.id).into()), span);
        let onclick = panel.on_goto.reform(move |_: MouseEvent| goto);
        let name = thread
            .label
            .as_ref()
            .map_or_else(String::new, |label| format!(" {label}"));
        let time = format::duration_ns(thread.running_ns);
        let share = format::percent(thread.running_ns, then.running_ns);
        html! { <li><button class="link" {onclick}>{ format!("thread {}{name}", thread.id) }</button>{ format!(" ran {time} ({share})") }</li> }
    };
    html! { <ul>{ for then.threads.iter().map(thread) }</ul> }
}

fn spans(panel: &PanelProps, then: &ConcurrentActivity) -> Html {
    let span = |found: &ConcurrentSpan| {
        let span = found.span;
        let goto = NavigationTarget::zoomed(Some(UserSpan(found.name_place).into()), span);
        let onclick = panel.on_goto.reform(move |_: MouseEvent| goto);
        html! { <li><button class="link" {onclick}>{ found.name.clone() }</button>{ format!(" {}", span_text(span)) }</li> }
    };
    let more = then.span_count.saturating_sub(then.spans.len() as u64);
    html! {
        if !then.spans.is_empty() {
            <p>{ "Overlapping spans of the program:" }</p>
            <ul>{ for then.spans.iter().map(span) }</ul>
            if more > 0 {
                <p class="faint">{ format!("and {} more", format::count(more)) }</p>
            }
        }
    }
}
