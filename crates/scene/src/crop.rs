//! Painting a part of a picture at another place.

use super::painter::{Align, Face, Paint, Painter, Rect};

/// A painter that passes on what is painted within a part of a picture, moved to another place, and drops the
/// rest.
#[derive(Debug)]
pub struct Crop<'a, P: ?Sized> {
    painter: &'a mut P,
    part: Rect,
    /// Offset from the part to the target, in pixels.
    offset: (f64, f64),
    /// Active clips, and whether each was passed on; clips around nothing visible are held back.
    clips: Vec<(Rect, bool)>,
}

impl<'a, P: Painter + ?Sized> Crop<'a, P> {
    /// Starts painting the contents of `part` at the place `to`.
    pub fn new(painter: &'a mut P, part: Rect, to: Rect) -> Self {
        painter.clip(to);
        Self {
            painter,
            part,
            offset: (to.x - part.x, to.y - part.y),
            clips: Vec::new(),
        }
    }

    /// Ends all clips, including that of the crop itself.
    pub fn end(mut self) {
        while !self.clips.is_empty() {
            self.unclip();
        }
        self.painter.unclip();
    }

    fn offset_point(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x + self.offset.0, y + self.offset.1)
    }

    fn offset_rect(&self, rect: Rect) -> Rect {
        let (x, y) = self.offset_point((rect.x, rect.y));
        Rect::new(x, y, rect.w, rect.h)
    }

    /// Returns whether something within these bounds is visible; if so, passes on clips that were held back.
    fn is_visible(&mut self, bounds: Rect) -> bool {
        let overlap = |a: Rect, b: Rect| {
            a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
        };
        let shown = overlap(bounds, self.part) && self.clips.iter().all(|c| overlap(bounds, c.0));
        if shown {
            for at in 0..self.clips.len() {
                let (clip, passed) = self.clips[at];
                if !passed {
                    let clip = self.offset_rect(clip);
                    self.painter.clip(clip);
                    self.clips[at].1 = true;
                }
            }
        }
        shown
    }

    fn are_points_visible(&mut self, points: &[(f64, f64)]) -> bool {
        let least = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(f64::MAX, f64::min);
        let most = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(f64::MIN, f64::max);
        let (x, y) = (least(|p| p.0), least(|p| p.1));
        let (right, bottom) = (most(|p| p.0), most(|p| p.1));
        // A line has no area, so its bounds are extended by half a pixel.
        self.is_visible(Rect::new(
            x - 0.5,
            y - 0.5,
            right - x + 1.0,
            bottom - y + 1.0,
        ))
    }
}

impl<P: Painter + ?Sized> Painter for Crop<'_, P> {
    fn fill(&mut self, rect: Rect, paint: Paint) {
        if self.is_visible(rect) {
            let rect = self.offset_rect(rect);
            self.painter.fill(rect, paint);
        }
    }

    fn hatch(&mut self, rect: Rect, paint: Paint) {
        if self.is_visible(rect) {
            let rect = self.offset_rect(rect);
            self.painter.hatch(rect, paint);
        }
    }

    fn hatch_falling(&mut self, rect: Rect, paint: Paint) {
        if self.is_visible(rect) {
            let rect = self.offset_rect(rect);
            self.painter.hatch_falling(rect, paint);
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, paint: Paint) {
        if self.are_points_visible(&[from, to]) {
            let (from, to) = (self.offset_point(from), self.offset_point(to));
            self.painter.line(from, to, width, paint);
        }
    }

    fn polyline(&mut self, points: &[(f64, f64)], width: f64, paint: Paint) {
        if self.are_points_visible(points) {
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|&point| self.offset_point(point))
                .collect();
            self.painter.polyline(&points, width, paint);
        }
    }

    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint) {
        if self.are_points_visible(&[from, to]) {
            let (from, to) = (self.offset_point(from), self.offset_point(to));
            self.painter.dashed(from, to, paint);
        }
    }

    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        if self.are_points_visible(points) {
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|&point| self.offset_point(point))
                .collect();
            self.painter.polygon(&points, paint);
        }
    }

    fn text(&mut self, text: &str, at: (f64, f64), face: Face, align: Align, paint: Paint) {
        let width = self.painter.measure(text, face);
        let left = match align {
            Align::Left => at.0,
            Align::Center => at.0 - width / 2.0,
            Align::Right => at.0 - width,
        };
        if self.is_visible(Rect::new(left, at.1 - 7.0, width, 14.0)) {
            let at = self.offset_point(at);
            self.painter.text(text, at, face, align, paint);
        }
    }

    fn measure(&mut self, text: &str, face: Face) -> f64 {
        self.painter.measure(text, face)
    }

    fn clip(&mut self, rect: Rect) {
        self.clips.push((rect, false));
    }

    fn unclip(&mut self) {
        if let Some((_, true)) = self.clips.pop() {
            self.painter.unclip();
        }
    }
}
