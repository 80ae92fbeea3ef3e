//! The dialog that asks how logs are to be put onto one axis of time.

use web_sys::SubmitEvent;
use yew::prelude::*;

use super::dialog::{close_modal, open_modal};
use super::field::Field;
use eventlog_edit::merge::Align;
use protocol::MergeWish;

/// How far the merging is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MergeStage {
    /// It is to be said how.
    Asking,
    /// Logs are being read and written, in percent.
    Running(u64),
    /// It did not work, and why.
    Failed(String),
}

#[derive(Properties, PartialEq)]
pub(super) struct MergeProps {
    /// What the logs are called.
    pub(super) names: Vec<String>,
    /// What is wished at first.
    pub(super) wish: MergeWish,
    pub(super) stage: MergeStage,
    pub(super) on_merge: Callback<MergeWish>,
    /// Ends what goes on, and closes the dialog.
    pub(super) on_close: Callback<()>,
}

/// The ways to align logs, with what each means.
const WAYS: [(&str, &str); 4] = [
    (
        "Wall clock",
        "Each log says what time it was: right as far as the clocks are set alike.",
    ),
    ("Start", "Their first events are at the same time."),
    (
        "A marker",
        "The first marker (traceMarkerIO) or message with this text is at the same time:",
    ),
    (
        "Messages between them",
        "Markers or messages such as “SEND 42” in one log and “RECV 42” in another, in both directions, begin with these words:",
    ),
];

/// What is typed and chosen.
#[derive(Clone, Debug, PartialEq)]
struct Chosen {
    way: usize,
    marker: String,
    words: (String, String),
    offsets_ms: Vec<String>,
}

impl Chosen {
    fn of(wish: &MergeWish, logs: usize) -> Self {
        let (send, receive) = Align::WORDS;
        let mut chosen = Self {
            way: 0,
            marker: String::new(),
            words: (send.to_owned(), receive.to_owned()),
            offsets_ms: wish
                .offsets_ns
                .iter()
                .map(|ns| format!("{}", *ns as f64 / 1e6))
                .collect(),
        };
        chosen.offsets_ms.resize(logs, "0".to_owned());
        match &wish.align {
            Align::WallClock => {}
            Align::Start => chosen.way = 1,
            Align::Marker(text) => {
                chosen.way = 2;
                chosen.marker.clone_from(text);
            }
            Align::Messages(send, receive) => {
                chosen.way = 3;
                chosen.words = (send.clone(), receive.clone());
            }
        }
        chosen
    }

    /// The wish; or which log's offset is no number.
    fn wish(&self, name: &str) -> Result<MergeWish, usize> {
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
        Ok(MergeWish {
            align: match self.way {
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

/// The dialog.
#[component]
pub(super) fn Merge(props: &MergeProps) -> Html {
    let node = use_node_ref();
    let chosen = use_state_eq(|| Chosen::of(&props.wish, props.names.len()));
    let wrong = use_state_eq(|| None);
    {
        let node = node.clone();
        use_effect_with((), move |()| open_modal(&node));
    }
    let running = match props.stage {
        MergeStage::Running(percent) => Some(percent),
        _ => None,
    };
    let change = |change: fn(&mut Chosen, String)| {
        let chosen = chosen.clone();
        Callback::from(move |text| {
            let mut next = Chosen::clone(&chosen);
            change(&mut next, text);
            chosen.set(next);
        })
    };
    let on_submit = {
        let (chosen, wrong) = (chosen.clone(), wrong.setter());
        let (on_merge, name) = (props.on_merge.clone(), props.wish.name.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let wish = chosen.wish(&name);
            wrong.set(wish.as_ref().err().copied());
            if let Ok(wish) = wish {
                on_merge.emit(wish);
            }
        })
    };
    let close = {
        let node = node.clone();
        Callback::from(move |_: MouseEvent| close_modal(&node))
    };
    let way = |(place, (name, help)): (usize, (&'static str, &'static str))| {
        let onchange = {
            let chosen = chosen.clone();
            Callback::from(move |_: Event| {
                chosen.set(Chosen {
                    way: place,
                    ..Chosen::clone(&chosen)
                });
            })
        };
        let is_chosen = chosen.way == place;
        let field = |label: &'static str, value: &str, on_input: Callback<String>| {
            html! { <label class="words">{ label }{ " " }<Field kind="text" value={value.to_owned()} {on_input} /></label> }
        };
        html! {
            <div class="way">
                <label><input type="radio" name="merge-way" checked={is_chosen} {onchange} />{ " " }<strong>{ name }</strong></label>
                <p class="faint">{ help }</p>
                if is_chosen && place == 2 {
                    { field("Text", &chosen.marker, change(|chosen, text| chosen.marker = text)) }
                }
                if is_chosen && place == 3 {
                    { field("Sent", &chosen.words.0, change(|chosen, text| chosen.words.0 = text)) }
                    { field("Received", &chosen.words.1, change(|chosen, text| chosen.words.1 = text)) }
                }
            </div>
        }
    };
    let offset = |(place, name): (usize, &String)| {
        let chosen = chosen.clone();
        let value = chosen.offsets_ms.get(place).cloned().unwrap_or_default();
        let on_input = Callback::from(move |typed| {
            let mut next = Chosen::clone(&chosen);
            if let Some(offset) = next.offsets_ms.get_mut(place) {
                *offset = typed;
            }
            chosen.set(next);
        });
        let is_wrong = *wrong == Some(place);
        html! {
            <li>
                <span class="file" title={name.clone()}>{ name }</span>
                <label>{ "shift by " }<Field kind="decimal" {value} {on_input} {is_wrong}
                    label={format!("{name}: shift by so many milliseconds")} />{ " ms" }</label>
            </li>
        }
    };
    html! {
        <dialog ref={node} class="help merge" aria-labelledby="merge-title" onclose={props.on_close.reform(|_: Event| ())}>
            <header>
                <h2 id="merge-title">{ format!("Merge {} logs into one timeline", props.names.len()) }</h2>
                <button class="quiet" onclick={close.clone()} aria-label="Close">{ "✕" }</button>
            </header>
            <form onsubmit={on_submit}>
                <fieldset disabled={running.is_some()}>
                    <legend>{ "Align by" }</legend>
                    { for WAYS.into_iter().enumerate().map(way) }
                </fieldset>
                <fieldset disabled={running.is_some()}>
                    <legend>{ "And moved by hand" }</legend>
                    <ul class="offsets">{ for props.names.iter().enumerate().map(offset) }</ul>
                    if let Some(place) = *wrong {
                        <p role="alert">{ format!("For {} that is no number of milliseconds.", props.names.get(place).cloned().unwrap_or_default()) }</p>
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
                    <button type="button" onclick={close}>{ "Cancel" }</button>
                </p>
            </form>
        </dialog>
    }
}
