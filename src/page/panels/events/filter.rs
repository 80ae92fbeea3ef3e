//! Controls above the event list: search, types, capability, thread.

use std::rc::Rc;

use yew::prelude::*;

use crate::client::LogClient;
use crate::dom::{use_debounced, value_of};
use crate::export_rows::{ExportButtons, RowSource};
use crate::field::Field;
use crate::menu::Menu;
use crate::panel::TrackSelection;
use crate::ptr_eq::PtrEq;
use analysis::timeline::thread_lane::ThreadListQuery;
use eventlog::ids::{CapId, ThreadId};
use eventlog::{EventType, Subject};
use model::sorting::CompactSort;
use scene::format;
use session::Overview;
use session::events::EventList;
use session::events::filter::CapFilter;
use views::view::panel::toggle_item;

/// A change of the filter or the search.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    Types(Vec<u16>),
    Cap(CapFilter),
    Thread(Option<ThreadId>),
    Search(String),
    /// Resets everything except the search.
    Clear,
}

/// State of the search.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SearchState {
    /// Number of matching rows counted so far.
    pub(super) count: Option<u64>,
    /// Ordinal of the current match.
    pub(super) number: Option<u64>,
    /// Whether a search request is pending.
    pub(super) is_searching: bool,
    /// Whether the last search found no match in its direction.
    pub(super) none_left: bool,
}

#[derive(Properties, PartialEq)]
pub(super) struct FilterBarProps {
    pub(super) client: LogClient,
    pub(super) overview: PtrEq<Overview>,
    pub(super) list: EventList,
    /// Selected tracks, which limit the list.
    pub(super) track_selection: Rc<TrackSelection>,
    pub(super) found: SearchState,
    /// Number of rows counted so far.
    pub(super) total: u64,
    /// The counted part of the log, from 0 to 1; `None` once counting is done.
    pub(super) counting: Option<f64>,
    pub(super) on_change: Callback<Change>,
    /// Searches forward (true) or backward.
    pub(super) on_find: Callback<bool>,
    /// Export of the rows as text.
    pub(super) rows: RowSource,
}

/// Debounce delay for typing in the search field.
const TYPED_MS: u32 = 80;

/// Renders the search field, the filters and the export buttons.
#[component]
pub(super) fn FilterBar(props: &FilterBarProps) -> Html {
    let clear = props.on_change.reform(|_: MouseEvent| Change::Clear);
    let filter = &props.list.filter;
    let filtered =
        !filter.types.is_empty() || filter.cap != CapFilter::All || filter.thread.is_some();
    html! {
        <div class="controls">
            <Search search={props.list.search.clone()} found={props.found.clone()} counting={props.counting}
                on_change={props.on_change.clone()} on_find={props.on_find.clone()} />
            <Types overview={props.overview.clone()} types={filter.types.clone()} on_change={props.on_change.clone()} />
            { caps(props) }
            <ThreadInput client={props.client.clone()} thread={filter.thread} on_change={props.on_change.clone()} />
            if filtered {
                <button class="quiet" onclick={clear}>{ "Clear filter" }</button>
            }
            <span class="for" role="status">{ how_many(props) }</span>
            <ExportButtons name="events" total={props.total} rows={props.rows.clone()} />
        </div>
    }
}

fn how_many(props: &FilterBarProps) -> String {
    let all = format::count(props.overview.events);
    if props.list.filter.is_all() {
        return format!("{all} events");
    }
    let rows = format::count(props.total);
    let events = props
        .track_selection
        .about(format!("{rows} of {all} events"));
    match props.counting {
        Some(part) => format!("{events}, counting: {:.0} %", part * 100.0),
        None => events,
    }
}

/// Maximum number of capabilities offered; others can be chosen by selecting their track.
const CAPS_LISTED: usize = 500;

fn caps(props: &FilterBarProps) -> Html {
    let chosen = props.list.filter.cap;
    let onchange = props.on_change.reform(|event: Event| {
        let value = value_of(event);
        Change::Cap(match value.as_str() {
            "all" => CapFilter::All,
            "none" => CapFilter::Without,
            number => number
                .parse()
                .map_or(CapFilter::All, |cap| CapFilter::Only(CapId(cap))),
        })
    });
    let cap = |cap: CapId| {
        html! { <option value={cap.to_string()} selected={chosen == CapFilter::Only(cap)}>{ format!("Capability {cap}") }</option> }
    };
    let all = props.overview.caps.iter().map(|life| life.cap);
    let mut listed: Vec<CapId> = all.take(CAPS_LISTED).collect();
    if let CapFilter::Only(other) = chosen
        && !listed.contains(&other)
    {
        listed.push(other);
    }
    html! {
        <select {onchange} aria-label="Capability">
            <option value="all" selected={chosen == CapFilter::All}>{ "All capabilities" }</option>
            { for listed.iter().copied().map(cap) }
            <option value="none" selected={chosen == CapFilter::Without}>{ "No capability" }</option>
        </select>
    }
}

#[derive(Properties, PartialEq)]
struct SearchProps {
    search: String,
    found: SearchState,
    counting: Option<f64>,
    on_change: Callback<Change>,
    on_find: Callback<bool>,
}

#[component]
fn Search(props: &SearchProps) -> Html {
    let typed = use_debounced(TYPED_MS, props.on_change.clone());
    let onkeydown = {
        let (find, change, search) = (
            props.on_find.clone(),
            props.on_change.clone(),
            props.search.clone(),
        );
        Callback::from(move |event: KeyboardEvent| {
            if event.key() != "Enter" {
                return;
            }
            event.prevent_default();
            let (forward, typed) = (!event.shift_key(), value_of(event));
            if typed.is_empty() {
                return;
            }
            if typed != search {
                // Applies the typed text without waiting for the debounce.
                change.emit(Change::Search(typed));
            }
            find.emit(forward);
        })
    };
    let step = |forward: bool| props.on_find.reform(move |_: MouseEvent| forward);
    let none = props.search.is_empty();
    html! {
        <span class="find" role="search">
            <label class="search">
                <span class="visually-hidden">{ "Search the events" }</span>
                <Field kind="search" placeholder="Search events" value={props.search.clone()} on_input={typed.reform(Change::Search)} {onkeydown} />
            </label>
            <button class="icon" onclick={step(false)} disabled={none} title="Previous match (Shift + Enter)" aria-label="Previous match">{ "↑" }</button>
            <button class="icon" onclick={step(true)} disabled={none} title="Next match (Enter)" aria-label="Next match">{ "↓" }</button>
            if !none {
                <span class="matches" role="status">{ matches(props) }</span>
            }
        </span>
    }
}

/// Formats the search status: `3 of 1,234`, or `3 of 120+` while rows are being counted.
fn matches(props: &SearchProps) -> String {
    let SearchState {
        count,
        number,
        is_searching,
        none_left,
    } = &props.found;
    let more = if props.counting.is_some() { "+" } else { "" };
    let count = count.map_or_else(
        || "…".to_owned(),
        |count| format!("{}{more}", format::count(count)),
    );
    let matches = match number {
        Some(number) => format!("{} of {count}", format::count(number + 1)),
        None => format!("{count} matches"),
    };
    match (is_searching, none_left) {
        (true, _) => format!("{matches}, searching …"),
        (false, true) => format!("{matches}, no more in this direction"),
        (false, false) => matches,
    }
}

#[derive(Properties, PartialEq)]
struct TypesProps {
    overview: PtrEq<Overview>,
    types: Vec<u16>,
    on_change: Callback<Change>,
}

/// Groups of event types that are often viewed together.
const GROUPS: [(&str, Subject); 5] = [
    ("Threads", Subject::Scheduling),
    ("Collections", Subject::Collection),
    ("Heap", Subject::Heap),
    ("Sparks", Subject::Spark),
    ("Messages", Subject::Message),
];

/// Renders the menu with a checkbox per event type.
#[component]
fn Types(props: &TypesProps) -> Html {
    let chosen = &props.types;
    let mut types = props.overview.types.clone();
    types.sort_small_by(|a, b| a.name.cmp(&b.name).then(a.id.cmp(&b.id)));
    let title = match chosen.as_slice() {
        [] => "All types".to_owned(),
        [one] => types
            .iter()
            .find(|found| found.id == *one)
            .map_or_else(|| "1 type".to_owned(), |found| found.name.clone()),
        several => format::pluralize(several.len() as u64, "type"),
    };
    let toggle = |id: u16| {
        let chosen = chosen.clone();
        props.on_change.reform(move |_: Event| {
            let mut types = chosen.clone();
            toggle_item(&mut types, id);
            types.sort_unstable();
            Change::Types(types)
        })
    };
    let only = |ids: Vec<u16>| {
        props
            .on_change
            .reform(move |_: MouseEvent| Change::Types(ids.clone()))
    };
    let present = |subject: Subject| -> Vec<u16> {
        let ids = types.iter().map(|found| found.id);
        ids.filter(|id| EventType(*id).subject() == Some(subject))
            .collect()
    };
    let groups = GROUPS
        .map(|(name, subject)| (name, present(subject)))
        .into_iter()
        .filter(|(_, ids)| !ids.is_empty());
    html! {
        <Menu id="event-types" label={title} title="Types of events" class={classes!("menu-button", "picker")}>
            <div class="picker-groups">
                <button onclick={only(Vec::new())}>{ "All" }</button>
                { for groups.map(|(name, ids)| html! { <button onclick={only(ids)}>{ name }</button> }) }
            </div>
            { for types.iter().map(|found| html! {
                <label>
                    <input type="checkbox" checked={chosen.contains(&found.id)} onchange={toggle(found.id)} />
                    <span title={found.description.clone()}>{ type_name(found.id, &found.name) }</span>
                    <span class="number">{ format::count(found.count) }</span>
                </label>
            }) }
        </Menu>
    }
}

/// Returns the name of a type; unknown types get their number appended.
fn type_name(id: u16, name: &str) -> String {
    if name == "UnknownEvent" {
        format!("{name} {id}")
    } else {
        name.to_owned()
    }
}

#[derive(Properties, PartialEq)]
struct ThreadInputProps {
    client: LogClient,
    thread: Option<ThreadId>,
    on_change: Callback<Change>,
}

/// Renders the input for a thread number or label.
#[component]
fn ThreadInput(props: &ThreadInputProps) -> Html {
    let unknown = use_state(|| false);
    let onchange = {
        let (client, on_change, unknown) = (
            props.client.clone(),
            props.on_change.clone(),
            unknown.clone(),
        );
        Callback::from(move |event: Event| {
            let text = value_of(event);
            let text = text.trim().trim_start_matches('#').to_owned();
            if text.is_empty() {
                unknown.set(false);
                on_change.emit(Change::Thread(None));
                return;
            }
            if let Ok(number) = text.parse() {
                unknown.set(false);
                on_change.emit(Change::Thread(Some(ThreadId(number))));
                return;
            }
            let filter = ThreadListQuery {
                text,
                limit: 1,
                ..ThreadListQuery::default()
            };
            let (on_change, unknown) = (on_change.clone(), unknown.clone());
            client.ask(filter, move |answer| {
                if let Ok((rows, _)) = answer {
                    unknown.set(rows.is_empty());
                    if let Some(row) = rows.first() {
                        on_change.emit(Change::Thread(Some(row.id)));
                    }
                }
            });
        })
    };
    let value = props
        .thread
        .map(|thread| thread.to_string())
        .unwrap_or_default();
    html! {
        <label class="search narrow">
            <span class="visually-hidden">{ "Only events of this thread: number or label" }</span>
            <input type="search" placeholder="Thread" {value} {onchange} aria-invalid={unknown.to_string()}
                title="Only events of this thread: its number or label, then Enter" />
            if *unknown {
                <span class="faint" role="status">{ "no such thread" }</span>
            }
        </label>
    }
}
