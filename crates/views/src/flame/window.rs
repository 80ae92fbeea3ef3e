//! The part of a flame graph in view.

use model::time::Interval;
use scene::viewport::Viewport;

/// From 0 to 1 of the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its left edge.
    pub left: f64,
    /// Its width.
    pub width: f64,
}

impl Window {
    /// All of the graph.
    pub const ALL: Self = Self {
        left: 0.0,
        width: 1.0,
    };
    /// What a view on the time axis shows of a graph in the order of time: maybe more than there
    /// is of it.
    #[must_use]
    pub fn on_axis(view: Viewport, graph: Interval) -> Self {
        let (from, to) = view.edges_ns();
        let length = (graph.duration().0 as f64).max(1.0);
        Self {
            left: (from - graph.start().0 as f64) / length,
            width: (to - from) / length,
        }
    }

    /// The deepest zoom.
    const MIN_WIDTH: f64 = 1e-9;

    /// Makes everything `factor` times as wide; what is at `at` (0 to 1 of
    /// the window) stays there.
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

    /// Moved by a part of its own width.
    #[must_use]
    pub fn moved(self, by: f64) -> Self {
        Self {
            left: self.left + by * self.width,
            ..self
        }
        .clamped()
    }

    /// That part of the graph, as far as there can be such a window.
    #[must_use]
    pub fn around(left: f64, width: f64) -> Self {
        Self {
            left,
            width: width.clamp(Self::MIN_WIDTH, 1.0),
        }
        .clamped()
    }

    /// Whether some of a part of the graph is in it.
    #[must_use]
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
        assert_eq!(zoomed.moved(-99.0).left, 0.0);
        assert!((zoomed.moved(99.0).left - 0.75).abs() < 1e-12);
        assert_eq!(Window::around(0.5, 7.0), Window::ALL);
        assert!(zoomed.touches(0.6, 0.1) && !zoomed.touches(0.7, 0.1));
    }
}
