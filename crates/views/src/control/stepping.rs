//! Items: selection, descriptions, and stepping between items with the keyboard.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::queries::details_query;
use super::{Control, Description, NavigationTarget, StepsAhead, TimelineEvent};
use eventlog::ids::{Duration, Nanos};
use model::class::Class;
use model::marks::{GaugePoint, MarkKind, PackedPayload, Values};
use model::sorting::CompactSort;
use model::time::Interval;
use scene::format;
use session::tracks::TrackId;
use session::tracks::details::{DetailField, LinkRelation};
use session::tracks::gauge::{describe_range, describe_values};
use session::tracks::item::Item;
use session::tracks::name::TrackName;

/// Mark in view, as a row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct VisibleItem {
    /// Track of the item; `None` if it concerns the whole log.
    pub track: Option<TrackId>,
    /// Title of the track.
    pub track_title: String,
    /// Time covered by the item.
    pub span: Interval,
    /// Description of the item.
    pub text: String,
}

impl Control {
    /// Moves the selection to the next or previous item of the track with the keyboard focus.
    pub fn step(&mut self, forward: bool) -> Vec<TimelineEvent> {
        let (index, mut events) = self.stepped(forward);
        events.extend(index.and_then(|index| self.scroll_to_track(index)));
        events
    }

    /// Moves the keyboard focus to the track below or above.
    pub(crate) fn step_track(&mut self, down: bool) -> Vec<TimelineEvent> {
        let (index, mut events) = self.stepped_track(down);
        events.extend(index.and_then(|index| self.scroll_to_track(index)));
        events
    }

    /// Moves the keyboard focus to a track; returns `None` if it is there already.
    pub fn set_track(&mut self, name: &TrackName) -> Option<TimelineEvent> {
        if self.focus.track.as_ref() == Some(name) {
            return None;
        }
        self.focus.track = Some(name.clone());
        self.focus.awaits_marks = None;
        Some(TimelineEvent::TrackFocused(Some(name.clone())))
    }

    /// Navigates to the item that a fact about the current item links to.
    pub fn follow(&mut self, lead: LinkRelation) -> Vec<TimelineEvent> {
        let found = self.description().and_then(|description| {
            let mut leads = description.facts.iter().filter_map(DetailField::item);
            leads.find(|(other, ..)| *other == lead)
        });
        match found {
            Some((_, row, span)) => self.navigate(NavigationTarget::item(row, span)),
            None => Vec::new(),
        }
    }

    /// Toggles whether the details of the item stay open.
    pub fn pin_details(&mut self) -> Vec<TimelineEvent> {
        if self.item().is_none()
            && let Some(ahead) = &mut self.focus.awaits_marks
        {
            ahead.details = !ahead.details;
            return Vec::new();
        }
        self.focus.pinned = !self.focus.pinned && self.item().is_some();
        if self.focus.pinned && self.focus.selected.is_none() {
            self.focus.selected.clone_from(&self.focus.hovered);
        }
        let pinned = self.description().filter(|_| self.focus.pinned);
        vec![TimelineEvent::Pinned(pinned)]
    }

    /// Toggles between all wakeups in view of the item's thread and only those of the item.
    pub fn show_all_wakeups(&mut self) -> Vec<TimelineEvent> {
        self.focus.all_wakeups = !self.focus.all_wakeups;
        self.description_events()
    }

    /// Returns the marks in view as table rows; graphs are summarized by one row per series.
    pub fn visible_items(&self) -> Vec<VisibleItem> {
        let mut items: Vec<VisibleItem> = self.outside_log_in_view().collect();
        for track in self.layout.tracks() {
            let Some(row) = track.row().filter(|row| self.marks.rows.contains(row)) else {
                continue;
            };
            let visible = |(span, text)| VisibleItem {
                track: Some(row),
                track_title: track.title.clone(),
                span,
                text,
            };
            if row.is_graph() {
                items.extend(self.graph_in_view(row).map(visible));
            } else {
                items.extend(self.items_in_view(row).map(visible));
            }
        }
        items
    }

    /// Returns the hovered item, or else the selected one.
    pub(super) fn item(&self) -> Option<&Item> {
        self.focus.hovered.as_ref().or(self.focus.selected.as_ref())
    }

    pub(super) fn select(&mut self, item: Option<Item>) -> Vec<TimelineEvent> {
        self.focus.selected = item;
        self.focus.awaits_marks = None;
        self.pending_item = None;
        let mut events = self.description_events();
        events.push(TimelineEvent::ViewChanged);
        events
    }

    /// Describes the hovered or selected item.
    pub fn description(&self) -> Option<Rc<Description>> {
        let item = self.item()?;
        let (name, text) = item.describe(&self.labels);
        let text = match self.graph_words(item) {
            Some(words) => format!("{words} · {text}"),
            None => text,
        };
        let known = self.details.as_ref();
        let known = known.filter(|(about, _)| *about == details_query(item));
        let name = if name.is_empty() {
            self.track_name(item.row)
        } else {
            name
        };
        let focus = &self.focus;
        let shown = focus.pinned && focus.hovered == focus.selected;
        Some(Rc::new(Description {
            track: item.row,
            tip: focus.hovered.is_some() && self.drag.is_none() && !shown,
            class: item.shown_class(),
            all_wakeups: item.thread().map(|_| focus.all_wakeups),
            name,
            text: text + &self.share_of_view(item),
            facts: known.map_or_else(Vec::new, |(_, facts)| facts.clone()),
        }))
    }

    fn items_in_view(&self, row: TrackId) -> impl Iterator<Item = (Interval, String)> {
        let view = self.view.span();
        let seen =
            move |item: &Item| item.span.end() >= view.start() && item.span.start() <= view.end();
        self.marks.items(row).filter(seen).map(|item| {
            let (name, text) = item.describe(&self.labels);
            (item.span, format!("{name} {text}"))
        })
    }

    /// Summarizes each series of a graph over the visible time.
    fn graph_in_view(&self, row: TrackId) -> impl Iterator<Item = (Interval, String)> {
        let view = self.view.span();
        let mut series: BTreeMap<u8, Vec<(Interval, Values)>> = BTreeMap::new();
        for (point, span) in self.marks.points(row) {
            if span.overlaps(view) {
                let points = series.entry(point.series).or_default();
                points.push((span, point.values));
            }
        }
        let seen = view.clip(self.view.log());
        series.into_iter().map(move |(number, points)| {
            if let Some(instead) = row.value_override(number) {
                let first = points
                    .first()
                    .map_or(view.start(), |(span, _)| span.start());
                let last = points.last().map_or(view.end(), |(span, _)| span.end());
                return (
                    view,
                    format!(
                        "{instead}: {} – {}",
                        format::time(first),
                        format::time(last)
                    ),
                );
            }
            let name = self.marks.series_name(row, number, self.caps);
            (view, describe_range(row, &points, seen, &name))
        })
    }

    /// Describes the values of a graph at the item.
    fn graph_words(&self, item: &Item) -> Option<String> {
        let row = Some(item.row).filter(|row| row.is_graph())?;
        let (points, _) = self.marks.graph_at(row, item.span.start())?;
        let values = |point: &GaugePoint| (point.series, point.values);
        let points: Vec<_> = points.iter().map(values).collect();
        let name = |series| self.marks.series_name(row, series, self.caps);
        Some(describe_values(row, &points, self.caps, name))
    }

    fn track_name(&self, row: TrackId) -> String {
        let index = self.layout.find(row);
        let track = index.and_then(|index| self.layout.tracks().get(index));
        track.map(|track| track.title.clone()).unwrap_or_default()
    }

    /// Returns the share of the view that a span covers; empty for graphs, merged marks, and items without a
    /// visible duration.
    fn share_of_view(&self, item: &Item) -> String {
        let (view, span) = (self.view.span(), item.span);
        let inside = span.clip(view).duration().0;
        if item.kind != MarkKind::One || item.row.is_graph() || inside == 0 {
            return String::new();
        }
        let share = format::percent_short(inside, view.duration().0);
        format!(" · {share} of the view")
    }

    /// Returns the item that stands for one pixel of a graph at a time.
    pub(super) fn graph_item(&self, row: TrackId, time: Nanos) -> Item {
        let px = self.view.ns_per_px().ceil().max(1.0) as u64;
        Item {
            row,
            kind: MarkKind::One,
            class: Class::Other,
            count: 0,
            span: Interval::new(time, time + Duration(px)),
            shares: Vec::new(),
            payload: PackedPayload::default(),
        }
    }

    /// Returns the track with the keyboard focus; else that of the selected item; else the first one that is no
    /// graph.
    pub(super) fn track_index(&self) -> Option<usize> {
        let tracks = self.layout.tracks();
        let named = self.focus.track.as_ref();
        let named = named.and_then(|name| tracks.iter().position(|track| track.name == *name));
        let selected = || self.layout.find(self.focus.selected.as_ref()?.row);
        let first = || {
            let walkable = |row: TrackId| !row.is_graph();
            tracks
                .iter()
                .position(|track| track.row().is_some_and(walkable))
        };
        named.or_else(selected).or_else(first)
    }

    fn stepped(&mut self, forward: bool) -> (Option<usize>, Vec<TimelineEvent>) {
        let index = self.track_index();
        let row = index.and_then(|index| self.layout.tracks().get(index)?.row());
        let Some(row) = row else {
            return (index, Vec::new());
        };
        if self.is_loading(row) {
            match &mut self.focus.awaits_marks {
                Some(ahead) => ahead.steps += if forward { 1 } else { -1 },
                // The first step goes to the nearest item.
                none => *none = Some(StepsAhead::default()),
            }
            return (index, Vec::new());
        }
        let next = if row.is_graph() {
            Some(self.next_of_graph(row, forward))
        } else {
            self.next_of_row(row, forward)
        };
        let Some(item) = next else {
            return (index, Vec::new());
        };
        let x = self.view.x_of(item.span.start());
        if !(0.0..self.view.width_px()).contains(&x) {
            self.view.pan(x - self.view.width_px() / 3.0);
        }
        self.focus.pointer_at = None;
        self.focus.hovered = None;
        self.focus.cursor = Some(item.span.start());
        (index, self.select(Some(item)))
    }

    /// Returns the item after or before the selected one; if the selection is on another track, the item nearest
    /// to the cursor.
    fn next_of_row(&self, row: TrackId, forward: bool) -> Option<Item> {
        let mut items: Vec<Item> = self.marks.items(row).collect();
        items.sort_small_by_key(|item| item.span);
        let selected = self.focus.selected.as_ref();
        let current = selected
            .filter(|item| item.row == row)
            .map(|item| item.span);
        match current {
            None => self.nearest(row),
            Some(current) if forward => items.into_iter().find(|item| item.span > current),
            Some(current) => items.into_iter().rev().find(|item| item.span < current),
        }
    }

    /// Returns the distance in nanoseconds of an item from the cursor if that is in view, else from the start of
    /// the view.
    fn distance(&self, item: &Item, view: Interval) -> u64 {
        let from = self
            .focus
            .cursor
            .filter(|time| view.start() <= *time && *time <= view.end());
        let from = from.unwrap_or(view.start());
        from.since(item.span.end()).0 + item.span.start().since(from).0
    }

    fn next_of_graph(&self, row: TrackId, forward: bool) -> Item {
        const STEP_PX: f64 = 16.0;
        let view = self.view.span();
        let selected = self.focus.selected.as_ref();
        let at = selected.map_or(view.start(), |item| item.span.start());
        let step = (self.view.ns_per_px() * STEP_PX).max(1.0) as u64;
        let log = self.view.log();
        let time = if forward {
            at.0.saturating_add(step).min(log.end().0)
        } else {
            at.0.saturating_sub(step).max(log.start().0)
        };
        self.graph_item(row, Nanos(time))
    }

    fn stepped_track(&mut self, down: bool) -> (Option<usize>, Vec<TimelineEvent>) {
        let count = self.layout.tracks().len();
        let at = self.track_index();
        let next = match at {
            None => Some(0),
            Some(at) if self.focus.track.is_none() => Some(at),
            Some(at) if down => Some(at + 1),
            Some(at) => at.checked_sub(1),
        };
        let Some(next) = next.filter(|&next| next < count) else {
            return (at, Vec::new());
        };
        let track = &self.layout.tracks()[next];
        let (name, row) = (track.name.clone(), track.row());
        self.focus.track = Some(name.clone());
        self.focus.pointer_at = None;
        self.focus.hovered = None;
        let mut events = vec![TimelineEvent::TrackFocused(Some(name))];
        let item = row.and_then(|row| self.nearest(row));
        events.extend(self.select(item));
        let is_loading = row.is_some_and(|row| self.is_loading(row));
        self.focus.awaits_marks = is_loading.then(StepsAhead::default);
        (Some(next), events)
    }

    /// Returns the item of a row nearest to the cursor; for a graph, its values there.
    fn nearest(&self, row: TrackId) -> Option<Item> {
        let view = self.view.span();
        if row.is_graph() {
            let cursor = self.focus.cursor.unwrap_or(view.start());
            return Some(self.graph_item(row, view.nearest(cursor)));
        }
        let items = self.marks.items(row);
        items.min_by_key(|item| self.distance(item, view))
    }

    /// Returns whether items of a track are known only once its marks arrive.
    fn is_loading(&self, row: TrackId) -> bool {
        !row.is_graph() && !self.marks.rows.contains(&row)
    }

    /// Selects an item of the newly focused track once its marks are loaded, and does what was asked for meanwhile.
    pub(super) fn select_on_track(&mut self) -> Vec<TimelineEvent> {
        let index = self.track_index();
        let row = index.and_then(|index| self.layout.tracks().get(index)?.row());
        let Some(row) = row.filter(|&row| !self.is_loading(row)) else {
            return Vec::new();
        };
        let Some(ahead) = self.focus.awaits_marks.take() else {
            return Vec::new();
        };
        let item = self.nearest(row);
        let mut events = self.select(item);
        for _ in 0..ahead.steps.unsigned_abs() {
            events.extend(self.step(ahead.steps > 0));
        }
        if ahead.details {
            events.extend(self.pin_details());
        }
        events
    }
}
