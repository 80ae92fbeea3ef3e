//! Visible part of a flame graph.

use model::time::Interval;
use scene::viewport::Viewport;

/// Horizontal range, as fractions of the graph's width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Left edge; can be negative on a shared time axis.
    pub left: f64,
    /// Width; can exceed 1 on a shared time axis.
    pub width: f64,
}

impl Default for Window {
    fn default() -> Self {
        Self::ALL
    }
}

impl Window {
    /// The whole graph.
    pub const ALL: Self = Self {
        left: 0.0,
        width: 1.0,
    };
    /// Returns the window that a view of the time axis has on a graph in time order; it can extend beyond the
    /// graph.
    pub fn on_axis(view: Viewport, graph: Interval) -> Self {
        let (from, to) = view.edges_ns();
        let length = (graph.duration().0 as f64).max(1.0);
        Self {
            left: (from - graph.start().0 as f64) / length,
            width: (to - from) / length,
        }
    }

    /// Width at maximum zoom.
    const MIN_WIDTH: f64 = 1e-9;

    /// Zooms in by `factor` around `at`, a position between 0 and 1 of the window.
    #[must_use]
    pub fn zoomed(self, factor: f64, at: f64) -> Self {
        let fixed = self.left + at * self.width;
        let width = (self.width / factor).clamp(Self::MIN_WIDTH, 1.0);
        Self {
            left: fixed - at * width,
            width,
        }
        .clamped()
    }

    /// Pans by a fraction of the window's width.
    #[must_use]
    pub fn shifted(self, by: f64) -> Self {
        Self {
            left: self.left + by * self.width,
            ..self
        }
        .clamped()
    }

    /// Returns the window with these edges, clamped to the valid range.
    pub fn around(left: f64, width: f64) -> Self {
        Self {
            left,
            width: width.clamp(Self::MIN_WIDTH, 1.0),
        }
        .clamped()
    }

    /// Returns whether a part of the graph overlaps the window.
    pub fn touches(self, left: f64, width: f64) -> bool {
        left < self.left + self.width && left + width > self.left
    }

    fn clamped(self) -> Self {
        Self {
            left: self.left.clamp(0.0, (1.0 - self.width).max(0.0)),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_stay_inside_the_graph() {
        let zoomed = Window::ALL.zoomed(4.0, 0.5);
        assert_eq!(
            zoomed,
            Window {
                left: 0.375,
                width: 0.25
            }
        );
        assert_eq!(zoomed.zoomed(0.01, 0.9), Window::ALL);
        assert_eq!(zoomed.shifted(-99.0).left, 0.0);
        assert!((zoomed.shifted(99.0).left - 0.75).abs() < 1e-12);
        assert_eq!(Window::around(0.5, 7.0), Window::ALL);
        assert!(zoomed.touches(0.6, 0.1) && !zoomed.touches(0.7, 0.1));
    }
}
