//! Source of stack samples by thread state: on-CPU and off-CPU time in one graph.

use super::super::centres::CostCentres;
use super::super::stack_samples::states::group_by_state;
use super::{AnalysisResults, BuiltProfile, FlameOrigin, FlameSource, ProfileBuilder};
use crate::diagnostics::Diagnostics;
use model::profile::Profile;

/// The source `stack-states`.
#[derive(Clone, Debug)]
pub(super) struct StackStates;

/// Description of the source `stack-states`.
pub(super) const SOURCE: FlameSource = FlameSource {
    name: "stack-states",
    title: "Stack samples by thread state",
    help: "Stacks that ghc-stack-profiler sampled, below the thread's state: running, ready or blocked",
    how_to_record: "let the program run ghc-stack-profiler, with +RTS -l",
    all_tracks_label: "All threads",
    ..FlameSource::DEFAULT
};

impl FlameOrigin for StackStates {
    fn builder(&self) -> Option<Box<dyn ProfileBuilder>> {
        Some(Box::new(Self))
    }
}

/// Collects no events: the profile derives from that of the source `stack-samples`.
impl ProfileBuilder for StackStates {
    fn finish(&mut self, results: &AnalysisResults<'_>, _: &CostCentres) -> BuiltProfile {
        let end = results.log.end();
        let samples = results.stack_samples;
        let profile = samples.map(|samples| group_by_state(samples, results.store, end));
        BuiltProfile {
            profile: profile.unwrap_or_else(Profile::empty),
            anomalies: Diagnostics::default(),
        }
    }
}
