//! Export of the flame graph to files.

use session::flame::export::IncompleteStacks;
use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag};
use yew::prelude::*;

use crate::client::{LogClient, PendingAsk};
use crate::menu::Menu;
use crate::save::{save, save_blob};
use crate::theme;
use analysis::flamegraph::source_info::SourceInfo;
use session::flame::query::{ExportFormat, FlameQuery};
use session::queries::FlameExportQuery;
use views::flame::{picture_query, svg};

#[derive(Clone, Properties, PartialEq)]
pub(super) struct ExportProps {
    pub(super) client: LogClient,
    pub(super) query: FlameQuery,
    pub(super) source: Rc<SourceInfo>,
}

/// Formats, each with file name, MIME type and description.
const FORMATS: [(ExportFormat, &str, &str, &str); 3] = [
    (
        ExportFormat::Speedscope,
        "profile.speedscope.json",
        "application/json",
        "speedscope: JSON for speedscope.app",
    ),
    (
        ExportFormat::Folded,
        "profile.folded",
        "text/plain",
        "Folded stacks: for flamegraph.pl and inferno",
    ),
    (
        ExportFormat::Pprof,
        "profile.pb.gz",
        "application/gzip",
        "pprof: for go tool pprof and others",
    ),
];

const WRITING: &str = "Writing the file…";

#[component]
pub(super) fn Export(props: &ExportProps) -> Html {
    let status = use_state_eq(|| None::<AttrValue>);
    let writing = use_mut_ref(|| None::<PendingAsk>);
    let done = {
        let status = status.setter();
        // `saved` is what was left out of the file, or `None` if saving failed.
        Callback::from(move |saved: Option<IncompleteStacks>| {
            status.set(match saved {
                None => Some("The file could not be saved.".into()),
                Some(left_out) if left_out.is_empty() => None,
                Some(left_out) => Some(format!("Saved. {left_out}").into()),
            });
        })
    };
    let format =
        |&(format, name, kind, text): &(ExportFormat, &'static str, &'static str, &'static str)| {
            let (client, query, done) = (props.client.clone(), props.query.clone(), done.clone());
            let (status, writing) = (status.setter(), Rc::clone(&writing));
            let onclick = Callback::from(move |_: MouseEvent| {
                status.set(Some(WRITING.into()));
                let question = FlameExportQuery {
                    query: query.clone(),
                    format,
                };
                let done = done.clone();
                let asked = client.ask_for_column(question, "bytes", move |answer| {
                    let file = answer.ok().and_then(|(file, bytes)| file.zip(bytes));
                    let saved = file.filter(|(_, bytes)| save_bytes(name, kind, bytes));
                    done.emit(saved.map(|(file, _)| file.left_out));
                });
                if let Some(before) = writing.replace(Some(asked)) {
                    before.cancel();
                }
            });
            html! { <p class="tools"><button class="small" {onclick}>{ text }</button></p> }
        };
    let svg = {
        let (props, done) = (props.clone(), done.clone());
        Callback::from(move |_: MouseEvent| save_svg(&props, done.clone()))
    };
    let stop = {
        let (status, writing) = (status.setter(), Rc::clone(&writing));
        Callback::from(move |_: MouseEvent| {
            writing.take().iter().for_each(PendingAsk::cancel);
            status.set(None);
        })
    };
    html! {
        <Menu id="flame-export" label="Save" title="Save the flame graph">
            { for FORMATS.iter().map(format) }
            <p class="tools"><button class="small" onclick={svg}>{ "SVG: the picture, at any size" }</button></p>
            if let Some(status) = &*status {
                <p role="status">{ status }
                    if status == WRITING { { " " }<button class="small" onclick={stop}>{ "Stop" }</button> }
                </p>
            }
        </Menu>
    }
}

fn save_bytes(name: &str, kind: &str, bytes: &JsValue) -> bool {
    let properties = BlobPropertyBag::new();
    properties.set_type(kind);
    if bytes.dyn_ref::<js_sys::Uint8Array>().is_none() {
        return false;
    }
    let blob = Blob::new_with_u8_array_sequence_and_options(&Array::of1(bytes), &properties);
    blob.and_then(|blob| save_blob(name, &blob)).is_ok()
}

/// Queries the boxes of the picture, renders them as SVG and saves it.
fn save_svg(props: &ExportProps, done: Callback<Option<IncompleteStacks>>) {
    let query = picture_query(&props.query);
    let source = Rc::clone(&props.source);
    props.client.ask(query.clone(), move |answer| {
        let Ok(Some(graph)) = answer else {
            return done.emit(None);
        };
        let theme = theme::current();
        let text = svg(graph, &query, &source, theme.palette, theme.dark);
        let texts = Array::of1(&text.into());
        let saved = save("flamegraph.svg", "image/svg+xml", &texts);
        done.emit(saved.ok().map(|_| IncompleteStacks::default()));
    });
}
