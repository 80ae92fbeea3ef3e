//! The memory tab: memory held by the runtime compared with live data, over time and by component at the peak and the
//! end, with explanations of each gap.

use std::rc::Rc;

use yew::prelude::*;

use crate::chart::{OverTime, Series, patterns, sample};
use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::goto_link::{GotoLink, collection_target};
use crate::guide::how_to_record;
use crate::panel::{Answered, PanelProps, Source, use_answer, use_answered};
use crate::term::Term;
use crate::viewer::NavigationTarget;
use analysis::heap::memory::{HeldMemory as Answer, MemoryMoment, MemoryPart};
use model::time::Interval;
use scene::chart::short;
use scene::format;
use session::queries::{CensusCostQuery, HeldMemoryQuery};
use views::heap::settings::HeapView;
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
    let profile = props.settings::<HeapView>().0.choice.profile;
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
            <CensusCost source={props.source.clone()} profile={profile} range={props.range} />
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
    let query = CensusCostQuery {
        profile: props.profile,
        range: props.range,
    };
    let answer = use_answer(&props.source, query);
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
    let moments: Vec<MemoryMoment> = [held.peak, last].into_iter().flatten().collect();
    let row = |part: &MemoryPart| {
        let name = html! {
            <th scope="row">{ sample(&series(*part)) }{ " " }<Term name={part.title()} help={part.meaning()} /></th>
        };
        let sizes = moments
            .iter()
            .flat_map(|moment| size_and_share(moment.parts.get(*part), moment.held_bytes));
        TableRow::new(TableCell::new(part.title(), name), sizes)
    };
    let line = |name, help, number: &dyn Fn(&MemoryMoment) -> TableCell| {
        let numbers = moments
            .iter()
            .flat_map(|moment| [number(moment), no_share()]);
        TableRow::new(TableCell::explained(name, help), numbers)
    };
    let size = |size: Option<u64>| {
        let text = size.map_or_else(|| format::NO_VALUE.to_owned(), format::bytes);
        TableCell::number(size, text)
    };
    let factor = |moment: &MemoryMoment| {
        let factor = moment.copying_factor();
        let text = factor.map(|factor| format!("{factor:.1} ×"));
        let text = text.unwrap_or_else(|| format::NO_VALUE.to_owned());
        TableCell::number(text.clone(), text)
    };
    let held_bytes = moments
        .iter()
        .flat_map(|moment| [size(Some(moment.held_bytes)), no_share()]);
    let sum = TableRow {
        class: "sum",
        ..TableRow::new(TableCell::heading("Held"), held_bytes)
    };
    let mut rows: Vec<TableRow> = parts(held).iter().map(row).collect();
    rows.extend([
        sum,
        line("Held for each byte that is live", "The copying factor: 2 to 4 is usual.", &factor),
        line("Usually needed", "(2 + F) times the live data, including slop, plus the nurseries. With -c and --nonmoving-gc, 1.2 instead of 2.", &|moment| size(moment.expected_bytes)),
        line("Expected to be needed", "As logged by the runtime at the last major collection before the peak (GHC 9.2 and later).", &|moment| size(moment.needed_bytes)),
    ]);
    let part = TableColumn::explained(
        "Part",
        "The parts sum to all memory that the runtime holds from the system. Nothing is counted twice.",
        "part",
    );
    let mut columns = vec![part];
    for (moment, about) in moments.iter().zip(MOMENTS) {
        columns.extend(moment_columns(about, moment, on_goto));
    }
    html! { <DataTable name="memory" box_label="Parts of the memory" {columns} {rows} /> }
}

/// Moments in the table: title, description within a sentence, and prefix of exported columns.
const MOMENTS: [[&str; 3]; 2] = [
    ["At the peak", "the peak", "peak"],
    [
        "After the last major collection",
        "the moment after the last major collection",
        "last_major",
    ],
];

/// Returns the columns of a moment: sizes and shares.
fn moment_columns(
    [title, what, exported]: [&'static str; 3],
    moment: &MemoryMoment,
    on_goto: &Callback<NavigationTarget>,
) -> [TableColumn; 2] {
    let head = html! {
        <th scope="col" colspan="2">{ title }<br />
            <GotoLink text={format::time(moment.at)} {what} target={collection_target(Interval::empty_at(moment.at))} on_goto={on_goto.clone()} />
        </th>
    };
    [
        TableColumn::new(format!("{exported}_bytes"), head),
        TableColumn::new(format!("{exported}_share"), Html::default()),
    ]
}

fn size_and_share(size: u64, all: u64) -> [TableCell; 2] {
    let share = size as f64 / all.max(1) as f64;
    let shown = html! { <td class="number faint">{ format::percent_short(size, all) }</td> };
    [
        TableCell::number(size, format::bytes(size)),
        TableCell::new(share, shown),
    ]
}

/// Returns the cell beside a size that is no part of the whole.
fn no_share() -> TableCell {
    TableCell::drawn(html! { <td></td> })
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
