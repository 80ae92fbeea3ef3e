//! The flame graph panel: controls, steps, graph, and a strip that describes a box and offers actions on it.

mod area;
mod canvas;
mod controls;
mod export;
mod pick;
mod sandwich;
mod steps;

use std::rc::Rc;

use yew::prelude::*;

use self::area::Area;
use self::canvas::{FlameCanvas, GraphFigures};
use self::controls::Controls;
use self::pick::{Pick, Reveal, SearchMatch};
use self::sandwich::Sandwich;
use self::steps::{ComparedLog, steps};
use crate::client::LogClient;
use crate::dom::state_callback;
use crate::guide::how_to_record;
use crate::panel::{ComparisonTarget, PanelProps, PanelRequest, span_text, use_answered};
use crate::viewer::NavigationTarget;
use analysis::flamegraph::source_info::SourceInfo;
use analysis::flamegraph::sources::{self, FlameSource};
use analysis::flamegraph::track_names::ALL;
use analysis::timeline::profile_rows::Caller;
use eventlog::ids::{Duration, Nanos};
use model::profile::TrackSource;
use model::profile::source::{Source, Unit};
use model::profile::stack_source::{FlameSelection, OtherLog};
use model::profile::weights::Measure;
use model::time::Interval;
use session::alignment::Role;
use session::flame::query::{
    FlameMatchesQuery, FlameOccurrence, FlameOccurrenceQuery, FlameQuery, Occurrence, View,
};
use session::tracks::TrackId;
use session::tracks::calls::ForeignCalls;
use session::tracks::samples::Samples;
use session::tracks::thread::Thread;
use views::actions::Action;
use views::actions::flame::FlameAction;
use views::panels::HEAP;
use views::view::Change;
use views::view::flame::{FlameOrder, FlameView, MAX_STEPS, TwoLogs};

/// Returns the source to show: the chosen one, or the first available.
fn source_of(sources: &[SourceInfo], chosen: Option<Source>) -> Option<Rc<SourceInfo>> {
    let found = sources.iter().find(|info| Some(info.source) == chosen);
    found.or(sources.first()).cloned().map(Rc::new)
}

/// Returns the second log if the view asks to compare with it.
fn requested_comparison<'a>(
    props: &'a PanelProps,
    view: &FlameView,
) -> Option<&'a ComparisonTarget> {
    props
        .compared_to
        .as_ref()
        .filter(|_| view.two != TwoLogs::Apart)
}

/// Returns the reason if a requested comparison with the second log is not possible.
fn why_not_compared(compared_to: &ComparisonTarget, source: Source) -> Option<String> {
    let log = compared_to.role.name();
    let has_it = |info: &SourceInfo| info.source == source;
    if !compared_to.source.complete {
        Some(format!("compared once the log {log} is read"))
    } else if !compared_to.flame_sources.iter().any(has_it) {
        let title = sources::description(source).title;
        Some(format!(
            "not compared: the log {log} has nothing for “{title}”"
        ))
    } else if compared_to.is_outside {
        Some(format!(
            "not compared: the log {log} has nothing in the selected range"
        ))
    } else {
        None
    }
}

/// Returns the second log if the graph can compare with it.
fn comparable_log(props: &PanelProps, view: &FlameView, source: Source) -> Option<OtherLog> {
    let compared_to = requested_comparison(props, view)?;
    why_not_compared(compared_to, source)
        .is_none()
        .then(|| OtherLog {
            log: compared_to.source.client.log().0,
            range: compared_to.range,
            is_after: compared_to.role == Role::After,
            shares: view.two == TwoLogs::Shares,
        })
}

fn query_of(props: &PanelProps, view: &FlameView, info: &SourceInfo) -> FlameQuery {
    let of_heap = sources::description(info.source).unit == Unit::Bytes;
    let other = comparable_log(props, view, info.source);
    let compares = requested_comparison(props, view).is_some() || view.before.is_some();
    let in_time = view.order == FlameOrder::Time && !of_heap && !compares;
    let range = if in_time {
        props.range.or(props.overview.span)
    } else {
        props.range
    };
    FlameQuery {
        choice: FlameSelection {
            source: info.source,
            tracks: info.tracks_named(view.tracks.as_str(), &props.track_selection.scope),
            range,
            before: view.before.filter(|_| other.is_none()),
            moments: view.moments.filter(|_| of_heap && other.is_none()),
            other,
        },
        steps: view.steps.clone(),
        view: if in_time { View::Time } else { View::LeftHeavy },
        measure: if in_time {
            Measure::Amount
        } else {
            view.measure
        },
        window: (0.0, 1.0),
        width_px: 0,
        levels: None,
        search: view.search.clone(),
    }
}

#[component]
pub(super) fn FlameGraph(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<FlameView>();
    let picked = use_state_eq(|| None::<Pick>);
    let figures = use_state_eq(GraphFigures::default);
    // Stack of the box last searched for on the timeline, and the time at which the next search starts.
    let next_occurrence = use_mut_ref(|| None::<(u32, Nanos)>);
    let info = use_memo(
        (Rc::clone(&props.flame_sources), view.source),
        |(sources, chosen)| source_of(sources, *chosen),
    );
    let asked = (*info)
        .as_ref()
        .and_then(|info| matches_of(props, &view, info));
    let matches = use_answered(&props.source, asked.clone());
    // Search text and index of the shown match.
    let number = use_state_eq(|| (String::new(), 0));
    if !props.source.complete {
        return html! { <p class="empty">{ "The flame graph appears once the log is read." }</p> };
    }
    let Some(info) = (*info).clone() else {
        return empty_hint();
    };
    let client = &props.source.client;
    let query = query_of(props, &view, &info);
    let on_pick = state_callback(&picked);
    let on_act = on_act(props, &query, next_occurrence);
    let on_figures = state_callback(&figures);
    // Drops the answer to an earlier search text.
    let matches =
        matches.filter(|it| Some(&it.query.search) == asked.as_ref().map(|it| &it.search));
    let matches = matches.map(|it| it.answer);
    let at = if number.0 == view.search { number.1 } else { 0 };
    let shown = matches.as_ref().and_then(|matches| {
        let place = *matches.widest.get(at)?;
        let key = (view.search.clone(), at);
        Some(SearchMatch { key, place })
    });
    let on_match = {
        let (number, search) = (number.setter(), view.search.clone());
        let many = matches
            .as_ref()
            .map_or(0, |matches| matches.widest.len())
            .max(1);
        Callback::from(move |forward: bool| {
            let to = if forward { at + 1 } else { at + many - 1 };
            number.set((search.clone(), to % many));
        })
    };
    let graph = if view.order == FlameOrder::Sandwich {
        html! {
            <Sandwich client={client.clone()} query={query.clone()} source={Rc::clone(&info)} view={view.clone()}
                color_generation={props.color_generation} names={props.source.names} on_view={on_view.clone()} {on_pick} on_act={on_act.clone()} {on_figures} />
        }
    } else {
        let reveal = reveal_of(props, &query);
        html! {
            <FlameCanvas client={client.clone()} query={query.clone()} source={Rc::clone(&info)} label="Flame graph"
                color_generation={props.color_generation} names={props.source.names} {reveal}
                axis={props.axis.filter(|_| query.view == View::Time)} on_axis_change={props.on_axis_change.clone()} found={shown} {on_pick} on_act={on_act.clone()} {on_figures} />
        }
    };
    let other = requested_comparison(props, &view).map(|compared_to| ComparedLog {
        role: compared_to.role,
        why_not_compared: why_not_compared(compared_to, info.source).map(AttrValue::from),
    });
    let on_zoom = zoom_of(props, &query);
    let area = area(props, (*picked).as_ref(), &query, info.source);
    let of_heap = sources::description(info.source).unit == Unit::Bytes;
    html! {
        <div class="flame">
            <Controls client={client.clone()} sources={Rc::clone(&props.flame_sources)} source={Rc::clone(&info)} view={view.clone()}
                other={props.compared_to.as_ref().map(|compared_to| compared_to.role)}
                range={props.range} log={props.overview.span} found={figures.share} matches={matches.clone()} {at} {on_match} {on_zoom} {query} about={scope_text(props, &view, &info)}
                on_view={on_view.clone()} on_heap={props.on_change.reform(|()| Change::panel(HEAP))} />
            { steps((&view, &on_view), of_heap, other.as_ref(), props.range, figures.shortened) }
            { area }
            { graph }
            { strip((*picked).clone(), of_heap, &on_act) }
        </div>
    }
}

/// Returns a callback that zooms to the selected range, if that is a small part of the visible time.
fn zoom_of(props: &PanelProps, query: &FlameQuery) -> Option<Callback<()>> {
    const SMALL: f64 = 0.15;
    let (range, axis) = props.range.zip(props.axis)?;
    let px = axis.view.x_of(range.end()) - axis.view.x_of(range.start());
    let is_small = query.view == View::Time && px < axis.view.width_px() * SMALL;
    is_small.then(|| props.on_action.reform(|()| Action::ShowSelection))
}

/// Returns the query for the search matches; `None` without a search text or while loading, and for the sandwich
/// table.
fn matches_of(
    props: &PanelProps,
    view: &FlameView,
    info: &SourceInfo,
) -> Option<FlameMatchesQuery> {
    let wanted = !view.search.trim().is_empty() && view.order != FlameOrder::Sandwich;
    let query = (wanted && props.source.complete).then(|| query_of(props, view, info))?;
    Some(FlameMatchesQuery {
        choice: query.choice,
        steps: query.steps,
        view: query.view,
        measure: query.measure,
        search: query.search,
    })
}

/// Renders the bytes over time of the pointed or selected box, or of everything.
fn area(props: &PanelProps, pick: Option<&Pick>, query: &FlameQuery, stacks: Source) -> Html {
    let (view, on_view) = props.settings::<FlameView>();
    let Some(log) = props.overview.span else {
        return html! {};
    };
    // The area covers a single log only.
    if sources::description(stacks).unit != Unit::Bytes
        || !view.area
        || query.choice.other.is_some()
    {
        return html! {};
    }
    // In the sandwich, the chosen function in all of its positions.
    let whole = match view.order {
        FlameOrder::Sandwich if !view.frame.is_empty() => {
            (view.frame.clone(), View::Callees(view.frame.clone()), None)
        }
        _ => ("All live data".to_owned(), query.view.clone(), None),
    };
    let picked = pick
        .filter(|pick| !pick.merged)
        .map(|pick| (pick.title.clone(), pick.view.clone(), Some(pick.stack)));
    let (title, of, stack) = picked.unwrap_or(whole);
    html! {
        <Area source={props.source.clone()} {stacks} {title} {of} {stack} axis={props.axis.map(|axis| axis.view)} {log}
            range={props.range} {view} {on_view} on_goto={props.on_goto.clone()} />
    }
}

/// Returns the place in the graph that the timeline asked to show.
fn reveal_of(props: &PanelProps, query: &FlameQuery) -> Option<Reveal> {
    let (Some((serial, PanelRequest::Flame(track, moment))), Some(range)) =
        (props.request, query.choice.range)
    else {
        return None;
    };
    let at = moment.since(range.start()).0 as f64 / (range.duration().0 as f64).max(1.0);
    (query.view == View::Time && (0.0..=1.0).contains(&at)).then_some(Reveal { serial, track, at })
}

type NextOccurrence = Rc<std::cell::RefCell<Option<(u32, Nanos)>>>;

/// Returns the callback for actions on a box.
fn on_act(
    props: &PanelProps,
    query: &FlameQuery,
    next_occurrence: NextOccurrence,
) -> Callback<(FlameAction, Pick)> {
    let (view, on_view) = props.settings::<FlameView>();
    let on_goto = props.on_goto.clone();
    let (client, query) = (props.source.client.clone(), query.clone());
    Callback::from(move |(act, pick): (FlameAction, Pick)| {
        if let Some(step) = act.step(&pick.name) {
            let mut view = view.clone();
            if view.steps.len() < MAX_STEPS && view.steps.last() != Some(&step) {
                view.steps.push(step);
                on_view.emit(view);
            }
        } else if act == FlameAction::Sandwich {
            on_view.emit(FlameView {
                order: FlameOrder::Sandwich,
                frame: pick.name,
                ..view.clone()
            });
        } else if act == FlameAction::Longest {
            seek_longest(&client, &query, &pick, &on_goto);
        } else if query.view == View::Time {
            on_goto.emit(place_in_time(&query, &pick));
        } else {
            seek_next(&client, &query, &pick, &next_occurrence, &on_goto);
        }
    })
}

/// Returns the timeline position of a box in time order.
fn place_in_time(query: &FlameQuery, pick: &Pick) -> NavigationTarget {
    let nothing = Interval::default();
    let range = query.choice.range.unwrap_or(nothing);
    let ns = range.duration().0 as f64;
    let at = |part: f64| Nanos(range.start().0 + (part.clamp(0.0, 1.0) * ns) as u64);
    let span = Interval::new(at(pick.left), at(pick.left + pick.width));
    NavigationTarget::zoomed(pick.track.and_then(timeline_row), span)
}

/// Returns the timeline track that shows a flame graph track best.
fn timeline_row(track: TrackSource) -> Option<TrackId> {
    match track {
        TrackSource::Capability(cap) => Some(Samples(cap).into()),
        TrackSource::Thread(thread) => Some(Thread(thread).into()),
        TrackSource::Spans { thread, .. } => thread.map(|thread| Thread(thread).into()),
        track => Caller::from_source(track).map(|of| ForeignCalls(of).into()),
    }
}

/// Returns the query for one occurrence of a box that combines many.
fn occurrence_query(query: &FlameQuery, pick: &Pick, which: Occurrence) -> FlameOccurrenceQuery {
    FlameOccurrenceQuery {
        choice: query.choice.clone(),
        steps: query.steps.clone(),
        view: pick.view.clone(),
        stack: pick.stack,
        which,
    }
}

/// Goes to the longest occurrence of a box, and opens its details.
fn seek_longest(
    client: &LogClient,
    query: &FlameQuery,
    pick: &Pick,
    on_goto: &Callback<NavigationTarget>,
) {
    let on_goto = on_goto.clone();
    let question = occurrence_query(query, pick, Occurrence::Longest);
    client.ask(question, move |place| {
        if let Ok(Some(FlameOccurrence { span, track })) = place {
            let row = track.and_then(timeline_row);
            // A sample represents the time before it, so the one at the start belongs to another box.
            let span = match row {
                Some(TrackId::Samples(_)) => Interval::new(span.middle(), span.end()),
                _ => span,
            };
            on_goto.emit(NavigationTarget {
                span,
                track: row,
                zoom: true,
                details: true,
            });
        }
    });
}

/// Goes to the first occurrence of a box; repeated calls go to the next one.
fn seek_next(
    client: &LogClient,
    query: &FlameQuery,
    pick: &Pick,
    next_occurrence: &NextOccurrence,
    on_goto: &Callback<NavigationTarget>,
) {
    let stack = pick.stack;
    let start = query.choice.range.map_or(Nanos(0), |range| range.start());
    let before = *next_occurrence.borrow();
    let from = before
        .filter(|(other, _)| *other == stack)
        .map(|(_, from)| from);
    let question = occurrence_query(query, pick, Occurrence::From(from.unwrap_or(start)));
    let (next_occurrence, on_goto) = (Rc::clone(next_occurrence), on_goto.clone());
    client.ask(question, move |place| match place {
        Ok(Some(FlameOccurrence { span, .. })) => {
            *next_occurrence.borrow_mut() =
                Some((stack, span.end().max(span.start() + Duration(1))));
            on_goto.emit(NavigationTarget::zoomed(None, span));
        }
        // Wraps around after the last one.
        _ => *next_occurrence.borrow_mut() = None,
    });
}

/// Renders the description of a box, and the actions on it.
fn strip(pick: Option<Pick>, of_heap: bool, on_act: &Callback<(FlameAction, Pick)>) -> Html {
    let is_place = |act: FlameAction| matches!(act, FlameAction::Place | FlameAction::Longest);
    let can = |act: FlameAction, pick: &Pick| pick.selected && (is_place(act) || !pick.merged);
    // Heap samples have no duration; their place is the census with the most bytes.
    let acts = FlameAction::ALL
        .into_iter()
        .filter(|act| !of_heap || *act != FlameAction::Longest);
    let button = |act: FlameAction| {
        let usable = pick.clone().filter(|pick| can(act, pick));
        let disabled = usable.is_none();
        let on_act = on_act.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            if let Some(pick) = usable.clone() {
                on_act.emit((act, pick));
            }
        });
        html! { <button class="small" {disabled} title={format!("{} ({})", act.help(), act.key())} {onclick}>{ act.title() }</button> }
    };
    /// Shown while nothing is hovered or selected.
    const HINT: &str =
        "Click a box to select it · double click zooms to it · Ctrl + wheel zooms, drag moves";
    /// Counterpart of `HINT` for touch screens.
    const TOUCH_HINT: &str = "Tap a box to select it · double tap zooms to it · drag moves";
    let title = pick.as_ref().map_or_else(
        || HINT.to_owned(),
        |pick| format!("{} {}", pick.title, pick.text),
    );
    html! {
        <div class="flame-strip">
            <p class="words" aria-live="polite" {title}>
                if let Some(pick) = &pick {
                    <strong>{ pick.title.clone() }</strong>{ " " }{ pick.text.clone() }
                } else {
                    <span class="faint by-mouse">{ HINT }</span>
                    <span class="faint by-touch">{ TOUCH_HINT }</span>
                }
            </p>
            <span class="tools" role="group" aria-label="The selected box">{ for acts.map(button) }</span>
        </div>
    }
}

/// Describes the range and tracks of the graph.
fn scope_text(props: &PanelProps, view: &FlameView, info: &SourceInfo) -> String {
    let range = match props.range {
        Some(range) => format!("for {}", span_text(range)),
        None => "for the whole log".to_owned(),
    };
    let (name, track_selection) = (view.tracks.as_str(), &props.track_selection);
    if name != ALL {
        // Tracks chosen in this panel override the selected ones.
        range
    } else if info.tracks_named(name, &track_selection.scope).is_empty() {
        track_selection.about_all(range)
    } else {
        track_selection.about(range)
    }
}

/// Renders instructions for recording stacks.
fn empty_hint() -> Html {
    html! {
        <div class="empty">
            <p>{ "No stacks in this log. Flame graphs of several kinds are possible:" }</p>
            <ul>
                { for sources::all().map(sources::description).map(recording_hint) }
            </ul>
            { how_to_record("record-code") }
        </div>
    }
}

/// Renders how to record a source.
fn recording_hint(source: &'static FlameSource) -> Html {
    html! { <li>{ format!("{}: {}.", source.title, source.how_to_record) }</li> }
}
