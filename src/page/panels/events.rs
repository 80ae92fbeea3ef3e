//! The list of events: every event of the log, or those that pass a filter.
//! It holds the rows around those in view; the worker reads them again from
//! the file.

mod filter;
mod row;

use std::ops::Range;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use crate::copy::copy;
use crate::grid::{Grid, RowActivated, Rows, ScrollTo};
use crate::panel::PanelProps;
use crate::rows_out::RowsOf;
use crate::update::{Update, after, callback};
use crate::viewer::{Goto, Place};
use filter::{Change, FilterBar, Match};
use row::{COLUMNS, as_text, grid_row};
use scene::format;
use session::event_list::{CountRows, Counted, EventAt, EventFields, EventRows, FindEvent, NoRows};
use session::events::export::events_text;
use session::events::filter::EventFilter;
use session::events::visit::FoundRow;
use session::events::{EventList, EventRow};
use session::query::Query;

/// A change of the selected range is followed when it has settled.
const RANGE_SETTLED_MS: u32 = 120;
/// So many rows can be copied at once.
const COPIED_AT_MOST: u64 = 20_000;

/// What is listed: what the view says, in the selected range and of the
/// selected tracks.
fn whole_list(props: &PanelProps) -> EventList {
    let list = props.view.settings.get::<EventList>();
    EventList {
        filter: EventFilter {
            range: props.range,
            scope: props.marked.scope.clone(),
            ..list.filter
        },
        search: list.search,
    }
}

/// The rows of a list as text.
fn rows_out(props: &PanelProps, list: EventList) -> RowsOf {
    let question = move |rows: Range<u64>| EventRows {
        list: list.clone(),
        first: rows.start,
        count: u32::try_from(rows.end - rows.start).unwrap_or(u32::MAX),
    };
    RowsOf::written(
        props.source.client.clone(),
        question,
        |answer, how, is_first| {
            let rows = answer.as_ref().ok()?;
            Some(events_text(rows, how, is_first))
        },
    )
}

/// The panel.
pub(super) struct Events {
    list: EventList,
    /// Goes up with every other list, so that late answers are known.
    number: u32,
    /// Its rows as text.
    out: RowsOf,
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
    type Message = Update<Self>;
    type Properties = PanelProps;

    fn create(ctx: &Context<Self>) -> Self {
        let props = ctx.props();
        let mut events = Self {
            list: whole_list(props),
            number: 0,
            out: rows_out(props, whole_list(props)),
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

    fn changed(&mut self, ctx: &Context<Self>, old: &PanelProps) -> bool {
        let props = ctx.props();
        if props.range != old.range {
            self.range_settles = Some(after(ctx, RANGE_SETTLED_MS, |events, ctx, ()| {
                events.follow(ctx);
                true
            }));
        }
        if props.view.settings != old.view.settings || props.marked != old.marked {
            self.follow(ctx);
        }
        if props.overview.complete != old.overview.complete {
            self.list_changed(ctx);
        } else if props.source.events != old.source.events {
            self.grown(ctx);
        }
        if let Some(place) = props.place.filter(|_| props.place != old.place) {
            self.locate(ctx, place);
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, act: Update<Self>) -> bool {
        act(self, ctx)
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        if !props.overview.complete {
            return html! { <p class="empty">{ "Events are listed once the log is read." }</p> };
        }
        html! {
            <div class="events" onkeydown={callback(ctx, Self::key)}>
                <FilterBar client={props.source.client.clone()} overview={props.overview.clone()}
                    list={self.list.clone()} marked={Rc::clone(&props.marked)} found={self.found.clone()} total={self.total}
                    counting={self.counting()}
                    on_change={callback(ctx, Self::change)}
                    on_find={callback(ctx, Self::find)}
                    rows={self.out.clone()} />
                if self.total == 0 && self.counting().is_none() {
                    <p class="empty">{ "No event passes this filter. " }{ self.why_empty() }</p>
                } else {
                    <Grid name="event-rows" label="Events" columns={COLUMNS} total={self.total}
                        rows={Rc::clone(&self.grid_rows)} current={self.current}
                        selected={self.selected()} scroll_to={self.scroll_to}
                        on_window={callback(ctx, Self::look)} on_current={callback(ctx, Self::went)} />
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
    /// Asks about the list; an answer that comes when another one is shown is
    /// dropped.
    fn ask<Q: Query>(
        &self,
        ctx: &Context<Self>,
        query: Q,
        then: impl FnOnce(&mut Self, &Context<Self>, Q::Answer) + 'static,
    ) {
        let (link, number) = (ctx.link().clone(), self.number);
        ctx.props().source.client.ask(query, move |answer| {
            let Ok(answer) = answer else { return };
            let act: Update<Self> = Box::new(move |events, ctx| {
                let current = events.number == number;
                if current {
                    then(events, ctx, answer);
                }
                current
            });
            link.send_message(act);
        });
    }

    /// Other rows are in view.
    fn look(&mut self, ctx: &Context<Self>, window: Range<u64>) -> bool {
        self.window = window;
        self.ask_rows(ctx);
        false
    }

    fn key(&mut self, ctx: &Context<Self>, event: KeyboardEvent) -> bool {
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

    /// How much of the log is counted, from 0 to 1, while that is not all of it.
    fn counting(&self) -> Option<f64> {
        let counting = self.list.needs_scan() && !self.counted.complete && self.trouble.is_none();
        counting.then_some(self.counted.part)
    }

    fn change(&mut self, ctx: &Context<Self>, change: Change) -> bool {
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

    /// Lists what is asked for, if that is something else now.
    fn follow(&mut self, ctx: &Context<Self>) {
        let list = whole_list(ctx.props());
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
        self.out = rows_out(props, self.list.clone());
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

    /// The log has grown: the rows that are there stay until those of now have come.
    fn grown(&mut self, ctx: &Context<Self>) {
        let props = ctx.props();
        if !props.overview.complete {
            return;
        }
        self.number += 1;
        self.in_flight = false;
        self.out = rows_out(props, self.list.clone());
        if self.list.filter.is_all() {
            self.total = props.overview.events;
            self.ask_rows(ctx);
        }
        if self.list.needs_scan() {
            self.counted.complete = false;
            self.count(ctx);
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
        self.ask(ctx, CountRows(self.list.clone()), Self::counted);
    }

    /// Says why rows are missing.
    fn no_rows(&mut self, why: NoRows) {
        self.trouble = match why {
            NoRows::NotCounted => None,
            why => Some(format!("Rows are missing: {why}. Open the log again.")),
        };
    }

    /// More rows are counted.
    fn counted(&mut self, ctx: &Context<Self>, counted: Result<Counted, NoRows>) {
        let counted = match counted {
            Ok(counted) => counted,
            Err(why) => return self.no_rows(why),
        };
        self.counted = counted;
        if !counted.complete {
            self.count(ctx);
        }
        self.found.count = (!self.list.search.is_empty()).then_some(counted.found);
        // Of a log that has grown, rows are counted again from its start.
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
        let first = self.window.start.min(self.total);
        let wanted = self.window.end.saturating_sub(first).max(100);
        let query = EventRows {
            list: self.list.clone(),
            first,
            count: u32::try_from(wanted).unwrap_or(u32::MAX),
        };
        self.ask(ctx, query, move |events, ctx, rows| {
            events.rows_came(ctx, first, rows);
        });
    }

    fn rows_came(&mut self, ctx: &Context<Self>, first: u64, rows: Result<Vec<EventRow>, NoRows>) {
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

    fn went(&mut self, ctx: &Context<Self>, went: RowActivated) -> bool {
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
        true
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
        self.ask(ctx, EventFields(number), move |events, _, fields| {
            events.fields = fields
                .ok()
                .map(|fields| (number, fields))
                .or(events.fields.take());
        });
    }

    fn locate(&mut self, ctx: &Context<Self>, place: Place) {
        let query = EventAt {
            list: self.list.clone(),
            time: place.time,
            cap: place.cap,
        };
        self.ask(ctx, query, |events, ctx, found| {
            events.show(ctx, found.ok().flatten());
        });
    }

    fn find(&mut self, ctx: &Context<Self>, forward: bool) -> bool {
        self.sought = Some(forward);
        self.found.looking = true;
        self.seek(ctx);
        true
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
        let query = FindEvent {
            list: self.list.clone(),
            from: self.current,
            forward,
        };
        self.ask(ctx, query, Self::found);
    }

    fn found(&mut self, ctx: &Context<Self>, found: Result<Option<FoundRow>, NoRows>) {
        self.found.looking = false;
        let found = match found {
            Ok(found) => found,
            Err(why) => return self.no_rows(why),
        };
        self.found.none_left = found.is_none();
        if let Some(found) = found {
            self.found.number = found.found;
            ctx.props().on_goto.emit(Goto::time(found.time));
        }
        self.show(ctx, found);
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
    fn copy(&mut self, ctx: &Context<Self>) -> bool {
        let mut selected = self.selected();
        if selected.is_empty() {
            let Some(current) = self.current else {
                return false;
            };
            selected = current..current + 1;
        }
        let count = (selected.end - selected.start).min(COPIED_AT_MOST);
        let query = EventRows {
            list: self.list.clone(),
            first: selected.start,
            count: u32::try_from(count).unwrap_or(u32::MAX),
        };
        self.ask(ctx, query, |_, ctx, rows| {
            let Ok(rows) = rows else { return };
            let text: String = rows.iter().map(as_text).collect();
            let copied = callback(ctx, Self::copied);
            spawn_local(async move { copied.emit(copy(&text).await.then_some(rows.len())) });
        });
        false
    }

    fn copied(&mut self, _: &Context<Self>, rows: Option<usize>) -> bool {
        self.copied = Some(match rows {
            None => "The browser did not let the rows be copied.".to_owned(),
            Some(rows) => format!("{} copied", format::many(rows as u64, "row")),
        });
        true
    }
}
