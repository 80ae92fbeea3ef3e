//! The summary panel: the numbers of the runtime's own report (`+RTS -s`), of the whole log or of the selected range,
//! and the time account of each capability.

mod facts;
mod processes;
mod tables;
pub(super) mod words;

use std::rc::Rc;

use serde::Serialize;
use yew::prelude::*;

use super::findings::Brief;
use crate::copy::CopyButton;
use crate::pagination::use_pagination;
use crate::panel::{Extent, PanelProps, TrackSelection, span_text, use_answered};
use crate::viewer::NavigationTarget;
use analysis::numbers::summary::{SparkTotals, Summary as Numbers};
use model::time::Interval;
use session::queries::SummaryQuery;
use session::tracks::processes::Processes;
use views::words::heap_report;
use views::words::report::Report;

/// Number of capabilities listed at first.
const CAPABILITIES_SHOWN: usize = 64;

/// Inputs shared by the tables and lists of this panel.
#[derive(Clone, Copy)]
struct About<'a> {
    numbers: &'a Numbers,
    /// Numbers of the whole log, if they have arrived.
    whole: Option<&'a Numbers>,
    extent: Extent,
    track_selection: &'a TrackSelection,
    /// The process of each capability, in a log of several processes.
    processes: &'a Processes,
    /// Goes to the place on the timeline where a number was measured.
    on_goto: &'a Callback<NavigationTarget>,
}

impl About<'_> {
    /// Returns whether the log has statistics of the garbage collector.
    const fn has_heap(self) -> bool {
        self.numbers.collections.is_some()
    }

    /// Returns whether the whole log has spark counts and all of them are 0.
    fn has_no_sparks(self) -> bool {
        let sparks = self.whole.and_then(|whole| whole.sparks);
        sparks.is_some_and(|sparks| sparks == SparkTotals::default())
    }
}

#[component]
pub(super) fn Summary(props: &PanelProps) -> Html {
    let pagination = use_pagination(CAPABILITIES_SHOWN);
    let whole = use_answered(&props.source, Some(SummaryQuery(None)));
    let of_range = props.range.map(|range| SummaryQuery(Some(range)));
    let part = use_answered(&props.source, of_range).filter(|_| props.range.is_some());
    // Before the first event is read, no number can be reported as missing.
    let nothing_read = props.overview.events == 0 && !props.overview.complete;
    let shown = part.as_ref().or(whole.as_ref());
    let Some(shown) = shown.filter(|_| !nothing_read) else {
        return html! { <p class="empty">{ "Loading the numbers…" }</p> };
    };
    let (numbers, extent) = (&shown.answer, shown.extent);
    let about = About {
        numbers,
        whole: whole.as_ref().map(|whole| &*whole.answer),
        extent,
        track_selection: &props.track_selection,
        processes: &props.overview.contents.processes,
        on_goto: &props.on_goto,
    };
    html! {
        <div class="numbers">
            <header class="numbers-head">
                <h2>{ extent.title() }</h2>
                if props.range.is_none() {
                    <p class="faint">{ "Drag on the timeline to limit the numbers to a range" }</p>
                }
                if props.overview.report.is_some() {
                    <p class="faint">{ heap_report::nothing_of("times and collections") }</p>
                }
                if let Some(whose) = whose(&props.track_selection) {
                    <p class="faint">{ whose }</p>
                }
                { copies(numbers, extent.range) }
            </header>
            <Brief ..props.clone() />
            { processes::processes(&numbers.processes) }
            <div class="cards">
                <div class="card-column">{ facts::time(about) }{ facts::sparks(about) }</div>
                { facts::memory(about) }
                <div class="card-column">{ tables::collections(about) }{ tables::parallelism(about) }</div>
            </div>
            { tables::capabilities(about, &pagination) }
        </div>
    }
}

/// Describes the effect of the selected tracks on this panel, if any.
fn whose(track_selection: &TrackSelection) -> Option<String> {
    let scope = &track_selection.scope;
    if !scope.caps.is_empty() {
        let tracks = track_selection.words();
        Some(format!(
            "Of the whole program; the table of capabilities only of the selected tracks ({tracks})"
        ))
    } else if !scope.is_everything() {
        Some("Of the whole program, whichever threads are selected".to_owned())
    } else {
        None
    }
}

/// Renders buttons that copy the numbers in the formats of the command line.
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
