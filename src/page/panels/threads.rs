//! The panel of threads: the time account of each thread, in the selected range or the whole log.

mod waits;

use std::rc::Rc;

use yew::prelude::*;

use crate::client::LogClient;
use crate::dialog::color_class;
use crate::dom::{state_callback, use_debounced, value_of};
use crate::export_rows::{ExportButtons, use_table_rows};
use crate::field::Field;
use crate::goto_link::GotoLink;
use crate::grid::{
    Column, Grid, GridRow, Item, LoadedItems, Rows, SortableColumns, sortable_columns, use_current,
    use_rows,
};
use crate::guide::how_to_record;
use crate::panel::{
    PanelProps, TrackSelection, edited, faint_zero, slow_notice, span_text, use_answer,
};
use crate::share_bar::share_bar;
use crate::viewer::NavigationTarget;
use analysis::timeline::thread_table::{
    ThreadColumn, ThreadSums, ThreadTable, ThreadTableQuery, ThreadTableRow, ThreadTableSettings,
};
use analysis::timeline::turns::TurnSums;
use eventlog::ids::ThreadId;
use model::class::{Class, WaitReason};
use model::sorting::CompactSort;
use model::time::Interval;
use scene::format;
use session::tracks::thread::Thread;
use views::columns::sorted_again;
use views::view::findings::FindingsView;
use views::words::heap_report;
use waits::Waits;

const COLUMNS: SortableColumns<ThreadColumn> = sortable_columns! {
    Column::number("thread", "#", 44, "Thread number of the runtime").fixed() => Some(ThreadColumn::Thread),
    Column::text("label", "Label", 120,
        "Label of the thread (labelThread); – if it has none").fixed().narrow_px(92) => Some(ThreadColumn::Label),
    Column::text("shares", "Shares", 70,
        "Time of the thread by state: running, ready (in collections, behind others, while a capability idles), blocked, in foreign calls, waiting for I/O or time, unknown").unsorted() => None,
    Column::number("running", "Running", 88,
        "Time running Haskell code on a capability") => Some(ThreadColumn::Running),
    Column::number("collections", "Ready: in GC", 94,
        "Ready during a collection or its sync, when no thread runs") => Some(ThreadColumn::RunnableDuringGc),
    Column::number("behind", "Ready: queued", 98,
        "Ready while the capabilities ran other threads: the program has more work than capabilities (+RTS -N). A thread is ready once it is created, woken or stopped by the timer; the log does not show when a foreign call returned. For the thread that ran instead, see the details of a wait on the track") => Some(ThreadColumn::RunnableBehind),
    Column::number("idling", "Ready: idle cap", 106,
        "Ready while some capability was idle: lost parallelism. Work is spread unevenly, or the idle capability had not noticed yet") => Some(ThreadColumn::ThreadRunnableCapIdle),
    Column::number("longest", "Longest wait", 90,
        "Longest single wait for a capability: behind other threads or while one was idle, without collections") => Some(ThreadColumn::LongestReady),
    Column::number("mean", "Mean wait", 82,
        "Mean wait for a capability, without collections").on_demand() => Some(ThreadColumn::MeanReady),
    Column::number("blocked", "Blocked", 88,
        "Time blocked: on an MVar, a timer, … Foreign calls have their own column") => Some(ThreadColumn::Blocked),
    Column::number("foreign", "Foreign calls", 90,
        "Time in safe foreign calls, including the wait for a capability after a call: the log only shows when the thread runs again") => Some(ThreadColumn::BlockedOn(WaitReason::ForeignCall)),
    Column::text("reasons", "Blocked on", 192,
        "Time blocked, by reason. An exception wakes a thread without an event: such a wait counts as blocked to its end.").growing().unsorted() => None,
    Column::number("unknown", "Unknown", 78,
        "Time that is not in the log: buffers are lost when a program is killed").on_demand() => Some(ThreadColumn::Unknown),
    Column::number("runs", "Runs", 66,
        "Number of times it started to run on a capability").on_demand() => Some(ThreadColumn::Runs),
    Column::number("wakeups", "Wakeups", 74,
        "Number of wakeup events. A wakeup from another capability is logged twice.").on_demand() => Some(ThreadColumn::Wakeups),
    Column::number("migrations", "Migrations", 82,
        "Number of moves to another capability").on_demand() => Some(ThreadColumn::Migrations),
    Column::number("created", "Created", 100,
        "Creation time; – if before the start of the log").on_demand() => Some(ThreadColumn::Created),
    Column::text("ended", "Ended", 146,
        "Time at which it finished, or its state at the end of the log. Killed threads count as finished: the log does not distinguish them.") => Some(ThreadColumn::Finished),
};

/// Index of the column of blocking reasons; the menu sorts rows by a single reason.
const BLOCKED_ON: usize = 11;

/// Debounce delay for typing in the filter.
const TYPED_MS: u32 = 150;
/// Returns the table once the answer has arrived and has one.
fn table_of(answer: Option<&Rc<Option<ThreadTable>>>) -> Option<&ThreadTable> {
    answer.and_then(|table| table.as_ref().as_ref())
}

#[component]
pub(super) fn Threads(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<ThreadTableSettings>();
    let shown = (props.range, Rc::clone(&props.track_selection), view.clone());
    let (window, current) = use_rows(shown);
    let query = ThreadTableQuery {
        range: props.range,
        only: props.track_selection.scope.threads.clone(),
        ..view.query((*window).clone())
    };
    let answer = use_answer(&props.source, query.clone());
    let table = table_of(answer.as_ref());
    let rows = use_memo(answer.clone(), |answer| {
        let table = table_of(answer.as_ref());
        table.map_or_else(Rows::default, |table| grid_rows(table, &props.on_goto))
    });
    let loaded = table.map_or_else(LoadedItems::none, |table| {
        LoadedItems::new(
            table.first,
            table.rows.iter().map(|row| Item::Thread(row.id)),
        )
    });
    let current = use_current(&current, loaded);
    // The thread whose waits are detailed: that of the current row, or else the one that a finding led to.
    let found = props.view.settings.get::<FindingsView>();
    let own = match current.item {
        Some(Item::Thread(thread)) => Some(thread),
        _ => None,
    };
    let chosen = own.or_else(|| found.thread(props.range));
    if !props.source.complete {
        return html! { <p class="empty">{ "Thread times appear once the log is read." }</p> };
    }
    let total = table.map_or(0, |table| table.total);
    let on_window = state_callback(&window);
    let on_activate = {
        let (on_goto, range, answer) = (props.on_goto.clone(), props.range, answer.clone());
        Callback::from(move |row: u64| {
            let row = table_of(answer.as_ref()).and_then(|table| table.row(row));
            if let Some(goto) = row.and_then(|row| goto(row, range)) {
                on_goto.emit(goto);
            }
        })
    };
    html! {
        <div class="threads">
            <Controls view={view.clone()} on_view={on_view.clone()} range={props.range}
                track_selection={Rc::clone(&props.track_selection)} total={table.map(|table| table.total)} client={props.source.client.clone()} {query} />
            if table.is_none() {
                { slow_notice() }
            }
            if table.is_some() && total == 0 {
                <div class="empty">
                    <p>{ why_empty(props, &view) }</p>
                    if props.range.is_none() && view.filter.trim().is_empty() && props.track_selection.scope.is_everything() {
                        { how_to_record("record-threads") }
                    }
                </div>
            } else {
                <div class="threads-body">
                    <Grid name="thread-rows" label="Threads" columns={COLUMNS.columns} {total} {rows}
                        sums={table.map(|table| sums_row(table, &props.on_goto))} sort={sorted(&view)} on_sort={on_sort(&view, &on_view)}
                        {on_window} current={current.row} on_current={current.on_current.clone()} {on_activate} />
                    if let Some(thread) = chosen {
                        <Waits key={thread.0} {thread} source={props.source.clone()} range={props.range} on_goto={props.on_goto.clone()} />
                    }
                </div>
            }
        </div>
    }
}

fn why_empty(props: &PanelProps, view: &ThreadTableSettings) -> String {
    if props.overview.report.is_some() {
        return heap_report::nothing_of("threads");
    }
    let only_some = !props.track_selection.scope.threads.is_empty();
    let why = match (view.filter.trim().is_empty(), props.range) {
        (true, _) if only_some => {
            "No thread of the selected tracks existed in this range: clear the selection (Esc) to see all threads of the whole log."
        }
        (false, _) if only_some => {
            "No thread of the selected tracks has a matching label or number. Clear the filter, or the selection (Esc)."
        }
        (false, _) => "No thread has a matching label or number. Clear the filter to see all.",
        (true, Some(_)) => "No threads in the selected range: clear it (Esc) to see the whole log.",
        (true, None) => {
            "No thread events in this log. Run the program with +RTS -l; -l-s and -l-a turn them off."
        }
    };
    why.to_owned()
}

/// Returns the navigation target of a thread: its lifetime, clipped to the range.
fn goto(row: &ThreadTableRow, range: Option<Interval>) -> Option<NavigationTarget> {
    let life = row.life?;
    let span = range.map_or(life, |range| life.clip(range));
    Some(NavigationTarget::item(Thread(row.id).into(), span))
}

/// Returns the sorted column index and the direction, for the grid.
fn sorted(view: &ThreadTableSettings) -> Option<(usize, bool)> {
    let column = match view.sort {
        ThreadColumn::BlockedOn(reason) if reason != WaitReason::ForeignCall => Some(BLOCKED_ON),
        ThreadColumn::End => COLUMNS.index_of(ThreadColumn::Finished),
        sort => COLUMNS.index_of(sort),
    };
    column.map(|column| (column, view.descending))
}

/// Returns the callback of column heads; clicking the sorted column again reverses the order.
fn on_sort(view: &ThreadTableSettings, on_view: &Callback<ThreadTableSettings>) -> Callback<usize> {
    edited(view, on_view, |view, column: usize| {
        let sort = COLUMNS.key(column).unwrap_or_default();
        let order = (view.sort, view.descending);
        (view.sort, view.descending) = sorted_again(order, sort, sort.largest_first());
    })
}

fn grid_rows(table: &ThreadTable, on_goto: &Callback<NavigationTarget>) -> Rows {
    let row = |row| grid_row(row, on_goto);
    Rows {
        first: table.first,
        rows: table.rows.iter().map(row).collect(),
    }
}

fn grid_row(row: &ThreadTableRow, on_goto: &Callback<NavigationTarget>) -> GridRow {
    let label = row.label.clone();
    let head = [
        row.id.to_string().into(),
        html! { <span title={label.clone()}>{ label.unwrap_or_else(|| format::NO_VALUE.to_owned()) }</span> },
    ];
    let created = row
        .created
        .map_or(format::NO_VALUE.to_owned(), format::time);
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

fn sums_row(table: &ThreadTable, on_goto: &Callback<NavigationTarget>) -> GridRow {
    let head = ["".into(), "Total".into()];
    let longest = longest_wait(&table.all, table.longest_ready_of, on_goto);
    let sums = sums_cells(&table.all, longest);
    [&head[..], &sums, &["".into(), "".into()]].concat().into()
}

/// Renders the longest wait for a capability, as a link to it.
fn longest_wait(
    sums: &ThreadSums,
    of: Option<ThreadId>,
    on_goto: &Callback<NavigationTarget>,
) -> Html {
    let place = of.zip(sums.longest_ready);
    let Some((thread, span)) = place.filter(|_| sums.longest_ready_ns > 0) else {
        return time(sums.longest_ready_ns);
    };
    let what = format!("the longest wait of thread {thread} for a capability");
    html! {
        <GotoLink text={format::duration_ns(sums.longest_ready_ns)} {what} in_grid=true
            target={NavigationTarget::details(Thread(thread).into(), span)} on_goto={on_goto.clone()} />
    }
}

fn time(ns: u64) -> Html {
    faint_zero(ns, format::duration_ns)
}

/// Renders the cells from the shares to the migrations. The times add up to the lifetime.
fn sums_cells(sums: &ThreadSums, longest: Html) -> [Html; 14] {
    let times = &sums.times;
    let count = |count: u64| faint_zero(count, format::count);
    let mean = sums.mean_ready_ns();
    [
        shares(times),
        time(times.running_ns + times.open_ns),
        time(times.runnable_during_gc_ns),
        time(times.runnable_behind_ns),
        time(times.runnable_cap_idle_ns),
        longest,
        mean.map_or_else(|| format::NO_VALUE.into(), time),
        time(times.blocked_outside_calls_ns()),
        time(times.foreign_ns()),
        blocked_on(times),
        time(times.unknown_ns),
        count(sums.runs),
        count(sums.wakeups),
        count(sums.migrations),
    ]
}

/// Renders the blocking reasons, longest first.
fn blocked_on(times: &TurnSums) -> Html {
    let reasons = WaitReason::ALL.iter().zip(times.blocked_ns);
    let is_blocked =
        |(reason, ns): &(&WaitReason, u64)| *ns > 0 && **reason != WaitReason::ForeignCall;
    let mut reasons: Vec<_> = reasons.filter(is_blocked).collect();
    reasons.sort_small_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let words = |(reason, ns): &(&WaitReason, u64)| {
        format!("{} {}", reason.name(), format::duration_ns(*ns))
    };
    let title = reasons.iter().map(words).collect::<Vec<_>>().join(", ");
    let one = |part: &(&WaitReason, u64)| {
        html! { <>{ swatch(part.0.class()) }{ words(part) }{ " " }</> }
    };
    // The cell has room for the two longest; the title and the details list all.
    html! { <span {title}>{ for reasons.iter().take(2).map(one) }</span> }
}

fn swatch(class: Class) -> Html {
    html! { <span class={classes!("swatch", color_class(class))} aria-hidden="true" /> }
}

/// Renders the time by state as a stacked bar.
fn shares(times: &TurnSums) -> Html {
    let classes = times.by_class();
    let times_of = |class: Class| classes[class as usize];
    let order = [
        Class::Running,
        Class::Open,
        Class::RunnableDuringGc,
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
    let parts = order.map(|class| (color_class(class), times_of(class)));
    share_bar(times.life_ns(), parts)
}

#[derive(Properties, PartialEq)]
struct ControlsProps {
    view: ThreadTableSettings,
    on_view: Callback<ThreadTableSettings>,
    range: Option<Interval>,
    track_selection: Rc<TrackSelection>,
    /// Number of listed threads, once known.
    total: Option<u64>,
    client: LogClient,
    query: ThreadTableQuery,
}

/// Renders the filter, the sort menu and the export buttons.
#[component]
fn Controls(props: &ControlsProps) -> Html {
    let status = props.total.map(|total| {
        let of = match props.range {
            Some(range) => format!("in the selected range, {}", span_text(range)),
            None => "in the whole log".to_owned(),
        };
        let all = format!("{} {of}", format::pluralize(total, "thread"));
        let scope = &props.track_selection.scope;
        if scope.threads.is_empty() && !scope.caps.is_empty() {
            // Threads migrate between capabilities, so selected capabilities do not limit this table.
            format!("{all}: all threads (no thread track selected)")
        } else {
            props.track_selection.about(all)
        }
    });
    let rows = use_table_rows(&props.client, props.query.clone());
    let on_view = use_debounced(TYPED_MS, props.on_view.clone());
    let on_input = edited(&props.view, &on_view, |view, text| view.filter = text);
    html! {
        <div class="controls">
            <label class="search">
                <Field kind="search" placeholder="Label or number" label="Only threads with this label or number"
                    value={props.view.filter.clone()} {on_input} />
            </label>
            { order(props) }
            <span class="for" role="status">{ status }</span>
            <ExportButtons name="threads" total={props.total.unwrap_or_default()} {rows} />
        </div>
    }
}

/// Returns the title of a sort key in the menu.
fn sort_title(sort: ThreadColumn) -> String {
    let column = COLUMNS.index_of(sort).map(|column| COLUMNS.columns[column]);
    match (sort, column) {
        (ThreadColumn::Ready, _) => "Waiting for a capability".to_owned(),
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
        ThreadTableSettings {
            filter: view.filter.clone(),
            ..ThreadTableSettings::sorted_by(ThreadColumn::named(&name).unwrap_or_default())
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
