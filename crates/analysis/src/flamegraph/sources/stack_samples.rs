//! Source of Haskell stacks sampled by `ghc-stack-profiler`, which needs no profiling build.

use super::super::centres::CostCentres;
use super::super::stack_samples::StackSampleCollector;
use super::{FlameOrigin, FlameSource, Gather, Gathered, Known};
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

    fn how(&self) -> &'static str {
        "let the program run ghc-stack-profiler, with +RTS -l"
    }
}

impl FlameOrigin for StackSamples {
    fn gather(&self) -> Option<Box<dyn Gather>> {
        Some(Box::new(StackSampleCollector::default()))
    }
}

impl Gather for StackSampleCollector {
    fn consumes(&self) -> EventSet {
        <Self as Sink>::CONSUMES
    }

    fn event(&mut self, record: &Record<'_>) {
        Sink::event(self, record);
    }

    fn settle(&mut self, known: &Known<'_>, _: &CostCentres) -> Gathered {
        let (profile, oddities) = std::mem::take(self).finish(known.log.end(), known.info_tables);
        Gathered { profile, oddities }
    }
}
