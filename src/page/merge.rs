//! Dialog for merging logs onto one time axis.

use web_sys::SubmitEvent;
use yew::prelude::*;

use super::dialog::{Modal, close_dialog};
use super::field::Field;
use eventlog_edit::merge::Align;
use protocol::MergeOptions;

/// State of the merge.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MergeStage {
    /// The user is choosing options.
    Asking,
    /// Logs are being read and written; progress in percent.
    Running(u64),
    /// The merge failed for this reason.
    Failed(String),
}

#[derive(Properties, PartialEq)]
pub(super) struct MergeProps {
    /// Names of the logs.
    pub(super) names: Vec<String>,
    /// Initial options.
    pub(super) options: MergeOptions,
    pub(super) stage: MergeStage,
    pub(super) on_merge: Callback<MergeOptions>,
    /// Cancels a running merge and closes the dialog.
    pub(super) on_close: Callback<()>,
}

/// Alignment methods with their explanations.
const METHODS: [(&str, &str); 4] = [
    (
        "Wall clock",
        "By the wall-clock time in each log: as accurate as the clocks are synchronized.",
    ),
    ("Start", "By first event: both are at the same time."),
    (
        "A marker",
        "By the first marker (traceMarkerIO) or message with this text:",
    ),
    (
        "Messages between them",
        "By markers or messages such as “SEND 42” in one log and “RECV 42” in another, in both directions, with these prefixes:",
    ),
];

/// Current form input.
#[derive(Clone, Debug, PartialEq)]
struct MergeForm {
    method: usize,
    marker: String,
    words: (String, String),
    offsets_ms: Vec<String>,
}

impl MergeForm {
    fn from_options(options: &MergeOptions, logs: usize) -> Self {
        let (send, receive) = Align::WORDS;
        let mut form = Self {
            method: 0,
            marker: String::new(),
            words: (send.to_owned(), receive.to_owned()),
            offsets_ms: options
                .offsets_ns
                .iter()
                .map(|ns| format!("{}", *ns as f64 / 1e6))
                .collect(),
        };
        form.offsets_ms.resize(logs, "0".to_owned());
        match &options.align {
            Align::WallClock => {}
            Align::Start => form.method = 1,
            Align::Marker(text) => {
                form.method = 2;
                form.marker.clone_from(text);
            }
            Align::Messages(send, receive) => {
                form.method = 3;
                form.words = (send.clone(), receive.clone());
            }
        }
        form
    }

    /// Returns the chosen options. Fails with the index of the first log whose offset is not a valid number.
    fn to_options(&self, name: &str) -> Result<MergeOptions, usize> {
        let mut offsets_ns = Vec::new();
        for (place, text) in self.offsets_ms.iter().enumerate() {
            let text = text.trim().replace(',', ".");
            let number = if text.is_empty() {
                Ok(0.0)
            } else {
                text.parse::<f64>()
            };
            let number = number.ok().filter(|ms| ms.abs() < 1e12).ok_or(place)?;
            offsets_ns.push((number * 1e6).round() as i64);
        }
        let words = [&self.words.0, &self.words.1].map(|word| word.trim().to_owned());
        let [send, receive] = words;
        Ok(MergeOptions {
            align: match self.method {
                0 => Align::WallClock,
                1 => Align::Start,
                2 => Align::Marker(self.marker.clone()),
                _ => Align::Messages(send, receive),
            },
            offsets_ns,
            name: name.to_owned(),
        })
    }
}

/// Modal dialog with the merge options and the progress.
#[component]
pub(super) fn Merge(props: &MergeProps) -> Html {
    let form = use_state_eq(|| MergeForm::from_options(&props.options, props.names.len()));
    let wrong = use_state_eq(|| None);
    let running = match props.stage {
        MergeStage::Running(percent) => Some(percent),
        _ => None,
    };
    let change = |change: fn(&mut MergeForm, String)| {
        let form = form.clone();
        Callback::from(move |text| {
            let mut next = MergeForm::clone(&form);
            change(&mut next, text);
            form.set(next);
        })
    };
    let on_submit = {
        let (form, wrong) = (form.clone(), wrong.setter());
        let (on_merge, name) = (props.on_merge.clone(), props.options.name.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let options = form.to_options(&name);
            wrong.set(options.as_ref().err().copied());
            if let Ok(options) = options {
                on_merge.emit(options);
            }
        })
    };
    let method = |(place, (name, help)): (usize, (&'static str, &'static str))| {
        let onchange = {
            let form = form.clone();
            Callback::from(move |_: Event| {
                form.set(MergeForm {
                    method: place,
                    ..MergeForm::clone(&form)
                });
            })
        };
        let is_chosen = form.method == place;
        let field = |label: &'static str, value: &str, on_input: Callback<String>| {
            html! { <label class="words">{ label }{ " " }<Field kind="text" value={value.to_owned()} {on_input} /></label> }
        };
        html! {
            <div class="way">
                <label><input type="radio" name="merge-way" checked={is_chosen} {onchange} />{ " " }<strong>{ name }</strong></label>
                <p class="faint">{ help }</p>
                if is_chosen && place == 2 {
                    { field("Text", &form.marker, change(|form, text| form.marker = text)) }
                }
                if is_chosen && place == 3 {
                    { field("Sent", &form.words.0, change(|form, text| form.words.0 = text)) }
                    { field("Received", &form.words.1, change(|form, text| form.words.1 = text)) }
                }
            </div>
        }
    };
    let offset = |(place, name): (usize, &String)| {
        let form = form.clone();
        let value = form.offsets_ms.get(place).cloned().unwrap_or_default();
        let on_input = Callback::from(move |typed| {
            let mut next = MergeForm::clone(&form);
            if let Some(offset) = next.offsets_ms.get_mut(place) {
                *offset = typed;
            }
            form.set(next);
        });
        let is_wrong = *wrong == Some(place);
        html! {
            <li>
                <span class="file" title={name.clone()}>{ name }</span>
                <label>{ "shift by " }<Field kind="decimal" {value} {on_input} {is_wrong}
                    label={format!("{name}: shift in milliseconds")} />{ " ms" }</label>
            </li>
        }
    };
    html! {
        <Modal class="help merge" id="merge-title" title={format!("Merge {} logs into one timeline", props.names.len())} on_close={props.on_close.clone()}>
            <form onsubmit={on_submit}>
                <fieldset disabled={running.is_some()}>
                    <legend>{ "Align by" }</legend>
                    { for METHODS.into_iter().enumerate().map(method) }
                </fieldset>
                <fieldset disabled={running.is_some()}>
                    <legend>{ "Manual shift" }</legend>
                    <ul class="offsets">{ for props.names.iter().enumerate().map(offset) }</ul>
                    if let Some(place) = *wrong {
                        <p role="alert">{ format!("The shift of {} is not a number of milliseconds.", props.names.get(place).cloned().unwrap_or_default()) }</p>
                    }
                </fieldset>
                if let MergeStage::Failed(why) = &props.stage {
                    <p class="failed" role="alert">{ why }</p>
                }
                if let Some(percent) = running {
                    <p role="status">{ "Merging… " }<progress max="100" value={percent.to_string()} aria-label="Merging" />{ format!(" {percent} %") }</p>
                }
                <p class="tools">
                    <button class="primary" type="submit" disabled={running.is_some()}>{ "Merge" }</button>
                    <button type="button" onclick={close_dialog}>{ "Cancel" }</button>
                </p>
            </form>
        </Modal>
    }
}
