//! Waits of a thread: by reason, and by waker (another thread or the runtime).

use yew::prelude::*;

use super::swatch;
use crate::goto_link::GotoLink;
use crate::panel::{Extent, Source, use_answer, use_answered};
use crate::term::heading;
use crate::viewer::NavigationTarget;
use analysis::timeline::wait_totals::{LongestWait, WaitTotal, WaitTotals, WaitTotalsQuery, Waker};
use analysis::timeline::waits::{QueueReason, WaitKind};
use eventlog::ids::ThreadId;
use model::time::Interval;
use scene::format;
use session::queries::LabelsQuery;
use session::tracks::thread::Thread;

/// Maximum number of wakers listed.
const MAX_WAKERS: usize = 12;

#[derive(Properties, PartialEq)]
pub(super) struct WaitsProps {
    pub(super) thread: ThreadId,
    pub(super) source: Source,
    pub(super) range: Option<Interval>,
    pub(super) on_goto: Callback<NavigationTarget>,
}

/// Renders the waits by reason and by waker.
#[component]
pub(super) fn Waits(props: &WaitsProps) -> Html {
    let thread = props.thread;
    let query = WaitTotalsQuery {
        thread,
        range: props.range,
    };
    let answered = use_answered(&props.source, Some(query));
    let labels = use_answer(&props.source, LabelsQuery(vec![thread]));
    let label = labels.as_deref().and_then(|labels| labels.first());
    let name = name(thread, label.map(|(_, label)| label.as_str()));
    let asked = Extent {
        range: props.range,
        complete: true,
    };
    let range = answered.as_ref().map_or(asked, |it| it.extent).title();
    let totals = answered.as_ref().and_then(|it| it.answer.as_ref().as_ref());
    let body = match totals {
        None => html! { <p class="faint" role="status">{ "Loading its waits…" }</p> },
        Some(totals) if totals.reasons.is_empty() => {
            html! { <p>{ "No waits in this range." }</p> }
        }
        Some(totals) => html! {
            <>
                { by_reason(totals, &props.on_goto) }
                { by_waker(totals, &props.on_goto) }
                if totals.examined < totals.waits {
                    <p class="faint">{ format!(
                        "It waited {} times. Wakers and longest waits are listed for the first {}; select a range to see others.",
                        format::count(totals.waits), format::count(totals.examined)
                    ) }</p>
                }
            </>
        },
    };
    html! {
        <section class="thread-waits" aria-label={format!("Why {name} waited")}>
            <h3>{ format!("Why {name} waited") }{ " " }<span class="faint">{ range }</span></h3>
            { body }
        </section>
    }
}

/// Formats a thread with its label: `Thread 12 (worker)`.
fn name(thread: ThreadId, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("Thread {thread} ({label})"),
        None => format!("Thread {thread}"),
    }
}

fn by_reason(totals: &WaitTotals, on_goto: &Callback<NavigationTarget>) -> Html {
    let all = totals.reasons.iter().map(|total| total.ns);
    let all = all.fold(0, u64::saturating_add);
    let row = |total: &WaitTotal<WaitKind>| {
        let (state, reason) = (total.of.state(), total.of.reason());
        let name = match total.of {
            WaitKind::Blocked(_) => format!("{state}: {reason}"),
            WaitKind::Queued(QueueReason::Woken) => "ready, after wake-up".to_owned(),
            WaitKind::Queued(_) => format!("ready, after {reason}"),
            WaitKind::Collection => "ready, in a collection".to_owned(),
        };
        let shown = html! { <>{ swatch(total.of.class()) }{ " " }{ &name }</> };
        cells(totals.thread, (&name, shown), total, all, on_goto)
    };
    let heads = [
        (
            "Why",
            "Reason of the wait: blocked, or ready and waiting for a capability.",
        ),
        ("Time", "Total wait within this time."),
        ("Share", "Share of its total wait."),
        ("Waits", "Number of such waits that ended."),
        (
            "Longest",
            "Longest wait within this time; for a capability, without collections.",
        ),
    ];
    table(heads, totals.reasons.iter().map(row), 0)
}

fn by_waker(totals: &WaitTotals, on_goto: &Callback<NavigationTarget>) -> Html {
    if totals.wakers.is_empty() {
        return Html::default();
    }
    let all = totals.wakers.iter().map(|total| total.ns);
    let all = all.fold(0, u64::saturating_add);
    let row = |total: &WaitTotal<Waker>| {
        let label = |thread: ThreadId| totals.labels.iter().find(|(of, _)| *of == thread);
        let name = match total.of {
            Waker::Thread(thread) => name(thread, label(thread).map(|(_, label)| label.as_str())),
            Waker::Runtime => "the runtime".to_owned(),
            Waker::Unknown => "not in the log".to_owned(),
        };
        let shown = html! { { &name } };
        cells(totals.thread, (&name, shown), total, all, on_goto)
    };
    let heads = [
        (
            "Woken by",
            "Thread that ran where the wakeup was logged; the runtime, if no other thread ran there: a timer, for example. Exceptions and unfinished waits are not in the log.",
        ),
        ("Time", "Time blocked until the wakeup, within this time."),
        ("Share", "Share of its total blocked time."),
        ("Wakeups", "Number of these wakeups."),
        ("Longest", "Longest of these waits, within this time."),
    ];
    let more = totals.wakers.len().saturating_sub(MAX_WAKERS);
    table(heads, totals.wakers.iter().take(MAX_WAKERS).map(row), more)
}

/// Renders a table with rows made by [`cells`]; `more` is the number of wakers left out.
fn table(
    heads: [(&'static str, &'static str); 5],
    rows: impl Iterator<Item = Html>,
    more: usize,
) -> Html {
    html! {
        <table class="plain-table">
            <thead><tr>{ for heads.map(|(name, help)| heading(name, help)) }</tr></thead>
            <tbody>{ for rows }</tbody>
            if more > 0 {
                <tfoot><tr><td colspan="5">{ format!("and {}", format::pluralize(more as u64, "other thread")) }</td></tr></tfoot>
            }
        </table>
    }
}

fn cells<T>(
    thread: ThreadId,
    (name, shown): (&str, Html),
    total: &WaitTotal<T>,
    all_ns: u64,
    on_goto: &Callback<NavigationTarget>,
) -> Html {
    let longest = total.longest.map(|LongestWait { ns, span }| {
        html! {
            <GotoLink text={format::duration_ns(ns)} what={format!("the longest of these waits ({name})")}
                target={NavigationTarget::details(Thread(thread).into(), span)} on_goto={on_goto.clone()} />
        }
    });
    html! {
        <tr>
            <th scope="row">{ shown }</th>
            <td class="number">{ format::duration_ns(total.ns) }</td>
            <td class="number">{ format::percent(total.ns, all_ns) }</td>
            <td class="number">{ format::count(total.count) }</td>
            <td class="number">{ longest.unwrap_or_else(|| format::NO_VALUE.into()) }</td>
        </tr>
    }
}
