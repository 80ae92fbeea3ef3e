//! Two timelines that show the same: zooming, moving, selecting and pointing in one does
//! the same in the other, at the same moments of its own log.

use super::{Control, Told};
use crate::beside::Shift;
use crate::scene::viewport::Place;
use eventlog::ids::Nanos;
use model::time::Interval;

/// What two timelines have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glance {
    place: Place,
    range: Option<Interval>,
    pointer: Option<Nanos>,
}

impl Control {
    /// What another timeline is to show as well.
    #[must_use]
    pub const fn glance(&self) -> Glance {
        Glance {
            place: self.view.place(),
            range: self.focus.range,
            pointer: self.focus.pointer,
        }
    }

    /// Another log stands beside this one, whose times have that shift from the times of
    /// this one; or none does any more.
    pub fn set_beside(&mut self, beside: Option<(Interval, Shift)>) -> Vec<Told> {
        let on_this_axis = |(log, shift): (Interval, Shift)| {
            let at_ns = |time: Nanos| time.0 as f64 - shift.ns() as f64;
            (at_ns(log.start()), at_ns(log.end()))
        };
        self.gesture(|view| view.set_beside(beside.map(on_this_axis)))
    }

    /// Shows what another timeline shows, whose times have that shift to the times of this
    /// one. Nothing is told if it is shown already.
    pub fn show_glance(&mut self, glance: Glance, shift: Shift) -> Vec<Told> {
        let mut told = Vec::new();
        let Place {
            start_ns,
            ns_per_px,
        } = glance.place;
        let before = self.view;
        self.view.show_place(Place {
            start_ns: start_ns + shift.ns() as f64,
            ns_per_px,
        });
        if self.view != before {
            told.extend(self.hover());
            told.push(Told::Changed);
        }
        let log = self.view.log();
        let range = glance.range.and_then(|range| shift.range(range, log));
        if range != self.focus.range {
            told.extend(self.select_range(range));
        }
        // Where the pointer itself is, that line is drawn anyway.
        if self.focus.pointer_at.is_none() {
            self.focus.pointer = glance.pointer.and_then(|time| shift.time(time));
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    fn control(start: u64, end: u64) -> Control {
        let mut control = Control::default();
        control.resize((1200.0, 400.0));
        let span = Interval::new(Nanos(start), Nanos(end));
        control.set_log(span, Rc::default(), None);
        control
    }

    #[test]
    fn the_other_timeline_shows_the_same_moments_and_answers_nothing_twice() {
        let mut one = control(1_000, 2_000_000);
        let mut other = control(51_000, 9_000_000);
        let shift = Shift::between(Nanos(1_000), Nanos(51_000));
        one.set_beside(Some((other.view.log(), shift)));
        other.set_beside(Some((one.view.log(), shift.back())));
        one.zoom(40.0);
        one.pan(0.7);
        one.select_range(Some(Interval::new(Nanos(3_000), Nanos(4_000))));
        let told = other.show_glance(one.glance(), shift);
        assert!(told.contains(&Told::Changed));
        assert_eq!(
            other.range(),
            Some(Interval::new(Nanos(53_000), Nanos(54_000)))
        );
        let x = |control: &Control, time| control.view.x_of(Nanos(time));
        assert!((x(&one, 700_000) - x(&other, 750_000)).abs() < 0.01);
        assert_eq!(other.show_glance(one.glance(), shift), []);
        assert_eq!(one.show_glance(other.glance(), shift.back()), []);
    }

    #[test]
    fn a_range_where_the_other_log_has_nothing_is_not_selected_there() {
        let (mut one, mut other) = (control(0, 9_000), control(0, 500));
        one.set_beside(Some((other.view.log(), Shift::default())));
        other.set_beside(Some((one.view.log(), Shift::default())));
        one.select_range(Some(Interval::new(Nanos(400), Nanos(800))));
        other.show_glance(one.glance(), Shift::default());
        assert_eq!(other.range(), Some(Interval::new(Nanos(400), Nanos(500))));
        one.select_range(Some(Interval::new(Nanos(600), Nanos(800))));
        other.show_glance(one.glance(), Shift::default());
        assert_eq!(other.range(), None);
    }
}
