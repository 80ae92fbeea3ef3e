//! The table of ticky counters, of the whole log or of a range of it.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Shape};
use super::deltas::Counts;
use super::filter::{Filter, has};
use super::{Counter, Ticky};
use eventlog::Names;
use eventlog::info_tables::InfoTable;
use model::sorting::SortSmall;
use model::time::Interval;

/// What the table can be sorted by, and filtered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TickyColumn {
    /// What the counter is called.
    Name,
    /// What it is about: function, thunk, constructor.
    Kind,
    /// The module.
    Module,
    /// The file of the source.
    Place,
    /// How many arguments it takes, and of which kinds.
    Arguments,
    /// How many free variables its closures hold, and of which kinds.
    FreeVariables,
    /// How often its code was entered.
    Entries,
    /// Bytes that its code allocated.
    #[default]
    Allocs,
    /// Bytes that its code allocated in each entry.
    AllocsPerEntry,
    /// Bytes of its closures.
    Allocd,
    /// How many of its closures were allocated.
    AllocdCount,
    /// How often each of its closures was entered.
    EntriesPerAllocd,
}

impl TickyColumn {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 12] = [
        Self::Allocs,
        Self::Entries,
        Self::AllocsPerEntry,
        Self::Allocd,
        Self::AllocdCount,
        Self::EntriesPerAllocd,
        Self::Name,
        Self::Kind,
        Self::Module,
        Self::Place,
        Self::Arguments,
        Self::FreeVariables,
    ];

    /// Its name in links, filters and on the command line, which never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Kind => "kind",
            Self::Module => "module",
            Self::Place => "place",
            Self::Arguments => "args",
            Self::FreeVariables => "fvs",
            Self::Entries => "entries",
            Self::Allocs => "allocs",
            Self::AllocsPerEntry => "allocs-per-entry",
            Self::Allocd => "allocd",
            Self::AllocdCount => "allocd-count",
            Self::EntriesPerAllocd => "entries-per-allocd",
        }
    }

    /// The column of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Whether large values of it are of more interest than small ones.
    #[must_use]
    pub const fn largest_first(self) -> bool {
        !matches!(self, Self::Name | Self::Kind | Self::Module | Self::Place)
    }

    /// Whether a text can be looked for in it.
    #[must_use]
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

    /// Whether it holds numbers.
    #[must_use]
    pub const fn has_number(self) -> bool {
        self.largest_first()
    }
}

/// Which counters, of which time, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyQuery {
    /// The time that counts, and then only counters that counted something in
    /// it; all of the log and every counter without.
    pub range: Option<Interval>,
    /// This counter alone, also if it counted nothing.
    pub only: Option<u64>,
    /// What [`Filter`] reads; empty for all.
    pub filter: String,
    /// By what the rows are sorted; equal ones by entries.
    pub sort: TickyColumn,
    /// The largest first.
    pub descending: bool,
    /// Which rows are wanted.
    pub rows: Range<u64>,
}

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyRow {
    /// The number of the counter: its address.
    pub id: u64,
    /// What the log says of it; a log that was cut may lack it.
    pub definition: Option<Definition>,
    /// What it stands in, if that has a counter too.
    pub parent: Option<Parent>,
    /// What is known of its info table.
    pub info: Option<Info>,
    /// What it counted in the range.
    pub counts: Counts,
}

/// What is known of the info table of a counter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// What its closures are called: as the log says (`-finfo-table-map`), or
    /// else the symbols of the executable.
    pub name: String,
    /// The type of closure, such as `FUN_1_0`.
    pub closure_type: Option<String>,
    /// The Haskell type; empty if it is not known.
    pub type_: String,
    /// The module; empty if it is not known.
    pub module: String,
    /// The place in the source; empty if it is not known.
    pub place: String,
}

/// The counter of what another one stands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its number.
    pub id: u64,
    /// What it is called.
    pub name: String,
}

/// What is wrong with the counters of a log, or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Counters are defined, but none was ever written.
    NoCounts,
    /// See [`TickyTable::entries_hold_bytes`].
    EntriesHoldBytes,
    /// No bytes of closures.
    NoAllocd,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyTable {
    /// The number of the first of the rows.
    pub first: u64,
    /// The rows asked for, as far as there are so many.
    pub rows: Vec<TickyRow>,
    /// How many rows there are.
    pub total: u64,
    /// The sums of all rows.
    pub all: Counts,
    /// What the whole program allocated in the range; `None` if the log does
    /// not tell.
    pub allocated_bytes: Option<u64>,
    /// What all counters together allocated in the range.
    pub counted_bytes: u64,
    /// How many counters the log has in all.
    pub counters: u64,
    /// How many times in the range the counters were written.
    pub samples: u64,
    /// How many times in the whole log.
    pub samples_in_log: u64,
    /// Whether the log has counts, or only names of counters.
    pub has_counts: bool,
    /// Whether the log has bytes of closures: `-ticky-allocd`.
    pub has_allocd: bool,
    /// Whether this GHC added the bytes of closures to the entries. GHC 9.6
    /// does, GHC 9.10 does not. Seen by entries of constructors, which have no
    /// code that could be entered.
    pub entries_hold_bytes: bool,
}

impl TickyTable {
    /// The row of that number, if it is one of those asked for.
    #[must_use]
    pub fn row(&self, number: u64) -> Option<&TickyRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }

    /// What is wrong with the numbers, or missing, in the whole log.
    #[must_use]
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

    /// Which part of all that the program allocated.
    #[must_use]
    pub fn share(&self, bytes: u64) -> Option<f64> {
        ratio(bytes, self.whole_bytes()?)
    }

    /// The allocated bytes that counters have shares of. `None` if the log says that the program
    /// allocated less than its counters did: a log that breaks off has the counters of a later time.
    #[must_use]
    pub fn whole_bytes(&self) -> Option<u64> {
        let is_whole = |all: &u64| *all > 0 && self.counted_bytes <= *all;
        self.allocated_bytes.filter(is_whole)
    }
}

impl TickyRow {
    /// What the program, or else the compiler, calls it; without a definition
    /// the number of the counter.
    #[must_use]
    pub fn short_name(&self) -> String {
        let named = self.definition.as_ref().map(|it| it.label().short);
        named.map_or_else(|| format!("counter {}", self.id), str::to_owned)
    }

    /// The module: of the info table, or else of the name.
    #[must_use]
    pub fn module(&self) -> Option<&str> {
        let told = self.info.as_ref().map(|info| info.module.as_str());
        let named = || self.definition.as_ref()?.label().module;
        told.filter(|module| !module.is_empty()).or_else(named)
    }

    /// What it stands in: what has a counter too, or else, of an expression that
    /// has no name, what its info table says.
    #[must_use]
    pub fn stands_in(&self) -> Option<&str> {
        if let Some(parent) = &self.parent {
            return Some(&parent.name);
        }
        let short = self.definition.as_ref()?.label().short;
        let info = self.info.as_ref().filter(|_| short.starts_with("sat_"))?;
        let bare = info.name.strip_prefix(&info.module);
        let bare = bare.and_then(|name| name.strip_prefix('.'));
        bare.filter(|name| !name.starts_with("sat_"))
    }

    /// How many closures were allocated.
    #[must_use]
    pub fn allocd_count(&self) -> Option<u64> {
        allocd_count(self.definition.as_ref()?.closure_bytes(), self.counts)
    }

    /// How often each of them was entered.
    #[must_use]
    pub fn entries_per_allocd(&self) -> Option<f64> {
        ratio(self.counts.entries, self.allocd_count()?)
    }

    /// Bytes that were allocated in each entry.
    #[must_use]
    pub fn allocs_per_entry(&self) -> Option<f64> {
        ratio(self.counts.allocs_bytes, self.counts.entries)
    }
}

fn allocd_count(closure_bytes: Option<u64>, counts: Counts) -> Option<u64> {
    counts.allocd_bytes.checked_div(closure_bytes?)
}

/// A ratio; nothing if there is nothing to divide by.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What other analyses know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// The time of the last event.
    pub(crate) end_ns: u64,
    /// What the program allocated in the range.
    pub(crate) allocated_bytes: Option<u64>,
    pub(crate) names: &'a Names,
}

/// What a column has of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Count(u64),
    Ratio(f64),
    Text(&'a str),
}

/// What is known of a counter in a range.
pub(super) struct Facts<'a> {
    counter: &'a Counter,
    counts: Counts,
    names: &'a Names,
}

impl<'a> Facts<'a> {
    fn definition(&self) -> Option<&'a Definition> {
        self.counter.definition.as_ref()
    }

    pub(super) const fn id(&self) -> u64 {
        self.counter.id
    }

    /// What the log says of its info table.
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
            place: table.place.to_string(),
        })
    }

    fn module(&self) -> Option<&'a str> {
        let told = self.table().map(|table| table.module);
        let named = || self.counter.module.as_deref();
        told.filter(|module| !module.is_empty()).or_else(named)
    }

    /// All texts that a plain word is looked for in.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        let name = self.definition().map(|it| it.name.as_str());
        let table = self.table();
        let told = table.map(|it| [it.label, it.type_, it.module, it.place.file]);
        name.into_iter().chain(told.into_iter().flatten())
    }

    /// The text of a column that has one; of kinds of arguments their letters.
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

    /// Whether a column has a text in it. Letters of kinds mean something else
    /// in capitals; of other columns the case does not matter, and the text is
    /// in small letters.
    pub(super) fn has_text(&self, column: TickyColumn, text: &str) -> bool {
        self.text(column).is_some_and(|found| match column {
            TickyColumn::Arguments | TickyColumn::FreeVariables => found.contains(text),
            _ => has(found, text),
        })
    }

    /// What a column has of it.
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
                let file = self.table()?.place.file;
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

/// A row that was let through: what it is sorted by, its entries, its counter.
type Keyed<'a> = (Option<Value<'a>>, Reverse<u64>, u32);

impl Ticky {
    /// Answers a query.
    pub(crate) fn table(&self, query: &TickyQuery, known: Known<'_>) -> TickyTable {
        let sums = self.deltas.sums(query.range, known.end_ns);
        let filter = Filter::parse(&query.filter);
        let counted_bytes = sums
            .iter()
            .fold(0_u64, |sum, counts| sum.saturating_add(counts.allocs_bytes));
        let facts = |index: u32| {
            let place = index as usize;
            Some(Facts {
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
            let Some(facts) = facts(index) else { continue };
            if (any || !facts.counts.is_zero()) && filter.lets_through(&facts) {
                let entries = Reverse(facts.counts.entries);
                keyed.push((facts.value(query.sort), entries, index));
                all = all.plus(facts.counts);
            }
        }
        let total = keyed.len() as u64;
        let rows = sorted_part(keyed, query).into_iter();
        TickyTable {
            first: query.rows.start,
            rows: rows.filter_map(|index| self.row(&facts(index)?)).collect(),
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
        }
    }

    fn row(&self, facts: &Facts<'_>) -> Option<TickyRow> {
        Some(TickyRow {
            id: facts.id(),
            definition: facts.definition().cloned(),
            parent: facts.definition().and_then(|it| self.parent(it)),
            info: facts.info(),
            counts: facts.counts,
        })
    }

    /// Whether the bytes of closures were added to the entries.
    fn entries_hold_bytes(&self) -> bool {
        let sums = self.deltas.sums_so_far();
        let mut pairs = self.counters.iter().zip(sums);
        let is_constructor = |counter: &Counter| counter.shape == Some(Shape::Constructor);
        !self.has_allocd && pairs.any(|(it, sum)| is_constructor(it) && sum.entries > 0)
    }
}

/// The counters of the wanted rows: only these are sorted.
fn sorted_part(mut keyed: Vec<Keyed<'_>>, query: &TickyQuery) -> Vec<u32> {
    let place = |row: u64| usize::try_from(row).unwrap_or(usize::MAX).min(keyed.len());
    let (first, end) = (place(query.rows.start), place(query.rows.end));
    if first >= end {
        return Vec::new();
    }
    let order = |a: &Keyed<'_>, b: &Keyed<'_>| {
        by_value(a.0, b.0, query.descending).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
    };
    if first > 0 {
        keyed.select_nth_unstable_by(first - 1, order);
    }
    let rest = &mut keyed[first..];
    if end - first < rest.len() {
        rest.select_nth_unstable_by(end - first, order);
    }
    let rows = &mut rest[..end - first];
    rows.sort_small_by(order);
    rows.iter().map(|&(_, _, index)| index).collect()
}

/// What is not there comes last in both directions.
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
