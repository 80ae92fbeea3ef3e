//! The numbers of the runtime's own report, of the whole log or of the selected
//! range, and how each capability spent it.

mod facts;
mod processes;
mod tables;
pub(super) mod words;

use std::rc::Rc;

use serde::Serialize;
use yew::prelude::*;

use super::findings::Brief;
use crate::copy::CopyButton;
use crate::more::use_more;
use crate::panel::{Marked, PanelProps, range_text, span_text, use_answer, use_answered_if};
use crate::viewer::Goto;
use analysis::numbers::summary::{SparkTotals, Summary as Numbers};
use model::time::Interval;
use session::questions::SummaryQuery;
use session::tracks::processes::Processes;
use views::words::heap_report;
use views::words::report::Report;

/// How many capabilities are listed at first.
const CAPABILITIES_SHOWN: usize = 64;

/// What the tables and lists of this panel are about.
#[derive(Clone, Copy)]
struct About<'a> {
    numbers: &'a Numbers,
    /// Those of the whole log.
    whole: Option<&'a Numbers>,
    range: Option<Interval>,
    marked: &'a Marked,
    /// Whose the capabilities are, if the log is of several processes.
    processes: &'a Processes,
    /// Shows where a number was measured.
    on_goto: &'a Callback<Goto>,
}

impl About<'_> {
    /// Whether the log has numbers of the collector at all.
    const fn has_heap(self) -> bool {
        self.numbers.collections.is_some()
    }

    /// Whether the whole log has counts of sparks, which are all 0.
    fn has_no_sparks(self) -> bool {
        let sparks = self.whole.and_then(|whole| whole.sparks);
        sparks.is_some_and(|sparks| sparks == SparkTotals::default())
    }
}

/// The panel.
#[component]
pub(super) fn Summary(props: &PanelProps) -> Html {
    let more = use_more(CAPABILITIES_SHOWN);
    let whole = use_answer(&props.source, SummaryQuery(None));
    let of_range = props.range.map(|range| SummaryQuery(Some(range)));
    let part = use_answered_if(&props.source, of_range).filter(|_| props.range.is_some());
    // Of which time the numbers are: while a range is dragged, its numbers come later.
    let range = part.as_ref().and_then(|(query, _)| query.0);
    let answer = part.map(|(_, answer)| answer);
    // Of a log of which no event is read yet, nothing can be said to be missing.
    let nothing_read = props.overview.events == 0 && !props.overview.complete;
    let numbers = answer.as_ref().or(whole.as_ref());
    let Some(numbers) = numbers.filter(|_| !nothing_read) else {
        return html! { <p class="empty">{ "Loading the numbers…" }</p> };
    };
    let about = About {
        numbers,
        whole: whole.as_deref(),
        range,
        marked: &props.marked,
        processes: &props.overview.contents.processes,
        on_goto: &props.on_goto,
    };
    html! {
        <div class="numbers">
            <header class="numbers-head">
                <h2>{ range_text(range, props.source.complete) }</h2>
                if props.range.is_none() {
                    <p class="faint">{ "Drag on the timeline to see the numbers of a part" }</p>
                }
                if props.overview.report.is_some() {
                    <p class="faint">{ heap_report::nothing_of("where time went, and of collections") }</p>
                }
                if let Some(whose) = whose(&props.marked) {
                    <p class="faint">{ whose }</p>
                }
                { copies(numbers, range) }
            </header>
            <Brief ..props.clone() />
            { processes::processes(&numbers.processes) }
            <div class="cards">
                <div class="card-column">{ facts::time(about) }{ facts::sparks(about) }</div>
                { facts::memory(about) }
                <div class="card-column">{ tables::collections(about) }{ tables::parallelism(about) }</div>
            </div>
            { tables::capabilities(about, &more) }
        </div>
    }
}

/// What the selected tracks change here, if there are any.
fn whose(marked: &Marked) -> Option<String> {
    let scope = &marked.scope;
    if !scope.caps.is_empty() {
        let tracks = marked.words();
        Some(format!(
            "Of the whole program; the table of capabilities only of the selected tracks ({tracks})"
        ))
    } else if !scope.is_everything() {
        Some("Of the whole program, whichever threads are selected".to_owned())
    } else {
        None
    }
}

/// Buttons that copy the numbers, as the command line prints them.
fn copies(numbers: &Rc<Numbers>, range: Option<Interval>) -> Html {
    let text = {
        let numbers = Rc::clone(numbers);
        move |()| {
            let head = range.map(|range| format!("{}\n\n", span_text(range)));
            Some(format!("{}{}", head.unwrap_or_default(), Report(&numbers)))
        }
    };
    let json = {
        let numbers = Rc::clone(numbers);
        move |()| {
            let plain = serde_wasm_bindgen::Serializer::json_compatible();
            let value = numbers.serialize(&plain).ok()?;
            js_sys::JSON::stringify(&value).ok().map(String::from)
        }
    };
    html! {
        <div class="copies">
            <CopyButton what="these numbers" text={Callback::from(text)} />
            <CopyButton label="Copy as JSON" what="these numbers" text={Callback::from(json)} />
        </div>
    }
}
