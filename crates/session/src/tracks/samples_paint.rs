//! How samples of a profile are painted.

use super::item::{Names, Shown};
use super::samples::{Sampled, Samples};
use super::words::function_name;
use crate::frame_colour::of_frame;
use eventlog::hash::SeededMap;
use model::class::Class;
use model::marks::{MarkKind, MarkView};
use model::profile::frames::Frame;
use scene::colour::Rgb;
use scene::painter::{Painter, Rect};
use scene::palette::{Palette, frame_colour};
use scene::strip::{Strip, standing};

/// From which width on a sample shows when its tick was.
const TICK_FROM_PX: f64 = 5.0;
/// How high that line is: names stand above it.
const TICK_PX: f64 = 4.0;
/// How high the line of an idle capability is.
const IDLE_PX: f64 = 2.0;

/// The colour of a function: the same as in the flame graph.
fn function_colour(frame: Option<&Frame>, palette: &Palette) -> Rgb {
    let dark = palette.is_dark();
    match frame {
        Some(frame) => of_frame(frame, palette, dark),
        None => frame_colour("IDLE", "IDLE", dark),
    }
}

/// Samples of one function that follow each other: one block, with its name.
struct Run {
    number: Option<u32>,
    rect: Rect,
    colour: Rgb,
    /// Where its ticks are, as far as there is room for them.
    ticks: Vec<f64>,
}

impl Run {
    /// Takes the next sample, if it is of the same function and follows at once.
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

/// A sample is a block in the colour of what ran, from the tick before it
/// to its own; where there is room, a line shows its tick. Where several
/// share a pixel, the bar is as high as the share of those that are not
/// idle, in the colour of what most of them show.
pub(super) fn paint<N: Names>(
    row: Samples,
    shown: &Shown<'_, N>,
    strip: &Strip<'_>,
    painter: &mut dyn Painter,
) {
    let (y, h) = (strip.area.y + 3.0, strip.area.h - 7.0);
    let mut colours: SeededMap<Option<u32>, Rgb> = SeededMap::default();
    let mut colour_of = |mark: &MarkView<'_>| {
        let Sampled(number) = mark.read();
        *colours.entry(number).or_insert_with(|| {
            let frame = number.and_then(|n| shown.names.sampled_function(n));
            function_colour(frame, strip.palette)
        })
    };
    let mut run: Option<Run> = None;
    for (mark, span) in shown.marks.of(row) {
        let rect = strip.rect(span, y, h);
        let colour = colour_of(&mark);
        if mark.kind == MarkKind::Many {
            finish_run(strip, shown.names, run.take(), painter);
            paint_many(strip, &mark, rect, colour, painter);
            continue;
        }
        if mark.class == Class::Other {
            finish_run(strip, shown.names, run.take(), painter);
            paint_idle(strip, rect, painter);
            continue;
        }
        let Sampled(number) = mark.read();
        if run.as_mut().is_some_and(|run| run.take(number, rect)) {
            continue;
        }
        finish_run(strip, shown.names, run.take(), painter);
        let mut next = Run {
            number,
            rect,
            colour,
            ticks: Vec::new(),
        };
        next.tick(rect);
        run = Some(next);
    }
    finish_run(strip, shown.names, run, painter);
}

/// The colours of functions are pale; an edge shows how high a bar is to
/// who needs more contrast.
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
    colour: Rgb,
    painter: &mut dyn Painter,
) {
    let share = |class: Class| mark.share(class);
    if share(Class::Other) > 0.0 {
        paint_idle(strip, rect, painter);
    }
    let busy = share(Class::Running) + share(Class::Gc);
    if busy > 0.0 {
        let bar = standing(rect, busy);
        painter.fill(bar, colour.into());
        paint_edge(strip, bar, painter);
    }
}

/// A run of samples, with the name of what ran if there is room.
fn finish_run(strip: &Strip<'_>, names: &impl Names, run: Option<Run>, painter: &mut dyn Painter) {
    let Some(run) = run else { return };
    painter.fill(run.rect, run.colour.into());
    paint_edge(strip, run.rect, painter);
    for x in run.ticks {
        let tick = Rect::new(x, run.rect.y + run.rect.h - TICK_PX, 1.0, TICK_PX);
        painter.fill(tick, run.colour.text_on().alpha(0.6));
    }
    let frame = run.number.and_then(|n| names.sampled_function(n));
    let Some(frame) = frame else {
        return;
    };
    if !strip.paint_inside(&function_name(frame), run.rect, run.colour, painter) {
        strip.paint_inside(&frame.label, run.rect, run.colour, painter);
    }
}
