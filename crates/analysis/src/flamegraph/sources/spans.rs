//! Source of spans that the program announces with messages or by OpenTelemetry, nested in each other.

use super::super::centres::CostCentres;
use super::{AnalysisResults, BuiltProfile, FlameOrigin, FlameSource, ProfileBuilder};
use crate::diagnostics::{Diagnostic, Diagnostics, Fact};

/// The source `spans`.
#[derive(Clone, Debug)]
pub(super) struct Spans;

/// Description of the source `spans`.
pub(super) const SOURCE: FlameSource = FlameSource {
    name: "spans",
    title: "Spans of the program",
    help: "START and STOP messages of the program, and spans of opentelemetry, nested",
    how_to_record: "let the program announce spans with messages, \"START name\" and \"STOP name\"",
    sample_noun: |_| "spans",
    count_label: "Spans",
    ..FlameSource::DEFAULT
};

impl FlameOrigin for Spans {
    fn builder(&self) -> Option<Box<dyn ProfileBuilder>> {
        Some(Box::new(Self))
    }
}

/// Collects no events: messages and OpenTelemetry spans are stored elsewhere.
impl ProfileBuilder for Spans {
    fn finish(&mut self, results: &AnalysisResults<'_>, _: &CostCentres) -> BuiltProfile {
        let spans = results.spans();
        let (profile, left_out) =
            spans.profile(results.processes, results.store, results.log.end());
        let mut anomalies = Diagnostics::default();
        if left_out > 0 {
            anomalies.push(Diagnostic::new(Fact::SpansLeftOut(left_out)));
        }
        BuiltProfile { profile, anomalies }
    }

    fn depends_on_prefixes(&self) -> bool {
        true
    }
}
