//! The memory tab: memory held by the runtime compared with live data, over time and by component at the peak and the
//! end, with explanations of each gap.

use std::rc::Rc;

use yew::prelude::*;

use crate::chart::{OverTime, Series, patterns, sample};
use crate::exportable_table::ExportableTable;
use crate::goto_link::{GotoLink, collection_target};
use crate::guide::how_to_record;
use crate::panel::{Answered, PanelProps, Source, use_answer, use_answered};
use crate::term::{Term, heading};
use crate::viewer::NavigationTarget;
use analysis::heap::memory::{HeldMemory as Answer, MemoryMoment, MemoryPart};
use model::time::Interval;
use scene::chart::short;
use scene::format;
use session::questions::{CensusCostQuery, HeldMemoryQuery};
use views::words::held::{Reason, headline, missing, reasons};

/// One mebibyte, the unit of the chart.
const MIB: f64 = 1_048_576.0;

#[component]
pub(super) fn MemoryTab(props: &PanelProps) -> Html {
    let answered = use_answered(&props.source, Some(HeldMemoryQuery(props.range)));
    let Some(Answered {
        extent,
        answer: held,
        ..
    }) = &answered
    else {
        return html! { <p class="empty">{ "Loading the memory numbers…" }</p> };
    };
    let lacking = missing(held);
    if held.peak.is_none() {
        return html! { <div class="empty">{ for lacking.iter().map(|words| html! { <p>{ *words }</p> }) }{ how_to_record("record-gc") }</div> };
    }
    html! {
        <div class="held">
            { patterns() }
            <header class="numbers-head">
                <h2>{ "Memory held against live data" }</h2>
                <p class="faint">{ props.track_selection.about_all(extent.title()) }</p>
            </header>
            <p class="held-sum">{ headline(held) }</p>
            <div class="charts">
                { chart(held) }
                { table(held, &props.on_goto) }
            </div>
            <div class="cards">{ for reasons(held).iter().map(view_reason) }</div>
            <CensusCost source={props.source.clone()} profile={0} range={props.range} />
            <ul class="faint">{ for lacking.iter().map(|words| html! { <li>{ *words }</li> }) }</ul>
        </div>
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct CensusCostProps {
    pub(super) source: Source,
    /// Index of the profile in the log.
    pub(super) profile: u32,
    pub(super) range: Option<Interval>,
}

/// Renders how long the censuses of a profile stopped the program; nothing without a profile.
#[component]
pub(super) fn CensusCost(props: &CensusCostProps) -> Html {
    let question = CensusCostQuery {
        profile: props.profile,
        range: props.range,
    };
    let answer = use_answer(&props.source, question);
    match answer.as_deref() {
        Some(Some(words)) => html! { <p class="held-sum">{ words.clone() }</p> },
        _ => Html::default(),
    }
}

/// Returns color class and pattern of a component: free blocks share one color, used ones have others.
const fn appearance(part: MemoryPart) -> (&'static str, usize) {
    match part {
        MemoryPart::Live => ("gc", 0),
        MemoryPart::Slop => ("gc", 1),
        MemoryPart::Nursery => ("running", 0),
        MemoryPart::Runtime => ("running", 2),
        MemoryPart::Grown => ("mvar", 0),
        MemoryPart::Unknown => ("mvar", 1),
        MemoryPart::Reserve => ("io", 0),
        MemoryPart::Free => ("io", 2),
        MemoryPart::Stuck => ("io", 1),
    }
}

fn series(part: MemoryPart) -> Series {
    let (class, pattern) = appearance(part);
    Series {
        name: part.title().into(),
        class,
        pattern,
    }
}

/// Returns the components that occur at any time.
fn parts(held: &Answer) -> Vec<MemoryPart> {
    let moments = || held.slices.iter().chain([&held.peak]);
    let is_there = |part: &MemoryPart| {
        moments()
            .flatten()
            .any(|moment| moment.parts.get(*part) > 0)
    };
    MemoryPart::ALL.into_iter().filter(is_there).collect()
}

/// Renders the components over time as a stacked chart.
fn chart(held: &Rc<Answer>) -> Html {
    let shown = parts(held);
    let mut below = vec![0_u64; held.slices.len()];
    let mut band = |part: &MemoryPart| -> Vec<(f64, f64)> {
        let slices = held.slices.iter().zip(&mut below);
        let edges = slices.map(|(slice, below)| {
            let from = *below;
            *below += slice.map_or(0, |moment| moment.parts.get(*part));
            (from as f64 / MIB, *below as f64 / MIB)
        });
        edges.collect()
    };
    let bands: Vec<Vec<(f64, f64)>> = shown.iter().map(&mut band).collect();
    let needed = |slice: &Option<MemoryMoment>| slice.and_then(|moment| moment.needed_bytes);
    let is_told = held.slices.iter().any(|slice| needed(slice).is_some());
    let line = held
        .slices
        .iter()
        .map(|slice| needed(slice).unwrap_or(0) as f64 / MIB);
    let line: Vec<f64> = if is_told { line.collect() } else { Vec::new() };
    let values = {
        let (held, shown) = (Rc::clone(held), shown.clone());
        Callback::from(move |place: usize| {
            let moment = held.slices.get(place).copied().flatten();
            let size = |part: &MemoryPart| {
                moment.map_or_else(
                    || format::NO_VALUE.to_owned(),
                    |moment| format::bytes(moment.parts.get(*part)),
                )
            };
            shown.iter().map(size).collect::<Vec<_>>()
        })
    };
    let unit = if is_told {
        "MiB held after collections; the line is the need that the runtime expected"
    } else {
        "MiB held after collections"
    };
    let most = held.peak.map_or(0, |peak| peak.held_bytes);
    let summary = format!(
        "Memory held, by part: at most {} MiB. The table lists the parts at the peak.",
        short(most as f64 / MIB)
    );
    html! {
        <OverTime title="Memory" {unit} range={held.range} series={shown.iter().map(|part| series(*part)).collect::<Vec<_>>()}
            {bands} {line} {values} {summary} />
    }
}

/// Renders the components at the peak and after the last major collection. The collection at program exit counts only
/// if there is no other.
fn table(held: &Answer, on_goto: &Callback<NavigationTarget>) -> Html {
    let last = held.last_at_work.or(held.last_major);
    let columns: Vec<MemoryMoment> = [held.peak, last].into_iter().flatten().collect();
    let row = |part: &MemoryPart| {
        let sizes = columns
            .iter()
            .map(|moment| (moment.parts.get(*part), moment.held_bytes));
        html! {
            <tr>
                <th scope="row">{ sample(&series(*part)) }{ " " }<Term name={part.title()} help={part.meaning()} /></th>
                { for sizes.map(|(size, all)| cells(size, all)) }
            </tr>
        }
    };
    let factor = |moment: &MemoryMoment| {
        let factor = moment.copying_factor();
        factor.map_or_else(
            || format::NO_VALUE.to_owned(),
            |factor| format!("{factor:.1} ×"),
        )
    };
    let optional =
        |size: Option<u64>| size.map_or_else(|| format::NO_VALUE.to_owned(), format::bytes);
    let line = |name, help, text: &dyn Fn(&MemoryMoment) -> String| {
        html! {
            <tr>
                <th scope="row"><Term {name} {help} /></th>
                { for columns.iter().map(|moment| html! { <><td class="number">{ text(moment) }</td><td></td></> }) }
            </tr>
        }
    };
    html! {
        <ExportableTable name="memory">
            <div class="table-box" tabindex="0" role="group" aria-label="Parts of the memory">
                <table class="plain-table">
                    <thead><tr>
                        { heading("Part", "The parts sum to all memory that the runtime holds from the system. Nothing is counted twice.") }
                        { for columns.iter().enumerate().map(|(place, moment)| column_heading(place, moment, on_goto)) }
                    </tr></thead>
                    <tbody>{ for parts(held).iter().map(row) }</tbody>
                    <tbody>
                        <tr class="sum">
                            <th scope="row">{ "Held" }</th>
                            { for columns.iter().map(|moment| html! { <><td class="number" data-value={moment.held_bytes.to_string()}>{ format::bytes(moment.held_bytes) }</td><td></td></> }) }
                        </tr>
                        { line("Held for each byte that is live", "The copying factor: 2 to 4 is usual.", &factor) }
                        { line("Usually needed", "(2 + F) times the live data, including slop, plus the nurseries. With -c and --nonmoving-gc, 1.2 instead of 2.", &|moment| optional(moment.expected_bytes)) }
                        { line("Expected to be needed", "As logged by the runtime at the last major collection before the peak (GHC 9.2 and later).", &|moment| optional(moment.needed_bytes)) }
                    </tbody>
                </table>
            </div>
        </ExportableTable>
    }
}

fn column_heading(
    place: usize,
    moment: &MemoryMoment,
    on_goto: &Callback<NavigationTarget>,
) -> Html {
    let (name, what) = if place == 0 {
        ("At the peak", "the peak")
    } else {
        (
            "After the last major collection",
            "the moment after the last major collection",
        )
    };
    html! {
        <th scope="col" colspan="2" data-value={format!("{name} (bytes)")}>{ name }<br />
            <GotoLink text={format::time(moment.at)} {what} target={collection_target(Interval::empty_at(moment.at))} on_goto={on_goto.clone()} />
        </th>
    }
}

fn cells(size: u64, all: u64) -> Html {
    html! {
        <>
            <td class="number" data-value={size.to_string()}>{ format::bytes(size) }</td>
            <td class="number faint">{ format::percent_short(size, all) }</td>
        </>
    }
}

fn view_reason(reason: &Reason) -> Html {
    let view_try = |it: &views::words::held::Try| {
        html! { <li><strong>{ it.what.to_string() }</strong>{ ": " }{ it.price }</li> }
    };
    html! {
        <article class="numbers-card">
            <h3>{ reason.title.clone() }</h3>
            <p>{ reason.meaning.clone() }</p>
            if !reason.tries.is_empty() {
                <p class="faint">{ "To try:" }</p>
                <ul>{ for reason.tries.iter().map(view_try) }</ul>
            }
            <p class="faint">{ reason.fine }</p>
        </article>
    }
}
