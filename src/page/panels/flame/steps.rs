//! Transformation steps applied to the stacks, each of which can be undone.

use scene::format::{count, time};
use yew::prelude::*;

use crate::panel::{edited, span_text};
use model::time::Interval;
use session::alignment::Role;
use session::flame::transform::Transform;
use views::view::flame::{FlameView, TwoLogs};

/// The second log that the graph is to be compared with.
#[derive(Clone, PartialEq)]
pub(super) struct ComparedLog {
    /// Role of the second log.
    pub(super) role: Role,
    /// Reason why the comparison is not possible, if any.
    pub(super) why_not_compared: Option<AttrValue>,
}

fn words(step: &Transform) -> String {
    match step {
        Transform::Focus(name) => format!("focus on {name}"),
        Transform::Drop(name) => format!("without {name}"),
        Transform::Merge(name) => format!("{name} merged into its callers"),
        Transform::CollapseRecursion => "recursion collapsed".to_owned(),
        Transform::MergeModules => "modules merged".to_owned(),
        Transform::HideIdle => "idle hidden".to_owned(),
        Transform::Invert => "inverted".to_owned(),
    }
}

/// Describes the truncation of inverted stacks.
fn shortened_words(stacks: u64) -> String {
    match stacks {
        1 => "1 deep stack without its outermost callers".to_owned(),
        many => format!(
            "{} deep stacks without their outermost callers",
            count(many)
        ),
    }
}

/// Renders what is shown, with a button that undoes it; `undo` is its accessible name and its tooltip.
fn chip(text: String, undo: (String, &'static str), onclick: Callback<MouseEvent>) -> Html {
    html! {
        <li class="chip">{ text }<button class="quiet" aria-label={undo.0} title={undo.1} {onclick}>{ "×" }</button></li>
    }
}

/// Renders the steps. The two moments count only if the stacks are of live heap data (`of_heap`); `other` is the
/// second log, if a comparison is requested; `shortened` stacks were inverted without their outermost frames.
pub(super) fn steps(
    (view, on_view): (&FlameView, &Callback<FlameView>),
    of_heap: bool,
    other: Option<&ComparedLog>,
    range: Option<Interval>,
    shortened: u64,
) -> Html {
    let moments = view.moments.filter(|_| of_heap);
    if view.steps.is_empty() && view.before.is_none() && moments.is_none() && other.is_none() {
        return html! {};
    }
    let undo = |edit: Box<dyn Fn(&mut FlameView)>| {
        edited(view, on_view, move |view, _: MouseEvent| edit(view))
    };
    let step = |(place, step): (usize, &Transform)| {
        let text = words(step);
        let label = format!("Undo: {text}");
        let onclick = undo(Box::new(move |view| {
            view.steps.remove(place);
        }));
        chip(text, (label, "Undo this step"), onclick)
    };
    let comparison = |text: String, edit: fn(&mut FlameView)| {
        const STOP: &str = "Stop comparing";
        chip(text, (STOP.to_owned(), STOP), undo(Box::new(edit)))
    };
    let two_moments = moments.map(|moments| {
        let text = format!(
            "the census at {} compared with the one at {}",
            time(moments.start()),
            time(moments.end())
        );
        comparison(text, |view| view.moments = None)
    });
    let before = view.before.filter(|_| moments.is_none());
    let compared = before.map(|before| {
        let now = match range {
            Some(range) if range == before => "select a range to compare with".to_owned(),
            Some(range) => format!("compared with {}", span_text(range)),
            None => "compared with the whole log".to_owned(),
        };
        let text = format!("{} {now}", span_text(before));
        comparison(text, |view| view.before = None)
    });
    let compared_to = other.map(|other| {
        let log = other.role.name();
        let text = match (&other.why_not_compared, view.two) {
            (Some(why), _) => why.to_string(),
            (None, TwoLogs::Shares) => format!("shares compared with the log {log}"),
            (None, _) => format!("compared with the log {log}"),
        };
        comparison(text, |view| view.two = TwoLogs::Apart)
    });
    html! {
        <ul class="flame-steps" aria-label="Steps">
            { for compared_to }
            { for two_moments }
            { for compared }
            { for view.steps.iter().enumerate().map(step) }
            if shortened > 0 {
                <li class="faint" role="status">{ shortened_words(shortened) }</li>
            }
            if view.steps.len() > 1 {
                <li><button class="small" onclick={undo(Box::new(|view| view.steps.clear()))}>{ "Undo all" }</button></li>
            }
        </ul>
    }
}
