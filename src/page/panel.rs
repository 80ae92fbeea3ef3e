//! What the panels below the timeline have in common: what they are given,
//! and how they ask the worker.

use std::cell::RefCell;
use std::rc::Rc;

use yew::prelude::*;

use super::client::LogClient;
use super::ptr_eq::PtrEq;
use super::viewer::{self, Goto, VisibleItem};
use analysis::flamegraph::source_info::SourceInfo;
use analysis::timeline::scope::Scope;
use eventlog::ids::Nanos;
use model::profile::TrackSource;
use model::time::Interval;
use scene::format;
use scene::viewport::{Place, Viewport};
use session::alignment::Role;
use session::query::Query;
use session::{MemoryUse, Overview};
use views::actions::Action;
use views::fingerprint::Fingerprint;
use views::view::panel::PanelSettings;
use views::view::{Change, View};

/// Where a panel's answers come from, and how much of the log is known there:
/// when that changes, panels ask again.
#[derive(Clone, PartialEq)]
pub(super) struct Source {
    pub(super) client: LogClient,
    pub(super) events: u64,
    pub(super) complete: bool,
    /// Goes up whenever addresses have got other names.
    pub(super) names: u32,
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
        format::many(self.count as u64, "track")
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

    /// What a panel is about that does not obey them:
    /// `the whole log, all tracks`.
    pub(super) fn about_all(&self, what: String) -> String {
        if self.scope.is_everything() {
            what
        } else {
            format!("{what}, all tracks")
        }
    }
}

/// Something that another part of the page asks of the open panel; each new
/// wish has another number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PanelRequest {
    /// The panel of the process: to scroll to the diagnostics.
    Diagnostics,
    /// The flame graph: to show a moment of a track.
    Flame(TrackSource, Nanos),
    /// The panel of notes: to have the name of that note written.
    NameNote(usize),
}

/// The other of two logs, for the panels that compare them.
#[derive(Clone, PartialEq)]
pub(super) struct Beside {
    /// What it is to the log of the panels.
    pub(super) role: Role,
    pub(super) source: Source,
    /// What flame graphs of it can be about.
    pub(super) flame_sources: Rc<Vec<SourceInfo>>,
    /// The selected range there; without one, all of it is meant.
    pub(super) range: Option<Interval>,
    /// Whether a range is selected of which that log has nothing.
    pub(super) is_elsewhere: bool,
    /// Has the panels be about the log with a role, and changes the view.
    pub(super) on_lead: Callback<(Role, Change)>,
}

/// The time axis of the timeline: in a panel that has it too, a moment stands at the same
/// place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    /// The time in view, and how wide that is.
    pub(super) view: Viewport,
    /// Where it begins, right of the names of the tracks, in pixels.
    pub(super) left_px: f64,
}

/// What the page gives to the panel that it shows; each takes what it needs.
#[derive(Clone, Properties, PartialEq)]
pub(super) struct PanelProps {
    pub(super) source: Source,
    /// The log beside it, if two are compared.
    pub(super) beside: Option<Beside>,
    pub(super) overview: PtrEq<Overview>,
    /// How much memory the log took when it was read.
    pub(super) memory: MemoryUse,
    /// What the log is called.
    pub(super) name: AttrValue,
    pub(super) fingerprint: Option<Fingerprint>,
    /// What flame graphs can be about.
    pub(super) flame_sources: Rc<Vec<SourceInfo>>,
    pub(super) view: Rc<View>,
    /// The selected range; without one, the panel is about the whole log.
    pub(super) range: Option<Interval>,
    /// The selected tracks.
    pub(super) marked: Rc<Marked>,
    /// What was clicked last on the timeline.
    pub(super) place: Option<viewer::Place>,
    /// The axis of the timeline, told to panels that have it too.
    pub(super) axis: Option<Axis>,
    /// What is in view.
    pub(super) items: PtrEq<Vec<VisibleItem>>,
    pub(super) wish: Option<(u32, PanelRequest)>,
    /// Goes up whenever the colours change.
    pub(super) colours: u32,
    /// Changes the view.
    pub(super) on_change: Callback<Change>,
    /// Shows something on the timeline.
    pub(super) on_goto: Callback<Goto>,
    /// Has the timeline show other times on their common axis.
    pub(super) on_look: Callback<Place>,
    pub(super) on_action: Callback<Action>,
}

impl PanelProps {
    /// What the panel keeps in the view, and a callback that changes it.
    pub(super) fn settings<T: PanelSettings>(&self) -> (T, Callback<T>) {
        (
            self.view.settings.get::<T>(),
            self.on_change.reform(Change::settings::<T>),
        )
    }
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
    use_answer_if(source, Some(question))
}

/// The same, of a question that is asked only while there is one.
#[hook]
pub(super) fn use_answer_if<Q>(source: &Source, question: Option<Q>) -> Option<Rc<Q::Answer>>
where
    Q: Query + Clone + PartialEq,
{
    use_answered_if(source, question).map(|(_, answer)| answer)
}

/// The same, with the question that was answered: that before, while the new answer is on
/// its way.
#[hook]
pub(super) fn use_answered_if<Q>(source: &Source, question: Option<Q>) -> Option<(Q, Rc<Q::Answer>)>
where
    Q: Query + Clone + PartialEq,
{
    let answer = use_state(|| None);
    let asking = use_mut_ref(Asking::default);
    {
        let answer = answer.clone();
        use_effect_with((source.clone(), question), move |(source, question)| {
            if let Some(question) = question.clone() {
                ask(source.client.clone(), question, asking, answer.setter());
            }
        });
    }
    (*answer).clone()
}

fn ask<Q: Query + Clone>(
    client: LogClient,
    question: Q,
    asking: Rc<RefCell<Asking<Q>>>,
    answer: UseStateSetter<Option<(Q, Rc<Q::Answer>)>>,
) {
    if asking.borrow().in_flight {
        asking.borrow_mut().next = Some((client, question));
        return;
    }
    asking.borrow_mut().in_flight = true;
    client.ask(question.clone(), move |came| {
        asking.borrow_mut().in_flight = false;
        if let Ok(came) = came {
            answer.set(Some((question, Rc::new(came))));
        }
        let next = asking.borrow_mut().next.take();
        if let Some((client, next)) = next {
            ask(client, next, asking, answer);
        }
    });
}

/// What the numbers of a panel are about.
pub(super) fn range_text(range: Option<Interval>, complete: bool) -> String {
    match range {
        Some(range) => span_text(range),
        None if complete => "The whole log".to_owned(),
        None => "The log as far as it is read".to_owned(),
    }
}

pub(super) use format::range as span_text;

/// Said where an answer is not there yet: only seen after a while.
pub(super) fn takes_long() -> Html {
    html! {
        <p class="takes-long" role="status">
            { "This log is large: what each of its threads did is being added up. Everything else can be used meanwhile." }
        </p>
    }
}
