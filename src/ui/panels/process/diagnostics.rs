//! All that is wrong or odd about the log.

use std::rc::Rc;

use yew::prelude::*;

use super::time_button;
use crate::ui::more::use_more;
use crate::ui::viewer::Goto;
use analysis::process::{Diagnostic, DiagnosticKind, Process};
use views::scene::format;

/// How many of each kind are shown at first.
const SHOWN: usize = 10;

/// The kinds, the gravest first.
const KINDS: [DiagnosticKind; 5] = [
    DiagnosticKind::Damage,
    DiagnosticKind::Oddity,
    DiagnosticKind::UnknownType,
    DiagnosticKind::Clock,
    DiagnosticKind::Open,
];

const fn title(kind: DiagnosticKind) -> &'static str {
    match kind {
        DiagnosticKind::Damage => "Damage",
        DiagnosticKind::Oddity => "Oddities",
        DiagnosticKind::UnknownType => "Unknown event types",
        DiagnosticKind::Clock => "Clock",
        DiagnosticKind::Open => "Open at the end",
    }
}

const fn meaning(kind: DiagnosticKind) -> &'static str {
    match kind {
        DiagnosticKind::Damage => {
            "Parts of the file that are not as they should be. Times are those of the last event before."
        }
        DiagnosticKind::Oddity => {
            "Events that a sound log does not have, or that lack their counterpart."
        }
        DiagnosticKind::UnknownType => {
            "A newer runtime or another program wrote them. They are counted, but not understood."
        }
        DiagnosticKind::Clock => "Usual if it is by little.",
        DiagnosticKind::Open => {
            "Usual: threads that wait when the program ends, or all that ran when it was killed."
        }
    }
}

/// Whether a sound log may have it.
const fn usual(kind: DiagnosticKind) -> bool {
    matches!(kind, DiagnosticKind::Clock | DiagnosticKind::Open)
}

#[derive(Properties, PartialEq)]
pub(super) struct DiagnosticsProps {
    pub(super) process: Rc<Process>,
    /// The heading, to scroll to.
    pub(super) heading: NodeRef,
    pub(super) on_goto: Callback<Goto>,
}

/// The section.
#[component]
pub(super) fn Diagnostics(props: &DiagnosticsProps) -> Html {
    let process = &props.process;
    let all = &process.diagnostics;
    let verdict = if process.diagnostic_count == 0 {
        "Nothing is wrong with this log."
    } else if all.iter().all(|one| usual(one.kind)) {
        "Nothing in this log is damaged or contradicts itself."
    } else {
        ""
    };
    let not_kept = process.diagnostic_count.saturating_sub(all.len() as u64);
    let kinds = KINDS.into_iter().filter_map(|kind| {
        let count = all.iter().filter(|one| one.kind == kind).count();
        (count > 0).then(|| html! {
            <Kind key={title(kind)} {kind} {count} process={Rc::clone(process)} on_goto={props.on_goto.clone()} />
        })
    });
    html! {
        <section aria-labelledby="process-diagnostics">
            <h2 id="process-diagnostics" ref={props.heading.clone()} tabindex="-1">{ "Diagnostics" }</h2>
            if !verdict.is_empty() {
                <p>{ verdict }</p>
            }
            { for kinds }
            if not_kept > 0 {
                <p>{ format!("{} in all; {} more are counted, but not kept.",
                    format::count(process.diagnostic_count), format::count(not_kept)) }</p>
            }
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct KindProps {
    kind: DiagnosticKind,
    /// How many there are of it.
    count: usize,
    process: Rc<Process>,
    on_goto: Callback<Goto>,
}

/// One kind of diagnostics.
#[component]
fn Kind(props: &KindProps) -> Html {
    let more = use_more(SHOWN);
    let (kind, count) = (props.kind, props.count);
    let of_kind = props.process.diagnostics.iter();
    let of_kind = of_kind.filter(|one| one.kind == kind).take(more.shown);
    html! {
        <>
            <h3>{ title(kind) }{ " " }<span class="badge">{ format::count(count as u64) }</span></h3>
            <p>{ meaning(kind) }</p>
            <ul class="diagnostics">{ for of_kind.map(|one| item(one, &props.on_goto)) }</ul>
            { more.button(count, "") }
        </>
    }
}

fn item(one: &Diagnostic, on_goto: &Callback<Goto>) -> Html {
    let mut place = Vec::new();
    if let Some(cap) = one.cap {
        place.push(format!("capability {cap}"));
    }
    if let Some(offset) = one.offset {
        place.push(format!("byte {offset} (0x{:x})", offset.0));
    }
    // Sentences about bytes begin with their offset, which stands beside.
    let prefix = one.offset.map(|offset| format!("byte {offset}: "));
    let text = prefix
        .and_then(|prefix| one.text.strip_prefix(&prefix))
        .unwrap_or(&one.text);
    html! {
        <li>
            <span class="when">
                if let Some(at) = one.at {
                    { time_button(on_goto, at, one.cap) }
                }
            </span>
            <span>
                { text }
                if !place.is_empty() {
                    <span class="explanation">{ place.join(" · ") }</span>
                }
            </span>
        </li>
    }
}
