//! How a capability is painted: its runs with the threads that ran, and its
//! collections in their phases.

use super::capability::{Capability, Run};
use super::item::{Names, Shown};
use model::class::Class;
use model::marks::{MarkKind, MarkView};
use scene::format;
use scene::painter::{Align, Face, Painter, Rect};
use scene::palette::class_colour;
use scene::strip::{Strip, paint_unread, stripes_on};

/// How high a bar is, from the top, while the capability is in a collection
/// but has no work in it.
const WAITING: f64 = 0.45;
/// How opaque such a bar is.
const WAITING_ALPHA: f64 = 0.6;
/// How high the line is for the wait before a collection, in pixels.
const SYNC_PX: f64 = 3.0;
/// How high a bar for several spans is at least, in pixels.
const LEAST_PX: f64 = 2.0;

/// How far a name stands from the edges of its bar.
const NAME_PAD_PX: f64 = 3.0;
/// Bars with less room than this have no name.
const LEAST_NAME_PX: f64 = 6.0;
/// Bars with less room than this have no label, which would be cut to nothing.
const LEAST_LABEL_PX: f64 = 18.0;

/// Whether a mark is of the collections and not of the runs.
fn is_collection(class: Class) -> bool {
    class.is_gc() || matches!(class, Class::GcSync | Class::Returning | Class::Unknown)
}

pub(super) fn paint<N: Names>(
    row: Capability,
    shown: &Shown<'_, N>,
    strip: &Strip<'_>,
    painter: &mut dyn Painter,
) {
    let (y, h) = (strip.area.y + 5.0, strip.area.h - 10.0);
    for (mark, span) in shown.marks.of(row) {
        let rect = strip.rect(span, y, h);
        match mark.kind {
            _ if mark.class == Class::Unread => {
                let h = (rect.h * mark.share(Class::Unread)).max(LEAST_PX);
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

/// A run or the working part of a collection is a full bar; a part of a
/// collection without work is a low, light one at the top, and the wait
/// before it a thin line in the middle.
fn paint_one(
    strip: &Strip<'_>,
    names: &impl Names,
    mark: &MarkView<'_>,
    (rect, start): (Rect, f64),
    painter: &mut dyn Painter,
) {
    let colour = class_colour(strip.palette, mark.class);
    match mark.class {
        Class::GcStart | Class::GcIdle | Class::GcDone | Class::Census => {
            let bar = Rect::new(rect.x, rect.y, rect.w, rect.h * WAITING);
            painter.fill(bar, colour.alpha(WAITING_ALPHA));
            if strip.patterns && mark.class == Class::Census {
                painter.hatch_falling(bar, stripes_on(colour));
            }
        }
        Class::Returning => {
            let line = Rect::new(rect.x, rect.y, rect.w, SYNC_PX);
            painter.fill(line, colour.alpha(WAITING_ALPHA));
        }
        Class::Unknown => painter.hatch(rect, colour.alpha(WAITING_ALPHA)),
        Class::GcSync => {
            let middle = rect.y + rect.h / 2.0;
            let line = Rect::new(rect.x, middle - SYNC_PX / 2.0, rect.w, SYNC_PX);
            strip.paint_wait_line(mark.class, (line, start), colour.into(), painter);
        }
        class => {
            painter.fill(rect, colour.into());
            if class == Class::Open {
                painter.hatch(rect, stripes_on(colour));
            } else if strip.patterns && class == Class::Gc {
                painter.hatch_falling(rect, stripes_on(colour));
            }
            paint_name(strip, names, mark, rect, painter);
        }
    }
}

/// Several runs in a bucket: the bar is as high as their share of it, so
/// that a thin one does not look like a full one. Something is always seen.
/// Running stands on the ground and collecting hangs from the top: they
/// share the bucket and do not cover each other.
fn paint_runs(strip: &Strip<'_>, rect: Rect, mark: &MarkView<'_>, painter: &mut dyn Painter) {
    let h = (rect.h * mark.share_of_all().min(1.0)).max(LEAST_PX);
    let bar = Rect::new(rect.x, rect.y + rect.h - h, rect.w, h);
    painter.fill(bar, strip.palette.running.into());
}

/// Several parts of collections in a bucket, from the top: the work, the
/// waits within collections, the waits before them; each as high as its
/// share. Something is always seen, of that which takes most time.
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
    let h = (rect.h * all.min(1.0)).max(LEAST_PX);
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
    names: &impl Names,
    mark: &MarkView<'_>,
    rect: Rect,
    painter: &mut dyn Painter,
) {
    let left = rect.x.max(strip.area.x);
    let room = rect.x + rect.w - left - 2.0 * NAME_PAD_PX;
    if room < LEAST_NAME_PX {
        return;
    }
    let mut width = |text: &str| painter.measure(text, Face::Label);
    let name: Option<String> = match (mark.class, mark.read::<Run>().thread) {
        (Class::Gc, _) => Some("GC".to_owned()).filter(|name| width(name) <= room),
        (_, Some(thread)) => match names.label(thread) {
            Some(label) if room >= LEAST_LABEL_PX => {
                Some(format::truncate_middle(label, room, width).into_owned())
            }
            Some(_) => None,
            // Half a number would be another number.
            None => [format!("thread {thread}"), thread.to_string()]
                .into_iter()
                .find(|name| width(name) <= room),
        },
        (_, None) => None,
    };
    if let Some(name) = name {
        let at = (left + NAME_PAD_PX, rect.y + rect.h / 2.0 + 0.5);
        let ink = class_colour(strip.palette, mark.class).text_on();
        painter.text(&name, at, Face::Label, Align::Left, ink.into());
    }
}
