//! Table of ticky counters, for the whole log or a range.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Shape};
use super::deltas::Counts;
use super::filter::{Filter, has};
use super::{Counter, Ticky};
use eventlog::Names;
use eventlog::info_tables::InfoTable;
use model::sorting::rows_in_order;
use model::time::Interval;

model::named_enum! {
    /// Columns for sorting and filtering.
    #[derive(Default, Hash, Serialize, Deserialize)]
    pub enum TickyColumn: from_name {
        /// Bytes allocated by its code.
        #[default]
        Allocs: "allocs";
        /// Number of entries into its code.
        Entries: "entries";
        /// Bytes allocated by its code per entry.
        AllocsPerEntry: "allocs-per-entry";
        /// Bytes of its closures.
        Allocd: "allocd";
        /// Number of its closures allocated.
        AllocdCount: "allocd-count";
        /// Entries per closure allocated.
        EntriesPerAllocd: "entries-per-allocd";
        /// Name of the counter.
        Name: "name";
        /// Kind: function, thunk, constructor.
        Kind: "kind";
        /// Module name.
        Module: "module";
        /// Source file.
        Place: "place";
        /// Number and kinds of arguments.
        Arguments: "args";
        /// Number and kinds of the free variables in its closures.
        FreeVariables: "fvs";
    }
    /// Returns the stable name in links, filters and on the command line.
    fn name;
}

impl TickyColumn {
    /// Returns whether large values are more interesting than small ones.
    pub const fn largest_first(self) -> bool {
        !matches!(self, Self::Name | Self::Kind | Self::Module | Self::Place)
    }

    /// Returns whether filters can search the column for text.
    pub const fn has_text(self) -> bool {
        matches!(
            self,
            Self::Name
                | Self::Kind
                | Self::Module
                | Self::Place
                | Self::Arguments
                | Self::FreeVariables
        )
    }

    /// Returns whether the column holds numbers.
    pub const fn has_number(self) -> bool {
        self.largest_first()
    }
}

/// Query for a table of counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyQuery {
    /// Restricts the table to a range, and to counters with counts in it; `None` for all of the log.
    pub range: Option<Interval>,
    /// Restricts the table to this counter, even if it has no counts.
    pub only: Option<u64>,
    /// Text of a [`Filter`]; empty for all counters.
    pub filter: String,
    /// Sort column; ties are sorted by entries.
    pub sort: TickyColumn,
    /// Whether the largest values come first.
    pub descending: bool,
    /// Rows of the sorted table to return.
    pub rows: Range<u64>,
}

/// Row of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyRow {
    /// Number of the counter: its address.
    pub id: u64,
    /// Definition in the log; may be missing in a truncated log.
    pub definition: Option<Definition>,
    /// Enclosing definition, if it has a counter too.
    pub parent: Option<Parent>,
    /// Information about its info table.
    pub info: Option<Info>,
    /// Counts in the range.
    pub counts: Counts,
    /// As [`TickyTable::whole_bytes`].
    pub whole_bytes: Option<u64>,
    /// As [`TickyTable::has_allocd`].
    pub has_allocd: bool,
}

/// Information about the info table of a counter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// Name of its closures, from the log (`-finfo-table-map`) or else the symbols of the executable.
    pub name: String,
    /// Closure type, such as `FUN_1_0`.
    pub closure_type: Option<String>,
    /// Haskell type; empty if unknown.
    pub type_: String,
    /// Module; empty if unknown.
    pub module: String,
    /// Source location; empty if unknown.
    pub place: String,
}

/// Counter of an enclosing definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Number of the counter: its address.
    pub id: u64,
    /// Short name of the counter.
    pub name: String,
}

/// Problem with the counters of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Counters are defined, but none was ever written.
    NoCounts,
    /// See [`TickyTable::entries_hold_bytes`].
    EntriesHoldBytes,
    /// Bytes of closures are missing.
    NoAllocd,
}

/// Answer to a [`TickyQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyTable {
    /// Index of the first row in the sorted table.
    pub first: u64,
    /// Requested rows, as far as the table has them.
    pub rows: Vec<TickyRow>,
    /// Length of the whole table.
    pub total: u64,
    /// Sums over all rows.
    pub all: Counts,
    /// Bytes allocated by the whole program in the range; `None` if not logged.
    pub allocated_bytes: Option<u64>,
    /// Bytes allocated by the code of all counters in the range.
    pub counted_bytes: u64,
    /// Number of counters in the whole log.
    pub counters: u64,
    /// Number of times that the counters were written in the range.
    pub samples: u64,
    /// Number of times that they were written in the whole log.
    pub samples_in_log: u64,
    /// Whether the log has counts, not only definitions.
    pub has_counts: bool,
    /// Whether the log has bytes of closures: `-ticky-allocd`.
    pub has_allocd: bool,
    /// Whether GHC added the bytes of closures to the entries, as GHC 9.6 does and GHC 9.10 does not. Detected by
    /// entries of constructors, which have no code to enter.
    pub entries_hold_bytes: bool,
}

impl TickyTable {
    /// Returns the row with this index, if it is among those returned.
    pub fn row(&self, number: u64) -> Option<&TickyRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }

    /// Returns the most severe problem of the counters in the whole log, if any.
    pub const fn flaw(&self) -> Option<Flaw> {
        if self.counters == 0 {
            None
        } else if !self.has_counts {
            Some(Flaw::NoCounts)
        } else if self.entries_hold_bytes {
            Some(Flaw::EntriesHoldBytes)
        } else if !self.has_allocd {
            Some(Flaw::NoAllocd)
        } else {
            None
        }
    }

    /// Returns the fraction of all bytes allocated by the program.
    pub fn share(&self, bytes: u64) -> Option<f64> {
        ratio(bytes, self.whole_bytes()?)
    }

    /// Returns the bytes allocated by the program, as the whole for shares.
    ///
    /// `None` if that is less than the counters have: a log that breaks off has counters of a later time.
    pub fn whole_bytes(&self) -> Option<u64> {
        let is_whole = |all: &u64| *all > 0 && self.counted_bytes <= *all;
        self.allocated_bytes.filter(is_whole)
    }
}

impl TickyRow {
    /// Returns the short name, or the number of a counter without a definition.
    pub fn short_name(&self) -> String {
        let named = self.definition.as_ref().map(|it| it.label().short);
        named.map_or_else(|| format!("counter {}", self.id), str::to_owned)
    }

    /// Returns the module, from the info table or else the name.
    pub fn module(&self) -> Option<&str> {
        let told = self.info.as_ref().map(|info| info.module.as_str());
        let named = || self.definition.as_ref()?.label().module;
        told.filter(|module| !module.is_empty()).or_else(named)
    }

    /// Returns the enclosing definition: its counter, or else, for an unnamed expression, by its info table.
    pub fn enclosing_name(&self) -> Option<&str> {
        if let Some(parent) = &self.parent {
            return Some(&parent.name);
        }
        let short = self.definition.as_ref()?.label().short;
        let info = self.info.as_ref().filter(|_| short.starts_with("sat_"))?;
        let bare = info.name.strip_prefix(&info.module);
        let bare = bare.and_then(|name| name.strip_prefix('.'));
        bare.filter(|name| !name.starts_with("sat_"))
    }

    /// Returns the fraction of all bytes allocated by the program.
    pub fn share(&self, bytes: u64) -> Option<f64> {
        ratio(bytes, self.whole_bytes?)
    }

    /// Returns the bytes of its closures, if the log has them.
    pub fn allocd_bytes(&self) -> Option<u64> {
        self.has_allocd.then_some(self.counts.allocd_bytes)
    }

    /// Returns the number of closures allocated, computed from their size.
    pub fn allocd_count(&self) -> Option<u64> {
        allocd_count(self.definition.as_ref()?.closure_bytes(), self.counts)
    }

    /// Returns the entries per closure allocated.
    pub fn entries_per_allocd(&self) -> Option<f64> {
        ratio(self.counts.entries, self.allocd_count()?)
    }

    /// Returns the bytes allocated per entry.
    pub fn allocs_per_entry(&self) -> Option<f64> {
        ratio(self.counts.allocs_bytes, self.counts.entries)
    }
}

fn allocd_count(closure_bytes: Option<u64>, counts: Counts) -> Option<u64> {
    counts.allocd_bytes.checked_div(closure_bytes?)
}

/// Divides two numbers; `None` for a zero divisor.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Data from other analyses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableContext<'a> {
    /// Time of the last event.
    pub(crate) end_ns: u64,
    /// Bytes allocated by the program in the range.
    pub(crate) allocated_bytes: Option<u64>,
    pub(crate) names: &'a Names,
}

/// Value of a column for a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Count(u64),
    Ratio(f64),
    Text(&'a str),
}

/// A counter with its counts in a range.
pub(super) struct CounterView<'a> {
    counter: &'a Counter,
    counts: Counts,
    names: &'a Names,
}

impl<'a> CounterView<'a> {
    fn definition(&self) -> Option<&'a Definition> {
        self.counter.definition.as_ref()
    }

    pub(super) const fn id(&self) -> u64 {
        self.counter.id
    }

    /// Returns its info table, if the log describes it.
    fn table(&self) -> Option<InfoTable<'a>> {
        self.names.info_tables().get(self.definition()?.info_table?)
    }

    fn info(&self) -> Option<Info> {
        let name = self.names.info_table(self.definition()?.info_table?)?;
        let Some(table) = self.table() else {
            return Some(Info {
                name,
                ..Info::default()
            });
        };
        Some(Info {
            name,
            closure_type: table.closure_type.map(|it| it.name().to_owned()),
            type_: table.type_.to_owned(),
            module: table.module.to_owned(),
            place: table.location.to_string(),
        })
    }

    fn module(&self) -> Option<&'a str> {
        let told = self.table().map(|table| table.module);
        let named = || self.counter.module.as_deref();
        told.filter(|module| !module.is_empty()).or_else(named)
    }

    /// Returns all texts that an unqualified term searches.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        let name = self.definition().map(|it| it.name.as_str());
        let table = self.table();
        let told = table.map(|it| [it.label, it.type_, it.module, it.location.file]);
        name.into_iter().chain(told.into_iter().flatten())
    }

    /// Returns the text of a column; for arguments and free variables, the letters of their kinds.
    pub(super) fn text(&self, column: TickyColumn) -> Option<&'a str> {
        match column {
            TickyColumn::Arguments => Some(&self.definition()?.arguments),
            TickyColumn::FreeVariables => self.definition()?.free_variables(),
            _ => match self.value(column)? {
                Value::Text(text) => Some(text),
                Value::Count(_) | Value::Ratio(_) => None,
            },
        }
    }

    /// Returns whether a column contains `text`.
    ///
    /// Case matters for letters of kinds only; for other columns, `text` must be lowercase.
    pub(super) fn has_text(&self, column: TickyColumn, text: &str) -> bool {
        self.text(column).is_some_and(|found| match column {
            TickyColumn::Arguments | TickyColumn::FreeVariables => found.contains(text),
            _ => has(found, text),
        })
    }

    /// Returns the value of a column.
    pub(super) fn value(&self, column: TickyColumn) -> Option<Value<'a>> {
        let counts = self.counts;
        let allocd = || allocd_count(self.counter.closure_bytes, counts);
        match column {
            TickyColumn::Name => {
                let known = self.definition().is_some();
                known.then_some(Value::Text(&self.counter.short))
            }
            TickyColumn::Kind => Some(Value::Text(self.counter.shape?.name())),
            TickyColumn::Module => self.module().map(Value::Text),
            TickyColumn::Place => {
                let file = self.table()?.location.file;
                (!file.is_empty()).then_some(Value::Text(file))
            }
            TickyColumn::Arguments => Some(Value::Count(self.definition()?.arity.into())),
            TickyColumn::FreeVariables => {
                let letters = self.definition()?.free_variables()?;
                Some(Value::Count(letters.chars().count() as u64))
            }
            TickyColumn::Entries => Some(Value::Count(counts.entries)),
            TickyColumn::Allocs => Some(Value::Count(counts.allocs_bytes)),
            TickyColumn::AllocsPerEntry => {
                ratio(counts.allocs_bytes, counts.entries).map(Value::Ratio)
            }
            TickyColumn::Allocd => Some(Value::Count(counts.allocd_bytes)),
            TickyColumn::AllocdCount => allocd().map(Value::Count),
            TickyColumn::EntriesPerAllocd => ratio(counts.entries, allocd()?).map(Value::Ratio),
        }
    }
}

/// A matching row: sort key, entries, index of the counter.
type Keyed<'a> = (Option<Value<'a>>, Reverse<u64>, u32);

impl Ticky {
    /// Answers a query.
    pub(crate) fn table(&self, query: &TickyQuery, known: TableContext<'_>) -> TickyTable {
        let sums = self.deltas.sums(query.range, known.end_ns);
        let filter = Filter::parse(&query.filter);
        let counted_bytes = sums
            .iter()
            .fold(0_u64, |sum, counts| sum.saturating_add(counts.allocs_bytes));
        let view = |index: u32| {
            let place = index as usize;
            Some(CounterView {
                counter: self.counters.get(place)?,
                counts: sums.get(place).copied().unwrap_or_default(),
                names: known.names,
            })
        };
        let mut keyed: Vec<Keyed<'_>> = Vec::new();
        let mut all = Counts::default();
        let candidates = match query.only {
            Some(id) => self.places.get(&id).map_or(0..0, |&place| place..place + 1),
            None => 0..self.counters.len() as u32,
        };
        let any = query.range.is_none() || query.only.is_some();
        for index in candidates {
            let Some(view) = view(index) else { continue };
            if (any || !view.counts.is_zero()) && filter.matches_view(&view) {
                let entries = Reverse(view.counts.entries);
                keyed.push((view.value(query.sort), entries, index));
                all = all.plus(view.counts);
            }
        }
        let total = keyed.len() as u64;
        let mut table = TickyTable {
            first: query.rows.start,
            rows: Vec::new(),
            total,
            all,
            allocated_bytes: known.allocated_bytes,
            counted_bytes,
            counters: self.counters.len() as u64,
            samples: self.samples_in(query.range, known.end_ns),
            samples_in_log: self.samples.len() as u64,
            has_counts: !self.deltas.sums_so_far().is_empty(),
            has_allocd: self.has_allocd,
            entries_hold_bytes: self.entries_hold_bytes(),
        };
        let rows = sorted_part(&keyed, query);
        let rows = rows.filter_map(|index| Some(self.row(&view(index)?, &table)));
        table.rows = rows.collect();
        table
    }

    fn row(&self, view: &CounterView<'_>, table: &TickyTable) -> TickyRow {
        TickyRow {
            id: view.id(),
            definition: view.definition().cloned(),
            parent: view.definition().and_then(|it| self.parent(it)),
            info: view.info(),
            counts: view.counts,
            whole_bytes: table.whole_bytes(),
            has_allocd: table.has_allocd,
        }
    }

    /// Returns whether the bytes of closures were added to the entries.
    fn entries_hold_bytes(&self) -> bool {
        let sums = self.deltas.sums_so_far();
        let mut pairs = self.counters.iter().zip(sums);
        let is_constructor = |counter: &Counter| counter.shape == Some(Shape::Constructor);
        !self.has_allocd && pairs.any(|(it, sum)| is_constructor(it) && sum.entries > 0)
    }
}

/// Returns the counters of the requested rows, in order.
fn sorted_part(keyed: &[Keyed<'_>], query: &TickyQuery) -> impl Iterator<Item = u32> {
    let order = |a: &Keyed<'_>, b: &Keyed<'_>| {
        by_value(a.0, b.0, query.descending).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
    };
    let places = rows_in_order(keyed.len(), &query.rows, &mut |a, b| {
        order(&keyed[a], &keyed[b])
    });
    places.into_iter().map(|place| keyed[place].2)
}

/// Compares values; missing ones come last in both directions.
fn by_value(a: Option<Value<'_>>, b: Option<Value<'_>>, descending: bool) -> Ordering {
    let (Some(a), Some(b)) = (a, b) else {
        return a.is_none().cmp(&b.is_none());
    };
    let order = match (a, b) {
        (Value::Count(a), Value::Count(b)) => a.cmp(&b),
        (Value::Ratio(a), Value::Ratio(b)) => a.total_cmp(&b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => Ordering::Equal,
    };
    if descending { order.reverse() } else { order }
}
