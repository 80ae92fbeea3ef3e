//! Source of Haskell stacks sampled by `ghc-stack-profiler`, which needs no profiling build.

use super::super::centres::CostCentres;
use super::super::stack_samples::StackSampleCollector;
use super::{AnalysisResults, BuiltProfile, FlameOrigin, FlameSource, ProfileBuilder};
use eventlog::{EventSet, Record, Sink};

/// The source `stack-samples`; its collector is [`StackSampleCollector`].
#[derive(Debug)]
pub(super) struct StackSamples;

impl FlameSource for StackSamples {
    fn name(&self) -> &'static str {
        "stack-samples"
    }

    fn title(&self) -> &'static str {
        "Stack samples"
    }

    fn help(&self) -> &'static str {
        "Stacks that ghc-stack-profiler sampled"
    }

    fn how_to_record(&self) -> &'static str {
        "let the program run ghc-stack-profiler, with +RTS -l"
    }
}

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

    fn settle(&mut self, results: &AnalysisResults<'_>, _: &CostCentres) -> BuiltProfile {
        let (profile, anomalies) =
            std::mem::take(self).finish(results.log.end(), results.info_tables);
        BuiltProfile { profile, anomalies }
    }
}
