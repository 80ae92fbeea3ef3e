//! Painting of profile samples.

use super::item::{Names, PaintInput};
use super::samples::{SamplePayload, Samples};
use crate::frame_color::color_for_frame;
use eventlog::hash::SeededMap;
use model::class::Class;
use model::marks::{MarkKind, MarkView};
use model::profile::frames::Frame;
use scene::color::Rgb;
use scene::painter::{Painter, Rect};
use scene::palette::{Palette, frame_color};
use scene::strip::{Strip, bottom_aligned};

/// Minimum width of a sample that shows its tick.
const TICK_FROM_PX: f64 = 5.0;
/// Height of the tick line, which leaves room for names above it.
const TICK_PX: f64 = 4.0;
/// Height of the line of an idle capability.
const IDLE_PX: f64 = 2.0;

/// Returns the color of a function, which is that of the flame graph.
fn function_color(frame: Option<&Frame>, palette: &Palette) -> Rgb {
    let dark = palette.is_dark();
    match frame {
        Some(frame) => color_for_frame(frame, palette, dark),
        None => frame_color("IDLE", "IDLE", dark),
    }
}

/// Block of consecutive samples of one function, with its name.
struct Run {
    number: Option<u32>,
    rect: Rect,
    color: Rgb,
    /// Positions of its ticks, as far as there is room for them.
    ticks: Vec<f64>,
}

impl Run {
    /// Extends the block by the next sample, if that is adjacent and of the same function.
    fn take(&mut self, number: Option<u32>, rect: Rect) -> bool {
        let right = self.rect.x + self.rect.w;
        let follows = self.number == number && rect.x - right < 1.0;
        if follows {
            self.rect.w = (rect.x + rect.w - self.rect.x).max(self.rect.w);
            self.tick(rect);
        }
        follows
    }

    fn tick(&mut self, rect: Rect) {
        if rect.w >= TICK_FROM_PX {
            self.ticks.push(rect.x + rect.w - 1.0);
        }
    }
}

/// Paints a sample as a block in the color of its function, from the previous tick to its own, which is marked by
/// a line if there is room. Several samples in a pixel become a bar whose height is the share of the samples that
/// are not idle, in the color of the function that represents them.
pub(super) fn paint(row: Samples, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
    let strip = &shown.strip;
    let (y, h) = (strip.area.y + 3.0, strip.area.h - 7.0);
    let mut colors: SeededMap<Option<u32>, Rgb> = SeededMap::default();
    let mut color_of = |mark: &MarkView<'_>| {
        let SamplePayload(number) = mark.read();
        *colors.entry(number).or_insert_with(|| {
            let frame = number.and_then(|n| shown.names.sampled_function(n));
            function_color(frame, strip.palette)
        })
    };
    let mut run: Option<Run> = None;
    for (mark, span) in shown.marks.row_marks(row) {
        let rect = strip.rect(span, y, h);
        let color = color_of(&mark);
        if mark.kind == MarkKind::Many {
            finish_run(strip, shown.names, run.take(), painter);
            paint_many(strip, &mark, rect, color, painter);
            continue;
        }
        if mark.class == Class::Other {
            finish_run(strip, shown.names, run.take(), painter);
            paint_idle(strip, rect, painter);
            continue;
        }
        let SamplePayload(number) = mark.read();
        if run.as_mut().is_some_and(|run| run.take(number, rect)) {
            continue;
        }
        finish_run(strip, shown.names, run.take(), painter);
        let mut next = Run {
            number,
            rect,
            color,
            ticks: Vec::new(),
        };
        next.tick(rect);
        run = Some(next);
    }
    finish_run(strip, shown.names, run, painter);
}

/// Paints the top edge of a bar for users who need more contrast, because function colors are pale.
fn paint_edge(strip: &Strip<'_>, bar: Rect, painter: &mut dyn Painter) {
    if strip.patterns {
        let edge = Rect::new(bar.x, bar.y, bar.w, 1.0);
        painter.fill(edge, strip.palette.ink3.into());
    }
}

fn paint_idle(strip: &Strip<'_>, rect: Rect, painter: &mut dyn Painter) {
    let line = Rect::new(rect.x, rect.y + rect.h - IDLE_PX, rect.w, IDLE_PX);
    painter.fill(line, strip.palette.line.into());
}

fn paint_many(
    strip: &Strip<'_>,
    mark: &MarkView<'_>,
    rect: Rect,
    color: Rgb,
    painter: &mut dyn Painter,
) {
    let share = |class: Class| mark.share(class);
    if share(Class::Other) > 0.0 {
        paint_idle(strip, rect, painter);
    }
    let busy = share(Class::Running) + share(Class::Gc);
    if busy > 0.0 {
        let bar = bottom_aligned(rect, busy);
        painter.fill(bar, color.into());
        paint_edge(strip, bar, painter);
    }
}

/// Paints a block of samples, with the name of its function if there is room.
fn finish_run(strip: &Strip<'_>, names: &dyn Names, run: Option<Run>, painter: &mut dyn Painter) {
    let Some(run) = run else { return };
    painter.fill(run.rect, run.color.into());
    paint_edge(strip, run.rect, painter);
    for x in run.ticks {
        let tick = Rect::new(x, run.rect.y + run.rect.h - TICK_PX, 1.0, TICK_PX);
        painter.fill(tick, run.color.text_on().alpha(0.6));
    }
    let frame = run.number.and_then(|n| names.sampled_function(n));
    let Some(frame) = frame else {
        return;
    };
    if !strip.paint_inside(&frame.display_name(), run.rect, run.color, painter) {
        strip.paint_inside(&frame.label, run.rect, run.color, painter);
    }
}
