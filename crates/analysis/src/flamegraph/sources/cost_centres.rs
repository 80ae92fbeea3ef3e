//! Source of Haskell and foreign code on one time axis.
//!
//! It combines cost centre samples per capability with foreign calls announced by the program per OS thread.

use super::super::centres;
use super::super::collect::ProfileCollector;
use super::super::cost_centre_samples::SliceCostCentreSamples;
use super::{AnalysisResults, BuiltProfile, FlameOrigin, FlameSource, ProfileBuilder};
use eventlog::{EventSet, Record, Sink};
use model::profile::TrackSource;
use model::profile::sample_threads::SampleThreads;

/// The source `cost-centres`; its collector is [`ProfileCollector`].
#[derive(Debug)]
pub(super) struct CostCentres;

/// Description of the source `cost-centres`.
pub(super) const SOURCE: FlameSource = FlameSource {
    name: "cost-centres",
    title: "Haskell and foreign code",
    help: "Cost-centre samples of each capability (+RTS -p -l), and the foreign calls that the program announces, per OS thread",
    how_to_record: "build the program with -prof -fprof-late (before GHC 9.4: -prof -fprof-auto-top) and run it with +RTS -p -l (GHC 8.10 and later)",
    sample_noun: |track| match track {
        TrackSource::OsThread(_) | TrackSource::UnknownThread { .. } => "calls",
        _ => "samples",
    },
    ..FlameSource::DEFAULT
};

impl FlameOrigin for CostCentres {
    fn builder(&self) -> Option<Box<dyn ProfileBuilder>> {
        Some(Box::new(ProfileCollector::default()))
    }
}

impl ProfileBuilder for ProfileCollector {
    fn consumes(&self) -> EventSet {
        <Self as Sink>::CONSUMES
    }

    fn event(&mut self, record: &Record<'_>) {
        Sink::event(self, record);
    }

    fn samples(&mut self, slice: &SliceCostCentreSamples) {
        self.append(slice);
    }

    fn finish(
        &mut self,
        results: &AnalysisResults<'_>,
        centres: &centres::CostCentres,
    ) -> BuiltProfile {
        let (mut profile, anomalies) = std::mem::take(self).finish(results.log, centres);
        let running = |cap, at, place: &mut usize| results.store.running(cap, at, place);
        profile.threads = SampleThreads::from_tracks(&profile.tracks, running);
        BuiltProfile { profile, anomalies }
    }
}
