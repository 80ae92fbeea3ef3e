//! Scrolling: the rows in view and the position of the scroll bar. There may be more rows than the maximum height
//! of an element in pixels; the scroll bar is then approximate, and `first` is exact.

use std::ops::Range;

use web_sys::HtmlElement;

use super::{Grid, GridProps};
use crate::dom::set_style;

/// Height of a row in pixels, repeated in the style sheet.
pub(super) const ROW_PX: f64 = 24.0;
/// Maximum height of the spacer: browsers limit the height of elements (Firefox: 17.8 million pixels). Beyond it,
/// one pixel of the scroll bar stands for more than one pixel of rows.
const MAX_PX: f64 = 8_000_000.0;
/// Number of additional rows requested on each side of the view.
const AROUND: u64 = 50;

impl Grid {
    /// Measures the height available for rows below the head.
    pub(super) fn measure(&mut self, props: &GridProps) {
        let head = if props.sums.is_some() { 2.0 } else { 1.0 } * ROW_PX;
        if let Some(scroller) = self.scroller.cast::<HtmlElement>() {
            self.height = (f64::from(scroller.client_height()) - head).max(0.0);
            // The button of the column menu is placed next to the scroll bar.
            let bar_px = scroller.offset_width() - scroller.client_width();
            if let Some(container) = self.container.cast::<HtmlElement>() {
                set_style(&container, "--bar", &format!("{bar_px}px"));
            }
        }
    }

    /// Returns the number of rows that fit, as a fraction.
    pub(super) fn fitting(&self) -> f64 {
        self.height / ROW_PX
    }

    /// Returns the largest `first` that leaves no gap at the bottom.
    fn last_first(&self, props: &GridProps) -> f64 {
        (props.total as f64 - self.fitting()).max(0.0)
    }

    pub(super) fn spacer_px(&self, props: &GridProps) -> f64 {
        (props.total as f64 * ROW_PX).clamp(self.height, MAX_PX.max(self.height))
    }

    /// Returns the range of the scroll bar in pixels.
    fn scroll_range_px(&self, props: &GridProps) -> f64 {
        (self.spacer_px(props) - self.height).max(0.0)
    }

    /// Returns whether the scroll bar maps one to one to rows.
    fn is_exact(&self, props: &GridProps) -> bool {
        props.total as f64 * ROW_PX <= MAX_PX
    }

    pub(super) fn in_view(&self, props: &GridProps) -> Range<u64> {
        let first = self.first as u64;
        let end = (self.first + self.fitting()).ceil() as u64 + 1;
        first.min(props.total)..end.min(props.total)
    }

    /// Requests rows when the view approaches the end of the requested range.
    pub(super) fn request_rows(&mut self, props: &GridProps) {
        let view = self.in_view(props);
        let near = view.start.saturating_sub(AROUND / 2)..(view.end + AROUND / 2).min(props.total);
        let covered = self.requested.start <= near.start && near.end <= self.requested.end;
        if !covered || self.requested.end > props.total {
            self.requested =
                view.start.saturating_sub(AROUND)..(view.end + AROUND).min(props.total);
            props.on_window.emit(self.requested.clone());
        }
    }

    /// Handles a scroll event. A small step moves the rows by the same distance; a large one (dragging the scroll
    /// bar) jumps to the proportional position.
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

    /// Moves the scroll bar to the position of the first row.
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

    /// Scrolls so that `first` is the first row in view.
    pub(super) fn scroll_to_first(&mut self, props: &GridProps, first: f64) {
        self.first = first.clamp(0.0, self.last_first(props));
        if let Some(spacer) = self.spacer.cast::<HtmlElement>() {
            // The spacer must have its height before the scroll bar can be moved.
            set_style(&spacer, "height", &format!("{}px", self.spacer_px(props)));
        }
        self.place_scroll_bar(props);
    }

    /// Scrolls a row into view; to the middle, if it was far away.
    pub(super) fn reveal(&mut self, props: &GridProps, row: u64) {
        let row = row as f64;
        let fitting = self.fitting();
        if row < self.first - fitting || row > self.first + 2.0 * fitting {
            self.scroll_to_first(props, row - fitting / 2.0);
        } else if row < self.first {
            self.scroll_to_first(props, row);
        } else if row > self.first + fitting - 1.0 {
            self.scroll_to_first(props, row - fitting + 1.0);
        }
    }
}
