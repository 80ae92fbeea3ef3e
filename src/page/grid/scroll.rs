//! Scrolling: which rows are in view, and where the scroll bar stands. There may be more rows
//! than an element has pixels, so that the bar says about where, and the rows say exactly.

use std::ops::Range;

use web_sys::HtmlElement;

use super::{Grid, GridProps};
use crate::dom::set_style;

/// The height of a row in pixels; the style sheet says the same.
pub(super) const ROW_PX: f64 = 24.0;
/// Browsers limit how high an element may be (Firefox: 17.8 million pixels).
/// Beyond this a pixel of the scroll bar stands for more than one.
const MAX_PX: f64 = 8_000_000.0;
/// How many rows beyond those in view are asked for, on each side.
const AROUND: u64 = 50;

impl Grid {
    /// Looks how much room the rows have below the head.
    pub(super) fn measure(&mut self, props: &GridProps) {
        let head = if props.sums.is_some() { 2.0 } else { 1.0 } * ROW_PX;
        if let Some(scroller) = self.scroller.cast::<HtmlElement>() {
            self.height = (f64::from(scroller.client_height()) - head).max(0.0);
            // The button that arranges the columns stands beside the scroll bar.
            let bar_px = scroller.offset_width() - scroller.client_width();
            if let Some(around) = self.around.cast::<HtmlElement>() {
                set_style(&around, "--bar", &format!("{bar_px}px"));
            }
        }
    }

    /// How many rows fit, counting those that fit in part.
    pub(super) fn fitting(&self) -> f64 {
        self.height / ROW_PX
    }

    /// The last `first` that leaves no empty place below.
    fn last_first(&self, props: &GridProps) -> f64 {
        (props.total as f64 - self.fitting()).max(0.0)
    }

    pub(super) fn spacer_px(&self, props: &GridProps) -> f64 {
        (props.total as f64 * ROW_PX).clamp(self.height, MAX_PX.max(self.height))
    }

    /// How far the scroll bar goes.
    fn scroll_range_px(&self, props: &GridProps) -> f64 {
        (self.spacer_px(props) - self.height).max(0.0)
    }

    /// Whether a pixel of the scroll bar is a pixel of the rows.
    fn is_exact(&self, props: &GridProps) -> bool {
        props.total as f64 * ROW_PX <= MAX_PX
    }

    pub(super) fn in_view(&self, props: &GridProps) -> Range<u64> {
        let first = self.first as u64;
        let end = (self.first + self.fitting()).ceil() as u64 + 1;
        first.min(props.total)..end.min(props.total)
    }

    /// Says which rows are wanted, if those in view or near are others now.
    pub(super) fn tell(&mut self, props: &GridProps) {
        let view = self.in_view(props);
        let near = view.start.saturating_sub(AROUND / 2)..(view.end + AROUND / 2).min(props.total);
        let covered = self.wanted.start <= near.start && near.end <= self.wanted.end;
        if !covered || self.wanted.end > props.total {
            self.wanted = view.start.saturating_sub(AROUND)..(view.end + AROUND).min(props.total);
            props.on_window.emit(self.wanted.clone());
        }
    }

    /// The user has scrolled. A small step moves the rows by as much, a large
    /// one (a drag of the scroll bar) goes to that part of the rows.
    pub(super) fn scrolled(&mut self, props: &GridProps) -> bool {
        let Some(scroller) = self.scroller.cast::<HtmlElement>() else {
            return false;
        };
        let now = f64::from(scroller.scroll_top());
        let step = now - self.scroll_px;
        if step == 0.0 {
            return false;
        }
        self.scroll_px = now;
        let range = self.scroll_range_px(props).max(1.0);
        self.first = if self.is_exact(props) {
            now / ROW_PX
        } else if step.abs() < 2.0 * self.height {
            self.first + step / ROW_PX
        } else {
            now / range * self.last_first(props)
        };
        self.first = self.first.clamp(0.0, self.last_first(props));
        true
    }

    /// Puts the scroll bar where the first row says.
    pub(super) fn place_scroll_bar(&mut self, props: &GridProps) {
        let Some(scroller) = self.scroller.cast::<HtmlElement>() else {
            return;
        };
        let px = if self.is_exact(props) {
            self.first * ROW_PX
        } else {
            self.first / self.last_first(props).max(1.0) * self.scroll_range_px(props)
        };
        scroller.set_scroll_top(px.round() as i32);
        self.scroll_px = f64::from(scroller.scroll_top());
    }

    /// Goes to a first row.
    pub(super) fn go(&mut self, props: &GridProps, first: f64) {
        self.first = first.clamp(0.0, self.last_first(props));
        if let Some(spacer) = self.spacer.cast::<HtmlElement>() {
            // The bar's range must be known before the bar can be placed.
            set_style(&spacer, "height", &format!("{}px", self.spacer_px(props)));
        }
        self.place_scroll_bar(props);
    }

    /// Brings a row into view: to the middle, if it was far away.
    pub(super) fn reveal(&mut self, props: &GridProps, row: u64) {
        let row = row as f64;
        let fitting = self.fitting();
        if row < self.first - fitting || row > self.first + 2.0 * fitting {
            self.go(props, row - fitting / 2.0);
        } else if row < self.first {
            self.go(props, row);
        } else if row > self.first + fitting - 1.0 {
            self.go(props, row - fitting + 1.0);
        }
    }
}
