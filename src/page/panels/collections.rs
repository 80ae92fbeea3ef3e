//! The panel of collections: a table of all collections, the distribution of pauses, and the cost for the
//! capabilities.

mod costs;

use std::ops::Range;
use std::rc::Rc;

use yew::prelude::*;

use crate::chart::{self, Bin, Histogram, Series, patterns};
use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::dom::state_callback;
use crate::export_rows::{ExportButtons, use_table_rows};
use crate::goto_link::GotoLink;
use crate::grid::{
    Column, Grid, Item, LoadedItems, Rows, ScrollTo, SortableColumns, sortable_columns, use_current,
};
use crate::guide::how_to_record;
use crate::panel::{Answered, Extent, PanelProps, use_answered};
use crate::viewer::NavigationTarget;
use analysis::numbers::Collection;
use analysis::numbers::collections_query::{
    CollectionColumn, CollectionsQuery, CollectionsReply, PauseDistribution, RankedPause,
};
use model::time::Interval;
use scene::format;
use session::tracks::collections::Collections as CollectionsTrack;
use views::columns::sorted_again;
use views::words::collection::{cells, generation};
use views::words::heap_report;

const COLUMNS: SortableColumns<CollectionColumn> = sortable_columns! {
    Column::number("number", "No.", 54,
        "Number of the collection, in time order") => Some(CollectionColumn::Number),
    Column::number("start", "Start", 104,
        "Start time: all capabilities have stopped") => Some(CollectionColumn::Start),
    Column::number("generation", "Gen", 42,
        "Oldest collected generation; younger ones are collected with it. The oldest one makes a major collection. – if the log has no statistics (GHC before 7.6, or a lost buffer)") => Some(CollectionColumn::Generation),
    Column::text("kind", "Kind", 72,
        "Sequential: one GC thread. Parallel: several").growing() => Some(CollectionColumn::Kind),
    Column::number("threads", "Threads", 66, "Number of GC threads") => Some(CollectionColumn::Threads),
    Column::number("pause", "Pause", 78,
        "Time for which the whole program was stopped") => Some(CollectionColumn::Pause),
    Column::number("sync", "Sync", 78,
        "Time from the request to the start, in which the capabilities stop. – if it is not in the log") => Some(CollectionColumn::Sync),
    Column::number("copied", "Copied", 82, "Live data copied") => Some(CollectionColumn::Copied),
    Column::number("slop", "Slop", 78, "Unused memory at the ends of blocks") => Some(CollectionColumn::Slop),
    Column::number("live", "Live after", 82,
        "Live data after it; – after minor collections, which do not measure it") => Some(CollectionColumn::Live),
    Column::number("allocated", "Allocated", 82,
        "Allocation of all capabilities since the previous collection") => Some(CollectionColumn::Allocated),
};

/// Sort order: column index, and whether it is descending.
type Sort = (usize, bool);
const BY_START: Sort = (1, false);

/// Range of pause lengths in nanoseconds.
type Lengths = Range<u64>;

fn rows_query(
    range: Option<Interval>,
    pause_ns: Option<Lengths>,
    sort: Sort,
    rows: Range<u64>,
) -> CollectionsQuery {
    CollectionsQuery {
        range,
        pause_ns,
        sort: COLUMNS.key(sort.0).unwrap_or_default(),
        descending: sort.1,
        rows,
        pauses: false,
    }
}

fn pauses_query(range: Option<Interval>) -> CollectionsQuery {
    CollectionsQuery {
        range,
        pauses: true,
        ..CollectionsQuery::default()
    }
}

#[component]
pub(super) fn Collections(props: &PanelProps) -> Html {
    let sort = use_state_eq(|| BY_START);
    let window = use_state_eq(|| 0..100_u64);
    let current = use_state_eq(|| None);
    let scroll_to = use_state_eq(ScrollTo::default);
    // Pause range of the selected histogram bar, whose collections are listed.
    let lengths = use_state_eq(|| None::<Lengths>);
    let rows = use_answered(
        &props.source,
        Some(rows_query(
            props.range,
            (*lengths).clone(),
            *sort,
            (*window).clone(),
        )),
    );
    {
        // The histogram of another range has other bars.
        let lengths = lengths.setter();
        use_effect_with(props.range, move |_| lengths.set(None));
    }
    let pauses = use_answered(&props.source, Some(pauses_query(props.range)));
    let table = rows_query(props.range, (*lengths).clone(), *sort, 0..0);
    let out = use_table_rows(&props.source.client, table);
    let found = rows.as_ref().map(|rows| Rc::clone(&rows.answer));
    let loaded = found.as_deref().map_or_else(LoadedItems::none, |found| {
        let numbers = found.rows.iter().map(|gc| Item::Collection(gc.number));
        LoadedItems::new(found.first, numbers)
    });
    let current = use_current(&current, loaded);
    let grid_rows = use_memo(found, |found| grid_rows(found.as_deref()));
    let (Some(rows), Some(pauses)) = (rows, pauses) else {
        return html! { <p class="empty">{ "Loading the collections…" }</p> };
    };
    let found = &rows.answer;
    if found.total == 0 && lengths.is_none() {
        return view_empty(props, rows.extent);
    }
    let on_sort = {
        let (sort, scroll_to) = (sort.clone(), scroll_to.clone());
        Callback::from(move |column| {
            // Numbers start with the largest.
            sort.set(sorted_again(*sort, column, column > 1));
            scroll_to.set(ScrollTo {
                serial: scroll_to.serial + 1,
                row: 0,
            });
        })
    };
    let on_window = state_callback(&window);
    let on_activate = {
        let (found, on_goto) = (Rc::clone(found), props.on_goto.clone());
        Callback::from(move |row| {
            if let Some(gc) = collection_at(&found, row) {
                // Selects the pause of the whole program, not the phase on one capability.
                on_goto.emit(NavigationTarget {
                    details: true,
                    ..NavigationTarget::zoomed(
                        Some(CollectionsTrack.into()),
                        Interval::new(gc.start, gc.end),
                    )
                });
            }
        })
    };
    let drop_lengths = state_callback(&lengths).reform(|_: MouseEvent| None);
    // The same collection may not be among those of another range.
    let at = current.row.filter(|row| *row < found.total);
    html! {
        <div class="collections">
            { patterns() }
            <div class="listed">
            if let Some(of) = &*lengths {
                <p class="chosen" role="status">
                    { format!("{} of {}", format::pluralize(found.total, "pause"), chart::lengths(of)) }
                    <button class="small" onclick={drop_lengths}>{ "Show all" }</button>
                </p>
            }
            <p class="tools"><ExportButtons name="collections" total={found.total} rows={out} /></p>
            <Grid name="collection-rows" label="Collections" columns={COLUMNS.columns} total={found.total} rows={grid_rows}
                sort={Some(*sort)} {on_sort} {on_window} current={at} on_current={current.on_current} {on_activate} scroll_to={*scroll_to} />
            </div>
            { view_pauses(props, &pauses, &lengths) }
        </div>
    }
}

fn collection_at(reply: &CollectionsReply, row: u64) -> Option<Collection> {
    let place = usize::try_from(row.checked_sub(reply.first)?).ok()?;
    reply.rows.get(place).copied()
}

fn view_empty(props: &PanelProps, extent: Extent) -> Html {
    let why = match (extent.range, extent.complete) {
        (Some(_), _) => {
            "No collection starts in the selected range. Clear the range (Esc) to see the whole log."
        }
        (None, _) if props.overview.report.is_some() => {
            let why = heap_report::nothing_of("collections");
            return html! { <div class="empty"><p>{ why }</p>{ how_to_record("record-gc") }</div> };
        }
        (None, false) => "No collections so far.",
        (None, true) => {
            let why = "No collections in this log. Either none happened, or GC events are off: +RTS -l logs them, -l-g and -l-a do not.";
            return html! { <div class="empty"><p>{ why }</p>{ how_to_record("record-gc") }</div> };
        }
    };
    html! { <p class="empty">{ why }</p> }
}

fn grid_rows(answer: Option<&CollectionsReply>) -> Rows {
    let Some(reply) = answer else {
        return Rows::default();
    };
    Rows {
        first: reply.first,
        rows: reply.rows.iter().map(|gc| cells(gc).into()).collect(),
    }
}

/// Returns the style of a generation: all have the color of collections and differ by pattern.
fn series(generation: Option<u16>) -> Series {
    let name = generation.map_or_else(
        || "Generation unknown".to_owned(),
        |generation| format!("Generation {generation}"),
    );
    Series {
        name: name.into(),
        class: "gc",
        pattern: generation.map_or(0, usize::from),
    }
}

fn view_pauses(
    props: &PanelProps,
    pauses: &Answered<CollectionsQuery>,
    lengths: &UseStateHandle<Option<Lengths>>,
) -> Html {
    let [all, generations @ ..] = &pauses.answer.pauses[..] else {
        return Html::default();
    };
    let bin = |i: usize| {
        let of_all = all.bins.get(i)?;
        let counts = generations
            .iter()
            .map(|row| row.bins.get(i).map_or(0, |bin| bin.count));
        Some(Bin {
            from_ns: of_all.from_ns,
            to_ns: of_all.to_ns,
            counts: counts.collect(),
            total_ns: None,
        })
    };
    let bins: Vec<Bin> = (0..all.bins.len()).filter_map(bin).collect();
    let drawn: Vec<Series> = generations
        .iter()
        .map(|row| series(row.generation))
        .collect();
    html! {
        <aside class="pauses" aria-label="Pauses">
            <p class="numbers-head"><strong>{ props.track_selection.about_all(pauses.extent.title()) }</strong></p>
            <Histogram title="Pauses by length" unit="collections" series={drawn} {bins}
                chosen={(**lengths).clone()} on_choose={state_callback(lengths)} />
            { percentiles(props, all, generations) }
            <costs::Costs source={props.source.clone()} range={props.range} on_goto={props.on_goto.clone()} />
        </aside>
    }
}

fn percentiles(
    props: &PanelProps,
    all: &PauseDistribution,
    generations: &[PauseDistribution],
) -> Html {
    let row = |name: String, pauses: &PauseDistribution| {
        let numbers = [
            ("the median pause", pauses.median),
            ("the pause at 90 %", pauses.p90),
            ("the pause at 99 %", pauses.p99),
            ("the longest pause", pauses.longest),
        ];
        let cell = |(what, pause): (&'static str, RankedPause)| {
            let shown = html! {
                <td class="number">
                    <GotoLink text={format::duration_ns(pause.ns)} {what} on_goto={props.on_goto.clone()}
                        target={NavigationTarget::details(CollectionsTrack.into(), pause.span())} />
                </td>
            };
            TableCell::new(pause.ns, shown)
        };
        let count = [TableCell::count(pauses.count)];
        TableRow::new(
            TableCell::heading(name),
            count.into_iter().chain(numbers.map(cell)),
        )
    };
    let columns = TableColumn::all_explained(&[
        [
            "Gen",
            "generation",
            "Oldest collected generation; younger ones are collected with it.",
        ],
        ["Number", "collections", "Number of collections."],
        [
            "Median",
            "median_ns",
            "Median: half of the pauses are no longer.",
        ],
        [
            "90 %",
            "p90_ns",
            "90th percentile: nine of ten pauses are no longer.",
        ],
        [
            "99 %",
            "p99_ns",
            "99th percentile: one of a hundred pauses is longer.",
        ],
        ["Longest", "longest_ns", "The longest pause."],
    ]);
    let rows = generations.iter();
    let rows = rows.map(|pauses| row(generation(pauses.generation), pauses));
    let foot = (generations.len() > 1).then(|| row("All".to_owned(), all));
    html! {
        <DataTable name="pauses" {columns} rows={rows.collect::<Vec<_>>()}
            foot={Vec::from_iter(foot)} />
    }
}
