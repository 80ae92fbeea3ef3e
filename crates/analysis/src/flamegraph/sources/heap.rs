//! What was alive, by the cost-centre stack that allocated it.

use super::super::centres::CostCentres;
use super::super::heap_collect::HeapCollector;
use super::{FlameSource, Gather, Gathered, Known};
use crate::findings::Findings;
use eventlog::{EventSet, Record, Sink};
use model::profile::source::Unit;

/// See the file.
#[derive(Debug)]
pub(super) struct Heap;

impl FlameSource for Heap {
    fn name(&self) -> &'static str {
        "heap"
    }

    fn title(&self) -> &'static str {
        "Live heap"
    }

    fn help(&self) -> &'static str {
        "What was alive, by the cost-centre stack that allocated it (+RTS -hc -l)"
    }

    fn how(&self) -> &'static str {
        "build the program with -prof and run it with +RTS -hc -l"
    }

    fn unit(&self) -> Unit {
        Unit::Bytes
    }

    fn gather(&self) -> Option<Box<dyn Gather>> {
        Some(Box::new(HeapCollector::default()))
    }
}

impl Gather for HeapCollector {
    fn consumes(&self) -> EventSet {
        <Self as Sink>::CONSUMES
    }

    fn event(&mut self, record: &Record<'_>) {
        Sink::event(self, record);
    }

    fn settle(&mut self, known: &Known<'_>, centres: &CostCentres) -> Gathered {
        Gathered {
            profile: std::mem::take(self).finish(known.log.end(), centres),
            oddities: Findings::default(),
        }
    }
}
