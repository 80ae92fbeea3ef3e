//! Painting of a capability: runs of threads, and collections with their phases.

use super::capability::{Capability, RunPayload};
use super::item::{Names, PaintInput};
use model::class::Class;
use model::marks::{MarkKind, MarkView};
use scene::format;
use scene::painter::{Align, Face, Painter, Rect};
use scene::palette::class_color;
use scene::strip::{Strip, paint_unread, stripes_on};

/// Height, as a fraction of the row, of a bar in a collection without work for the capability.
const WAITING: f64 = 0.45;
/// Opacity of such a bar.
const WAITING_ALPHA: f64 = 0.6;
/// Height of the line for the wait before a collection.
const SYNC_PX: f64 = 3.0;
/// Minimum height of a bar for several spans.
const MIN_PX: f64 = 2.0;

/// Padding of a name in its bar.
const NAME_PAD_PX: f64 = 3.0;
/// Minimum room for a name.
const MIN_NAME_PX: f64 = 6.0;
/// Minimum room for a label, below which truncation would leave nothing.
const MIN_LABEL_PX: f64 = 18.0;

/// Returns whether a mark belongs to the collections rather than the runs.
pub(super) fn is_collection(class: Class) -> bool {
    class.is_gc() || matches!(class, Class::GcSync | Class::Returning | Class::Unknown)
}

pub(super) fn paint(row: Capability, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
    let strip = &shown.strip;
    let (y, h) = (strip.area.y + 5.0, strip.area.h - 10.0);
    for (mark, span) in shown.marks.row_marks(row) {
        let rect = strip.rect(span, y, h);
        match mark.kind {
            _ if mark.class == Class::Unread => {
                let h = (rect.h * mark.share(Class::Unread)).max(MIN_PX);
                let bar = Rect::new(rect.x, rect.y + rect.h - h, rect.w, h);
                paint_unread(strip.palette, bar, painter);
            }
            MarkKind::Many if is_collection(mark.class) => {
                paint_collections(strip, rect, &mark, painter);
            }
            MarkKind::Many => paint_runs(strip, rect, &mark, painter),
            _ => paint_one(
                strip,
                shown.names,
                &mark,
                (rect, strip.x(span.start())),
                painter,
            ),
        }
    }
}

/// Paints one span: a full bar for a run or for work in a collection, a low, light bar at the top for a part of a
/// collection without work, and a thin line in the middle for the wait before it.
fn paint_one(
    strip: &Strip<'_>,
    names: &dyn Names,
    mark: &MarkView<'_>,
    (rect, start): (Rect, f64),
    painter: &mut dyn Painter,
) {
    let color = class_color(strip.palette, mark.class);
    match mark.class {
        Class::GcStart | Class::GcIdle | Class::GcDone | Class::Census => {
            let bar = Rect::new(rect.x, rect.y, rect.w, rect.h * WAITING);
            painter.fill(bar, color.alpha(WAITING_ALPHA));
            if strip.patterns && mark.class == Class::Census {
                painter.hatch_falling(bar, stripes_on(color));
            }
        }
        Class::Returning => {
            let line = Rect::new(rect.x, rect.y, rect.w, SYNC_PX);
            painter.fill(line, color.alpha(WAITING_ALPHA));
        }
        Class::Unknown => painter.hatch(rect, color.alpha(WAITING_ALPHA)),
        Class::GcSync => {
            let middle = rect.y + rect.h / 2.0;
            let line = Rect::new(rect.x, middle - SYNC_PX / 2.0, rect.w, SYNC_PX);
            strip.paint_wait_line(mark.class, (line, start), color.into(), painter);
        }
        class => {
            painter.fill(rect, color.into());
            if class == Class::Open {
                painter.hatch(rect, stripes_on(color));
            } else if strip.patterns && class == Class::Gc {
                painter.hatch_falling(rect, stripes_on(color));
            }
            paint_name(strip, names, mark, rect, painter);
        }
    }
}

/// Paints several runs in a bucket. The height of the bar is their share of the bucket, so that sparse runs do not
/// look like a full bar, and at least the minimum. Runs stand on the bottom and collections hang from the top, so
/// they do not cover each other.
fn paint_runs(strip: &Strip<'_>, rect: Rect, mark: &MarkView<'_>, painter: &mut dyn Painter) {
    let h = (rect.h * mark.share_of_all().min(1.0)).max(MIN_PX);
    let bar = Rect::new(rect.x, rect.y + rect.h - h, rect.w, h);
    painter.fill(bar, strip.palette.running.into());
}

/// Paints several parts of collections in a bucket, stacked from the top by share: work, waits within collections,
/// censuses, waits before collections, resuming. The stack has a minimum height.
fn paint_collections(
    strip: &Strip<'_>,
    rect: Rect,
    mark: &MarkView<'_>,
    painter: &mut dyn Painter,
) {
    let share = |class: Class| mark.share(class);
    let waiting = share(Class::GcStart) + share(Class::GcIdle) + share(Class::GcDone);
    let (work, sync) = (share(Class::Gc), share(Class::GcSync));
    let (census, back) = (share(Class::Census), share(Class::Returning));
    let parts = [
        (work, strip.palette.gc.into()),
        (waiting, strip.palette.gc.alpha(WAITING_ALPHA)),
        (census, strip.palette.gc_sync.alpha(WAITING_ALPHA)),
        (sync, strip.palette.gc_sync.into()),
        (back, strip.palette.gc.alpha(WAITING_ALPHA)),
    ];
    let all = work + waiting + census + sync + back;
    if all <= 0.0 {
        return;
    }
    let h = (rect.h * all.min(1.0)).max(MIN_PX);
    let mut y = rect.y;
    for (share, paint) in parts {
        let part = h * share / all;
        if part > 0.0 {
            let bar = Rect::new(rect.x, y, rect.w, part);
            painter.fill(bar, paint);
            if paint == strip.palette.gc.into() {
                strip.paint_stripes(bar, painter);
            }
        }
        y += part;
    }
}

fn paint_name(
    strip: &Strip<'_>,
    names: &dyn Names,
    mark: &MarkView<'_>,
    rect: Rect,
    painter: &mut dyn Painter,
) {
    let left = rect.x.max(strip.area.x);
    let room = rect.x + rect.w - left - 2.0 * NAME_PAD_PX;
    if room < MIN_NAME_PX {
        return;
    }
    let mut width = |text: &str| painter.measure(text, Face::Label);
    let name: Option<String> = match (mark.class, mark.read::<RunPayload>().thread) {
        (Class::Gc, _) => Some("GC".to_owned()).filter(|name| width(name) <= room),
        (_, Some(thread)) => match names.label(thread) {
            Some(label) if room >= MIN_LABEL_PX => {
                Some(format::truncate_middle(label, room, width).into_owned())
            }
            Some(_) => None,
            // A truncated number would be a different number.
            None => [format!("thread {thread}"), thread.to_string()]
                .into_iter()
                .find(|name| width(name) <= room),
        },
        (_, None) => None,
    };
    if let Some(name) = name {
        let at = (left + NAME_PAD_PX, rect.y + rect.h / 2.0 + 0.5);
        let ink = class_color(strip.palette, mark.class).text_on();
        painter.text(&name, at, Face::Label, Align::Left, ink.into());
    }
}
