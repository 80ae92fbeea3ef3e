//! The panel of the flame graph: controls, steps, graph, and a strip that says
//! what a box is and what can be done to it.

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
use self::canvas::{FlameCanvas, Found};
use self::controls::Controls;
use self::pick::{Match, Pick, Reveal};
use self::sandwich::Sandwich;
use self::steps::{Other, Steps};
use crate::client::LogClient;
use crate::dom::setter_of;
use crate::guide::how_to_record;
use crate::panel::{Beside, PanelProps, PanelRequest, span_text, use_answered_if};
use crate::viewer::Goto;
use analysis::flamegraph::choosing::ALL;
use analysis::flamegraph::source_info::SourceInfo;
use analysis::flamegraph::sources::{self, FlameSource};
use analysis::timeline::profile_rows::CallsOf;
use eventlog::ids::{Duration, Nanos};
use model::profile::TrackSource;
use model::profile::origin::{Choice, OtherLog};
use model::profile::source::{Source, Unit};
use model::profile::weights::Measure;
use model::time::Interval;
use session::alignment::Role;
use session::flame::query::{
    FlameMatchesQuery, FlamePlace, FlamePlaceQuery, FlameQuery, Occurrence, View,
};
use session::tracks::Row;
use session::tracks::calls::ForeignCalls;
use session::tracks::samples::Samples;
use session::tracks::thread::Thread;
use views::actions::Action;
use views::actions::flame::FlameAct;
use views::panels::HEAP;
use views::view::Change;
use views::view::flame::{FlameOrder, FlameView, MAX_STEPS, TwoLogs};

/// The source that is shown: the chosen one, or the first that there is.
fn source_of(sources: &[SourceInfo], chosen: Option<Source>) -> Option<Rc<SourceInfo>> {
    let found = sources.iter().find(|info| Some(info.source) == chosen);
    found.or(sources.first()).cloned().map(Rc::new)
}

/// The other of two logs, if the graph is to compare with it.
fn wanted<'a>(props: &'a PanelProps, view: &FlameView) -> Option<&'a Beside> {
    props.beside.as_ref().filter(|_| view.two != TwoLogs::Apart)
}

/// Why the graph is of one log alone, though it is to compare with the other.
fn alone(beside: &Beside, source: Source) -> Option<String> {
    let log = beside.role.word();
    let has_it = |info: &SourceInfo| info.source == source;
    if !beside.source.complete {
        Some(format!("compared as soon as the log {log} is read"))
    } else if !beside.flame_sources.iter().any(has_it) {
        let title = sources::of(source).title();
        Some(format!(
            "not compared: the log {log} has nothing for “{title}”"
        ))
    } else if beside.is_elsewhere {
        Some(format!(
            "not compared: the log {log} has nothing in the selected range"
        ))
    } else {
        None
    }
}

/// The other of two logs, if the graph compares with it.
fn other_of(props: &PanelProps, view: &FlameView, source: Source) -> Option<OtherLog> {
    let beside = wanted(props, view)?;
    alone(beside, source).is_none().then(|| OtherLog {
        log: beside.source.client.log().0,
        range: beside.range,
        is_after: beside.role == Role::After,
        shares: view.two == TwoLogs::Shares,
    })
}

fn query_of(props: &PanelProps, view: &FlameView, info: &SourceInfo) -> FlameQuery {
    let of_heap = sources::of(info.source).unit() == Unit::Bytes;
    let other = other_of(props, view, info.source);
    let compares = wanted(props, view).is_some() || view.before.is_some();
    let in_time = view.order == FlameOrder::Time && !of_heap && !compares;
    let range = if in_time {
        props.range.or(props.overview.span)
    } else {
        props.range
    };
    FlameQuery {
        choice: Choice {
            source: info.source,
            tracks: info.tracks_named(view.tracks.as_str(), &props.marked.scope),
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

/// The panel.
#[component]
pub(super) fn FlameGraph(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<FlameView>();
    let picked = use_state_eq(|| None::<Pick>);
    let found = use_state_eq(Found::default);
    // The box that was last looked for on the timeline, and from where on.
    let sought = use_mut_ref(|| None::<(u32, Nanos)>);
    let info = use_memo(
        (Rc::clone(&props.flame_sources), view.source),
        |(sources, chosen)| source_of(sources, *chosen),
    );
    let asked = (*info)
        .as_ref()
        .and_then(|info| matches_of(props, &view, info));
    let matches = use_answered_if(&props.source, asked.clone());
    // Which match is shown, of what was looked for.
    let number = use_state_eq(|| (String::new(), 0));
    if !props.source.complete {
        return html! { <p class="empty">{ "The flame graph appears once the log is read." }</p> };
    }
    let Some(info) = (*info).clone() else {
        return nothing();
    };
    let client = &props.source.client;
    let query = query_of(props, &view, &info);
    let on_pick = setter_of(&picked);
    let on_act = on_act(props, &query, sought);
    let on_found = setter_of(&found);
    // An answer to what was looked for before is none to this.
    let matches =
        matches.filter(|(about, _)| Some(&about.search) == asked.as_ref().map(|it| &it.search));
    let matches = matches.map(|(_, matches)| matches);
    let at = if number.0 == view.search { number.1 } else { 0 };
    let shown = matches.as_ref().and_then(|matches| {
        let place = *matches.widest.get(at)?;
        let key = (view.search.clone(), at);
        Some(Match { key, place })
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
                colours={props.colours} names={props.source.names} on_view={on_view.clone()} {on_pick} on_act={on_act.clone()} {on_found} />
        }
    } else {
        let reveal = reveal_of(props, &query);
        html! {
            <FlameCanvas client={client.clone()} query={query.clone()} source={Rc::clone(&info)} label="Flame graph"
                colours={props.colours} names={props.source.names} {reveal}
                axis={props.axis.filter(|_| query.view == View::Time)} on_look={props.on_look.clone()} found={shown} {on_pick} on_act={on_act.clone()} {on_found} />
        }
    };
    let other = wanted(props, &view).map(|beside| Other {
        role: beside.role,
        alone: alone(beside, info.source).map(AttrValue::from),
    });
    let on_zoom = zoom_of(props, &query);
    let area = area(props, (*picked).as_ref(), &query, info.source);
    html! {
        <div class="flame">
            <Controls client={client.clone()} sources={Rc::clone(&props.flame_sources)} source={Rc::clone(&info)} view={view.clone()}
                other={props.beside.as_ref().map(|beside| beside.role)}
                range={props.range} log={props.overview.span} found={found.share} matches={matches.clone()} {at} {on_match} {on_zoom} {query} about={for_what(props, &view, &info)}
                on_view={on_view.clone()} on_heap={props.on_change.reform(|()| Change::panel(HEAP))} />
            <Steps {other} {view} of_heap={sources::of(info.source).unit() == Unit::Bytes} range={props.range} shortened={found.shortened} {on_view} />
            { area }
            { graph }
            { strip((*picked).clone(), sources::of(info.source).unit() == Unit::Bytes, &on_act) }
        </div>
    }
}

/// What zooms to the selected range, where that is a small part of what is in view.
fn zoom_of(props: &PanelProps, query: &FlameQuery) -> Option<Callback<()>> {
    const SMALL: f64 = 0.15;
    let (range, axis) = props.range.zip(props.axis)?;
    let px = axis.view.x_of(range.end()) - axis.view.x_of(range.start());
    let is_small = query.view == View::Time && px < axis.view.width_px() * SMALL;
    is_small.then(|| props.on_action.reform(|()| Action::ShowSelection))
}

/// Where the frames are that are looked for; nothing to ask where nothing is, and of the table.
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

/// The bytes over time of the box that is pointed at or selected, or of all.
fn area(props: &PanelProps, pick: Option<&Pick>, query: &FlameQuery, stacks: Source) -> Html {
    let (view, on_view) = props.settings::<FlameView>();
    let Some(log) = props.overview.span else {
        return html! {};
    };
    // Its stacks are those of one log.
    if sources::of(stacks).unit() != Unit::Bytes || !view.area || query.choice.other.is_some() {
        return html! {};
    }
    // In the sandwich the chosen function, wherever it stands.
    let whole = match view.order {
        FlameOrder::Sandwich if !view.frame.is_empty() => {
            (view.frame.clone(), View::Callees(view.frame.clone()), None)
        }
        _ => (
            "Everything that is alive".to_owned(),
            query.view.clone(),
            None,
        ),
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

/// Where a moment of the timeline is in the graph.
fn reveal_of(props: &PanelProps, query: &FlameQuery) -> Option<Reveal> {
    let (Some((serial, PanelRequest::Flame(track, moment))), Some(range)) =
        (props.wish, query.choice.range)
    else {
        return None;
    };
    let at = moment.since(range.start()).0 as f64 / (range.duration().0 as f64).max(1.0);
    (query.view == View::Time && (0.0..=1.0).contains(&at)).then_some(Reveal { serial, track, at })
}

type Sought = Rc<std::cell::RefCell<Option<(u32, Nanos)>>>;

/// What keys and buttons do to a box.
fn on_act(props: &PanelProps, query: &FlameQuery, sought: Sought) -> Callback<(FlameAct, Pick)> {
    let (view, on_view) = props.settings::<FlameView>();
    let on_goto = props.on_goto.clone();
    let (client, query) = (props.source.client.clone(), query.clone());
    Callback::from(move |(act, pick): (FlameAct, Pick)| {
        if let Some(step) = act.step(&pick.name) {
            let mut view = view.clone();
            if view.steps.len() < MAX_STEPS && view.steps.last() != Some(&step) {
                view.steps.push(step);
                on_view.emit(view);
            }
        } else if act == FlameAct::Sandwich {
            on_view.emit(FlameView {
                order: FlameOrder::Sandwich,
                frame: pick.name,
                ..view.clone()
            });
        } else if act == FlameAct::Longest {
            seek_longest(&client, &query, &pick, &on_goto);
        } else if query.view == View::Time {
            on_goto.emit(place_in_time(&query, &pick));
        } else {
            seek_next(&client, &query, &pick, &sought, &on_goto);
        }
    })
}

/// Where a box of the order of time is on the timeline.
fn place_in_time(query: &FlameQuery, pick: &Pick) -> Goto {
    let nothing = Interval::default();
    let range = query.choice.range.unwrap_or(nothing);
    let ns = range.duration().0 as f64;
    let at = |part: f64| Nanos(range.start().0 + (part.clamp(0.0, 1.0) * ns) as u64);
    Goto {
        span: Interval::new(at(pick.left), at(pick.left + pick.width)),
        row: pick.track.and_then(row_of),
        zoom: true,
        details: false,
    }
}

/// The track of the timeline on which a track of a flame graph is best seen.
fn row_of(track: TrackSource) -> Option<Row> {
    match track {
        TrackSource::Capability(cap) => Some(Samples(cap).into()),
        TrackSource::Thread(thread) => Some(Thread(thread).into()),
        TrackSource::Spans { thread, .. } => thread.map(|thread| Thread(thread).into()),
        track => CallsOf::of_source(track).map(|of| ForeignCalls(of).into()),
    }
}

/// Where a box that stands for many times is.
fn place_of(query: &FlameQuery, pick: &Pick, which: Occurrence) -> FlamePlaceQuery {
    FlamePlaceQuery {
        choice: query.choice.clone(),
        steps: query.steps.clone(),
        view: pick.view.clone(),
        stack: pick.stack,
        which,
    }
}

/// Shows when it lasted longest, with the details of what it was then.
fn seek_longest(client: &LogClient, query: &FlameQuery, pick: &Pick, on_goto: &Callback<Goto>) {
    let on_goto = on_goto.clone();
    let question = place_of(query, pick, Occurrence::Longest);
    client.ask(question, move |place| {
        if let Ok(Some(FlamePlace { span, track })) = place {
            let row = track.and_then(row_of);
            // A sample stands for the time before it: that of the begin is another one's.
            let span = match row {
                Some(Row::Samples(_)) => Interval::new(span.middle(), span.end()),
                _ => span,
            };
            on_goto.emit(Goto {
                span,
                row,
                zoom: true,
                details: true,
            });
        }
    });
}

/// Shows when it is: the first time, then the next.
fn seek_next(
    client: &LogClient,
    query: &FlameQuery,
    pick: &Pick,
    sought: &Sought,
    on_goto: &Callback<Goto>,
) {
    let stack = pick.stack;
    let start = query.choice.range.map_or(Nanos(0), |range| range.start());
    let before = *sought.borrow();
    let from = before
        .filter(|(other, _)| *other == stack)
        .map(|(_, from)| from);
    let question = place_of(query, pick, Occurrence::From(from.unwrap_or(start)));
    let (sought, on_goto) = (Rc::clone(sought), on_goto.clone());
    client.ask(question, move |place| match place {
        Ok(Some(FlamePlace { span, .. })) => {
            *sought.borrow_mut() = Some((stack, span.end().max(span.start() + Duration(1))));
            on_goto.emit(Goto {
                span,
                row: None,
                zoom: true,
                details: false,
            });
        }
        // After the last one comes the first again.
        _ => *sought.borrow_mut() = None,
    });
}

/// What a box is, and what can be done to it.
fn strip(pick: Option<Pick>, of_heap: bool, on_act: &Callback<(FlameAct, Pick)>) -> Html {
    let is_place = |act: FlameAct| matches!(act, FlameAct::Place | FlameAct::Longest);
    let can = |act: FlameAct, pick: &Pick| pick.selected && (is_place(act) || !pick.merged);
    // What is alive has no length: its place is where there was most of it.
    let acts = FlameAct::ALL
        .into_iter()
        .filter(|act| !of_heap || *act != FlameAct::Longest);
    let button = |act: FlameAct| {
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
    /// Said where nothing is pointed at.
    const HINT: &str =
        "Click a box to select it · double click zooms to it · Ctrl + wheel zooms, drag moves";
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
                    <span class="faint">{ HINT }</span>
                }
            </p>
            <span class="tools" role="group" aria-label="The selected box">{ for acts.map(button) }</span>
        </div>
    }
}

/// For which time and tracks the graph is.
fn for_what(props: &PanelProps, view: &FlameView, info: &SourceInfo) -> String {
    let range = match props.range {
        Some(range) => format!("for {}", span_text(range)),
        None => "for the whole log".to_owned(),
    };
    let (name, marked) = (view.tracks.as_str(), &props.marked);
    if name != ALL {
        // What was chosen here counts.
        range
    } else if info.tracks_named(name, &marked.scope).is_empty() {
        marked.about_all(range)
    } else {
        marked.about(range)
    }
}

/// How to get something to draw.
fn nothing() -> Html {
    html! {
        <div class="empty">
            <p>{ "This log has nothing to draw as a flame graph. There are several kinds:" }</p>
            <ul>
                { for sources::all().map(sources::of).map(how) }
            </ul>
            { how_to_record("record-code") }
        </div>
    }
}

/// How a log comes to have a source.
fn how(source: &'static dyn FlameSource) -> Html {
    html! { <li>{ format!("{}: {}.", source.title(), source.how()) }</li> }
}
