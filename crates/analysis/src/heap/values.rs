//! Heap profile values of a slice, as label numbers and bytes.
//!
//! Workers intern the labels of their slices in parallel, so joining slices looks up each label only once per
//! slice.

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::ShortBytes;
use eventlog::hash::SeededState;
use eventlog::ids::Nanos;
use eventlog::{Event, EventSet, EventType, Record};
use model::columns::Column;

/// Heap profile values of one slice.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeapValues {
    pub(super) sources: Vec<Source>,
    pub(super) runs: Vec<Run>,
    /// Label of each value, as an index into the labels of its source.
    #[serde(skip)]
    pub(super) labels: Vec<u32>,
    #[serde(skip)]
    pub(super) bytes: Vec<u64>,
}

/// A source of values: the profile's number in events, and whether labels are cost centre stacks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Source {
    pub(super) id: u8,
    pub(super) stacks: bool,
    /// End of each label in `text`.
    #[serde(skip)]
    ends: Vec<u32>,
    #[serde(skip)]
    text: Vec<u8>,
}

/// Consecutive values of one source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) source: usize,
    /// Number of stored events of the slice that precede the run.
    pub(super) before: u32,
    /// Time of the first value.
    pub(super) at: Nanos,
    pub(super) count: usize,
}

impl HeapValues {
    /// Event types with values.
    pub(crate) const CONSUMES: EventSet = EventSet::from_types(&[
        EventType::HEAP_PROF_SAMPLE_STRING,
        EventType::HEAP_PROF_SAMPLE_COST_CENTRE,
    ]);

    /// Visits each bulk column, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        for source in &mut self.sources {
            see((&mut source.ends).into());
            see((&mut source.text).into());
        }
        see((&mut self.labels).into());
        see((&mut self.bytes).into());
    }
}

impl Source {
    /// Returns the number of labels.
    pub(super) const fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn label(&self, place: u32) -> &[u8] {
        let end = |place: usize| self.ends.get(place).map_or(0, |end| *end as usize);
        let place = place as usize;
        let begin = place.checked_sub(1).map_or(0, end);
        self.text.get(begin..end(place)).unwrap_or_default()
    }
}

/// Collects the values of a slice.
#[derive(Debug, Default)]
pub(crate) struct HeapValueAnalysis {
    values: HeapValues,
    labels: Vec<Labels>,
}

/// Label table of a source.
///
/// The runtime mostly writes the same bands in the same order, so the table predicts the label after each label;
/// most lookups need no search.
#[derive(Debug, Default)]
struct Labels {
    all: IndexSet<ShortBytes, SeededState>,
    /// Index into `after` for the last label: its own index plus one, or 0 before the first label.
    last: usize,
    after: Vec<u32>,
}

impl Labels {
    fn index_of(&mut self, label: &[u8]) -> u32 {
        let guess = self.after.get(self.last).copied().unwrap_or_default();
        let known = self.all.get_index(guess as usize);
        let place = if known.is_some_and(|known| known[..] == *label) {
            guess
        } else {
            let found = self.all.get_index_of(label);
            let new = || ShortBytes::from_slice(label);
            let place = found.unwrap_or_else(|| self.all.insert_full(new()).0) as u32;
            if self.after.len() <= self.last {
                self.after.resize(self.last + 1, 0);
            }
            self.after[self.last] = place;
            place
        };
        self.last = place as usize + 1;
        place
    }
}

impl HeapValueAnalysis {
    /// Processes an event, where `before` is the number of stored events that precede it.
    pub(crate) fn take(&mut self, record: &Record<'_>, before: u32) {
        self.event(&record.event(), record.time, before);
    }

    pub(super) fn event(&mut self, event: &Event<'_>, at: Nanos, before: u32) {
        let (id, stacks, bytes, label) = match *event {
            Event::HeapProfSampleString {
                id,
                residency,
                label,
            } => (id, false, residency, label.0.0),
            Event::HeapProfSampleCostCentre {
                id,
                residency,
                stack,
            } => (id, true, residency, stack.bytes()),
            _ => return,
        };
        let source = self.source(id, stacks);
        match self.values.runs.last_mut() {
            Some(run) if run.source == source && run.before == before => run.count += 1,
            _ => self.values.runs.push(Run {
                source,
                before,
                at,
                count: 1,
            }),
        }
        self.values.labels.push(self.labels[source].index_of(label));
        self.values.bytes.push(bytes);
    }

    fn source(&mut self, id: u8, stacks: bool) -> usize {
        let known = &mut self.values.sources;
        let found = (known.iter()).position(|source| (source.id, source.stacks) == (id, stacks));
        found.unwrap_or_else(|| {
            known.push(Source {
                id,
                stacks,
                ends: Vec::new(),
                text: Vec::new(),
            });
            self.labels.push(Labels::default());
            known.len() - 1
        })
    }

    /// Returns the values of the slice.
    pub(crate) fn finish(mut self) -> HeapValues {
        for (source, labels) in self.values.sources.iter_mut().zip(self.labels) {
            for label in labels.all {
                source.text.extend_from_slice(&label);
                // Slices are far smaller than 4 GiB.
                source.ends.push(source.text.len() as u32);
            }
        }
        self.values
    }
}
