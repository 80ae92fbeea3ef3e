//! Concurrency tracks: the numbers of running capabilities and of ready threads, which could run but have no
//! capability.

use serde::{Deserialize, Serialize};

use super::legend::{LegendEntry, LegendSample, Section};
use super::{Log, LogContents, Shape, TrackEntry, TrackKind, sample_data};
use crate::tracks::group::TrackGroup;
use analysis::account::totals::{Counts, MinMaxSum};
use eventlog::ids::Nanos;
use model::gauge::GaugeSegment;
use model::marks::{MarkWriter, Values};
use scene::gauge::{Gauge, Series, Style, Unit};

model::named_enum! {
    /// Quantity counted over the whole program.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Concurrency: from_name {
        /// Capabilities that run threads.
        Running: "parallelism";
        /// Threads that are ready to run.
        Ready: "ready";
    }
    /// Returns the name in links, which never changes.
    fn name;
}

impl TrackKind for Concurrency {
    type Payload = ();

    const GROUP: TrackGroup = TrackGroup::Scheduling;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 40.0;

    fn link(self, _: &LogContents) -> String {
        self.name().to_owned()
    }

    fn parse(link: &str, _: &LogContents) -> Option<Self> {
        Self::from_name(link)
    }

    /// The counts need the time account, which is complete only when the log is fully read. With a single
    /// capability, the parallelism would repeat the capability's own track.
    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let recording = &log.recording;
        if !recording.is_finished() || recording.store.run_count() == 0 {
            return Vec::new();
        }
        let caps = recording.info.lives.caps().count();
        let parallelism = || {
            let track = TrackEntry::new(Self::Running, "Parallelism").short("Par.");
            track.note(format!("of {caps}"))
        };
        let ready = TrackEntry::new(Self::Ready, "Ready threads").short("Ready");
        let parallelism = (caps > 1).then(parallelism);
        parallelism.into_iter().chain([ready]).collect()
    }

    fn gauge(self) -> Option<Gauge> {
        const RUNNING: &[Series] = &[Series::new("capabilities running", Style::Spread, |it| {
            it.running
        })];
        const READY: &[Series] = &[Series::new("ready threads", Style::Spread, |it| it.ready)];
        let (series, unit) = match self {
            Self::Running => (RUNNING, Unit::OfCapabilities),
            Self::Ready => (READY, Unit::Capabilities),
        };
        Some(Gauge {
            series,
            unit,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        match self {
            Self::Running => levels(log, writer, |counts| counts.running),
            Self::Ready => levels(log, writer, |counts| counts.ready),
        }
    }

    fn legend() -> Vec<LegendEntry> {
        vec![
            LegendEntry::new(
                "Parallelism",
                "Number of capabilities that run Haskell threads. Line: mean; light area: minimum to maximum in each pixel.",
                LegendSample::spread(Self::Running, sample_data::FEW),
            ),
            LegendEntry::new(
                "Ready threads",
                "Number of ready threads that no capability runs: total length of all run queues. Line: mean; light area: minimum to maximum in each pixel.",
                LegendSample::spread(Self::Ready, sample_data::FEW),
            ),
        ]
    }
}

/// Writes minimum, maximum and mean of a count in each bucket; nothing while the log is being read.
fn levels(log: &Log<'_>, writer: &mut MarkWriter, of: fn(&Counts) -> MinMaxSum) {
    if !log.recording.is_finished() {
        return;
    }
    let mut sweep_cursor = log.recording.store.account().sweep_cursor();
    let buckets = writer.buckets();
    for (start, end) in buckets.intervals() {
        let end = end.min(buckets.end_ns.max(start.saturating_add(1)));
        let level = of(&sweep_cursor.levels_in(Nanos(start), Nanos(end)));
        if level.max == 0 {
            continue;
        }
        let (min, max) = (f64::from(level.min), f64::from(level.max));
        let mean = (level.sum_ns as f64 / (end - start) as f64).clamp(min, max);
        let values = Values {
            min,
            max,
            mean,
            last: mean,
        };
        writer.gauge_segment(0, &GaugeSegment { start, end, values });
    }
}
