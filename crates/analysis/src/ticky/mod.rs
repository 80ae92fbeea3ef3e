//! Ticky-ticky counters: entries and allocation per function, thunk and constructor (`ghc -ticky`, `+RTS -lT`).
//!
//! The runtime occasionally writes and resets all nonzero counters, during a collection. A log therefore has
//! deltas, and a range sums up those whose events are in it. Definitions of counters come at the end of the log; a
//! truncated log lacks them.

mod definition;
mod deltas;
mod filter;
mod table;

pub use definition::{Definition, JsonDescription, Kind, Label, Shape, SizeError};
pub use deltas::Counts;
pub use filter::Filter;
pub(crate) use table::TableContext;
pub use table::{Flaw, Info, Parent, TickyColumn, TickyQuery, TickyRow, TickyTable};

use deltas::Deltas;
use eventlog::hash::SeededMap;
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::time::Interval;

/// Ticky counters of a log.
#[derive(Clone, Debug, Default)]
pub struct Ticky {
    /// In order of first occurrence.
    counters: Vec<Counter>,
    /// Index of each counter, by number.
    places: SeededMap<u64, u32>,
    /// Index of each counter, by module and unique of its name.
    named: SeededMap<String, u32>,
    deltas: Deltas,
    /// Times at which the runtime began to write the counters.
    samples: Vec<u64>,
    /// Whether any bytes of closures were counted.
    has_allocd: bool,
}

/// A counter and its definition.
#[derive(Clone, Debug)]
struct Counter {
    id: u64,
    definition: Option<Definition>,
    /// Parsed parts of the definition, cached for queries.
    short: Box<str>,
    module: Option<Box<str>>,
    shape: Option<Shape>,
    closure_bytes: Option<u64>,
}

impl Sink for Ticky {
    const CONSUMES: EventSet = EventSet::from_types(&[
        EventType::TICKY_COUNTER_DEF,
        EventType::TICKY_COUNTER_SAMPLE,
        EventType::TICKY_BEGIN_SAMPLE,
    ]);

    fn event(&mut self, record: &Record<'_>) {
        match record.event() {
            Event::TickyCounterSample {
                id,
                entry_count,
                allocs,
                allocd,
            } => {
                let place = self.index_of(id);
                let counts = Counts {
                    entries: entry_count,
                    allocs_bytes: allocs,
                    allocd_bytes: allocd,
                };
                self.has_allocd |= allocd > 0;
                self.deltas.push(record.time.0, place, counts);
            }
            Event::TickyBeginSample {} => {
                let last = self.samples.last().copied().unwrap_or(0);
                self.samples.push(record.time.0.max(last));
            }
            Event::TickyCounterDef {
                id,
                arity,
                kinds,
                name,
                info_tbl,
                json_desc,
            } => {
                let json = json_desc.map(|json| json.0.to_str().into_owned());
                let definition = Definition {
                    arity,
                    arguments: kinds.0.to_str().into_owned(),
                    name: name.0.to_str().into_owned(),
                    info_table: info_tbl.filter(|address| *address != 0),
                    described: json.and_then(|json| JsonDescription::from_json(&json)),
                };
                self.define(id, definition);
            }
            _ => {}
        }
    }
}

impl Ticky {
    /// Returns whether the log has no counters.
    pub const fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    fn index_of(&mut self, id: u64) -> u32 {
        let next = self.counters.len() as u32;
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.counters.push(Counter {
                id,
                definition: None,
                short: Box::default(),
                module: None,
                shape: None,
                closure_bytes: None,
            });
        }
        place
    }

    /// Sets the definition of a counter; the last one wins.
    fn define(&mut self, id: u64, definition: Definition) {
        let place = self.index_of(id);
        let label = definition.label();
        if let (Some(module), Some(unique)) = (label.module, label.unique) {
            self.named.insert(format!("{module} {unique}"), place);
        }
        if let Some(counter) = self.counters.get_mut(place as usize) {
            counter.short = label.short.into();
            counter.module = label.module.map(Into::into);
            counter.shape = definition.kind().map(|kind| kind.shape);
            counter.closure_bytes = definition.closure_bytes();
            counter.definition = Some(definition);
        }
    }

    /// Returns the counter of the enclosing definition, if there is one.
    fn parent(&self, of: &Definition) -> Option<Parent> {
        let label = of.label();
        let key = format!("{} {}", label.module?, label.parent?);
        let counter = self.counters.get(*self.named.get(&key)? as usize)?;
        Some(Parent {
            id: counter.id,
            name: counter.definition.as_ref()?.label().short.to_owned(),
        })
    }

    /// Returns the number of times that the counters were written in a range.
    fn samples_in(&self, range: Option<Interval>, end_ns: u64) -> u64 {
        let Some(range) = range else {
            return self.samples.len() as u64;
        };
        let before = |time: u64| self.samples.partition_point(|&at| at < time);
        let to = if range.end().0 >= end_ns && !range.is_empty() {
            self.samples.len()
        } else {
            before(range.end().0)
        };
        to.saturating_sub(before(range.start().0)) as u64
    }
}
