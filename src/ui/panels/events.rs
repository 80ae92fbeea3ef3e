//! The list of events: every event of the log, or those that pass a filter.
//! It holds the rows around those in view; the worker reads them again from
//! the file.

mod filter;
mod row;

use std::ops::Range;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use yew::prelude::*;

use crate::ui::client::LogClient;
use crate::ui::grid::{Grid, Rows, ScrollTo, Went};
use crate::ui::panel::{Marked, Page};
use crate::ui::viewer::{Goto, Place};
use filter::{Change, FilterBar, Match};
use model::time::Interval;
use row::{COLUMNS, as_text, grid_row};
use views::events::filter::EventFilter;
use views::events::visit::FoundRow;
use views::events::{EventList, EventRow};
use views::scene::format;
use views::session::Overview;
use views::session::event_list::{
    CountRows, Counted, EventAt, EventFields, EventRows, FindEvent, NoRows,
};

/// A change of the selected range is followed when it has settled.
const RANGE_SETTLED_MS: u32 = 120;
/// So many rows can be copied at once.
const COPIED_AT_MOST: u64 = 20_000;

/// The panel, as the page shows it.
pub(super) fn panel(page: &Page<'_>) -> Html {
    html! {
        <Events client={page.client.clone()} overview={Rc::clone(&page.log.overview)} range={page.view.selection}
            marked={Rc::clone(page.marked)} place={page.place}
            list={page.view.settings.get::<EventList>()} on_goto={page.on_goto.clone()}
            on_list={page.on_change.reform(views::view::Change::settings::<EventList>)} />
    }
}

#[derive(Properties, PartialEq)]
struct EventsProps {
    client: LogClient,
    overview: Rc<Overview>,
    /// Only events in it are listed.
    range: Option<Interval>,
    /// The selected tracks: only events of their capabilities and threads.
    marked: Rc<Marked>,
    /// What was clicked on the timeline: the list goes there.
    place: Option<Place>,
    on_goto: Callback<Goto>,
    /// What is listed, but for the range and the tracks.
    list: EventList,
    /// Hears what shall be listed.
    on_list: Callback<EventList>,
}

impl EventsProps {
    /// What is listed.
    fn whole_list(&self) -> EventList {
        EventList {
            filter: EventFilter {
                range: self.range,
                scope: self.marked.scope.clone(),
                ..self.list.filter.clone()
            },
            search: self.list.search.clone(),
        }
    }
}

enum Msg {
    Window(Range<u64>),
    Rows(u32, u64, Result<Vec<EventRow>, NoRows>),
    Counted(u32, Result<Counted, NoRows>),
    Change(Change),
    RangeSettled,
    Went(Went),
    Find { forward: bool },
    Found(u32, Result<Option<FoundRow>, NoRows>),
    Located(u32, Option<FoundRow>),
    Fields(u64, Vec<(String, String)>),
    Copy,
    Copied(Option<usize>),
    Key(KeyboardEvent),
}

/// The panel.
struct Events {
    list: EventList,
    /// Goes up with every other list, so that late answers are known.
    number: u32,
    total: u64,
    rows: Vec<EventRow>,
    first: u64,
    grid_rows: Rc<Rows>,
    window: Range<u64>,
    in_flight: bool,
    current: Option<u64>,
    /// Where a selection of rows began.
    anchor: Option<u64>,
    scroll_to: ScrollTo,
    /// Where to go when the rows are counted.
    pending: Option<Place>,
    found: Match,
    /// In which direction a match is looked for, until there is one: rows may
    /// still have to be counted first.
    sought: Option<bool>,
    /// What was typed, until the list is the one with it.
    typed: Option<String>,
    /// How far the counting of its rows is.
    counted: Counted,
    /// Why rows are missing.
    trouble: Option<String>,
    /// The fields of an event, by its number; none while they are asked for.
    fields: Option<(u64, Vec<(String, String)>)>,
    copied: Option<String>,
    range_settles: Option<Timeout>,
}

impl Component for Events {
    type Message = Msg;
    type Properties = EventsProps;

    fn create(ctx: &Context<Self>) -> Self {
        let props = ctx.props();
        let mut events = Self {
            list: props.whole_list(),
            number: 0,
            total: 0,
            rows: Vec::new(),
            first: 0,
            grid_rows: Rc::new(Rows::default()),
            window: 0..0,
            in_flight: false,
            current: None,
            anchor: None,
            scroll_to: ScrollTo::default(),
            pending: props.place,
            found: Match::default(),
            sought: None,
            typed: None,
            counted: Counted::default(),
            trouble: None,
            fields: None,
            copied: None,
            range_settles: None,
        };
        events.list_changed(ctx);
        events
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &EventsProps) -> bool {
        let props = ctx.props();
        if props.range != old.range {
            let link = ctx.link().clone();
            self.range_settles = Some(Timeout::new(RANGE_SETTLED_MS, move || {
                link.send_message(Msg::RangeSettled)
            }));
        }
        if props.list != old.list || props.marked != old.marked {
            self.follow(ctx);
        }
        if props.overview.complete != old.overview.complete {
            self.list_changed(ctx);
        }
        if let Some(place) = props.place.filter(|_| props.place != old.place) {
            self.locate(ctx, place);
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Window(window) => {
                self.window = window;
                self.ask_rows(ctx);
                return false;
            }
            Msg::Rows(number, first, rows) => self.rows_came(ctx, number, first, rows),
            Msg::Counted(number, counted) => self.counted(ctx, number, counted),
            Msg::Change(change) => self.change(ctx, change),
            Msg::RangeSettled => {
                self.range_settles = None;
                self.follow(ctx);
            }
            Msg::Went(went) => self.went(ctx, went),
            Msg::Find { forward } => self.find(ctx, forward),
            Msg::Found(number, found) => return self.found(ctx, number, found),
            Msg::Located(number, found) => {
                if number == self.number {
                    self.show(ctx, found);
                }
            }
            Msg::Fields(number, fields) => self.fields = Some((number, fields)),
            Msg::Copy => self.copy(ctx),
            Msg::Copied(rows) => {
                self.copied = Some(rows.map_or_else(
                    || "The browser did not let the rows be copied.".to_owned(),
                    |rows| format!("{} rows copied", format::count(rows as u64)),
                ));
            }
            Msg::Key(event) => {
                if !(event.ctrl_key() || event.meta_key()) || event.key() != "c" {
                    return false;
                }
                event.prevent_default();
                self.copy(ctx);
            }
        }
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let (props, link) = (ctx.props(), ctx.link());
        if !props.overview.complete {
            return html! { <p class="empty">{ "The events are listed when the log is read." }</p> };
        }
        html! {
            <div class="events" onkeydown={link.callback(Msg::Key)}>
                <FilterBar client={props.client.clone()} overview={Rc::clone(&props.overview)}
                    list={self.list.clone()} marked={Rc::clone(&props.marked)} found={self.found.clone()} total={self.total}
                    counting={self.counting()}
                    on_change={link.callback(Msg::Change)}
                    on_find={link.callback(|forward| Msg::Find { forward })}
                    on_copy={link.callback(|()| Msg::Copy)} />
                if self.total == 0 && self.counting().is_none() {
                    <p class="empty">{ "No event passes this filter. " }{ self.why_empty() }</p>
                } else {
                    <Grid name="event-rows" label="Events" columns={COLUMNS} total={self.total}
                        rows={Rc::clone(&self.grid_rows)} current={self.current}
                        selected={self.selected()} scroll_to={self.scroll_to}
                        on_window={link.callback(Msg::Window)} on_current={link.callback(Msg::Went)} />
                }
                if let Some(trouble) = &self.trouble {
                    <p class="strip" role="alert">{ trouble }</p>
                }
                { self.view_fields() }
                <span class="visually-hidden" role="status">{ self.copied.clone().unwrap_or_default() }</span>
            </div>
        }
    }
}

impl Events {
    fn why_empty(&self) -> &'static str {
        let filter = &self.list.filter;
        match filter.range {
            _ if !filter.scope.is_everything() => {
                "Only the selected tracks are listed: drop the selection (Esc) to see all."
            }
            Some(_) => "Only the selected range is listed: drop it (Esc) to see the whole log.",
            None => "Choose other types, capabilities or threads.",
        }
    }

    /// All fields of the current event.
    fn view_fields(&self) -> Html {
        let Some((_, fields)) = &self.fields else {
            return html! { <p class="strip event-fields faint">{ "Select an event to see all of its fields · Ctrl + C copies the selected rows" }</p> };
        };
        let field = |(name, value): &(String, String)| {
            html! { <span><b>{ name }</b>{ " " }{ value }</span> }
        };
        html! { <p class="strip event-fields" aria-live="polite">{ for fields.iter().map(field) }</p> }
    }

    /// Which part of the log is counted, while that is not all of it.
    fn counting(&self) -> Option<f64> {
        let counting = self.list.needs_scan() && !self.counted.complete && self.trouble.is_none();
        counting.then_some(self.counted.part)
    }

    fn change(&mut self, ctx: &Context<Self>, change: Change) {
        let props = ctx.props();
        let mut list = props.list.clone();
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
        props.on_list.emit(list);
    }

    /// Lists what is asked for, if that is something else now.
    fn follow(&mut self, ctx: &Context<Self>) {
        let list = ctx.props().whole_list();
        if self.list != list {
            self.list = list;
            self.list_changed(ctx);
        }
    }

    /// Another list: its rows are counted and asked for.
    fn list_changed(&mut self, ctx: &Context<Self>) {
        let props = ctx.props();
        if !props.overview.complete {
            return;
        }
        let here = self.current.and_then(|row| self.row(row));
        let here = here.map(|row| Place {
            time: row.time,
            cap: row.cap,
        });
        self.pending = here.or(self.pending);
        self.number += 1;
        self.in_flight = false;
        self.typed = None;
        self.sought = self.sought.filter(|_| !self.list.search.is_empty());
        self.found = Match {
            looking: self.sought.is_some(),
            ..Match::default()
        };
        self.counted = Counted::default();
        self.trouble = None;
        if self.list.needs_scan() {
            self.count(ctx);
        }
        if self.list.filter.is_all() {
            self.total = props.overview.events;
            self.ask_rows(ctx);
            self.go_pending(ctx);
        } else {
            self.total = 0;
            self.rows.clear();
            self.first = 0;
            self.render_rows();
            self.current = None;
            self.anchor = None;
        }
    }

    /// Goes where it was before the list was another one.
    fn go_pending(&mut self, ctx: &Context<Self>) {
        if let Some(place) = self.pending.take() {
            self.locate(ctx, place);
        }
    }

    /// Has rows counted for a while.
    fn count(&self, ctx: &Context<Self>) {
        let (link, number) = (ctx.link().clone(), self.number);
        let query = CountRows(self.list.clone());
        ctx.props().client.ask(query, move |counted| {
            if let Ok(counted) = counted {
                link.send_message(Msg::Counted(number, counted));
            }
        });
    }

    /// Says why rows are missing.
    fn no_rows(&mut self, why: NoRows) {
        self.trouble = match why {
            NoRows::NotCounted => None,
            why => Some(format!("Rows are missing: {why}. Open the log again.")),
        };
    }

    /// More rows are counted.
    fn counted(&mut self, ctx: &Context<Self>, number: u32, counted: Result<Counted, NoRows>) {
        if number != self.number {
            return;
        }
        let counted = match counted {
            Ok(counted) => counted,
            Err(why) => return self.no_rows(why),
        };
        self.counted = counted;
        if !counted.complete {
            self.count(ctx);
        }
        self.found.count = (!self.list.search.is_empty()).then_some(counted.found);
        let grows = !self.list.filter.is_all() && self.total != counted.rows;
        if grows {
            self.total = counted.rows;
            let have = self.first + self.rows.len() as u64;
            if have < self.window.end.max(1) {
                self.window.end = self.window.end.max(self.window.start + 100);
                self.ask_rows(ctx);
            }
        }
        if counted.complete && self.total > 0 {
            self.go_pending(ctx);
        }
        self.seek(ctx);
    }

    /// Asks for the rows in view; while an answer is on its way it is asked
    /// again when that has come.
    fn ask_rows(&mut self, ctx: &Context<Self>) {
        if self.in_flight || self.total == 0 {
            return;
        }
        self.in_flight = true;
        let (link, number) = (ctx.link().clone(), self.number);
        let first = self.window.start.min(self.total);
        let wanted = self.window.end.saturating_sub(first).max(100);
        let query = EventRows {
            list: self.list.clone(),
            first,
            count: u32::try_from(wanted).unwrap_or(u32::MAX),
        };
        ctx.props().client.ask(query, move |rows| {
            if let Ok(rows) = rows {
                link.send_message(Msg::Rows(number, first, rows));
            }
        });
    }

    fn rows_came(
        &mut self,
        ctx: &Context<Self>,
        number: u32,
        first: u64,
        rows: Result<Vec<EventRow>, NoRows>,
    ) {
        if number != self.number {
            return;
        }
        self.in_flight = false;
        let rows = match rows {
            Ok(rows) => rows,
            // Those that are there stay.
            Err(why) => return self.no_rows(why),
        };
        self.trouble = None;
        let asked_all = first <= self.window.start
            && (first + rows.len() as u64 >= self.window.end.min(self.total) || rows.is_empty());
        self.rows = rows;
        self.first = first;
        self.render_rows();
        self.ask_fields(ctx);
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

    fn went(&mut self, ctx: &Context<Self>, went: Went) {
        if went.extend {
            self.anchor = self.anchor.or(self.current).or(Some(went.row));
        } else {
            self.anchor = None;
        }
        self.current = Some(went.row);
        self.copied = None;
        if let Some(row) = self.row(went.row) {
            ctx.props().on_goto.emit(Goto::time(row.time));
        }
        self.ask_fields(ctx);
    }

    /// Asks for the fields of the current event, if others are at hand.
    fn ask_fields(&mut self, ctx: &Context<Self>) {
        let Some(number) = self
            .current
            .and_then(|row| self.row(row))
            .map(|row| row.number)
        else {
            return;
        };
        if self.fields.as_ref().is_some_and(|(of, _)| *of == number) {
            return;
        }
        let link = ctx.link().clone();
        ctx.props().client.ask(EventFields(number), move |fields| {
            if let Ok(Ok(fields)) = fields {
                link.send_message(Msg::Fields(number, fields));
            }
        });
    }

    fn locate(&mut self, ctx: &Context<Self>, place: Place) {
        let (link, number) = (ctx.link().clone(), self.number);
        let query = EventAt {
            list: self.list.clone(),
            time: place.time,
            cap: place.cap,
        };
        ctx.props().client.ask(query, move |found| {
            if let Ok(Ok(found)) = found {
                link.send_message(Msg::Located(number, found));
            }
        });
    }

    fn find(&mut self, ctx: &Context<Self>, forward: bool) {
        self.sought = Some(forward);
        self.found.looking = true;
        self.seek(ctx);
    }

    /// Asks for the match that is looked for, if one is counted already or
    /// none is left to be counted.
    fn seek(&mut self, ctx: &Context<Self>) {
        let ready = self.counted.found > 0 || self.counted.complete;
        let ready = ready && self.typed.is_none() && !self.list.search.is_empty();
        let Some(forward) = self.sought.filter(|_| ready) else {
            return;
        };
        self.sought = None;
        let (link, number) = (ctx.link().clone(), self.number);
        let query = FindEvent {
            list: self.list.clone(),
            from: self.current,
            forward,
        };
        ctx.props().client.ask(query, move |found| {
            if let Ok(found) = found {
                link.send_message(Msg::Found(number, found));
            }
        });
    }

    fn found(
        &mut self,
        ctx: &Context<Self>,
        number: u32,
        found: Result<Option<FoundRow>, NoRows>,
    ) -> bool {
        if number != self.number {
            return false;
        }
        self.found.looking = false;
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                self.no_rows(why);
                return true;
            }
        };
        self.found.none_left = found.is_none();
        if let Some(found) = found {
            self.found.number = found.found;
            ctx.props().on_goto.emit(Goto::time(found.time));
        }
        self.show(ctx, found);
        true
    }

    /// Goes to a row.
    fn show(&mut self, ctx: &Context<Self>, found: Option<FoundRow>) {
        let Some(found) = found else { return };
        self.current = Some(found.row);
        self.anchor = None;
        self.scroll_to = ScrollTo {
            serial: self.scroll_to.serial + 1,
            row: found.row,
        };
        self.ask_fields(ctx);
    }

    /// Copies the selected rows, or the current one, as text with tabs.
    fn copy(&mut self, ctx: &Context<Self>) {
        let selected = self.selected();
        let selected = if selected.is_empty() {
            let Some(current) = self.current else { return };
            current..current + 1
        } else {
            selected
        };
        let link = ctx.link().clone();
        let count = (selected.end - selected.start).min(COPIED_AT_MOST);
        let query = EventRows {
            list: self.list.clone(),
            first: selected.start,
            count: u32::try_from(count).unwrap_or(u32::MAX),
        };
        ctx.props().client.ask(query, move |rows| {
            let Ok(Ok(rows)) = rows else { return };
            let text: String = rows.iter().map(as_text).collect();
            let clipboard = gloo_utils::window().navigator().clipboard();
            let copying = JsFuture::from(clipboard.write_text(&text));
            spawn_local(async move {
                let done = copying.await.is_ok();
                link.send_message(Msg::Copied(done.then_some(rows.len())));
            });
        });
    }
}
