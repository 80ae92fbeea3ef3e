//! Synchronization of two timelines: zoom, pan, selection and pointer are mirrored at the corresponding times of
//! the other log.

use super::stepping::VisibleItem;
use super::{Control, TimelineEvent};
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use scene::viewport::{LogEnd, ViewPosition};
use session::alignment::Shift;

/// State shared by two synchronized timelines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyncedView {
    /// `None` if both logs are in view as a whole: a position depends on the width, and the other timeline may not
    /// have its own yet.
    place: Option<ViewPosition>,
    range: Option<Interval>,
    pointer: Option<Nanos>,
}

impl Control {
    /// Returns the state for the other timeline to mirror.
    pub fn synced_view(&self) -> SyncedView {
        SyncedView {
            place: self.view.visible().map(|_| self.view.position()),
            range: self.focus.range,
            pointer: self.focus.pointer,
        }
    }

    /// Sets the span of the other log and the shift from times of this log to times of the other; `None` if there
    /// is no other log.
    pub fn set_other_log(&mut self, other: Option<(Interval, Shift)>) -> Vec<TimelineEvent> {
        let on_this_axis = |(log, shift): (Interval, Shift)| {
            let at_ns = |time: Nanos| time.0 as f64 - shift.ns() as f64;
            (at_ns(log.start()), at_ns(log.end()))
        };
        self.gesture(|view| view.set_other_log(other.map(on_this_axis)))
    }

    /// Describes, in sentences, the ends where this log has no data but the other does; empty if there are none.
    pub fn outside_log_text(&self) -> String {
        let sentence = |(end, from_ns, to_ns): (LogEnd, f64, f64)| {
            let length = format::duration_ns((to_ns - from_ns).round() as u64);
            match end {
                LogEnd::First => format!("It begins {length} after the other log."),
                LogEnd::Last => format!("It ends {length} before the other log."),
            }
        };
        let sentences: Vec<_> = self.view.beyond_ns().map(sentence).collect();
        sentences.join(" ")
    }

    /// Returns the visible stretches outside of this log that the other log covers, as table rows.
    pub(super) fn outside_log_in_view(&self) -> impl Iterator<Item = VisibleItem> {
        let (first_ns, last_ns) = self.view.edges_ns();
        self.view.beyond_ns().filter_map(move |(end, from, to)| {
            let (from, to) = (from.max(first_ns), to.min(last_ns));
            // Times cannot be negative.
            let time = |ns: f64| Nanos(ns.max(0.0) as u64);
            (from < to).then(|| VisibleItem {
                track: None,
                track_title: "The log".to_owned(),
                span: Interval::new(time(from), time(to)),
                text: match end {
                    LogEnd::First => "has not started yet, unlike the other log".to_owned(),
                    LogEnd::Last => "has ended, unlike the other log".to_owned(),
                },
            })
        })
    }

    /// Mirrors the state of another timeline, whose times have this shift to the times of this one. Emits no
    /// events if it is shown already. A range that did not change since the state `before` is not applied: this timeline
    /// may have a larger part of it.
    pub fn show_synced_view(
        &mut self,
        synced_view: SyncedView,
        shift: Shift,
        before: Option<SyncedView>,
    ) -> Vec<TimelineEvent> {
        let mut events = Vec::new();
        let view = self.view;
        match synced_view.place {
            None => self.view.fit(),
            Some(place) => self.view.show_position(ViewPosition {
                start_ns: place.start_ns + shift.ns() as f64,
                ..place
            }),
        }
        if self.view != view {
            events.extend(self.hover());
            events.push(TimelineEvent::ViewChanged);
        }
        let log = self.view.log();
        let range = synced_view.range.and_then(|range| shift.range(range, log));
        let is_new = before.is_none_or(|before| before.range != synced_view.range);
        if is_new && range != self.focus.range {
            events.extend(self.select_range(range));
        }
        // The timeline under the actual pointer draws its own pointer line.
        if self.focus.pointer_at.is_none() {
            self.focus.pointer = synced_view.pointer.and_then(|time| shift.time(time));
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::notes::Notes;
    use scene::painter::TextPainter;
    use scene::palette::Palette;

    fn control(start: u64, end: u64) -> Control {
        let mut control = Control::default();
        control.resize((1200.0, 400.0));
        let span = Interval::new(Nanos(start), Nanos(end));
        control.set_log(span, Rc::default(), None);
        control
    }

    /// The shorter of two logs has a part of the range only, and does not cut it when the pointer is moved there.
    #[test]
    fn a_pointer_over_the_other_timeline_changes_no_range() {
        let mut long = control(0, 2_000_000);
        let mut short = control(0, 500_000);
        let range = Interval::new(Nanos(400_000), Nanos(900_000));
        long.select_range(Some(range));
        short.show_synced_view(long.synced_view(), Shift::default(), None);
        let before = short.synced_view();
        assert_eq!(
            short.range(),
            Some(Interval::new(Nanos(400_000), Nanos(500_000)))
        );
        short.point(1, 600.0, 200.0);
        long.show_synced_view(short.synced_view(), Shift::default(), Some(before));
        assert_eq!(long.range(), Some(range));
    }

    #[test]
    fn the_other_timeline_shows_the_same_moments_and_answers_nothing_twice() {
        let mut one = control(1_000, 2_000_000);
        let mut other = control(51_000, 9_000_000);
        let shift = Shift::between(Nanos(1_000), Nanos(51_000));
        one.set_other_log(Some((other.view.log(), shift)));
        other.set_other_log(Some((one.view.log(), shift.inverse())));
        one.zoom(40.0);
        one.pan(0.7);
        one.select_range(Some(Interval::new(Nanos(3_000), Nanos(4_000))));
        let events = other.show_synced_view(one.synced_view(), shift, None);
        assert!(events.contains(&TimelineEvent::ViewChanged));
        assert_eq!(
            other.range(),
            Some(Interval::new(Nanos(53_000), Nanos(54_000)))
        );
        let x = |control: &Control, time| control.view.x_of(Nanos(time));
        assert!((x(&one, 700_000) - x(&other, 750_000)).abs() < 0.01);
        assert_eq!(other.show_synced_view(one.synced_view(), shift, None), []);
        assert_eq!(
            one.show_synced_view(other.synced_view(), shift.inverse(), None),
            []
        );
    }

    /// The second timeline gets its width after it was paired.
    #[test]
    fn both_logs_stay_in_view_when_a_timeline_gets_its_width() {
        let (mut one, mut other) = (control(0, 30_000_000), Control::default());
        other.set_log(
            Interval::new(Nanos(0), Nanos(20_000_000)),
            Rc::default(),
            None,
        );
        let shift = Shift::default();
        other.set_other_log(Some((one.view.log(), shift)));
        one.set_other_log(Some((other.view.log(), shift)));
        other.show_synced_view(one.synced_view(), shift, None);
        other.resize((1200.0, 400.0));
        one.show_synced_view(other.synced_view(), shift, None);
        assert_eq!((one.visible(), other.visible()), (None, None));
    }

    /// Returns the texts at the ends of the log, and the number of hatched areas on tracks and minimap.
    fn painted(control: &Control) -> (Vec<String>, usize) {
        let mut painter = TextPainter::default();
        let notes = Notes::default();
        let scene = control.scene(Palette::select(false, false), false, &notes);
        scene.paint(&mut painter);
        let is_text = |line: &&String| line.starts_with("text “Log ");
        let words = painter.lines.iter().filter(is_text);
        let words = words.filter_map(|line| Some(line.split(['“', '”']).nth(1)?.to_owned()));
        let hatched = |line: &&String| line.starts_with("hatch ");
        (
            words.collect(),
            painter.lines.iter().filter(hatched).count(),
        )
    }

    #[test]
    fn where_only_the_other_log_goes_on_is_hatched_and_said() {
        let (mut short, mut long) = (control(3_000_000, 5_000_000), control(0, 10_000_000));
        assert_eq!(painted(&short), (vec![], 0));
        short.set_other_log(Some((long.view.log(), Shift::default())));
        long.set_other_log(Some((short.view.log(), Shift::default())));
        let ends = ["Log begins here".to_owned(), "Log ends here".to_owned()];
        assert_eq!(painted(&short), (ends.to_vec(), 4));
        assert_eq!(painted(&long), (vec![], 0));
        assert_eq!(
            short.outside_log_text(),
            "It begins 3.00\u{a0}ms after the other log. It ends 5.00\u{a0}ms before the other log."
        );
        assert_eq!(long.outside_log_text(), "");
        let listed = |control: &Control| {
            let items = control.visible_items().into_iter();
            items.map(|item| item.span).collect::<Vec<_>>()
        };
        let span = |from: u64, to: u64| Interval::new(Nanos(from), Nanos(to));
        assert_eq!(
            listed(&short),
            [span(0, 3_000_000), span(5_000_000, 10_000_000)]
        );
        assert_eq!(listed(&long), []);

        // Only time after the log's end is in view; the minimap still shows both ends.
        short.show_view(Some(span(6_000_000, 7_000_000)), None, None);
        assert_eq!(painted(&short), (vec!["Log ended before".to_owned()], 3));
        assert_eq!(listed(&short), [span(6_000_000, 7_000_000)]);
        // The log covers the whole view.
        short.show_view(Some(span(3_500_000, 4_000_000)), None, None);
        assert_eq!(painted(&short), (vec![], 2));
        assert_eq!(listed(&short), []);
        // Too narrow for text.
        short.show_view(Some(span(3_000_000, 5_010_000)), None, None);
        assert_eq!(painted(&short), (vec![], 3));
    }

    #[test]
    fn a_range_where_the_other_log_has_nothing_is_not_selected_there() {
        let (mut one, mut other) = (control(0, 9_000), control(0, 500));
        one.set_other_log(Some((other.view.log(), Shift::default())));
        other.set_other_log(Some((one.view.log(), Shift::default())));
        one.select_range(Some(Interval::new(Nanos(400), Nanos(800))));
        other.show_synced_view(one.synced_view(), Shift::default(), None);
        assert_eq!(other.range(), Some(Interval::new(Nanos(400), Nanos(500))));
        one.select_range(Some(Interval::new(Nanos(600), Nanos(800))));
        other.show_synced_view(one.synced_view(), Shift::default(), None);
        assert_eq!(other.range(), None);
    }
}
