//! Legend entries of tracks: a name, a sentence and a sample with synthetic marks.

use super::TrackId;
use super::item::Marks;
use eventlog::ids::Nanos;
use model::class::{CLASSES, Class};
use model::gauge::GaugeSegment;
use model::marks::{
    MarkKind, MarkWriter, NewMoment, NewSpan, PackedPayload, Payload, TimelineReply, Values,
};
use model::time::Interval;

/// Width of a sample in pixels.
pub const SAMPLE_PX: f64 = 96.0;

model::named_enum! {
    /// Section of the legend.
    pub enum Section {
        /// Marks of capability tracks.
        Capabilities: "Capabilities", "Several spans in a pixel: bar height is their share of its time.";
        /// Marks of thread tracks.
        Threads: "Threads", "A running thread is a full bar; otherwise a thin line in the color of the reason.";
        /// Profile samples and foreign calls.
        Profile: "Profile samples, foreign calls",
            "Functions have their color of the flame graph: always the same, similar within a module.";
        /// Collections of the program, and the nonmoving collector.
        Collections: "Collections of the program", "";
        /// Gauges: lines and areas.
        Graphs: "Graphs", "Line thickness is the change of the value within a pixel, so no peak is lost.";
        /// Messages and instantaneous events.
        Events: "Messages and events",
            "The shape shows the subject of an event. Several at one position: the most notable one is drawn; many: their number.";
        /// User spans, tasks and blocks.
        Spans: "Spans of the program, tasks, blocks", "";
        /// Arrows for wakeups and migrations.
        Arrows: "Arrows", "Arrows of the hovered or selected thread.";
        /// Selection, cursor, notes, measure, minimap.
        Pointing: "Tracks, selection, cursor, notes, minimap", "";
    }
    /// Returns the heading of the section.
    fn title;
    /// Returns a note on all marks of the section; may be empty.
    fn note;
}

/// Legend entry that explains one kind of mark.
#[derive(Clone, Debug)]
pub struct LegendEntry {
    /// Name of the mark.
    pub name: &'static str,
    /// Meaning of the mark for the program.
    pub meaning: &'static str,
    /// Picture of the mark.
    pub sample: LegendSample,
}

impl LegendEntry {
    pub(super) const fn new(
        name: &'static str,
        meaning: &'static str,
        sample: LegendSample,
    ) -> Self {
        Self {
            name,
            meaning,
            sample,
        }
    }
}

/// Nanoseconds per pixel of a sample.
const NS_PER_PX: f64 = 1000.0;

/// Returns the time at a pixel of a sample.
pub fn time_at(px: f64) -> Nanos {
    Nanos((px * NS_PER_PX) as u64)
}

/// Returns the time range between two pixels.
pub fn interval_between(from_px: f64, to_px: f64) -> Interval {
    Interval::new(time_at(from_px), time_at(to_px))
}

/// Start and end of a sample's span, in pixels.
pub(crate) const FROM: f64 = 8.0;
pub(crate) const TO: f64 = 88.0;
/// Width of a density column in a sample.
pub(crate) const COLUMN_PX: f64 = 3.0;
/// Center of a sample, in pixels.
pub(crate) const MIDDLE: f64 = 48.0;

/// Synthetic mark. Positions are in pixels.
#[derive(Clone, Copy, Debug)]
pub struct LegendMark {
    kind: MarkKind,
    class: Class,
    from: f64,
    to: f64,
    count: u32,
    shares: [f32; CLASSES],
    payload: PackedPayload,
}

impl LegendMark {
    /// Creates a single span.
    pub fn span(class: Class, from: f64, to: f64) -> Self {
        let mut shares = [0.0; CLASSES];
        shares[class as usize] = 1.0;
        Self {
            kind: MarkKind::One,
            class,
            from,
            to,
            count: 1,
            shares,
            payload: PackedPayload::default(),
        }
    }

    /// Creates a mark of several merged spans.
    fn merged(from: f64, to: f64, of: &[(Class, f32)]) -> Self {
        let first = of.first().map_or(Class::Other, |(class, _)| *class);
        let mut many = Self {
            kind: MarkKind::Many,
            count: 7,
            shares: [0.0; CLASSES],
            ..Self::span(first, from, to)
        };
        for (class, share) in of {
            many.shares[*class as usize] = *share;
        }
        many
    }

    /// Creates an instantaneous event.
    pub(crate) fn moment(at: f64) -> Self {
        Self {
            kind: MarkKind::Moment,
            ..Self::span(Class::Other, at, at)
        }
    }

    /// Creates a density column.
    pub(crate) fn column(from: f64, to: f64) -> Self {
        Self {
            kind: MarkKind::Column,
            ..Self::span(Class::Other, from, to)
        }
    }

    /// Sets the share of the mark's class.
    pub(crate) fn share(mut self, share: f32) -> Self {
        self.shares[self.class as usize] = share;
        self
    }

    /// Sets the data of the track.
    pub(crate) fn with_payload(self, payload: impl Payload) -> Self {
        let payload = payload.pack();
        Self { payload, ..self }
    }

    /// Sets the number of represented items.
    pub(crate) const fn count(self, count: u32) -> Self {
        Self { count, ..self }
    }

    fn write(&self, writer: &mut MarkWriter) {
        let (start, end) = (time_at(self.from).0, time_at(self.to).0);
        match self.kind {
            MarkKind::Moment => writer.moment(NewMoment {
                start,
                end,
                count: self.count as usize,
                payload: self.payload,
            }),
            MarkKind::Column => writer.column(NewMoment {
                start,
                end: end.saturating_sub(1),
                count: self.count as usize,
                payload: self.payload,
            }),
            kind => writer.span(NewSpan {
                many: kind == MarkKind::Many,
                class: self.class,
                start,
                end,
                count: self.count,
                shares: self.shares,
                payload: self.payload,
            }),
        }
    }
}

/// Returns marks two pixels wide along a row; `of` returns the shares of the classes in the bucket with that
/// number.
pub(crate) fn buckets(of: impl Fn(f32) -> Vec<(Class, f32)>) -> Vec<LegendMark> {
    let places = (2..46u8).map(f32::from);
    let one = |place: f32| {
        let from = f64::from(place) * 2.0;
        LegendMark::merged(from, from + 2.0, &of(place))
    };
    places.map(one).collect()
}

/// Returns a writer for a sample.
fn writer() -> MarkWriter {
    MarkWriter {
        view: interval_between(0.0, SAMPLE_PX),
        bucket_ns: 1,
        end: time_at(SAMPLE_PX),
        row: 0,
        reply: TimelineReply::default(),
    }
}

/// Writes evenly spaced values of a series.
fn stretches(writer: &mut MarkWriter, series: u8, values: &[f64], of: impl Fn(f64) -> Values) {
    let width = SAMPLE_PX / values.len().max(1) as f64;
    for (place, value) in values.iter().enumerate() {
        let from = place as f64 * width;
        let stretch = GaugeSegment {
            start: time_at(from).0,
            end: time_at(from + width).0,
            values: of(*value),
        };
        writer.gauge_segment(series, &stretch);
    }
}

/// Tracks with synthetic marks, [`SAMPLE_PX`] wide.
#[derive(Clone, Debug)]
pub struct LegendSample(pub Marks);

impl LegendSample {
    /// Creates a sample of several tracks.
    pub fn rows(rows: &[(TrackId, Vec<LegendMark>)]) -> Self {
        let mut writer = writer();
        for (number, (_, marks)) in (0u32..).zip(rows) {
            writer.row = number;
            for mark in marks {
                mark.write(&mut writer);
            }
        }
        Self::written(rows.iter().map(|(row, _)| *row).collect(), writer)
    }

    fn written(rows: Vec<TrackId>, writer: MarkWriter) -> Self {
        Self(Marks {
            view: Some(writer.view),
            rows,
            reply: writer.reply,
        })
    }

    /// Creates a sample of one track.
    pub fn row(row: impl Into<TrackId>, marks: Vec<LegendMark>) -> Self {
        Self::rows(&[(row.into(), marks)])
    }

    /// Creates a sample of a gauge from evenly spaced values of each series.
    pub fn graph(row: impl Into<TrackId>, series: &[(u8, &[f64])]) -> Self {
        let mut writer = writer();
        for (number, values) in series {
            stretches(&mut writer, *number, values, Values::constant);
        }
        Self::written(vec![row.into()], writer)
    }

    /// Creates a sample of a gauge with one series, from means with a spread around them.
    pub(crate) fn spread(row: impl Into<TrackId>, means: [f64; 8]) -> Self {
        let mut writer = writer();
        stretches(&mut writer, 0, &means, |mean| Values {
            min: mean * 0.5,
            max: mean + 0.4,
            mean,
            last: mean,
        });
        Self::written(vec![row.into()], writer)
    }

    /// Creates a sample of a gauge with three series, whose values are multiplied by `unit`.
    pub(crate) fn three(row: impl Into<TrackId>, unit: f64, values: [[f64; 8]; 3]) -> Self {
        let [a, b, c] = values.map(|values| values.map(|value| value * unit));
        Self::graph(row, &[(0, &a), (1, &b), (2, &c)])
    }
}
