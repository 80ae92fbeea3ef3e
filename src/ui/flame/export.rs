//! The flame graph as a file.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::JsCast;
use web_sys::{Blob, BlobPropertyBag};
use yew::prelude::*;

use crate::protocol::{Answer, Question};
use crate::ui::client::Client;
use crate::ui::menu::Menu;
use crate::ui::save::{save, save_blob};
use crate::ui::theme;
use crate::wire;
use analysis::flamegraph::profiles::SourceInfo;
use views::flame::query::{ExportFormat, FlameQuery};
use views::scene::flame::{picture_query, svg};

#[derive(Clone, Properties, PartialEq)]
pub(super) struct ExportProps {
    pub(super) client: Client,
    pub(super) query: FlameQuery,
    pub(super) source: Rc<SourceInfo>,
}

/// The formats, with the name of the file, its type, and what it is for.
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

/// The menu of the formats.
#[component]
pub(super) fn Export(props: &ExportProps) -> Html {
    let status = use_state_eq(|| None::<&'static str>);
    let done = {
        let status = status.setter();
        Callback::from(move |saved: bool| {
            status.set((!saved).then_some("The file could not be saved."));
        })
    };
    let format =
        |&(format, name, kind, text): &(ExportFormat, &'static str, &'static str, &'static str)| {
            let (client, query, done) = (props.client.clone(), props.query.clone(), done.clone());
            let status = status.setter();
            let onclick = Callback::from(move |_: MouseEvent| {
                status.set(Some("The file is being written…"));
                let question = Question::FlameExport(query.clone(), format);
                let done = done.clone();
                client.ask(question, move |answer, columns| {
                    let bytes = columns.filter(|_| answer == Answer::File);
                    done.emit(bytes.is_some_and(|bytes| save_bytes(name, kind, &bytes)));
                });
            });
            html! { <p class="tools"><button class="small" {onclick}>{ text }</button></p> }
        };
    let svg = {
        let (props, done) = (props.clone(), done.clone());
        Callback::from(move |_: MouseEvent| save_svg(&props, done.clone()))
    };
    html! {
        <Menu id="flame-export" label="Save" title="Save the flame graph">
            { for FORMATS.iter().map(format) }
            <p class="tools"><button class="small" onclick={svg}>{ "SVG: the picture, at any size" }</button></p>
            if let Some(status) = *status { <p role="status">{ status }</p> }
        </Menu>
    }
}

fn save_bytes(name: &str, kind: &str, columns: &Array) -> bool {
    let properties = BlobPropertyBag::new();
    properties.set_type(kind);
    let bytes = columns.get(0);
    if bytes.dyn_ref::<js_sys::Uint8Array>().is_none() {
        return false;
    }
    let blob = Blob::new_with_u8_array_sequence_and_options(&Array::of1(&bytes), &properties);
    blob.and_then(|blob| save_blob(name, &blob)).is_ok()
}

/// Asks for the boxes of the picture, paints and saves them.
fn save_svg(props: &ExportProps, done: Callback<bool>) {
    let query = picture_query(&props.query);
    let source = Rc::clone(&props.source);
    let question = Question::Flame(query.clone());
    props.client.ask(question, move |answer, columns| {
        let boxes = columns.as_ref().and_then(wire::flame_boxes);
        let (Answer::Flame(head), Some(boxes)) = (answer, boxes) else {
            return done.emit(false);
        };
        let theme = theme::current();
        let text = svg((head, boxes), &query, &source, theme.palette, theme.dark);
        let texts = Array::of1(&text.into());
        done.emit(save("flamegraph.svg", "image/svg+xml", &texts).is_ok());
    });
}
