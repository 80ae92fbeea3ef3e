//! The panel of the process: program, runtime, capabilities, diagnostics and event types.

mod capabilities;
mod check;
mod diagnostics;
mod environment;
mod types;

use std::rc::Rc;

use web_sys::HtmlElement;
use yew::prelude::*;

use crate::copy::CopyButton;
use crate::dom::{focus, scroll_panel_to};
use crate::panel::{PanelProps, PanelRequest, use_answer};
use crate::viewer::NavigationTarget;
use analysis::process::{self, HeapSettings};
use analysis::processes::OsProcess;
use capabilities::{Capabilities, CapabilitySets};
use check::Check;
use environment::Environment;
use eventlog::ids::{CapId, Nanos};
use eventlog::quantity::Utc;
use model::time::Interval;
use scene::format;
use session::events::EventList;
use session::queries::ProcessQuery;
use session::tracks::capability::Capability;
use session::{MemoryUse, Overview};
use types::Types;
use views::panels::EVENTS;
use views::view::Change;
use views::words::process as words;

#[component]
pub(super) fn Process(props: &PanelProps) -> Html {
    let to_diagnostics = match props.request {
        Some((times, PanelRequest::Diagnostics)) => times,
        _ => 0,
    };
    let on_list = props.on_change.reform(|list: EventList| {
        Change::new(|view, _| view.with_settings(list).with_panel(EVENTS))
    });
    let process = use_answer(&props.source, ProcessQuery);
    let diagnostics = use_node_ref();
    {
        let node = diagnostics.clone();
        let when = (to_diagnostics, process.is_some());
        use_effect_with(when, move |&(asked, there)| {
            if let Some(heading) = node.cast::<HtmlElement>().filter(|_| asked > 0 && there) {
                scroll_panel_to(&heading);
                // Keyboard navigation continues at the heading.
                focus(&heading);
            }
        });
    }
    let Some(process) = &process else {
        return html! { <p class="empty">{ "Loading process information…" }</p> };
    };
    html! {
        <div class="process">
            if props.range.is_some() || props.track_selection.count > 0 {
                <p class="about">{ "Applies to the whole log, regardless of the selection." }</p>
            }
            <div class="process-columns">
            <div class="process-facts">
                { about_programs(process, &props.overview, props.memory) }
                <Environment source={props.source.clone()} count={process.environment_count} />
                <Capabilities process={Rc::clone(process)} in_all={props.overview.caps.len()} on_goto={props.on_goto.clone()} />
                <CapabilitySets process={Rc::clone(process)} />
            </div>
            <div class="process-diagnostics">
                { diagnostics::list(&process.diagnostics, &diagnostics, &props.on_goto) }
                <Check source={props.source.clone()} on_goto={props.on_goto.clone()} />
            </div>
            <Types process={Rc::clone(process)} {on_list} />
            </div>
        </div>
    }
}

/// Renders a time as a button that goes there on the timeline.
fn time_button(on_goto: &Callback<NavigationTarget>, time: Nanos, cap: Option<CapId>) -> Html {
    let onclick = on_goto.reform(move |_: MouseEvent| NavigationTarget {
        track: cap.map(|cap| Capability(cap).into()),
        ..NavigationTarget::time(time)
    });
    html! { <button class="time" {onclick} title="Show on the timeline">{ format::time(time) }</button> }
}

/// Explanation of a fact, and the option that sets it; both are empty for self-explanatory facts.
type Meaning = (&'static str, &'static str);

const CLEAR: Meaning = ("", "");

fn explanation((meaning, option): Meaning) -> Html {
    if meaning.is_empty() {
        return Html::default();
    }
    html! {
        <span class="explanation">
            { meaning }
            if !option.is_empty() {
                { " " }<code>{ option }</code>
            }
        </span>
    }
}

/// Renders a named fact with its explanation.
fn fact(name: &str, value: Html, meaning: Meaning) -> Html {
    html! {
        <>
            <dt>{ name }</dt>
            <dd>
                { value }
                { explanation(meaning) }
            </dd>
        </>
    }
}

/// Renders program and runtime; for a log of several processes, those of each.
fn about_programs(process: &process::Process, overview: &Overview, memory: MemoryUse) -> Html {
    if process.processes.is_empty() {
        return html! {
            <>
                { program(process, None, length_and_memory(overview, memory)) }
                { runtime(process, None) }
            </>
        };
    }
    let each = |(place, own): (usize, &OsProcess)| {
        html! {
            <>
                { program(&own.process, Some((place, own)), Html::default()) }
                { runtime(&own.process, Some(place)) }
            </>
        }
    };
    html! {
        <>
            <section aria-labelledby="process-log">
                <h2 id="process-log">{ format!("Log of {} processes", process.processes.len()) }</h2>
                <dl>{ length_and_memory(overview, memory) }</dl>
            </section>
            { for process.processes.iter().enumerate().map(each) }
        </>
    }
}

/// Renders the start, the length of the log, and the memory that reading it took.
fn length_and_memory(overview: &Overview, memory: MemoryUse) -> Html {
    html! {
        <>
            if let Some(date) = overview.report.as_ref().and_then(|report| report.date.clone()) {
                { fact("Started", html! { <span class="number">{ date }</span> }, ("As in the file: local time of the machine that ran the program.", "")) }
            }
            if let Some(span) = overview.span {
                { fact("Log", html! { length(span, overview) }, CLEAR) }
            }
            if memory.resident_bytes > 0 {
                { fact("Memory", html! { memory_text(memory) }, MEMORY) }
            }
        </>
    }
}

/// Renders a program. `of` is its position and process in a log of several processes; `more` holds further facts.
fn program(process: &process::Process, of: Option<(usize, &OsProcess)>, more: Html) -> Html {
    let command = process.command_line();
    let name = process.program.as_deref().map(|path| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        html! { <strong>{ name.to_owned() }</strong> }
    });
    let copied = {
        let command = command.clone();
        Callback::from(move |()| Some(command.clone()))
    };
    let id = of.map_or_else(String::new, |(place, _)| place.to_string());
    let id = format!("process-program{id}");
    let title = of.map_or_else(|| "Program".to_owned(), |(_, own)| own.name.clone());
    let caps = of.map(|(_, own)| {
        let caps: Vec<String> = own.caps.iter().map(ToString::to_string).collect();
        caps.join(", ")
    });
    html! {
        <section aria-labelledby={id.clone()}>
            <h2 {id}>{ title }</h2>
            <dl>
                { fact("Name", name.unwrap_or_else(|| html! { "Not in the log." }), CLEAR) }
                if !command.is_empty() {
                    { fact("Command line", html! {
                        <span class="command">
                            <code>{ &command }</code>
                            <CopyButton text={copied} what="the command line" />
                        </span>
                    }, CLEAR) }
                }
                if let Some(pid) = process.pid {
                    { fact("Process", html! { <span class="number">{ pid }</span> }, CLEAR) }
                }
                if let Some(parent) = process.parent_pid {
                    { fact("Started by", html! { <>{ "process " }<span class="number">{ parent }</span></> }, CLEAR) }
                }
                if let Some(started) = process.started {
                    { fact("Started", wall_clock(started), ("Time at which the log's clock was 0.", "")) }
                }
                if let Some(caps) = caps {
                    { fact("Capabilities", html! { <span class="number">{ caps }</span> }, CLEAR) }
                }
                { more }
            </dl>
        </section>
    }
}

const MEMORY: Meaning = (
    "Memory for reading this log. Data beyond the memory limit goes to a browser file, which is removed when the log is closed. For a limit of 2 GiB, append this to the page's address:",
    "?memory=2048",
);

fn memory_text(memory: MemoryUse) -> String {
    let resident_bytes = format::bytes(memory.resident_bytes);
    match memory.spilled_bytes {
        0 => resident_bytes,
        spilled_bytes => format!(
            "{resident_bytes}, and {} on the disk",
            format::bytes(spilled_bytes)
        ),
    }
}

fn length(span: Interval, overview: &Overview) -> String {
    format!(
        "{} long, from {} to {}; {} events in {}",
        format::duration(span.duration()),
        format::time(span.start()),
        format::time(span.end()),
        format::count(overview.events),
        format::bytes(overview.bytes)
    )
}

/// Renders a wall-clock time in the user's time zone and in UTC.
fn wall_clock(at: Utc) -> Html {
    let milliseconds = at.seconds as f64 * 1e3;
    let date = js_sys::Date::new(&milliseconds.into());
    // Minutes to add to local time to get UTC; NaN for dates too far in the future.
    let behind = date.get_timezone_offset();
    let utc = format!("{} UTC", at.clock_text(0));
    if !behind.is_finite() || behind == 0.0 {
        return html! { <span class="number">{ utc }</span> };
    }
    let ahead = -behind as i32;
    let sign = if ahead < 0 { '−' } else { '+' };
    let (hours, minutes) = (ahead.abs() / 60, ahead.abs() % 60);
    let local = format!("{} UTC{sign}{hours:02}:{minutes:02}", at.clock_text(ahead));
    html! {
        <>
            <span class="number">{ local }</span>{ " (your time)" }<br />
            <span class="number">{ utc }</span>
        </>
    }
}

fn runtime(process: &process::Process, place: Option<usize>) -> Html {
    let id = place.map_or_else(String::new, |place| place.to_string());
    let id = format!("process-runtime{id}");
    let ways = process.ways.iter();
    let ways = ways.map(|way| explanation(words::way_meaning(way)));
    let unknown = process.rts.is_none() && process.heap.is_none();
    html! {
        <section aria-labelledby={id.clone()}>
            <h2 {id}>{ "Runtime" }</h2>
            if unknown {
                <p>{ "No runtime information in the log." }</p>
            }
            <dl>
                if let Some(ghc) = &process.ghc {
                    { fact("GHC", html! { <strong>{ ghc }</strong> }, CLEAR) }
                }
                if !process.ways.is_empty() {
                    { fact("Kind", html! { <>{ words::ways(&process.ways) }{ for ways }</> }, CLEAR) }
                }
                if let Some(rts) = &process.rts {
                    { fact("Runtime ID", html! { <code>{ rts }</code> }, CLEAR) }
                }
                if let Some(heap) = &process.heap {
                    { heap_settings(heap) }
                }
            </dl>
        </section>
    }
}

fn heap_settings(heap: &HeapSettings) -> Html {
    let size = |bytes: u64| html! { format::bytes(bytes) };
    let most = heap
        .max_heap_bytes
        .map_or_else(|| html! { "no limit" }, size);
    html! {
        <>
            { fact("Generations", html! { heap.generations },
                ("Young objects are collected often; survivors are promoted and collected rarely.", "+RTS -G")) }
            { fact("Allocation area", size(heap.allocation_area_bytes),
                ("Memory that each capability allocates between collections: a larger area means fewer collections.", "+RTS -A")) }
            { fact("Largest heap", most,
                ("Beyond this size the program ends with a heap overflow.", "+RTS -M")) }
            { fact("Megablock", size(heap.megablock_bytes),
                ("Unit in which the runtime gets memory from the operating system.", "")) }
            { fact("Block", size(heap.block_bytes),
                ("Unit into which megablocks are divided.", "")) }
        </>
    }
}
