//! Painting of the boxes of a flame graph.

use super::{Graph, LEVEL_PX, Window, box_name};
use scene::format;
use scene::painter::{Align, Face, Painter, Rect};
use scene::palette::{DIMMED, Palette};
use session::frame_color;

/// Input of the flame graph painter.
#[derive(Debug)]
pub struct FlameScene<'a> {
    /// Graph to paint.
    pub graph: &'a Graph,
    /// Visible part.
    pub window: Window,
    /// Vertical scroll offset, in pixels.
    pub scroll_px: f64,
    /// Width and height of the picture, in CSS pixels.
    pub size: (f64, f64),
    /// Left and right edge of the window in the picture, in pixels.
    pub across: (f64, f64),
    /// Whether the graph grows upward, with the root at the bottom.
    pub upwards: bool,
    /// Color theme.
    pub palette: &'a Palette,
    /// Whether the theme is dark.
    pub dark: bool,
    /// Box under the pointer.
    pub hovered: Option<usize>,
    /// Selected box.
    pub selected: Option<usize>,
    /// Whether a search is active.
    pub searching: bool,
}

/// Minimum width of a box that has room for a name, in pixels.
const NAMED_PX: f64 = 18.0;

impl FlameScene<'_> {
    /// Returns the height of the whole graph, at least that of the picture.
    pub(crate) fn content_px(&self) -> f64 {
        self.graph.height_px().max(self.size.1)
    }

    /// Returns the top edge of a row, in pixels.
    fn y(&self, row: u32) -> f64 {
        let down = f64::from(row) * LEVEL_PX - self.scroll_px;
        if self.upwards {
            self.content_px() - f64::from(row + 1) * LEVEL_PX - self.scroll_px
        } else {
            down
        }
    }

    /// Returns the row at a vertical position.
    fn row_at(&self, y: f64) -> Option<u32> {
        let from_top = y + self.scroll_px;
        let from_edge = if self.upwards {
            self.content_px() - from_top
        } else {
            from_top
        };
        (from_edge >= 0.0).then_some((from_edge / LEVEL_PX) as u32)
    }

    fn rect(&self, row: u32, left: f64, width: f64) -> Rect {
        let (first, last) = self.across;
        let scale = (last - first) / self.window.width;
        let x = first + (left - self.window.left) * scale;
        let right = (x + width * scale).min(last + 4.0);
        let x = x.max(first - 4.0);
        Rect::new(x, self.y(row), (right - x - 0.75).max(0.75), LEVEL_PX - 1.0)
    }

    /// Returns the rectangle of a box, if it is in the window.
    pub fn box_rect(&self, index: usize) -> Option<Rect> {
        let boxes = &self.graph.boxes;
        let (left, width) = (*boxes.left.get(index)?, *boxes.width.get(index)?);
        let row = self.graph.row(*boxes.depth.get(index)?);
        self.window
            .touches(left, width)
            .then(|| self.rect(row, left, width))
    }

    /// Returns the box at a point of the picture.
    pub fn hit(&self, x: f64, y: f64) -> Option<usize> {
        let depth = self.graph.depth_of_row(self.row_at(y)?)?;
        let (first, last) = self.across;
        let at = self.window.left + (x - first) / (last - first).max(1.0) * self.window.width;
        (first..=last)
            .contains(&x)
            .then(|| self.graph.box_at(depth, at))?
    }

    /// Paints background, headings, boxes and outlines.
    pub fn paint(&self, painter: &mut dyn Painter) {
        let (width, height) = self.size;
        painter.fill(Rect::new(0.0, 0.0, width, height), self.palette.page.into());
        self.paint_headings(painter);
        let (first, last) = self.across;
        painter.clip(Rect::new(first, 0.0, last - first, height));
        self.paint_all(painter);
        for depth in 0..self.graph.head.depth {
            let y = self.y(self.graph.row(depth));
            if y + LEVEL_PX <= 0.0 || y >= height {
                continue;
            }
            for index in self.graph.in_window(depth, self.window) {
                if let Some(rect) = self.box_rect(index) {
                    self.paint_box(index, rect, painter);
                }
            }
        }
        for (index, line) in [(self.selected, 2.0), (self.hovered, 1.0)] {
            if let Some(rect) = index.and_then(|index| self.box_rect(index)) {
                self.outline(rect, line, painter);
            }
        }
        painter.unclip();
    }

    fn paint_all(&self, painter: &mut dyn Painter) {
        let rect = self.rect(0, 0.0, 1.0);
        painter.fill(rect, self.palette.line.into());
        let (graph, head) = (self.graph, &self.graph.head);
        let text = match head.total_before {
            Some(before) if graph.value.compares_amounts() => {
                graph.value.change(before as f64, head.total as f64)
            }
            Some(before) => format!(
                "{} before · {} now",
                graph.value.total_text_before(before),
                graph.value.total_text(head.total)
            ),
            None => format!("all · {}", graph.value.total_text(head.total)),
        };
        let at = (rect.x.max(self.across.0) + 6.0, rect.y + rect.h / 2.0);
        let ink = self.palette.ink2.into();
        painter.text(&text, at, Face::Label, Align::Left, ink);
    }

    fn paint_headings(&self, painter: &mut dyn Painter) {
        for (name, &(_, band)) in self.graph.names.iter().zip(&self.graph.head.bands) {
            let row = self.graph.row(band).saturating_sub(1);
            let y = self.y(row) + LEVEL_PX / 2.0;
            if y < -LEVEL_PX || y > self.size.1 + LEVEL_PX {
                continue;
            }
            let ink = self.palette.ink2.into();
            painter.text(name, (6.0, y), Face::Heading, Align::Left, ink);
        }
    }

    fn paint_box(&self, index: usize, rect: Rect, painter: &mut dyn Painter) {
        let Some(named) = self.graph.named_frame(index) else {
            return;
        };
        let compared = self.graph.compared(index);
        let color = match compared {
            Some((before, now)) => frame_color::change_color(before, now, self.dark),
            None => frame_color::color_for_frame(&named.frame, self.palette, self.dark),
        };
        let dimmed = self.searching && !named.found;
        painter.fill(rect, color.alpha(if dimmed { DIMMED } else { 1.0 }));
        if self.searching && named.found {
            let underline = Rect::new(rect.x, rect.y + rect.h - 2.0, rect.w, 2.0);
            painter.fill(underline, self.palette.accent.into());
        }
        let left = rect.x.max(self.across.0);
        let room = (rect.x + rect.w).min(self.across.1) - left - 7.0;
        if room < NAMED_PX || self.graph.is_merged(index) {
            return;
        }
        let ink = if dimmed {
            self.palette.ink2
        } else {
            color.text_on()
        };
        let at = (left + 4.0, rect.y + rect.h / 2.0);
        let value = self.graph.value;
        let change = compared.map(|(before, now)| match value.compares_amounts() {
            true => value.signed(now - before),
            false => format!("{} → {}", format::fraction(before), format::fraction(now)),
        });
        let change_width = change
            .as_ref()
            .map_or(0.0, |text| painter.measure(text, Face::Label) + 10.0);
        let room = if room - change_width > 3.0 * NAMED_PX {
            room - change_width
        } else {
            room
        };
        let name = box_name(&named.frame, room, |text| {
            painter.measure(text, Face::Label)
        });
        painter.text(&name, at, Face::Label, Align::Left, ink.into());
        if let Some(text) = change.filter(|_| change_width > 0.0) {
            let x = at.0 + painter.measure(&name, Face::Label) + 8.0;
            if x + change_width - 10.0 <= (rect.x + rect.w).min(self.across.1) {
                painter.text(&text, (x, at.1), Face::Label, Align::Left, ink.into());
            }
        }
    }

    fn outline(&self, rect: Rect, width: f64, painter: &mut dyn Painter) {
        let (x0, x1) = (rect.x, rect.x + rect.w);
        let (y0, y1) = (rect.y, rect.y + rect.h);
        for (from, to) in [
            ((x0, y0), (x1, y0)),
            ((x1, y0), (x1, y1)),
            ((x1, y1), (x0, y1)),
            ((x0, y1), (x0, y0)),
        ] {
            painter.line(from, to, width, self.palette.ink.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;
    use model::profile::source::Unit;
    use model::profile::weights::Measure;
    use model::time::Interval;
    use scene::viewport::Viewport;
    use session::flame::query::{FlameBoxes, FlameHead};

    #[test]
    fn on_the_axis_of_the_timeline_a_box_stands_where_its_time_does() {
        const LABELS: f64 = 216.0;
        let range = Interval::new(Nanos(2_000), Nanos(10_000));
        // From 4,000 to 5,000 ns.
        let boxes = FlameBoxes {
            depth: vec![0],
            left: vec![0.25],
            width: vec![0.125],
            ..FlameBoxes::default()
        };
        let head = FlameHead {
            depth: 1,
            ..FlameHead::default()
        };
        let graph = Graph::new(head, boxes, Unit::Time, Measure::Amount, Vec::new());
        let mut view = Viewport::new(Interval::new(Nanos(0), Nanos(20_000)), 800.0);
        for (factor, x) in [(1.0, 0.0), (2.0, 160.0), (1.7, 300.0)] {
            view.zoom(factor, x);
            let scene = FlameScene {
                graph: &graph,
                window: Window::on_axis(view, range),
                scroll_px: 0.0,
                size: (LABELS + 810.0, 100.0),
                across: (LABELS, LABELS + 800.0),
                upwards: false,
                palette: &Palette::LIGHT,
                dark: false,
                hovered: None,
                selected: None,
                searching: false,
            };
            let rect = scene.box_rect(0).expect("it is in view");
            let [from, to] = [4_000, 5_000].map(|time| LABELS + view.x_of(Nanos(time)));
            assert!((rect.x - from).abs() < 1e-6, "{} {from}", rect.x);
            assert!(
                (rect.x + rect.w - to).abs() < 1.0,
                "{} {to}",
                rect.x + rect.w
            );
            assert_eq!(scene.hit(f64::midpoint(from, to), rect.y + 3.0), Some(0));
            assert_eq!(scene.hit(LABELS / 2.0, rect.y + 3.0), None);
        }
    }
}
