//! Painting of a thread: bars for runs, lines for waits.

use super::item::Marks;
use super::thread::Thread;
use eventlog::ids::Nanos;
use model::class::Class;
use model::marks::MarkKind;
use scene::painter::{Align, Face, Painter, Rect};
use scene::palette::class_color;
use scene::strip::{Strip, stripes_on};

/// Text on a thread with so many runs that they are still being read.
const WAITS_FOR_RUNS: &str = "reading its runs…";

/// Paints a running thread as a full bar, and a waiting one as a thin line in the color of the reason.
pub(super) fn paint(row: Thread, marks: &Marks, strip: &Strip<'_>, painter: &mut dyn Painter) {
    let area = strip.area;
    let middle = area.y + area.h / 2.0;
    if marks.is_deferred(row) {
        let (at, ink) = ((area.x + 6.0, middle), strip.palette.ink3.into());
        painter.text(WAITS_FOR_RUNS, at, Face::Label, Align::Left, ink);
    }
    for (mark, span) in marks.row_marks(row) {
        if mark.kind == MarkKind::Many {
            paint_mixture(
                strip,
                strip.rect(span, area.y + 5.0, area.h - 11.0),
                mark.shares,
                painter,
            );
            continue;
        }
        let color = class_color(strip.palette, mark.class);
        if matches!(mark.class, Class::Running | Class::Open) {
            let rect = strip.rect(span, area.y + 5.0, area.h - 11.0);
            painter.fill(rect, color.into());
            if mark.class == Class::Open {
                painter.hatch(rect, stripes_on(color));
            }
        } else if span.start() < span.end() {
            let line = (strip.rect(span, middle - 2.5, 4.0), strip.x(span.start()));
            strip.paint_wait_line(mark.class, line, color.alpha(0.75), painter);
        }
    }
}

/// Paints several spans: a line in the color of the reason with the largest share, under a bar whose height is the
/// share of running.
fn paint_mixture(strip: &Strip<'_>, rect: Rect, shares: &[f32], painter: &mut dyn Painter) {
    let share = |class: Class| shares.get(class as usize).copied().unwrap_or(0.0);
    let waiting = [
        Class::Ready,
        Class::ThreadRunnableCapIdle,
        Class::RunnableDuringGc,
        Class::Mvar,
        Class::BlackHole,
        Class::Stm,
        Class::ThrowTo,
        Class::Foreign,
        Class::Sleeping,
        Class::Io,
        Class::Unknown,
    ];
    let most = waiting
        .into_iter()
        .max_by(|a, b| share(*a).total_cmp(&share(*b)));
    if let Some(class) = most.filter(|class| share(*class) > 0.0) {
        let line = Rect::new(rect.x, rect.y + rect.h / 2.0 - 2.0, rect.w, 4.0);
        let paint = class_color(strip.palette, class).alpha(0.75);
        let line = (line, strip.x(Nanos(0)));
        strip.paint_wait_line(class, line, paint, painter);
    }
    let running = f64::from(share(Class::Running) + share(Class::Open));
    if running > 0.0 {
        let h = (rect.h * running.min(1.0)).max(2.0);
        let bar = Rect::new(rect.x, rect.y + (rect.h - h) / 2.0, rect.w, h);
        painter.fill(bar, strip.palette.running.into());
    }
}
