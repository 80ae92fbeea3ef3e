//! Sources of flame graphs.
//!
//! Each source is a module here, with its texts and its collector, and a line in the table.

mod cost_centres;
mod heap;
mod spans;
mod stack_samples;
mod stack_states;
mod waiting;

use std::fmt::Debug;

use dyn_clone::DynClone;

use super::centres::CostCentres;
use super::cost_centre_samples::SliceCostCentreSamples;
use super::source_info::SourceInfo;
use super::spans::opentelemetry::TelemetrySpans;
use super::spans::{ProgramSpans, SpanProcesses};
use crate::diagnostics::Diagnostics;
use crate::heap::HeapProfiles;
use crate::timeline::messages::Messages;
use crate::timeline::store::Store;
use crate::timeline::user_spans::SpanPrefixes;
use eventlog::info_tables::InfoTables;
use eventlog::{EventSet, Record};
use model::profile::source::{Source, Unit};
use model::profile::stack_source::StackSource;
use model::profile::{Profile, TrackSource};
use model::time::Interval;

/// Description of a source of flame graphs.
#[derive(Debug)]
pub struct FlameSource {
    /// Stable name in links and on the command line.
    pub name: &'static str,
    /// Title in menus.
    pub title: &'static str,
    /// One-sentence description without a full stop.
    pub help: &'static str,
    /// How to obtain a log with data for the source, as an imperative: “run the program with …”.
    pub how_to_record: &'static str,
    /// Unit of the weights.
    pub unit: Unit,
    /// Returns the plural noun for the samples of a track.
    pub sample_noun: fn(TrackSource) -> &'static str,
    /// Label of the alternative measure, box width by number of samples.
    pub count_label: &'static str,
    /// Label for all tracks together, where neither “All capabilities” nor “All OS threads” fits.
    pub all_tracks_label: &'static str,
}

impl FlameSource {
    /// Values that most sources share.
    const DEFAULT: Self = Self {
        name: "",
        title: "",
        help: "",
        how_to_record: "",
        unit: Unit::Time,
        sample_noun: |_| "samples",
        count_label: "Samples",
        all_tracks_label: "Everything",
    };
}

/// Data side of a source.
///
/// Separate from [`FlameSource`], so that the page, which only needs the texts, does not link the code that builds
/// profiles.
pub trait FlameOrigin: Debug + Sync {
    /// Creates the collector of the profile; `None` for a source without a profile.
    fn builder(&self) -> Option<Box<dyn ProfileBuilder>> {
        None
    }

    /// Returns the data for flame graphs; `None` if the log has none.
    fn origin<'a>(
        &self,
        profile: Option<&'a Profile>,
        _: &'a Store,
    ) -> Option<&'a (dyn StackSource + 'a)> {
        profile.map(|profile| profile as &dyn StackSource)
    }

    /// Returns a summary; `None` if the log has no data for the source.
    fn info(&self, id: Source, profile: Option<&Profile>, _: &Store) -> Option<SourceInfo> {
        profile.map(|profile| SourceInfo::of_profile(id, profile))
    }
}

/// Builds a profile: receives events while the log is read, then the results of other analyses.
pub trait ProfileBuilder: DynClone + Debug + Send + Sync {
    /// Returns the event types to receive.
    fn consumes(&self) -> EventSet {
        EventSet::NONE
    }

    /// Processes the next event of these types in analysis order.
    fn event(&mut self, _: &Record<'_>) {}

    /// Appends the cost centre samples of the next slice.
    fn samples(&mut self, _: &SliceCostCentreSamples) {}

    /// Builds the profile once the log has been read. `centres` are the declared cost centres.
    fn finish(&mut self, results: &AnalysisResults<'_>, centres: &CostCentres) -> BuiltProfile;

    /// Returns whether the profile depends on the span prefixes, and must be rebuilt when they change.
    fn depends_on_prefixes(&self) -> bool {
        false
    }
}

dyn_clone::clone_trait_object!(ProfileBuilder);

/// Results of other analyses, available once the log has been read.
#[derive(Clone, Copy, Debug)]
pub struct AnalysisResults<'a> {
    /// From the first to the last event.
    pub log: Interval,
    /// Activity of capabilities and threads.
    pub store: &'a Store,
    /// Heap profiles of the log.
    pub heap: &'a HeapProfiles,
    /// User messages of the program.
    pub messages: &'a Messages,
    /// Message prefixes that begin and end spans.
    pub prefixes: &'a SpanPrefixes,
    /// Spans of the package opentelemetry.
    pub telemetry: &'a TelemetrySpans,
    /// Info tables described in the log.
    pub info_tables: &'a InfoTables,
    /// Profile of stack samples, for sources that come later in the table.
    pub stack_samples: Option<&'a Profile>,
    /// Processes that announce spans, with their collections.
    pub processes: &'a SpanProcesses,
}

impl AnalysisResults<'_> {
    /// Returns all announced spans, from user messages and from OpenTelemetry.
    pub fn spans(&self) -> ProgramSpans {
        let (messages, prefixes) = (self.messages, self.prefixes);
        let mut spans = ProgramSpans::of_messages(messages, prefixes, self.store, self.processes);
        spans.add(self.telemetry);
        spans
    }
}

/// A profile, and the diagnostics about its input.
#[derive(Debug)]
pub struct BuiltProfile {
    /// Without tracks if the log has no data for the source.
    pub profile: Profile,
    /// Irregularities in the input.
    pub anomalies: Diagnostics,
}

macro_rules! table {
    ($($(#[$doc:meta])* $id:ident = $module:ident::$origin:ident;)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "names of constants")]
        enum Place { $($id),* }
        $($(#[$doc])* pub const $id: Source = Source(Place::$id as u8);)*
        static TABLE: &[FlameSource] = &[$($module::SOURCE),*];
        static ORIGINS: &[&dyn FlameOrigin] = &[$(&$module::$origin),*];
    };
}

// Sources in menu order.
table! {
    /// Cost centre samples and announced foreign calls.
    COST_CENTRES = cost_centres::CostCentres;
    /// Samples of `ghc-stack-profiler`.
    STACK_SAMPLES = stack_samples::StackSamples;
    /// Samples of `ghc-stack-profiler`, below the state of their thread.
    STACK_STATES = stack_states::StackStates;
    /// Spans announced by the program.
    SPANS = spans::Spans;
    /// Waits of threads, by state and reason.
    WAITING = waiting::Waiting;
    /// Live heap by cost centre stack.
    HEAP = heap::Heap;
}

/// Returns the description of a source.
///
/// An id outside the table, which no query of this program contains, counts as the first source.
pub fn description(source: Source) -> &'static FlameSource {
    let found = TABLE.get(usize::from(source.0));
    found.unwrap_or(&TABLE[0])
}

/// Returns the data side of a source, with the same fallback as [`description`].
pub fn origin(source: Source) -> &'static dyn FlameOrigin {
    let found = ORIGINS.get(usize::from(source.0));
    *found.unwrap_or(&ORIGINS[0])
}

/// Returns all sources, in menu order.
pub fn all() -> impl DoubleEndedIterator<Item = Source> + Clone {
    (0..TABLE.len()).map(|place| Source(u8::try_from(place).unwrap_or(u8::MAX)))
}

/// Returns the source with this name in links and on the command line.
pub fn by_name(name: &str) -> Option<Source> {
    all().find(|source| description(*source).name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_sources() {
        for source in all() {
            assert_eq!(by_name(description(source).name), Some(source));
        }
        assert_eq!(by_name("other"), None);
        assert_eq!(description(HEAP).name, "heap");
    }
}
