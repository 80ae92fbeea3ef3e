//! Samples of a profile.

use rustc_hash::FxHashMap;

use super::Scene;
use super::bars::standing;
use crate::scene::colour::Rgb;
use crate::scene::painter::{Painter, Rect};
use crate::scene::palette::{Palette, frame_colour};
use crate::tracks::item::Names;
use crate::tracks::samples::{Sampled, Samples};
use crate::tracks::words::function_name;
use model::class::Class;
use model::marks::{MarkKind, MarkView};
use model::profile::frames::{Frame, FrameKind};

/// From which width on a sample shows when its tick was.
const TICK_FROM_PX: f64 = 5.0;
/// How high that line is: names stand above it.
const TICK_PX: f64 = 4.0;
/// How high the line of an idle capability is.
const IDLE_PX: f64 = 2.0;

/// The colour of a function: the same as in the flame graph.
pub(super) fn function_colour(frame: Option<&Frame>, palette: &Palette) -> Rgb {
    let dark = palette.is_dark();
    match frame {
        Some(frame) if frame.kind == FrameKind::ForeignCall => palette.foreign,
        Some(frame) => frame_colour(&frame.label, &frame.module, dark),
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

impl<N: Names> Scene<'_, N> {
    /// A sample is a block in the colour of what ran, from the tick before it
    /// to its own; where there is room, a line shows its tick. Where several
    /// share a pixel, the bar is as high as the share of those that are not
    /// idle, in the colour of what most of them show.
    pub(crate) fn paint_samples(&self, row: Samples, area: Rect, painter: &mut impl Painter) {
        let (y, h) = (area.y + 3.0, area.h - 7.0);
        let mut colours: FxHashMap<Option<u32>, Rgb> = FxHashMap::default();
        let mut colour_of = |mark: &MarkView<'_>| {
            let Sampled(number) = mark.read();
            *colours.entry(number).or_insert_with(|| {
                let frame = number.and_then(|n| self.names.sampled_function(n));
                function_colour(frame, self.palette)
            })
        };
        let mut run: Option<Run> = None;
        for (mark, span) in self.marks.of(row) {
            let rect = self.rect(span, y, h);
            let colour = colour_of(&mark);
            if mark.kind == MarkKind::Many {
                self.finish_run(run.take(), painter);
                self.paint_many_samples(&mark, rect, colour, painter);
                continue;
            }
            if mark.class == Class::Other {
                self.finish_run(run.take(), painter);
                self.paint_idle(rect, painter);
                continue;
            }
            let Sampled(number) = mark.read();
            if run.as_mut().is_some_and(|run| run.take(number, rect)) {
                continue;
            }
            self.finish_run(run.take(), painter);
            let mut next = Run {
                number,
                rect,
                colour,
                ticks: Vec::new(),
            };
            next.tick(rect);
            run = Some(next);
        }
        self.finish_run(run, painter);
    }

    /// The colours of functions are pale; an edge shows how high a bar is to
    /// who needs more contrast.
    fn paint_edge(&self, bar: Rect, painter: &mut impl Painter) {
        if self.patterns {
            let edge = Rect::new(bar.x, bar.y, bar.w, 1.0);
            painter.fill(edge, self.palette.ink3.into());
        }
    }

    fn paint_idle(&self, rect: Rect, painter: &mut impl Painter) {
        let line = Rect::new(rect.x, rect.y + rect.h - IDLE_PX, rect.w, IDLE_PX);
        painter.fill(line, self.palette.line.into());
    }

    fn paint_many_samples(
        &self,
        mark: &MarkView<'_>,
        rect: Rect,
        colour: Rgb,
        painter: &mut impl Painter,
    ) {
        let share = |class: Class| mark.share(class);
        if share(Class::Other) > 0.0 {
            self.paint_idle(rect, painter);
        }
        let busy = share(Class::Running) + share(Class::Gc);
        if busy > 0.0 {
            let bar = standing(rect, busy);
            painter.fill(bar, colour.into());
            self.paint_edge(bar, painter);
        }
    }

    /// A run of samples, with the name of what ran if there is room.
    fn finish_run(&self, run: Option<Run>, painter: &mut impl Painter) {
        let Some(run) = run else { return };
        painter.fill(run.rect, run.colour.into());
        self.paint_edge(run.rect, painter);
        for x in run.ticks {
            let tick = Rect::new(x, run.rect.y + run.rect.h - TICK_PX, 1.0, TICK_PX);
            painter.fill(tick, self.palette.ink2.into());
        }
        let frame = run.number.and_then(|n| self.names.sampled_function(n));
        let Some(frame) = frame else {
            return;
        };
        if !self.paint_inside(&function_name(frame), run.rect, run.colour, painter) {
            self.paint_inside(&frame.label, run.rect, run.colour, painter);
        }
    }
}
