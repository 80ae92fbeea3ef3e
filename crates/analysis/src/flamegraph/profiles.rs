//! The profiles of a log, one for each source that it has something of.

use serde::{Deserialize, Serialize};

use super::collect::ProfileCollector;
use super::foreign::CallOddity;
use super::heap_collect::HeapCollector;
use super::spans::opentelemetry::TelemetrySpans;
use super::stack_samples::{StackOddity, StackSampleCollector};
use eventlog::ids::{Address, CapId, Nanos, ThreadId};
use eventlog::{EventSet, Record, Sink};
use model::profile::frames::Frames;
use model::profile::heap::HeapSamples;
use model::profile::sample_threads::SampleThreads;
use model::profile::source::Source;
use model::profile::{Profile, Track, TrackSource};
use symbols::Name;

/// So many threads are listed beside the tracks of a profile.
const MOST_THREADS: usize = 1000;

/// A track of a profile, for lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackInfo {
    /// Whose time it shows.
    pub source: TrackSource,
    /// What the program calls it.
    pub label: Option<String>,
    /// How many samples, calls or spans it has.
    pub samples: u64,
}

/// A source that a log has something of, for lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// Which.
    pub source: Source,
    /// Its tracks.
    pub tracks: Vec<TrackInfo>,
}

/// Collects what all profiles are made of.
#[derive(Debug, Default)]
pub struct ProfilesCollector {
    cost_centres: ProfileCollector,
    stack_samples: StackSampleCollector,
    heap: HeapCollector,
    telemetry: TelemetrySpans,
}

impl Sink for ProfilesCollector {
    const CONSUMES: EventSet = ProfileCollector::CONSUMES
        .union(StackSampleCollector::CONSUMES)
        .union(HeapCollector::CONSUMES)
        .union(TelemetrySpans::CONSUMES);

    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.cost_centres.offer(record);
        self.stack_samples.offer(record);
        self.heap.offer(record);
        self.telemetry.offer(record);
    }
}

impl ProfilesCollector {
    /// The profiles of a log whose last event is at `end`, and what was odd
    /// about its foreign calls, by time. Spans are still to be
    /// [`set`](Profiles::set): they depend on the words that announce them.
    #[must_use]
    pub fn finish(mut self, end: Nanos) -> (Profiles, Vec<CallOddity>) {
        let mut profiles = Profiles::default();
        let (cost_centres, oddities) = self.cost_centres.finish(end);
        profiles.set(Source::CostCentres, cost_centres);
        let (stack_samples, stack_oddities) = self.stack_samples.finish(end);
        profiles.set(Source::StackSamples, stack_samples);
        profiles.stack_oddities = stack_oddities;
        profiles.set(Source::Heap, self.heap.finish(end));
        self.telemetry.settle(end);
        profiles.telemetry = self.telemetry;
        (profiles, oddities)
    }
}

/// The profiles of a log.
#[derive(Debug, Default)]
pub struct Profiles {
    all: Vec<(Source, Profile)>,
    telemetry: TelemetrySpans,
    stack_oddities: Vec<StackOddity>,
}

impl Profiles {
    /// The profile of a source, if the log has something of it.
    #[must_use]
    pub fn get(&self, source: Source) -> Option<&Profile> {
        let mut all = self.all.iter();
        all.find(|(other, _)| *other == source)
            .map(|(_, profile)| profile)
    }

    /// The functions of each profile.
    pub fn frames(&self) -> impl Iterator<Item = &Frames> {
        self.all.iter().map(|(_, profile)| &profile.frames)
    }

    /// Gives names to the frames that have an address.
    pub fn name_addresses<'a>(&mut self, name: impl Fn(Address) -> Option<&'a Name>) {
        for (_, profile) in &mut self.all {
            profile.name_addresses(&name);
        }
    }

    /// Learns of which thread the cost-centre samples are: which one ran on a
    /// capability at a time.
    pub fn learn_threads(
        &mut self,
        running: impl Fn(CapId, Nanos, &mut usize) -> Option<ThreadId>,
    ) {
        let mut all = self.all.iter_mut();
        if let Some((_, profile)) = all.find(|(source, _)| *source == Source::CostCentres) {
            profile.threads = SampleThreads::of(&profile.tracks, running);
        }
    }

    /// Puts a profile in the place of that of a source; an empty one is none.
    pub fn set(&mut self, source: Source, profile: Profile) {
        self.all.retain(|(other, _)| *other != source);
        if !profile.tracks.is_empty() {
            self.all.push((source, profile));
            self.all.sort_by_key(|(source, _)| *source);
        }
    }

    /// The spans of opentelemetry.
    #[must_use]
    pub const fn telemetry(&self) -> &TelemetrySpans {
        &self.telemetry
    }

    /// What was odd about stack samples.
    #[must_use]
    pub fn stack_oddities(&self) -> &[StackOddity] {
        &self.stack_oddities
    }

    /// What there is.
    #[must_use]
    pub fn infos(&self) -> Vec<SourceInfo> {
        let track = |track: &Track, heap: Option<&HeapSamples>| TrackInfo {
            source: track.source,
            label: None,
            samples: heap.map_or(track.samples.len(), HeapSamples::len) as u64,
        };
        let thread = |(thread, samples): (ThreadId, u64)| TrackInfo {
            source: TrackSource::Thread(thread),
            label: None,
            samples,
        };
        let info = |(source, profile): &(Source, Profile)| {
            let tracks = profile.tracks.iter();
            let tracks = tracks.map(|of| track(of, profile.heap.as_ref()));
            let threads = profile.threads.counts().into_iter().map(thread);
            SourceInfo {
                source: *source,
                tracks: tracks.chain(threads.take(MOST_THREADS)).collect(),
            }
        };
        self.all.iter().map(info).collect()
    }
}
