//! The event list: all events of the log, or those that pass a filter. The page holds only the rows around the
//! visible ones; the worker reads them from the file on demand.

mod filter;
mod row;

use std::ops::Range;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use crate::copy::copy;
use crate::export_rows::RowSource;
use crate::grid::{Grid, RowActivated, Rows, ScrollTo};
use crate::panel::PanelProps;
use crate::update::{ComponentUpdate, callback, update_after};
use crate::viewer::{ClickPosition, NavigationTarget};
use filter::{Change, FilterBar, SearchState};
use row::{COLUMNS, as_text, grid_row};
use scene::format;
use session::event_list::{
    CountRowsQuery, EventFieldsQuery, EventRowsQuery, FindEventAtQuery, FindEventQuery, NoRows,
    RowCounts,
};
use session::events::filter::EventFilter;
use session::events::visit::FoundRow;
use session::events::{EventList, EventRow};
use session::query::Query;
use session::tables::TableQuery;

/// Debounce delay for changes of the selected range.
const RANGE_SETTLED_MS: u32 = 120;
/// Maximum number of rows copied at once.
const MAX_COPIED_ROWS: u64 = 20_000;

/// Returns the list of the view, limited to the selected range and tracks.
fn limited_list(props: &PanelProps) -> EventList {
    let list = props.view.settings.get::<EventList>();
    EventList {
        filter: EventFilter {
            range: props.range,
            scope: props.track_selection.scope.clone(),
            ..list.filter
        },
        search: list.search,
    }
}

fn rows_query(list: &EventList, rows: Range<u64>) -> EventRowsQuery {
    let query = EventRowsQuery {
        list: list.clone(),
        first: 0,
        count: 0,
    };
    query.with_rows(rows)
}

/// Returns whether two rows are of one event. Its row and its text may change while the log grows.
fn is_same_event(one: &EventRow, other: &EventRow) -> bool {
    (one.time, one.cap, &one.name) == (other.time, other.cap, &other.name)
}

/// Creates the export of a list as text.
fn row_source(props: &PanelProps, list: EventList) -> RowSource {
    RowSource::of_table(props.source.client.clone(), rows_query(&list, 0..0))
}

/// Name and value of each field of an event.
type FieldTexts = Vec<(String, String)>;

/// State of the event list.
pub(super) struct Events {
    list: EventList,
    /// Incremented with each new list, so that stale answers are detected.
    number: u32,
    /// Export of the rows as text.
    out: RowSource,
    total: u64,
    rows: Vec<EventRow>,
    first: u64,
    grid_rows: Rc<Rows>,
    window: Range<u64>,
    in_flight: bool,
    current: Option<u64>,
    /// Event of the current row, once it is loaded.
    current_event: Option<EventRow>,
    /// Whether the log has grown since the current event was found among the rows.
    has_grown: bool,
    /// Row at which the selection of rows started.
    anchor: Option<u64>,
    scroll_to: ScrollTo,
    /// Deferred navigation, until the rows are counted.
    pending_place: Option<ClickPosition>,
    found: SearchState,
    /// Direction of the pending search (true: forward): rows may have to be counted first.
    pending_direction: Option<bool>,
    /// Direction of the search that is asked for.
    searching: Option<bool>,
    /// Typed search text, until the list has it.
    typed: Option<String>,
    /// Progress of counting the rows.
    counted: RowCounts,
    /// Error message if rows are missing.
    error: Option<String>,
    /// Fields of the last described event, with the numbers of the list and of the event; kept while those of another
    /// one are requested.
    fields: Option<((u32, u64), FieldTexts)>,
    copied: Option<String>,
    range_settles: Option<Timeout>,
}

impl Component for Events {
    type Message = ComponentUpdate<Self>;
    type Properties = PanelProps;

    fn create(ctx: &Context<Self>) -> Self {
        let props = ctx.props();
        let mut events = Self {
            list: limited_list(props),
            number: 0,
            out: row_source(props, limited_list(props)),
            total: 0,
            rows: Vec::new(),
            first: 0,
            grid_rows: Rc::new(Rows::default()),
            window: 0..0,
            in_flight: false,
            current: None,
            current_event: None,
            has_grown: false,
            anchor: None,
            scroll_to: ScrollTo::default(),
            pending_place: props.clicked,
            found: SearchState::default(),
            pending_direction: None,
            searching: None,
            typed: None,
            counted: RowCounts::default(),
            error: None,
            fields: None,
            copied: None,
            range_settles: None,
        };
        events.list_changed(ctx);
        events
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &PanelProps) -> bool {
        let props = ctx.props();
        if props.range != old.range {
            self.range_settles = Some(update_after(ctx, RANGE_SETTLED_MS, |events, ctx, ()| {
                events.update_list(ctx);
                true
            }));
        }
        if props.view.settings != old.view.settings || props.track_selection != old.track_selection
        {
            self.update_list(ctx);
        }
        if props.overview.complete != old.overview.complete {
            self.list_changed(ctx);
        } else if props.source.events != old.source.events {
            self.on_log_grown(ctx);
        }
        if let Some(place) = props.clicked.filter(|_| props.clicked != old.clicked) {
            self.locate(ctx, place);
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, act: ComponentUpdate<Self>) -> bool {
        act(self, ctx)
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        if !props.overview.complete {
            return html! { <p class="empty">{ "Events appear once the log is read." }</p> };
        }
        html! {
            <div class="events" onkeydown={callback(ctx, Self::on_key)}>
                <FilterBar client={props.source.client.clone()} overview={props.overview.clone()}
                    list={self.list.clone()} track_selection={Rc::clone(&props.track_selection)} found={self.found.clone()} total={self.total}
                    counting={self.counting()}
                    on_change={callback(ctx, Self::on_change)}
                    on_find={callback(ctx, Self::on_find)}
                    rows={self.out.clone()} />
                if self.total == 0 && self.counting().is_none() {
                    <p class="empty">{ "No events match this filter. " }{ self.why_empty() }</p>
                } else {
                    <Grid name="event-rows" label="Events" columns={COLUMNS} total={self.total}
                        rows={Rc::clone(&self.grid_rows)} current={self.current}
                        selected={self.selected()} scroll_to={self.scroll_to}
                        on_window={callback(ctx, Self::on_window)} on_current={callback(ctx, Self::on_row_activated)} />
                }
                if let Some(error) = &self.error {
                    <p class="strip" role="alert">{ error }</p>
                }
                { self.view_fields() }
                <span class="visually-hidden" role="status">{ self.copied.clone().unwrap_or_default() }</span>
            </div>
        }
    }
}

impl Events {
    /// Queries the worker; answers that arrive after the list has changed are dropped.
    fn ask<Q: Query>(
        &self,
        ctx: &Context<Self>,
        query: Q,
        then: impl FnOnce(&mut Self, &Context<Self>, Q::Answer) + 'static,
    ) {
        let (link, number) = (ctx.link().clone(), self.number);
        ctx.props().source.client.ask(query, move |answer| {
            let Ok(answer) = answer else { return };
            let act: ComponentUpdate<Self> = Box::new(move |events, ctx| {
                let current = events.number == number;
                if current {
                    then(events, ctx, answer);
                }
                current
            });
            link.send_message(act);
        });
    }

    /// Handles a change of the visible rows.
    fn on_window(&mut self, ctx: &Context<Self>, window: Range<u64>) -> bool {
        self.window = window;
        self.ask_rows(ctx);
        false
    }

    fn on_key(&mut self, ctx: &Context<Self>, event: KeyboardEvent) -> bool {
        if !(event.ctrl_key() || event.meta_key()) || event.key() != "c" {
            return false;
        }
        event.prevent_default();
        self.copy(ctx)
    }

    fn why_empty(&self) -> &'static str {
        let filter = &self.list.filter;
        match filter.range {
            _ if !filter.scope.is_everything() => {
                "Only events of the selected tracks are listed: clear the selection (Esc) to see all."
            }
            Some(_) => {
                "Only events of the selected range are listed: clear it (Esc) to see the whole log."
            }
            None => "Choose other types, capabilities or threads.",
        }
    }

    /// Renders all fields of the current event.
    fn view_fields(&self) -> Html {
        let Some((_, fields)) = &self.fields else {
            return html! { <p class="strip event-fields faint">{ "Select an event to see its fields · Ctrl + C copies the selected rows" }</p> };
        };
        let field = |(name, value): &(String, String)| {
            html! { <span><b>{ name }</b>{ " " }{ value }</span> }
        };
        html! { <p class="strip event-fields" aria-live="polite">{ for fields.iter().map(field) }</p> }
    }

    /// Returns the counted part of the log, from 0 to 1; `None` if counting is done or not needed.
    fn counting(&self) -> Option<f64> {
        let counting = self.list.needs_scan() && !self.counted.complete && self.error.is_none();
        counting.then_some(self.counted.part)
    }

    fn on_change(&mut self, ctx: &Context<Self>, change: Change) -> bool {
        let props = ctx.props();
        let (mut list, on_list) = props.settings::<EventList>();
        let filter = &mut list.filter;
        match change {
            Change::Types(types) => filter.types = types,
            Change::Cap(cap) => filter.cap = cap,
            Change::Thread(thread) => filter.thread = thread,
            Change::Search(search) => {
                self.typed = Some(search.clone()).filter(|typed| *typed != self.list.search);
                list.search = search;
            }
            Change::Clear => *filter = EventFilter::default(),
        }
        on_list.emit(list);
        true
    }

    /// Updates the list if view, range or tracks have changed it.
    fn update_list(&mut self, ctx: &Context<Self>) {
        let list = limited_list(ctx.props());
        if self.list != list {
            self.list = list;
            self.list_changed(ctx);
        }
    }

    /// Starts counting and loading the rows of a new list.
    fn list_changed(&mut self, ctx: &Context<Self>) {
        let props = ctx.props();
        if !props.overview.complete {
            return;
        }
        let here = self.current.and_then(|row| self.row(row));
        let here = here.map(|row| ClickPosition {
            time: row.time,
            cap: row.cap,
        });
        self.pending_place = here.or(self.pending_place);
        self.number += 1;
        self.out = row_source(props, self.list.clone());
        self.in_flight = false;
        self.searching = None;
        self.typed = None;
        self.pending_direction = self
            .pending_direction
            .filter(|_| !self.list.search.is_empty());
        self.found = SearchState {
            is_searching: self.pending_direction.is_some(),
            ..SearchState::default()
        };
        self.counted = RowCounts::default();
        self.error = None;
        self.has_grown = false;
        if self.list.needs_scan() {
            self.count(ctx);
        }
        if self.list.filter.is_all() {
            self.total = props.overview.events;
            self.ask_rows(ctx);
            self.locate_pending(ctx);
        } else {
            self.total = 0;
            self.rows.clear();
            self.first = 0;
            self.render_rows();
            self.current = None;
            self.current_event = None;
            self.anchor = None;
        }
    }

    /// Handles growth of the log: the current rows stay until the new ones have arrived.
    fn on_log_grown(&mut self, ctx: &Context<Self>) {
        let props = ctx.props();
        if !props.overview.complete {
            return;
        }
        self.number += 1;
        self.has_grown = true;
        // What was asked for before is no longer answered.
        let were_asked = std::mem::take(&mut self.in_flight);
        self.pending_direction = self.pending_direction.or(self.searching.take());
        self.out = row_source(props, self.list.clone());
        if self.list.filter.is_all() {
            self.total = props.overview.events;
        }
        if self.list.filter.is_all() || were_asked {
            self.ask_rows(ctx);
        }
        if self.list.needs_scan() {
            self.counted.complete = false;
            self.count(ctx);
        }
    }

    /// Returns to the place shown before the list was replaced.
    fn locate_pending(&mut self, ctx: &Context<Self>) {
        if let Some(place) = self.pending_place.take() {
            self.locate(ctx, place);
        }
    }

    /// Requests the next step of counting.
    fn count(&self, ctx: &Context<Self>) {
        self.ask(ctx, CountRowsQuery(self.list.clone()), Self::on_counted);
    }

    /// Stores the reason for missing rows.
    fn no_rows(&mut self, why: NoRows) {
        self.error = match why {
            NoRows::NotCounted => None,
            why => Some(format!(
                "Rows could not be loaded: {why}. Open the log again."
            )),
        };
    }

    /// Handles the result of a counting step.
    fn on_counted(&mut self, ctx: &Context<Self>, counted: Result<RowCounts, NoRows>) {
        let counted = match counted {
            Ok(counted) => counted,
            Err(why) => return self.no_rows(why),
        };
        self.counted = counted;
        if !counted.complete {
            self.count(ctx);
        }
        self.found.count = (!self.list.search.is_empty()).then_some(counted.found);
        // After a log has grown, counting restarts at its beginning.
        let is_more = counted.complete || counted.rows > self.total;
        let grows = !self.list.filter.is_all() && is_more && self.total != counted.rows;
        if grows {
            self.total = counted.rows;
            let have = self.first + self.rows.len() as u64;
            if have < self.window.end.max(1) {
                self.window.end = self.window.end.max(self.window.start + 100);
                self.ask_rows(ctx);
            }
        }
        if counted.complete && self.has_grown {
            self.ask_rows(ctx);
        }
        if counted.complete && self.total > 0 {
            self.locate_pending(ctx);
        }
        self.run_pending_search(ctx);
    }

    /// Requests the visible rows; if a request is in flight, its answer triggers the next one.
    fn ask_rows(&mut self, ctx: &Context<Self>) {
        if self.in_flight || self.total == 0 {
            return;
        }
        self.in_flight = true;
        let first = self.window.start.min(self.total);
        let wanted = self.window.end.saturating_sub(first).max(100);
        let query = rows_query(&self.list, first..first + wanted);
        self.ask(ctx, query, move |events, ctx, rows| {
            events.on_rows(ctx, first, rows);
        });
    }

    fn on_rows(&mut self, ctx: &Context<Self>, first: u64, rows: Result<Vec<EventRow>, NoRows>) {
        self.in_flight = false;
        let rows = match rows {
            Ok(rows) => rows,
            // The current rows stay.
            Err(why) => return self.no_rows(why),
        };
        self.error = None;
        let asked_all = first <= self.window.start
            && (first + rows.len() as u64 >= self.window.end.min(self.total) || rows.is_empty());
        self.rows = rows;
        self.first = first;
        self.render_rows();
        if self.has_grown {
            self.find_current(ctx);
        }
        if !self.has_grown {
            self.ask_fields(ctx);
        }
        if !asked_all {
            self.ask_rows(ctx);
        }
    }

    fn render_rows(&mut self) {
        self.grid_rows = Rc::new(Rows {
            first: self.first,
            rows: self.rows.iter().map(grid_row).collect(),
        });
    }

    fn row(&self, number: u64) -> Option<&EventRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }

    fn selected(&self) -> Range<u64> {
        match (self.anchor, self.current) {
            (Some(anchor), Some(current)) => anchor.min(current)..anchor.max(current) + 1,
            _ => 0..0,
        }
    }

    fn on_row_activated(&mut self, ctx: &Context<Self>, activated: RowActivated) -> bool {
        if activated.extend {
            self.anchor = self.anchor.or(self.current).or(Some(activated.row));
        } else {
            self.anchor = None;
        }
        self.current = Some(activated.row);
        self.current_event = None;
        self.copied = None;
        if let Some(row) = self.row(activated.row) {
            ctx.props().on_goto.emit(NavigationTarget::time(row.time));
        }
        self.ask_fields(ctx);
        true
    }

    /// Finds the current event in a log that has grown: blocks of other capabilities that are written later shift its
    /// row, and the log of another run does not have it.
    fn find_current(&mut self, ctx: &Context<Self>) {
        let (Some(current), Some(event)) = (self.current, self.current_event.clone()) else {
            self.has_grown = false;
            return;
        };
        let is_it = |row: &EventRow| is_same_event(row, &event);
        if self.row(current).is_some_and(is_it) {
            self.has_grown = false;
        } else if let Some(place) = self.rows.iter().position(is_it) {
            self.current = Some(self.first + place as u64);
            self.anchor = None;
            self.has_grown = false;
        } else if self.counting().is_none() {
            let query = FindEventAtQuery {
                list: self.list.clone(),
                time: event.time,
                cap: event.cap,
            };
            self.ask(ctx, query, move |events, _, found| {
                events.on_current_found(&event, found);
            });
        }
    }

    /// Moves the current row to its event, without scrolling there, or forgets it.
    fn on_current_found(&mut self, event: &EventRow, found: Result<Option<FoundRow>, NoRows>) {
        let Ok(found) = found else { return };
        if self.current_event.as_ref() != Some(event) {
            return;
        }
        let row = found.filter(|found| found.time == event.time);
        let row = row.map(|found| found.row);
        let loaded = row.and_then(|row| self.row(row));
        let is_other = loaded.is_some_and(|loaded| !is_same_event(loaded, event));
        self.current = row.filter(|_| !is_other);
        self.anchor = None;
        // Several events may have that time: the row is checked once it is loaded.
        if self.current.is_none() {
            self.current_event = None;
            self.fields = None;
            self.has_grown = false;
        }
    }

    /// Requests the fields of the current event unless they are at hand.
    fn ask_fields(&mut self, ctx: &Context<Self>) {
        let Some(row) = self.current.and_then(|row| self.row(row)).cloned() else {
            return;
        };
        let of = (self.number, row.number);
        self.current_event = Some(row);
        if self.fields.as_ref().is_some_and(|(known, _)| *known == of) {
            return;
        }
        self.ask(ctx, EventFieldsQuery(of.1), move |events, _, fields| {
            events.fields = fields
                .ok()
                .map(|fields| (of, fields))
                .or(events.fields.take());
        });
    }

    fn locate(&mut self, ctx: &Context<Self>, place: ClickPosition) {
        let query = FindEventAtQuery {
            list: self.list.clone(),
            time: place.time,
            cap: place.cap,
        };
        self.ask(ctx, query, |events, ctx, found| {
            events.show(ctx, found.ok().flatten());
        });
    }

    fn on_find(&mut self, ctx: &Context<Self>, forward: bool) -> bool {
        self.pending_direction = Some(forward);
        self.found.is_searching = true;
        self.run_pending_search(ctx);
        true
    }

    /// Requests the pending match once one is counted or counting is complete.
    fn run_pending_search(&mut self, ctx: &Context<Self>) {
        let ready = self.counted.found > 0 || self.counted.complete;
        let ready = ready && self.typed.is_none() && !self.list.search.is_empty();
        let Some(forward) = self.pending_direction.filter(|_| ready) else {
            return;
        };
        self.pending_direction = None;
        self.searching = Some(forward);
        let query = FindEventQuery {
            list: self.list.clone(),
            from: self.current,
            forward,
        };
        self.ask(ctx, query, Self::on_found);
    }

    fn on_found(&mut self, ctx: &Context<Self>, found: Result<Option<FoundRow>, NoRows>) {
        self.found.is_searching = false;
        self.searching = None;
        let found = match found {
            Ok(found) => found,
            Err(why) => return self.no_rows(why),
        };
        self.found.none_left = found.is_none();
        if let Some(found) = found {
            self.found.number = found.found;
            ctx.props().on_goto.emit(NavigationTarget::time(found.time));
        }
        self.show(ctx, found);
    }

    /// Makes a row current and scrolls to it.
    fn show(&mut self, ctx: &Context<Self>, found: Option<FoundRow>) {
        let Some(found) = found else { return };
        self.current = Some(found.row);
        self.current_event = None;
        self.anchor = None;
        self.scroll_to = ScrollTo {
            serial: self.scroll_to.serial + 1,
            row: found.row,
        };
        self.ask_fields(ctx);
    }

    /// Copies the selected rows, or the current one, as tab-separated text.
    fn copy(&mut self, ctx: &Context<Self>) -> bool {
        let mut selected = self.selected();
        if selected.is_empty() {
            let Some(current) = self.current else {
                return false;
            };
            selected = current..current + 1;
        }
        selected.end = selected.end.min(selected.start + MAX_COPIED_ROWS);
        let query = rows_query(&self.list, selected);
        self.ask(ctx, query, |_, ctx, rows| {
            let Ok(rows) = rows else { return };
            let text: String = rows.iter().map(as_text).collect();
            let copied = callback(ctx, Self::on_copied);
            spawn_local(async move { copied.emit(copy(&text).await.then_some(rows.len())) });
        });
        false
    }

    fn on_copied(&mut self, _: &Context<Self>, rows: Option<usize>) -> bool {
        self.copied = Some(match rows {
            None => "The browser did not allow copying the rows.".to_owned(),
            Some(rows) => format!("{} copied", format::pluralize(rows as u64, "row")),
        });
        true
    }
}
