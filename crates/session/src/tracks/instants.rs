//! Event tracks: instantaneous events on a capability, such as wakeups, migrations, collection requests and
//! sparks.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, Details, DetailsQuery, MAX_LISTED, event_list_link, exact_time};
use super::legend::{COLUMN_PX, LegendEntry, LegendMark, LegendSample, MIDDLE, Section};
use super::sample_data::wave;
use super::{Log, Shape, TrackEntry, TrackKind, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words::{self, thread_name, when};
use analysis::timeline::instants::{Family, InstantKind};
use analysis::timeline::messages::MessageKind;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::density::Density;
use model::marks::{MarkKind, MarkView, MarkWriter, NONE, NewMoment, PackedPayload, Payload};
use model::time::Interval;
use scene::color::Rgb;
use scene::format;
use scene::painter::Painter;
use scene::palette::Palette;
use scene::strip::{Column, SIGN_PX};

/// Events of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instants(pub CapId);

/// One event, or several at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantPayload {
    /// Kind of the most notable event.
    pub kind: InstantKind,
    /// Most frequent kind among the events.
    pub most: InstantKind,
    /// Thread of a single event that has one.
    pub thread: Option<ThreadId>,
}

impl Payload for InstantPayload {
    fn pack(self) -> PackedPayload {
        let thread = self.thread.map_or(NONE, |thread| thread.0);
        PackedPayload([self.kind as u32, thread, self.most as u32, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        let kind = |place: usize| {
            let kind = u8::try_from(packed.word(place)).ok();
            let kind = kind.and_then(InstantKind::from_number);
            kind.unwrap_or(InstantKind::PerfCounter)
        };
        Self {
            kind: kind(0),
            most: kind(2),
            thread: packed.optional_word(1).map(ThreadId),
        }
    }
}

impl TrackKind for Instants {
    type Payload = InstantPayload;

    const GROUP: TrackGroup = TrackGroup::Instants;
    const SHAPE: Shape = Shape::Moments;
    const SECTION: Section = Section::Events;

    link::number_link!("events", |cap| Self(CapId(cap)));

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |cap| {
            TrackEntry::new(Self(cap), format!("Events of capability {cap}"))
                .short(format!("Cap {cap}"))
        };
        log.recording.store.caps_with_instants().map(listed)
    }

    fn cap(self) -> Option<CapId> {
        Some(self.0)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let mut density = Density::new(writer);
        let (wanted, column_ns) = (density.collect_interval(), density.column_ns());
        let store = &log.recording.store;
        store.instant_marks(self.0, wanted, column_ns, |mark, thread| {
            density.push(NewMoment {
                start: mark.first_ns,
                end: mark.last_ns,
                count: mark.count,
                payload: InstantPayload {
                    kind: mark.kind,
                    most: mark.most,
                    thread,
                },
            });
        });
        density.write(writer, |one, next| InstantPayload {
            kind: one.kind.min(next.kind),
            thread: None,
            ..one
        });
    }

    /// Paints a tick with a glyph for the family of the event, and the number of events if there is room; dense
    /// events become columns.
    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        let strip = &shown.strip;
        let middle = strip.area.y + strip.area.h / 2.0;
        let marks: Vec<_> = shown.marks.row_marks(self).collect();
        let columns = marks
            .iter()
            .filter(|(mark, _)| mark.kind == MarkKind::Column);
        let columns: Vec<Column> = columns
            .map(|(mark, span)| column(mark, *span, strip.palette))
            .collect();
        strip.paint_density(&columns, painter);
        let mut marks = marks.into_iter().peekable();
        while let Some((mark, span)) = marks.next() {
            if mark.kind == MarkKind::Column {
                continue;
            }
            let kind = mark.read::<InstantPayload>().kind;
            let x = strip.x(span.start());
            let color = color_of(kind, strip.palette);
            let tick = strip.tick(span.start());
            painter.fill(tick, color.alpha(0.7));
            for polygon in glyph(kind.family(), (x, middle - 0.5)) {
                painter.polygon(&polygon, color.into());
            }
            let next = marks.peek().map(|(_, next)| strip.x(next.start()));
            strip.paint_number(mark.count, (x, middle - 0.5), next, painter);
        }
    }

    fn describe(self, item: &Item, names: &dyn Names) -> (String, String) {
        let subject = format!("Capability {}", self.0);
        let InstantPayload { kind, most, thread } = item.read();
        if item.kind == MarkKind::Column {
            let what = format!("events, most of them {},", most.plural());
            return (subject, words::density(item, &what));
        }
        if item.count == 1 {
            let at = format::time(item.span.start());
            let thread = thread.map(|thread| thread_name(names, thread));
            let thread = thread.map_or(String::new(), |thread| format!(": {thread}"));
            return (subject, format!("{}{thread} · at {at}", kind.singular()));
        }
        let (count, what, when) = (format::count(item.count.into()), kind.plural(), when(item));
        (
            subject,
            format!("{count} events, the most notable are {what} · {when}"),
        )
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        Details::for_log(log).instant_facts(self.0, query.span)
    }

    fn legend() -> Vec<LegendEntry> {
        let happened = |kind, most| InstantPayload {
            kind,
            most,
            thread: None,
        };
        let sample_mark = |kind, at| LegendMark::moment(at).with_payload(happened(kind, kind));
        let several = LegendEntry::new(
            "Several in one place",
            "Their number is next to the sign, if it fits.",
            LegendSample::row(
                Self(CapId(0)),
                vec![sample_mark(InstantKind::Woken, 24.0).count(12)],
            ),
        );
        let each = InstantKind::ALL.map(|kind| {
            let (name, meaning) = meaning(kind);
            let sample = LegendSample::row(Self(CapId(0)), vec![sample_mark(kind, MIDDLE)]);
            LegendEntry::new(name, meaning, sample)
        });
        let column = |place: u32| {
            let from = f64::from(place) * COLUMN_PX;
            let most = match place {
                0..20 => InstantKind::Woken,
                _ => InstantKind::SparkCreated,
            };
            let kind = if place == 12 {
                InstantKind::SeqGcRequested
            } else {
                most
            };
            let count = (40.0 * f64::from(wave(place as f32, 1.0))) as u32 + 1;
            let column = LegendMark::column(from, from + COLUMN_PX).count(count);
            column.with_payload(happened(kind, most))
        };
        let many = LegendEntry::new(
            "Many events",
            "Columns; height: square root of the number of events; color: the most frequent kind. A line above: contains an event of the capability, a collection or a message.",
            LegendSample::row(Self(CapId(0)), (3..30).map(column).collect()),
        );
        [several, many].into_iter().chain(each).collect()
    }
}

impl Details<'_> {
    /// Returns the events on a capability in a closed time range.
    fn instant_facts(&self, cap: CapId, span: Interval) -> Vec<DetailField> {
        let range = (span.start().0, span.end().0);
        let counts = self.store.instant_counts(cap, range);
        let total: usize = counts.iter().map(|(_, count)| count).sum();
        if total > MAX_LISTED {
            let fact = |(kind, count): (InstantKind, usize)| {
                let what = match count {
                    1 => kind.singular(),
                    _ => kind.plural(),
                };
                DetailField::new(what, format::count(count as u64))
            };
            let first = self.store.instant_list(cap, range, 1);
            let first = first
                .first()
                .map(|(_, at, _)| event_list_link(*at, Some(cap)));
            return counts.into_iter().map(fact).chain(first).collect();
        }
        let list = self.store.instant_list(cap, range, MAX_LISTED);
        let facts = list.into_iter().map(|(kind, at, thread)| match thread {
            Some(thread) => self.thread_event(kind, thread, at),
            None => {
                let text = self.message_text(kind, cap, at);
                let text = text.map_or_else(String::new, |text| format!(" · {text}"));
                DetailField::new(kind.singular(), format!("{}{text}", exact_time(at)))
            }
        });
        facts.collect()
    }

    /// Returns the text of a message or marker from a capability at a time.
    fn message_text(&self, kind: InstantKind, cap: CapId, at: Nanos) -> Option<String> {
        let kind = match kind {
            InstantKind::Message => MessageKind::Message,
            InstantKind::Marker => MessageKind::Marker,
            _ => return None,
        };
        let places = self
            .messages
            .indexes_in(Interval::empty_at(at))
            .take(MAX_LISTED);
        let mut messages = places.filter_map(|place| self.messages.get(place));
        let found = messages.find(|one| one.kind == kind && one.cap == Some(cap))?;
        Some(found.text)
    }
}

/// Returns a column of dense events.
fn column(mark: &MarkView<'_>, span: Interval, palette: &Palette) -> Column {
    let InstantPayload { kind, most, .. } = mark.read();
    let is_notable = matches!(
        kind.family(),
        Family::Capability | Family::Message | Family::Collection
    );
    Column {
        span,
        count: mark.count,
        color: color_of(most, palette),
        notable: (is_notable && kind != most).then(|| color_of(kind, palette)),
    }
}

/// Returns the name of a kind, and its meaning for the program.
const fn meaning(kind: InstantKind) -> (&'static str, &'static str) {
    match kind {
        InstantKind::Shutdown => ("Shutdown", "The runtime shuts down."),
        InstantKind::CapDeleted => ("Capability deleted", "The capability was removed."),
        InstantKind::CapCreated => ("Capability created", "The capability was created."),
        InstantKind::CapDisabled => (
            "Capability disabled",
            "Threads may no longer run on it: the program reduced the number of capabilities.",
        ),
        InstantKind::CapEnabled => ("Capability enabled", "Threads may run on it again."),
        InstantKind::Marker => (
            "Marker on a capability",
            "The program set a marker while it ran there.",
        ),
        InstantKind::Message => (
            "Message on a capability",
            "The program wrote a message while it ran there.",
        ),
        InstantKind::SeqGcRequested => (
            "Sequential collection requested",
            "The capability requests a stop of all; one OS thread will collect.",
        ),
        InstantKind::ParGcRequested => (
            "Parallel collection requested",
            "The capability requests a stop of all; several OS threads will collect.",
        ),
        InstantKind::Migrated => (
            "Thread migrated",
            "A thread moved from here to another capability, usually an idle one.",
        ),
        InstantKind::SparkOverflowed => (
            "Spark overflowed",
            "The pool was full: the spark is lost, and its value is computed when needed.",
        ),
        InstantKind::SparkFizzled => (
            "Spark fizzled",
            "Its value was computed before the spark ran.",
        ),
        InstantKind::SparkDud => (
            "Spark dud",
            "A spark was created for a value that was already computed.",
        ),
        InstantKind::SparkStolen => (
            "Spark stolen",
            "The idle capability took a spark from the pool of another.",
        ),
        InstantKind::ThreadCreated => (
            "Thread created",
            "A thread was created (forkIO and the like).",
        ),
        InstantKind::SparkThreadCreated => (
            "Spark thread created",
            "A thread was created that runs sparks, one after the other.",
        ),
        InstantKind::Woken => (
            "Thread woken",
            "The wait of the thread is over: it can run once a capability is free.",
        ),
        InstantKind::Runnable => (
            "Thread runnable",
            "A thread can run. GHC wrote this until 2009.",
        ),
        InstantKind::SparkRun => (
            "Spark run",
            "A spark of the capability's own pool starts to run.",
        ),
        InstantKind::SparkCreated => ("Spark created", "A spark was put into the pool (par)."),
        InstantKind::SparkCollected => (
            "Spark garbage collected",
            "Its value was unreachable: a collection dropped the spark.",
        ),
        InstantKind::PerfTracepoint => (
            "Tracepoint",
            "A tracepoint of the system was passed (Linux perf).",
        ),
        InstantKind::PerfCounter => (
            "Counter overflow",
            "A counter of the processor reached its period (Linux perf).",
        ),
    }
}

/// Returns the color of a kind. The glyph shows the family; the color distinguishes kinds within it.
const fn color_of(kind: InstantKind, palette: &Palette) -> Rgb {
    match kind {
        InstantKind::Shutdown | InstantKind::CapDeleted | InstantKind::CapDisabled => palette.ink,
        InstantKind::Marker => palette.accent,
        InstantKind::Message | InstantKind::CapCreated | InstantKind::CapEnabled => palette.ink2,
        InstantKind::SeqGcRequested | InstantKind::ParGcRequested => palette.gc,
        InstantKind::Migrated => palette.mvar,
        InstantKind::Woken | InstantKind::Runnable => palette.ready,
        InstantKind::ThreadCreated
        | InstantKind::SparkThreadCreated
        | InstantKind::SparkRun
        | InstantKind::SparkCreated => palette.running,
        InstantKind::SparkStolen | InstantKind::PerfTracepoint | InstantKind::PerfCounter => {
            palette.foreign
        }
        InstantKind::SparkOverflowed => palette.gc_sync,
        InstantKind::SparkFizzled | InstantKind::SparkDud => palette.io,
        InstantKind::SparkCollected => palette.gc,
    }
}

/// Returns the polygons of a glyph centered at a point.
fn glyph(family: Family, (x, y): (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let r = SIGN_PX;
    let at = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points
            .iter()
            .map(|(dx, dy)| (x + r * dx, y + r * dy))
            .collect()
    };
    match family {
        // A cross of two strokes.
        Family::Capability => vec![
            at(&[(-1.0, -0.7), (-0.7, -1.0), (1.0, 0.7), (0.7, 1.0)]),
            at(&[(0.7, -1.0), (1.0, -0.7), (-0.7, 1.0), (-1.0, 0.7)]),
        ],
        Family::Message => vec![at(&[(-0.9, 0.0), (0.0, -0.9), (0.9, 0.0), (0.0, 0.9)])],
        Family::Collection => vec![at(&[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)])],
        // A dodecagon is round enough at this size.
        Family::Creation => {
            let corner = |i: u32| {
                let angle = f64::from(i) * std::f64::consts::TAU / 12.0;
                (0.85 * angle.cos(), 0.85 * angle.sin())
            };
            vec![at(&(0..12).map(corner).collect::<Vec<_>>())]
        }
        Family::Wakeup => vec![at(&[(-0.95, 0.8), (0.0, -0.95), (0.95, 0.8)])],
        Family::Migration => vec![at(&[(-0.8, -0.95), (0.95, 0.0), (-0.8, 0.95)])],
        Family::Spark => vec![at(&[(-0.95, -0.8), (0.95, -0.8), (0.0, 0.95)])],
        // A plus of two bars.
        Family::Perf => vec![
            at(&[(-1.0, -0.25), (1.0, -0.25), (1.0, 0.25), (-1.0, 0.25)]),
            at(&[(-0.25, -1.0), (0.25, -1.0), (0.25, 1.0), (-0.25, 1.0)]),
        ],
    }
}
