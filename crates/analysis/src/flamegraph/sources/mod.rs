//! What flame graphs can be about. A source is a file here that says what it
//! is and how it comes about, and a line in the table.

mod cost_centres;
mod heap;
mod spans;
mod stack_samples;
mod stack_states;
mod waiting;

use std::fmt::Debug;

use dyn_clone::DynClone;

use super::centres::CostCentres;
use super::source_info::SourceInfo;
use super::spans::ProgramSpans;
use super::spans::opentelemetry::TelemetrySpans;
use super::ticks::SliceTicks;
use crate::diagnostics::Diagnostics;
use crate::heap::HeapProfiles;
use crate::timeline::messages::Messages;
use crate::timeline::store::Store;
use crate::timeline::user_spans::SpanPrefixes;
use eventlog::info_tables::InfoTables;
use eventlog::{EventSet, Record};
use model::profile::origin::Origin;
use model::profile::source::{Source, Unit};
use model::profile::{Profile, TrackSource};
use model::time::Interval;

/// Something that flame graphs can be about.
pub trait FlameSource: Debug + Sync {
    /// Its name in links and on the command line, which never changes.
    fn name(&self) -> &'static str;

    /// What it is called in menus.
    fn title(&self) -> &'static str;

    /// What it is, in a sentence without a full stop.
    fn help(&self) -> &'static str;

    /// How a log comes to have it, as advice: “run the program with …”.
    fn how(&self) -> &'static str;

    /// In what it counts.
    fn unit(&self) -> Unit {
        Unit::Time
    }

    /// What the samples of a track are, in the plural.
    fn counted(&self, _: TrackSource) -> &'static str {
        "samples"
    }

    /// What boxes are as wide as, if not by what the source counts in.
    fn counts(&self) -> &'static str {
        "Samples"
    }

    /// What all of its tracks are, if no better word is known.
    fn everything(&self) -> &'static str {
        "Everything"
    }
}

/// How a source comes about. It is a trait of its own so that the page, which needs the words alone,
/// does not get what makes profiles.
pub trait FlameOrigin: Debug + Sync {
    /// What makes its profile; `None` if it needs none.
    fn gather(&self) -> Option<Box<dyn Gather>> {
        None
    }

    /// What its graphs are made from; `None` if the log has nothing of it.
    fn origin<'a>(
        &self,
        profile: Option<&'a Profile>,
        _: &'a Store,
    ) -> Option<&'a (dyn Origin + 'a)> {
        profile.map(|profile| profile as &dyn Origin)
    }

    /// What there is of it; `None` if the log has nothing of it.
    fn info(&self, id: Source, profile: Option<&Profile>, _: &Store) -> Option<SourceInfo> {
        profile.map(|profile| SourceInfo::of_profile(id, profile))
    }
}

/// Makes a profile: hears events while the log is read, and sees what other
/// analyses have found once it is.
pub trait Gather: DynClone + Debug + Send + Sync {
    /// The types of events that it takes.
    fn consumes(&self) -> EventSet {
        EventSet::NONE
    }

    /// Takes the next event of these types in analysis order.
    fn event(&mut self, _: &Record<'_>) {}

    /// Adds the cost-centre samples of the slice that follows.
    fn samples(&mut self, _: &SliceTicks) {}

    /// The log is read: the profile. `centres` are the cost centres of the log.
    fn settle(&mut self, known: &Known<'_>, centres: &CostCentres) -> Gathered;

    /// Whether the profile depends on the words that begin and end spans: it
    /// is settled again when these are others.
    fn follows_words(&self) -> bool {
        false
    }
}

dyn_clone::clone_trait_object!(Gather);

/// What other analyses know of a log that is read.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// From the first event to the last.
    pub log: Interval,
    /// What capabilities and threads did.
    pub store: &'a Store,
    /// The heap profiles.
    pub heap: &'a HeapProfiles,
    /// What the program said.
    pub messages: &'a Messages,
    /// The words that begin and end spans.
    pub prefixes: &'a SpanPrefixes,
    /// The spans of opentelemetry.
    pub telemetry: &'a TelemetrySpans,
    /// The info tables that the log describes.
    pub info_tables: &'a InfoTables,
    /// The profile of stack samples, for the sources behind it.
    pub stack_samples: Option<&'a Profile>,
    /// When the whole program collected, in nanoseconds, by time; no two overlap.
    pub collections: &'a [(u64, u64)],
}

impl Known<'_> {
    /// All spans that the log announces, with messages or by opentelemetry.
    #[must_use]
    pub fn spans(&self) -> ProgramSpans {
        let end = self.log.end();
        let mut spans = ProgramSpans::of_messages(self.messages, self.prefixes, self.store, end);
        spans.add(self.telemetry);
        spans
    }
}

/// A profile and what was odd about what it is made from.
#[derive(Debug)]
pub struct Gathered {
    /// Without tracks if the log has nothing of the source.
    pub profile: Profile,
    /// What does not fit.
    pub oddities: Diagnostics,
}

macro_rules! table {
    ($($(#[$doc:meta])* $id:ident = $source:path;)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "names of constants")]
        enum Place { $($id),* }
        $($(#[$doc])* pub const $id: Source = Source(Place::$id as u8);)*
        static TABLE: &[&dyn FlameSource] = &[$(&$source),*];
        static ORIGINS: &[&dyn FlameOrigin] = &[$(&$source),*];
    };
}

// In the order in which they are offered.
table! {
    /// Cost-centre samples and announced foreign calls.
    COST_CENTRES = cost_centres::CostCentres;
    /// Samples of `ghc-stack-profiler`.
    STACK_SAMPLES = stack_samples::StackSamples;
    /// The same below the state of the thread.
    STACK_STATES = stack_states::StackStates;
    /// Spans that the program announces.
    SPANS = spans::Spans;
    /// What threads waited for.
    WAITING = waiting::Waiting;
    /// Live heap by cost-centre stack.
    HEAP = heap::Heap;
}

/// What a source is. One that is not in the table, which no question of this
/// program has, counts as the first.
#[must_use]
pub fn of(source: Source) -> &'static dyn FlameSource {
    let found = TABLE.get(usize::from(source.0));
    *found.unwrap_or(&TABLE[0])
}

/// How a source comes about.
#[must_use]
pub fn origin(source: Source) -> &'static dyn FlameOrigin {
    let found = ORIGINS.get(usize::from(source.0));
    *found.unwrap_or(&ORIGINS[0])
}

/// All sources, in the order in which they are offered.
pub fn all() -> impl DoubleEndedIterator<Item = Source> + Clone {
    (0..TABLE.len()).map(|place| Source(u8::try_from(place).unwrap_or(u8::MAX)))
}

/// The source of that name in links and on the command line.
#[must_use]
pub fn named(name: &str) -> Option<Source> {
    all().find(|source| of(*source).name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_sources() {
        for source in all() {
            assert_eq!(named(of(source).name()), Some(source));
        }
        assert_eq!(named("other"), None);
        assert_eq!(of(HEAP).name(), "heap");
    }
}
