//! Source of spans that the program announces with messages or by OpenTelemetry, nested in each other.

use super::super::centres::CostCentres;
use super::{FlameOrigin, FlameSource, Gather, Gathered, Known};
use crate::diagnostics::{Diagnostic, Diagnostics, Fact};
use model::profile::TrackSource;

/// The source `spans`.
#[derive(Clone, Debug)]
pub(super) struct Spans;

impl FlameSource for Spans {
    fn name(&self) -> &'static str {
        "spans"
    }

    fn title(&self) -> &'static str {
        "Spans of the program"
    }

    fn help(&self) -> &'static str {
        "START and STOP messages of the program, and spans of opentelemetry, one inside the other"
    }

    fn how(&self) -> &'static str {
        "let the program announce spans with messages, \"START name\" and \"STOP name\""
    }

    fn counted(&self, _: TrackSource) -> &'static str {
        "spans"
    }

    fn counts(&self) -> &'static str {
        "Spans"
    }
}

impl FlameOrigin for Spans {
    fn gather(&self) -> Option<Box<dyn Gather>> {
        Some(Box::new(Self))
    }
}

/// Collects no events: messages and OpenTelemetry spans are stored elsewhere.
impl Gather for Spans {
    fn settle(&mut self, known: &Known<'_>, _: &CostCentres) -> Gathered {
        let spans = known.spans();
        let (profile, left_out) = spans.profile(known.collections, known.store, known.log.end());
        let mut oddities = Diagnostics::default();
        if left_out > 0 {
            oddities.push(Diagnostic::new(Fact::SpansLeftOut(left_out)));
        }
        Gathered { profile, oddities }
    }

    fn follows_words(&self) -> bool {
        true
    }
}
