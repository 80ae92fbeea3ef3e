//! Source of stack samples by thread state: on-CPU and off-CPU time in one graph.

use super::super::centres::CostCentres;
use super::super::stack_samples::states::group_by_state;
use super::{FlameOrigin, FlameSource, Gather, Gathered, Known};
use crate::diagnostics::Diagnostics;
use model::profile::Profile;

/// The source `stack-states`.
#[derive(Clone, Debug)]
pub(super) struct StackStates;

impl FlameSource for StackStates {
    fn name(&self) -> &'static str {
        "stack-states"
    }

    fn title(&self) -> &'static str {
        "Stack samples by thread state"
    }

    fn help(&self) -> &'static str {
        "Stacks that ghc-stack-profiler sampled, below the thread's state: running, ready or blocked"
    }

    fn how(&self) -> &'static str {
        "let the program run ghc-stack-profiler, with +RTS -l"
    }

    fn everything(&self) -> &'static str {
        "All threads"
    }
}

impl FlameOrigin for StackStates {
    fn gather(&self) -> Option<Box<dyn Gather>> {
        Some(Box::new(Self))
    }
}

/// Collects no events: the profile derives from that of the source `stack-samples`.
impl Gather for StackStates {
    fn settle(&mut self, known: &Known<'_>, _: &CostCentres) -> Gathered {
        let end = known.log.end();
        let samples = known.stack_samples;
        let profile = samples.map(|samples| group_by_state(samples, known.store, end));
        Gathered {
            profile: profile.unwrap_or_else(Profile::empty),
            oddities: Diagnostics::default(),
        }
    }
}
