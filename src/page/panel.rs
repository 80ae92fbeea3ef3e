//! Shared parts of the panels below the timeline: their properties, and hooks for asking the worker.

use std::cell::RefCell;
use std::rc::Rc;

use yew::prelude::*;

use super::client::LogClient;
use super::ptr_eq::PtrEq;
use super::viewer::{self, NavigationTarget, VisibleItem};
use analysis::flamegraph::source_info::SourceInfo;
use analysis::timeline::scope::Scope;
use eventlog::ids::Nanos;
use model::profile::TrackSource;
use model::time::Interval;
use scene::format;
use scene::viewport::{ViewPosition, Viewport};
use session::alignment::Role;
use session::query::Query;
use session::{MemoryUse, Overview};
use views::actions::Action;
use views::fingerprint::Fingerprint;
use views::view::panel::PanelSettings;
use views::view::{Change, View};
use views::words::capitalized;

/// Log that a panel asks about, and how much of it is known: panels ask again when this changes.
#[derive(Clone, PartialEq)]
pub(super) struct Source {
    pub(super) client: LogClient,
    pub(super) events: u64,
    pub(super) complete: bool,
    /// Incremented whenever addresses get other names.
    pub(super) names: u32,
}

/// Selected tracks, as a filter for panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TrackSelection {
    /// Filter that the selected tracks amount to.
    pub(super) scope: Scope,
    /// Number of selected tracks, including those that limit no panel.
    pub(super) count: usize,
}

impl TrackSelection {
    /// Returns the number of tracks as text: `2 tracks`.
    pub(super) fn words(&self) -> String {
        format::pluralize(self.count as u64, "track")
    }

    /// Describes the subject of a panel that applies the filter: `the whole log, 2 tracks`.
    pub(super) fn about(&self, what: String) -> String {
        if self.scope.is_everything() {
            what
        } else {
            format!("{what}, {}", self.words())
        }
    }

    /// Describes the subject of a panel that ignores the filter: `the whole log, all tracks`.
    pub(super) fn about_all(&self, what: String) -> String {
        if self.scope.is_everything() {
            what
        } else {
            format!("{what}, all tracks")
        }
    }
}

/// Request from another part of the page to the open panel; each new request has a different number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PanelRequest {
    /// Process panel: scroll to the diagnostics.
    Diagnostics,
    /// Flame graph: show a track at a time.
    Flame(TrackSource, Nanos),
    /// Notes panel: edit the name of the note with this index.
    NameNote(usize),
}

/// The other of two compared logs.
#[derive(Clone, PartialEq)]
pub(super) struct ComparisonTarget {
    /// Role of this log in the comparison.
    pub(super) role: Role,
    pub(super) source: Source,
    /// Sources that flame graphs of this log can show.
    pub(super) flame_sources: Rc<Vec<SourceInfo>>,
    /// Selected range in the time of this log; `None` for the whole log.
    pub(super) range: Option<Interval>,
    /// Whether a range is selected that lies outside this log.
    pub(super) is_outside: bool,
    /// Makes the log with this role the subject of the panels, and changes the view.
    pub(super) on_switch_log: Callback<(Role, Change)>,
}

/// Time axis of the timeline, for panels that align theirs with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    /// Visible time range and its width in pixels.
    pub(super) view: Viewport,
    /// Left edge of the axis, to the right of the track names, in pixels.
    pub(super) left_px: f64,
}

/// Properties of all panels; each uses those that it needs.
#[derive(Clone, Properties, PartialEq)]
pub(super) struct PanelProps {
    pub(super) source: Source,
    /// The other log, if two are compared.
    pub(super) compared_to: Option<ComparisonTarget>,
    pub(super) overview: PtrEq<Overview>,
    /// Memory use after the log was read.
    pub(super) memory: MemoryUse,
    /// File name of the log.
    pub(super) name: AttrValue,
    pub(super) fingerprint: Option<Fingerprint>,
    /// Sources that flame graphs can show.
    pub(super) flame_sources: Rc<Vec<SourceInfo>>,
    pub(super) view: Rc<View>,
    /// Selected range; `None` for the whole log.
    pub(super) range: Option<Interval>,
    /// Selected tracks, as a filter.
    pub(super) track_selection: Rc<TrackSelection>,
    /// Time and capability last clicked on the timeline.
    pub(super) clicked: Option<viewer::ClickPosition>,
    /// Time axis of the timeline, if known.
    pub(super) axis: Option<Axis>,
    /// Visible items of the timeline.
    pub(super) items: PtrEq<Vec<VisibleItem>>,
    pub(super) request: Option<(u32, PanelRequest)>,
    /// Incremented whenever the colors change.
    pub(super) color_generation: u32,
    /// Applies a change to the view.
    pub(super) on_change: Callback<Change>,
    /// Shows an item on the timeline.
    pub(super) on_goto: Callback<NavigationTarget>,
    /// Moves and zooms the shared time axis.
    pub(super) on_axis_change: Callback<ViewPosition>,
    pub(super) on_action: Callback<Action>,
}

impl PanelProps {
    /// Returns the panel's settings, and a callback that changes them.
    pub(super) fn settings<T: PanelSettings>(&self) -> (T, Callback<T>) {
        (
            self.view.settings.get::<T>(),
            self.on_change.reform(Change::settings::<T>),
        )
    }
}

/// Returns a callback that emits the settings with an edit by its argument.
pub(super) fn edited<S: Clone + 'static, T: 'static>(
    settings: &S,
    on_change: &Callback<S>,
    edit: impl Fn(&mut S, T) + 'static,
) -> Callback<T> {
    let settings = settings.clone();
    on_change.reform(move |value| {
        let mut settings = settings.clone();
        edit(&mut settings, value);
        settings
    })
}

/// Renders a number; zero is faint.
pub(super) fn faint_zero(number: u64, text: fn(u64) -> String) -> Html {
    match number {
        0 => html! { <span class="faint">{ "0" }</span> },
        number => text(number).into(),
    }
}

/// Renders a group of buttons of which one is pressed; `choices` have a text and a title.
pub(super) fn segments<T: PartialEq + Copy + 'static>(
    label: &'static str,
    current: T,
    choices: &[(T, &'static str, &'static str)],
    change: &Callback<T>,
) -> Html {
    let button = |&(choice, text, title): &(T, &'static str, &'static str)| {
        let onclick = change.reform(move |_: MouseEvent| choice);
        let pressed = (choice == current).to_string();
        html! { <button aria-pressed={pressed} {title} {onclick}>{ text }</button> }
    };
    html! {
        <span class="segments" role="group" aria-label={label}>{ for choices.iter().map(button) }</span>
    }
}

struct Asking<Q> {
    in_flight: bool,
    /// Query to send once the pending answer has arrived.
    next: Option<(Source, Q)>,
}

/// Part of the log that an answer is about. It lags behind the properties of a panel while a range is dragged, and when
/// the log has just been read to its end: titles of answers come from here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    /// Range of the query; `None` for the whole log.
    pub(super) range: Option<Interval>,
    /// Whether the whole log was read when the query was sent.
    pub(super) complete: bool,
}

impl Extent {
    /// Describes the extent as a title.
    pub(super) fn title(self) -> String {
        capitalized(&self.words())
    }

    /// Describes the extent within a sentence.
    pub(super) fn words(self) -> String {
        match self.range {
            Some(range) => span_text(range),
            None if self.complete => "the whole log".to_owned(),
            None => "the part of the log that was read so far".to_owned(),
        }
    }
}

/// Answer of the worker, with its query and extent.
pub(super) struct Answered<Q: Query> {
    pub(super) query: Q,
    pub(super) extent: Extent,
    pub(super) answer: Rc<Q::Answer>,
}

impl<Q: Query> Clone for Answered<Q> {
    fn clone(&self) -> Self {
        Self {
            query: self.query.clone(),
            extent: self.extent,
            answer: Rc::clone(&self.answer),
        }
    }
}

/// Sends a query and returns its answer, or the previous answer while the new one is pending; `None` before the
/// first. At most one query is in flight, so that dragging a selection does not flood the worker.
#[hook]
pub(super) fn use_answer<Q: Query>(source: &Source, query: Q) -> Option<Rc<Q::Answer>> {
    use_answer_if(source, Some(query))
}

/// Like [`use_answer`], for an optional query: without one, nothing is sent.
#[hook]
pub(super) fn use_answer_if<Q: Query>(source: &Source, query: Option<Q>) -> Option<Rc<Q::Answer>> {
    use_answered(source, query).map(|answered| answered.answer)
}

/// Like [`use_answer_if`], with what the returned answer belongs to.
#[hook]
pub(super) fn use_answered<Q: Query>(source: &Source, query: Option<Q>) -> Option<Answered<Q>> {
    let answer = use_state(|| None);
    let asking = use_mut_ref(|| Asking {
        in_flight: false,
        next: None,
    });
    {
        let answer = answer.clone();
        use_effect_with((source.clone(), query), move |(source, query)| {
            if let Some(query) = query.clone() {
                ask((source.clone(), query), asking, answer.setter());
            }
        });
    }
    (*answer).clone()
}

fn ask<Q: Query>(
    (source, query): (Source, Q),
    asking: Rc<RefCell<Asking<Q>>>,
    answer: UseStateSetter<Option<Answered<Q>>>,
) {
    if asking.borrow().in_flight {
        asking.borrow_mut().next = Some((source, query));
        return;
    }
    asking.borrow_mut().in_flight = true;
    let extent = Extent {
        range: query.clone().range().and_then(|range| *range),
        complete: source.complete,
    };
    source.client.ask(query.clone(), move |result| {
        asking.borrow_mut().in_flight = false;
        if let Ok(result) = result {
            answer.set(Some(Answered {
                query,
                extent,
                answer: Rc::new(result),
            }));
        }
        let next = asking.borrow_mut().next.take();
        if let Some(next) = next {
            ask(next, asking, answer);
        }
    });
}

pub(super) use format::range as span_text;

/// Renders a notice for a pending answer, which becomes visible only after a while.
pub(super) fn slow_notice() -> Html {
    html! {
        <p class="takes-long" role="status">
            { "This log is large: computing thread times. Everything else can be used meanwhile." }
        </p>
    }
}
