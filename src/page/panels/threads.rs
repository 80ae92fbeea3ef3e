//! The table of threads: how each spent its time, in the selected range or in
//! the whole log.

mod waits;

use std::ops::Range;
use std::rc::Rc;

use yew::prelude::*;

use crate::client::LogClient;
use crate::dialog::colour;
use crate::dom::{setter_of, use_pause, value_of};
use crate::field::Field;
use crate::grid::{Column, Grid, GridRow, RowActivated, Rows};
use crate::guide::how_to_record;
use crate::panel::span_text;
use crate::panel::{Marked, PanelProps, takes_long, use_answer};
use crate::place::PlaceLink;
use crate::rows_out::{RowsOf, RowsOut};
use crate::shares::share_bar;
use crate::viewer::Goto;
use analysis::timeline::thread_table::{
    ThreadColumn, ThreadSums, ThreadTable, ThreadTableQuery, ThreadTimes, ThreadView,
};
use analysis::timeline::turns::TurnSums;
use eventlog::ids::{Duration, ThreadId};
use model::class::{Class, WaitReason};
use model::sorting::CompactSort;
use model::time::Interval;
use scene::format;
use session::tables::ThreadTextQuery;
use session::tracks::thread::Thread;
use views::view::findings::FindingsView;
use views::words::heap_report;
use waits::Waits;

const COLUMNS: &[Column] = &[
    Column::number("thread", "#", 44,
        "The runtime's number for the thread").staying(),
    Column::text("label", "Label", 120,
        "The thread's label (labelThread); – if it has none").staying().narrow_px(92),
    Column::text("shares", "Shares", 70,
        "How the time of the thread divides: running, ready (in collections, behind others, while a capability idles), blocked, in foreign calls, waiting for I/O or time, unknown").unsorted(),
    Column::number("running", "Running", 88,
        "How long it ran Haskell code on a capability"),
    Column::number("collections", "Ready: in GC", 94,
        "How long it could run, but a collection went on or was being stopped for: no thread runs meanwhile"),
    Column::number("behind", "Ready: queued", 98,
        "How long it could run, but the capabilities ran other threads: the program has more to do than capabilities (+RTS -N). It can run once it is created, woken or stopped by the timer; after a foreign call the log does not say since when. The details of a wait on its track say behind which thread"),
    Column::number("idling", "Ready: idle cap", 106,
        "How long it could run, and some capability was idle: lost parallelism. Work is spread unevenly, or a capability had not noticed yet"),
    Column::number("longest", "Longest wait", 90,
        "The longest single wait for a capability: behind other threads or while one was idle, without collections"),
    Column::number("mean", "Mean wait", 82,
        "The mean of all waits for a capability, without collections").on_demand(),
    Column::number("blocked", "Blocked", 88,
        "How long it could not run: until another thread filled an MVar, time passed… Foreign calls are counted beside it"),
    Column::number("foreign", "Foreign calls", 90,
        "How long it was in safe foreign calls. The log says only when the thread runs again, so that a wait for a capability after a call is part of this"),
    Column::text("reasons", "Blocked on", 192,
        "What it was blocked on, and how long. An exception wakes a thread without an event: that wait counts as blocked to its end.").growing().unsorted(),
    Column::number("unknown", "Unknown", 78,
        "For how long the log does not say what it did: buffers are lost when a program is killed").on_demand(),
    Column::number("runs", "Runs", 66,
        "How often a capability began to run it").on_demand(),
    Column::number("wakeups", "Wakeups", 74,
        "How often it was told to wake up. A thread that is woken from another capability is told twice.").on_demand(),
    Column::number("migrations", "Migrations", 82,
        "How often it was moved to another capability").on_demand(),
    Column::number("created", "Created", 100,
        "When it was created; – if that was before the log began").on_demand(),
    Column::text("ended", "Ended", 146,
        "When it finished, or what it did when the log ended. A thread that was killed has finished: the log makes no difference."),
];

/// What a click on the head of each column sorts by.
const SORTS: [Option<ThreadColumn>; 18] = [
    Some(ThreadColumn::Thread),
    Some(ThreadColumn::Label),
    None,
    Some(ThreadColumn::Running),
    Some(ThreadColumn::ReadyPaused),
    Some(ThreadColumn::ReadyBehind),
    Some(ThreadColumn::ThreadRunnableCapIdle),
    Some(ThreadColumn::LongestReady),
    Some(ThreadColumn::MeanReady),
    Some(ThreadColumn::Blocked),
    Some(ThreadColumn::BlockedOn(WaitReason::ForeignCall)),
    None,
    Some(ThreadColumn::Unknown),
    Some(ThreadColumn::Runs),
    Some(ThreadColumn::Wakeups),
    Some(ThreadColumn::Migrations),
    Some(ThreadColumn::Created),
    Some(ThreadColumn::Finished),
];

/// Where reasons stand: rows are sorted by one of them through the menu.
const BLOCKED_ON: usize = 11;

/// Rows asked for at first, until the grid says which it shows.
const FIRST_ROWS: Range<u64> = 0..100;
/// Typing is followed when it has settled.
const TYPED_MS: u32 = 150;
/// The table, once there is one.
fn known(answer: Option<&Rc<Option<ThreadTable>>>) -> Option<&ThreadTable> {
    answer.and_then(|table| table.as_ref().as_ref())
}

/// The panel.
#[component]
pub(super) fn Threads(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<ThreadView>();
    let window = use_state(|| FIRST_ROWS);
    let current = use_state(|| None::<u64>);
    let query = ThreadTableQuery {
        range: props.range,
        only: props.marked.scope.threads.clone(),
        filter: view.filter.trim().to_owned(),
        sort: view.sort,
        descending: view.descending,
        rows: (*window).clone(),
    };
    let answer = use_answer(&props.source, query.clone());
    {
        // The row of that number is another one now.
        let current = current.setter();
        let shown = (props.range, Rc::clone(&props.marked), view.clone());
        use_effect_with(shown, move |_| current.set(None));
    }
    let table = known(answer.as_ref());
    let rows = use_memo(answer.clone(), |answer| {
        let table = known(answer.as_ref());
        table.map_or_else(Rows::default, |table| grid_rows(table, &props.on_goto))
    });
    // The thread whose waits are explained: that of the current row, or else the one that
    // a finding led to.
    let found = props.view.settings.get::<FindingsView>();
    let chosen = current.and_then(|row| table?.row(row)).map(|row| row.id);
    let chosen = chosen.or_else(|| found.thread(props.range));
    if !props.source.complete {
        return html! { <p class="empty">{ "Thread times appear once the log is read." }</p> };
    }
    let total = table.map_or(0, |table| table.total);
    let on_window = setter_of(&window);
    let on_current = setter_of(&current).reform(|went: RowActivated| Some(went.row));
    let on_activate = {
        let (on_goto, range, answer) = (props.on_goto.clone(), props.range, answer.clone());
        Callback::from(move |row: u64| {
            if let Some(table) = known(answer.as_ref()) {
                table
                    .row(row)
                    .and_then(|row| goto(row, range))
                    .into_iter()
                    .for_each(|goto| on_goto.emit(goto));
            }
        })
    };
    html! {
        <div class="threads">
            <Controls view={view.clone()} on_view={on_view.clone()} range={props.range}
                marked={Rc::clone(&props.marked)} total={table.map(|table| table.total)} client={props.source.client.clone()} {query} />
            if table.is_none() {
                { takes_long() }
            }
            if table.is_some() && total == 0 {
                <div class="empty">
                    <p>{ why_empty(props, &view) }</p>
                    if props.range.is_none() && view.filter.trim().is_empty() && props.marked.scope.is_everything() {
                        { how_to_record("record-threads") }
                    }
                </div>
            } else {
                <div class="threads-body">
                    <Grid name="thread-rows" label="Threads" columns={COLUMNS} {total} {rows}
                        sums={table.map(|table| sums_row(table, &props.on_goto))} sort={sorted(&view)} on_sort={on_sort(view, &on_view)}
                        {on_window} current={*current} {on_current} {on_activate} />
                    if let Some(thread) = chosen {
                        <Waits key={thread.0} {thread} source={props.source.clone()} range={props.range} on_goto={props.on_goto.clone()} />
                    }
                </div>
            }
        </div>
    }
}

fn why_empty(props: &PanelProps, view: &ThreadView) -> String {
    if props.overview.report.is_some() {
        return heap_report::nothing_of("threads");
    }
    let only_some = !props.marked.scope.threads.is_empty();
    let why = match (view.filter.trim().is_empty(), props.range) {
        (true, _) if only_some => {
            "No thread of the selected tracks lived then: drop the selection (Esc) to see all threads of the whole log."
        }
        (false, _) if only_some => {
            "No thread of the selected tracks has this in its label, or this number. Clear the filter, or drop the selection (Esc)."
        }
        (false, _) => {
            "No thread has this in its label, or this number. Clear the filter to see all."
        }
        (true, Some(_)) => {
            "No thread lived in the selected range: drop it (Esc) to see the whole log."
        }
        (true, None) => {
            "This log has no thread events. Run the program with +RTS -l, which has them; -l-s and -l-a leave them out."
        }
    };
    why.to_owned()
}

/// The beginning of a thread's life, or of the part of it in the range.
fn goto(row: &ThreadTimes, range: Option<Interval>) -> Option<Goto> {
    let life = row.life?;
    Some(Goto {
        span: range.map_or(life, |range| life.clip(range)),
        row: Some(Thread(row.id).into()),
        zoom: false,
        details: false,
    })
}

/// The column that the table is sorted by, as the grid counts.
fn sorted(view: &ThreadView) -> Option<(usize, bool)> {
    let column = match view.sort {
        ThreadColumn::BlockedOn(reason) if reason != WaitReason::ForeignCall => Some(BLOCKED_ON),
        ThreadColumn::End => SORTS
            .iter()
            .position(|sort| *sort == Some(ThreadColumn::Finished)),
        sort => SORTS.iter().position(|other| *other == Some(sort)),
    };
    column.map(|column| (column, view.descending))
}

/// A click on the column that the table is sorted by turns it over.
fn on_sort(view: ThreadView, on_view: &Callback<ThreadView>) -> Callback<usize> {
    on_view.reform(move |column: usize| {
        let sort = SORTS.get(column).copied().flatten().unwrap_or_default();
        if sort == view.sort {
            return ThreadView {
                descending: !view.descending,
                ..view.clone()
            };
        }
        ThreadView {
            filter: view.filter.clone(),
            ..ThreadView::sorted_by(sort)
        }
    })
}

fn grid_rows(table: &ThreadTable, on_goto: &Callback<Goto>) -> Rows {
    let row = |row| grid_row(row, on_goto);
    Rows {
        first: table.first,
        rows: table.rows.iter().map(row).collect(),
    }
}

fn grid_row(row: &ThreadTimes, on_goto: &Callback<Goto>) -> GridRow {
    let label = row.label.clone();
    let head = [
        row.id.to_string().into(),
        html! { <span title={label.clone()}>{ label.unwrap_or_else(|| format::NOTHING.to_owned()) }</span> },
    ];
    let created = row.created.map_or(format::NOTHING.to_owned(), format::time);
    let ended = match row.finished {
        Some(at) => format!("at {}", format::time(at)),
        None => row.end.explanation(),
    };
    let ended = html! { <span title={ended.clone()}>{ ended.clone() }</span> };
    let tail = [created.into(), ended];
    let longest = longest_wait(&row.sums, Some(row.id), on_goto);
    [&head[..], &sums_cells(&row.sums, longest), &tail]
        .concat()
        .into()
}

fn sums_row(table: &ThreadTable, on_goto: &Callback<Goto>) -> GridRow {
    let head = ["".into(), "Total".into()];
    let longest = longest_wait(&table.all, table.longest_ready_of, on_goto);
    let sums = sums_cells(&table.all, longest);
    [&head[..], &sums, &["".into(), "".into()]].concat().into()
}

/// The longest wait for a capability, which leads to it.
fn longest_wait(sums: &ThreadSums, of: Option<ThreadId>, on_goto: &Callback<Goto>) -> Html {
    let place = of.zip(sums.longest_ready);
    let Some((thread, span)) = place.filter(|_| sums.longest_ready_ns > 0) else {
        return time(sums.longest_ready_ns);
    };
    let what = format!("the longest wait of thread {thread} for a capability");
    html! {
        <PlaceLink text={format::duration(Duration(sums.longest_ready_ns))} {what} in_grid=true
            place={Goto::details(Thread(thread).into(), span)} on_goto={on_goto.clone()} />
    }
}

/// A time in a cell; 0 is faint.
fn time(ns: u64) -> Html {
    match ns {
        0 => html! { <span class="faint">{ "0" }</span> },
        ns => format::duration(Duration(ns)).into(),
    }
}

/// The cells from the shares to the migrations. The times sum to the life.
fn sums_cells(sums: &ThreadSums, longest: Html) -> [Html; 14] {
    let times = &sums.times;
    let count = |count: u64| match count {
        0 => html! { <span class="faint">{ "0" }</span> },
        count => format::count(count).into(),
    };
    let mean = sums.mean_ready_ns();
    [
        shares(times),
        time(times.running_ns + times.open_ns),
        time(times.ready_paused_ns),
        time(times.ready_behind_ns),
        time(times.ready_idle_ns),
        longest,
        mean.map_or_else(|| format::NOTHING.into(), time),
        time(times.blocked_outside_calls_ns()),
        time(times.foreign_ns()),
        blocked_on(times),
        time(times.unknown_ns),
        count(sums.runs),
        count(sums.wakeups),
        count(sums.migrations),
    ]
}

/// The reasons of blocking, the longest first.
fn blocked_on(times: &TurnSums) -> Html {
    let reasons = WaitReason::ALL.iter().zip(times.blocked_ns);
    let is_blocked =
        |(reason, ns): &(&WaitReason, u64)| *ns > 0 && **reason != WaitReason::ForeignCall;
    let mut reasons: Vec<_> = reasons.filter(is_blocked).collect();
    reasons.sort_small_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let words = |(reason, ns): &(&WaitReason, u64)| {
        format!("{} {}", reason.name(), format::duration(Duration(*ns)))
    };
    let title = reasons.iter().map(words).collect::<Vec<_>>().join(", ");
    let one = |part: &(&WaitReason, u64)| {
        html! { <>{ swatch(part.0.class()) }{ words(part) }{ " " }</> }
    };
    // What is longest has room; all of them are in the title and in the details.
    html! { <span {title}>{ for reasons.iter().take(2).map(one) }</span> }
}

fn swatch(class: Class) -> Html {
    html! { <span class={classes!("swatch", colour(class))} aria-hidden="true" /> }
}

/// How the time divides, as a bar.
fn shares(times: &TurnSums) -> Html {
    let classes = times.by_class();
    let times_of = |class: Class| classes[class as usize];
    let order = [
        Class::Running,
        Class::Open,
        Class::ReadyGc,
        Class::Ready,
        Class::ThreadRunnableCapIdle,
        Class::Mvar,
        Class::Stm,
        Class::BlackHole,
        Class::ThrowTo,
        Class::Foreign,
        Class::Sleeping,
        Class::Io,
        Class::Unknown,
    ];
    let parts = order.map(|class| (colour(class), times_of(class)));
    share_bar(times.life_ns(), parts)
}

#[derive(Properties, PartialEq)]
struct ControlsProps {
    view: ThreadView,
    on_view: Callback<ThreadView>,
    range: Option<Interval>,
    marked: Rc<Marked>,
    /// How many threads are listed, if that is known.
    total: Option<u64>,
    client: LogClient,
    query: ThreadTableQuery,
}

/// The filter, the order, and the file.
#[component]
fn Controls(props: &ControlsProps) -> Html {
    let status = props.total.map(|total| {
        let of = match props.range {
            Some(range) => format!("in the selected range, {}", span_text(range)),
            None => "in the whole log".to_owned(),
        };
        let all = format!("{} {of}", format::many(total, "thread"));
        let scope = &props.marked.scope;
        if scope.threads.is_empty() && !scope.caps.is_empty() {
            // A thread is not at home on a capability.
            format!("{all}: all threads (no thread track selected)")
        } else {
            props.marked.about(all)
        }
    });
    let rows = use_memo(
        (props.client.clone(), props.query.clone()),
        |(client, query)| {
            let query = query.clone();
            RowsOf::asking(client.clone(), move |rows, separated| ThreadTextQuery {
                query: ThreadTableQuery {
                    rows,
                    ..query.clone()
                },
                separated,
            })
        },
    );
    html! {
        <div class="controls">
            <Filter view={props.view.clone()} on_view={props.on_view.clone()} />
            { order(props) }
            <span class="for" role="status">{ status }</span>
            <RowsOut name="threads" total={props.total.unwrap_or_default()} rows={(*rows).clone()} />
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct FilterProps {
    view: ThreadView,
    on_view: Callback<ThreadView>,
}

#[component]
fn Filter(props: &FilterProps) -> Html {
    let view = props.view.clone();
    let on_input = use_pause(TYPED_MS, props.on_view.clone()).reform(move |filter| ThreadView {
        filter,
        ..view.clone()
    });
    html! {
        <label class="search">
            <Field kind="search" placeholder="Label or number" label="Only threads with this label or number"
                value={props.view.filter.clone()} {on_input} />
        </label>
    }
}

/// What a column is called in the menu.
fn sort_title(sort: ThreadColumn) -> String {
    let column = SORTS.iter().position(|other| *other == Some(sort));
    match (sort, column.and_then(|column| COLUMNS.get(column))) {
        (ThreadColumn::Ready, _) => "Waiting for a capability".to_owned(),
        (ThreadColumn::ReadyPaused, _) => "Ready: in GC".to_owned(),
        (ThreadColumn::ReadyBehind, _) => "Ready: queued".to_owned(),
        (ThreadColumn::ThreadRunnableCapIdle, _) => "Ready: idle cap".to_owned(),
        (ThreadColumn::BlockedOn(WaitReason::ForeignCall), _) => "In foreign calls".to_owned(),
        (ThreadColumn::BlockedOn(WaitReason::Other), _) => "Blocked, reason unknown".to_owned(),
        (ThreadColumn::BlockedOn(WaitReason::Delay), _) => "Sleeping".to_owned(),
        (ThreadColumn::BlockedOn(WaitReason::Io), _) => "Waiting for I/O".to_owned(),
        (ThreadColumn::BlockedOn(reason), _) => format!("Blocked on {}", reason.name()),
        (ThreadColumn::Thread, _) => "Number".to_owned(),
        (ThreadColumn::Finished, _) => "Time of the end".to_owned(),
        (ThreadColumn::End, _) => "How it ended".to_owned(),
        (_, Some(column)) => column.title.to_owned(),
        (_, None) => sort.name().to_owned(),
    }
}

fn order(props: &ControlsProps) -> Html {
    let view = props.view.clone();
    let onchange = props.on_view.reform(move |event: Event| {
        let name = value_of(event);
        ThreadView {
            filter: view.filter.clone(),
            ..ThreadView::sorted_by(ThreadColumn::named(&name).unwrap_or_default())
        }
    });
    let option = |sort: ThreadColumn| {
        let selected = props.view.sort == sort;
        html! { <option value={sort.name()} {selected}>{ sort_title(sort) }</option> }
    };
    html! {
        <label class="order">{ "Sorted by " }
            <select {onchange}>{ for ThreadColumn::ALL.into_iter().map(option) }</select>
        </label>
    }
}
