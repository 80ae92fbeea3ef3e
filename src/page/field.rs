//! Text input fields.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::dom::value_of;
use super::pending_values::PendingValues;

#[derive(Properties, PartialEq)]
pub(super) struct FieldProps {
    /// Text according to the page's state.
    pub(super) value: AttrValue,
    /// `search`, `text`, `number`, or `decimal`: a text field with a numeric keyboard.
    pub(super) kind: &'static str,
    #[prop_or_default]
    pub(super) placeholder: Option<&'static str>,
    /// Accessible name, if there is no label element around the field.
    #[prop_or_default]
    pub(super) label: Option<AttrValue>,
    #[prop_or_default]
    pub(super) title: Option<&'static str>,
    /// Minimum and maximum for number fields.
    #[prop_or_default]
    pub(super) numbers: Option<(u32, u32)>,
    /// Whether the text is invalid, for fields that are validated.
    #[prop_or_default]
    pub(super) is_wrong: Option<bool>,
    /// Called with the text on each input event.
    #[prop_or_default]
    pub(super) on_input: Callback<String>,
    /// Called with the text once it is complete (on blur or Enter). The field then shows the value that the page
    /// makes of it.
    #[prop_or_default]
    pub(super) on_change: Option<Callback<String>>,
    #[prop_or_default]
    pub(super) onkeydown: Callback<KeyboardEvent>,
    /// The input element, for callers that focus it.
    #[prop_or_default]
    pub(super) node: Option<NodeRef>,
}

/// Input field that keeps its own text: on a busy machine, the page renders an earlier text, and putting that into
/// the field would lose the letters typed since. Changes that the page makes by itself are put into the field.
#[component]
pub(super) fn Field(props: &FieldProps) -> Html {
    let own = use_node_ref();
    let node = props.node.clone().unwrap_or(own);
    let typed = use_mut_ref(PendingValues::<AttrValue>::default);
    let changes = use_state_eq(|| 0_u32);
    {
        let (node, typed) = (node.clone(), typed.clone());
        use_effect_with((props.value.clone(), *changes), move |(value, _)| {
            if !typed.borrow_mut().acknowledge(value)
                && let Some(input) = node.cast::<HtmlInputElement>()
                && input.value() != **value
            {
                input.set_value(value);
            }
        });
    }
    let oninput = {
        let (value, on_input) = (props.value.clone(), props.on_input.clone());
        move |event: InputEvent| {
            let now = value_of(event);
            let mut typed = typed.borrow_mut();
            if *now == *value {
                typed.clear();
            } else {
                typed.push(now.clone().into());
            }
            drop(typed);
            on_input.emit(now);
        }
    };
    let onchange = props.on_change.clone().map(|on_change| {
        Callback::from(move |event: Event| {
            on_change.emit(value_of(event));
            changes.set(*changes + 1);
        })
    });
    let (kind, inputmode) = match props.kind {
        "decimal" => ("text", Some("decimal")),
        kind => (kind, None),
    };
    let (min, max) = props.numbers.unzip();
    html! {
        <input ref={node} type={kind} {inputmode} ~defaultValue={props.value.to_string()} placeholder={props.placeholder} aria-label={props.label.clone()}
            aria-invalid={props.is_wrong.map(|is_wrong| is_wrong.to_string())} title={props.title} min={min.map(|least| least.to_string())} max={max.map(|most| most.to_string())}
            spellcheck="false" autocomplete="off" autocapitalize="off" {oninput} {onchange} onkeydown={props.onkeydown.clone()} />
    }
}
