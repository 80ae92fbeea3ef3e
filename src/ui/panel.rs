//! What the panels below the timeline have in common: what they are given,
//! and how they ask the worker.

use std::cell::RefCell;
use std::rc::Rc;

use yew::prelude::*;

use super::client::LogClient;
use super::viewer::Goto;
use analysis::timeline::scope::Scope;
use model::time::Span;
use views::scene::format;
use views::session::query::Query;

/// Where a panel's answers come from, and how much of the log is known there:
/// when that changes, panels ask again.
#[derive(Clone, PartialEq)]
pub(super) struct Source {
    pub(super) client: LogClient,
    pub(super) events: u64,
    pub(super) complete: bool,
}

/// The selected tracks, as far as panels obey them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Marked {
    /// What they are about.
    pub(super) scope: Scope,
    /// How many are selected, also of those that limit no panel.
    pub(super) count: usize,
}

impl Marked {
    /// `2 tracks`.
    pub(super) fn words(&self) -> String {
        match self.count {
            1 => "1 track".to_owned(),
            count => format!("{} tracks", format::count(count as u64)),
        }
    }

    /// What a panel is about, with the tracks if these limit anything:
    /// `the whole log, 2 tracks`.
    pub(super) fn about(&self, what: String) -> String {
        if self.scope.is_everything() {
            what
        } else {
            format!("{what}, {}", self.words())
        }
    }

    /// The same for a panel that does not obey them.
    pub(super) fn about_all(&self, what: String) -> String {
        if self.scope.is_everything() {
            what
        } else {
            format!("{what}, all tracks")
        }
    }
}

/// What a panel is given.
#[derive(Properties, PartialEq)]
pub(super) struct PanelProps {
    pub(super) source: Source,
    /// The selected range; without one, the panel is about the whole log.
    pub(super) range: Option<Span>,
    /// The selected tracks.
    pub(super) marked: Rc<Marked>,
    /// Shows something on the timeline.
    pub(super) on_goto: Callback<Goto>,
}

struct Asking<Q> {
    in_flight: bool,
    /// What to ask when the answer has come.
    next: Option<(LogClient, Q)>,
}

impl<Q> Default for Asking<Q> {
    fn default() -> Self {
        Self {
            in_flight: false,
            next: None,
        }
    }
}

/// The answer to a question, or to the one before while the new answer is on
/// its way; `None` before the first. One question is in flight at a time, so
/// that a selection may be dragged faster than the worker answers.
#[hook]
pub(super) fn use_answer<Q>(source: &Source, question: Q) -> Option<Rc<Q::Answer>>
where
    Q: Query + Clone + PartialEq,
{
    let answer = use_state(|| None);
    let asking = use_mut_ref(Asking::default);
    {
        let answer = answer.clone();
        use_effect_with((source.clone(), question), move |(source, question)| {
            ask(
                source.client.clone(),
                question.clone(),
                asking,
                answer.setter(),
            );
        });
    }
    (*answer).clone()
}

fn ask<Q: Query>(
    client: LogClient,
    question: Q,
    asking: Rc<RefCell<Asking<Q>>>,
    answer: UseStateSetter<Option<Rc<Q::Answer>>>,
) {
    if asking.borrow().in_flight {
        asking.borrow_mut().next = Some((client, question));
        return;
    }
    asking.borrow_mut().in_flight = true;
    client.ask(question, move |came| {
        asking.borrow_mut().in_flight = false;
        if let Ok(came) = came {
            answer.set(Some(Rc::new(came)));
        }
        let next = asking.borrow_mut().next.take();
        if let Some((client, next)) = next {
            ask(client, next, asking, answer);
        }
    });
}
