//! Source of Haskell stacks sampled by `ghc-stack-profiler`, which needs no profiling build.

use super::super::centres::CostCentres;
use super::super::stack_samples::StackSampleCollector;
use super::{AnalysisResults, BuiltProfile, FlameOrigin, FlameSource, ProfileBuilder};
use eventlog::{EventSet, Record, Sink};

/// The source `stack-samples`; its collector is [`StackSampleCollector`].
#[derive(Debug)]
pub(super) struct StackSamples;

/// Description of the source `stack-samples`.
pub(super) const SOURCE: FlameSource = FlameSource {
    name: "stack-samples",
    title: "Stack samples",
    help: "Stacks that ghc-stack-profiler sampled",
    how_to_record: "let the program run ghc-stack-profiler, with +RTS -l",
    ..FlameSource::DEFAULT
};

impl FlameOrigin for StackSamples {
    fn builder(&self) -> Option<Box<dyn ProfileBuilder>> {
        Some(Box::new(StackSampleCollector::default()))
    }
}

impl ProfileBuilder for StackSampleCollector {
    fn consumes(&self) -> EventSet {
        <Self as Sink>::CONSUMES
    }

    fn event(&mut self, record: &Record<'_>) {
        Sink::event(self, record);
    }

    fn finish(&mut self, results: &AnalysisResults<'_>, _: &CostCentres) -> BuiltProfile {
        let (profile, anomalies) =
            std::mem::take(self).finish(results.log.end(), results.info_tables);
        BuiltProfile { profile, anomalies }
    }
}
