//! The table of bands: what each comes to in the range.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cache::Bands;
use super::choice::{Chosen, HeapChoice, HeapLog};
use super::counted::{Counted, draw_spark, spark_points};
use crate::link_text::{order_words, split_order};
use analysis::heap::names::{BandNames, Described};
use analysis::heap::{Breakdown, HeapProfile};
use eventlog::ids::Nanos;
use model::census::{BandId, BandSums};
use model::sorting::SortSmall;
use model::time::Interval;

/// What the table can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BandColumn {
    /// The name; numbers in it as numbers.
    Name,
    /// The average of its bytes, and its share of all.
    #[default]
    Mean,
    /// Its most bytes in one census.
    Max,
    /// Its bytes in the first census.
    First,
    /// Its bytes in the last census.
    Last,
    /// What it gained from the first to the last census.
    Gained,
    /// The integral over time.
    Integral,
    /// The standard deviation.
    Deviation,
    /// The slope in bytes per second.
    Slope,
    /// How well a line fits.
    R2,
    /// What it is, in words.
    What,
    /// The type of its values.
    Type,
    /// Its module.
    Module,
    /// Where in the source it is made.
    Place,
}

impl BandColumn {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 14] = [
        Self::Name,
        Self::Mean,
        Self::Max,
        Self::First,
        Self::Last,
        Self::Gained,
        Self::Integral,
        Self::Deviation,
        Self::Slope,
        Self::R2,
        Self::What,
        Self::Type,
        Self::Module,
        Self::Place,
    ];

    /// Its word in links, which never changes.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Mean => "mean",
            Self::Max => "max",
            Self::First => "first",
            Self::Last => "last",
            Self::Gained => "gained",
            Self::Integral => "integral",
            Self::Deviation => "stddev",
            Self::Slope => "slope",
            Self::R2 => "r2",
            Self::What => "what",
            Self::Type => "type",
            Self::Module => "module",
            Self::Place => "place",
        }
    }

    /// The column of a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.word() == word)
    }

    /// Whether large values of it are of more interest than small ones.
    #[must_use]
    pub const fn largest_first(self) -> bool {
        !matches!(self, Self::Name) && !self.is_described()
    }

    /// Whether it says what is known of a band beside its bytes.
    #[must_use]
    pub const fn is_described(self) -> bool {
        matches!(self, Self::What | Self::Type | Self::Module | Self::Place)
    }
}

/// How a table of bands is sorted; those that are equal by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BandSort {
    /// By what.
    pub column: BandColumn,
    /// The largest first.
    pub descending: bool,
}

impl Default for BandSort {
    fn default() -> Self {
        Self::by(BandColumn::default())
    }
}

impl BandSort {
    /// By a column, in its usual direction.
    #[must_use]
    pub const fn by(column: BandColumn) -> Self {
        Self {
            column,
            descending: column.largest_first(),
        }
    }

    /// After a click on a column: the one that counts already is turned over.
    #[must_use]
    pub fn clicked(self, column: BandColumn) -> Self {
        match self.column == column {
            true => Self {
                descending: !self.descending,
                ..self
            },
            false => Self::by(column),
        }
    }

    /// Its words in links.
    #[must_use]
    pub fn words(self) -> String {
        let usual = self.column.largest_first();
        order_words(self.column.word(), self.descending, usual)
    }

    /// What words in a link say.
    #[must_use]
    pub fn of_words(words: &str) -> Option<Self> {
        let (word, direction) = split_order(words);
        let column = BandColumn::of_word(word)?;
        let descending = direction.unwrap_or(Some(column.largest_first()))?;
        Some(Self { column, descending })
    }
}

/// Which bands, in which order, and which of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandTableQuery {
    /// Which bands: how many of them are drawn by themselves does not count.
    pub choice: HeapChoice,
    /// The time that counts; all of the log without.
    pub range: Option<Interval>,
    /// In which order.
    pub sort: BandSort,
    /// Which rows are wanted.
    pub rows: Range<u64>,
}

/// What a band comes to in the range, in bytes if nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandNumbers {
    /// The average over all censuses.
    pub mean: f64,
    /// The most in one census.
    pub max: u64,
    /// In the first census of the range.
    pub first: u64,
    /// In the last census of the range.
    pub last: u64,
    /// The integral over time in byte-seconds, by the trapezoid rule.
    pub integral_byte_seconds: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// The slope of the line through its bytes.
    pub bytes_per_second: Option<f64>,
    /// How well the line fits, 0 to 1.
    pub r2: Option<f64>,
    /// Of the bytes of all bands, also of those that are not listed: 0 to 1.
    pub share: f64,
    /// In how many censuses it holds anything.
    pub held: u32,
}

impl BandNumbers {
    pub(super) fn of(sums: &BandSums, all_bytes: u128, timed: bool) -> Self {
        let line = sums.growth().filter(|_| timed);
        Self {
            mean: sums.mean(),
            max: sums.max,
            first: sums.first,
            last: sums.last,
            integral_byte_seconds: if timed {
                sums.integral_byte_seconds()
            } else {
                0.0
            },
            stddev: sums.stddev(),
            bytes_per_second: line.map(|line| line.bytes_per_second),
            r2: line.map(|line| line.r2),
            share: sums.bytes as f64 / all_bytes.max(1) as f64,
            held: sums.held,
        }
    }

    /// What it gained from the first to the last census.
    #[must_use]
    pub const fn gained(&self) -> i64 {
        self.last as i64 - self.first as i64
    }
}

/// What a band is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    /// What it is known by in links.
    pub key: String,
    /// What is shown.
    pub name: String,
    /// What it is, with module and place; empty if that is not known.
    pub subtitle: String,
}

impl Called {
    pub(super) fn of(bands: &Bands, band: BandId) -> Self {
        Self {
            key: bands.key(band).to_owned(),
            name: bands.name(band).to_owned(),
            subtitle: bands.subtitle(band).to_owned(),
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandRow {
    /// What it is called.
    pub called: Called,
    /// What it comes to.
    pub numbers: BandNumbers,
    /// When it first held its most; `None` if it holds nothing, or if censuses have no times.
    pub peak: Option<Nanos>,
    /// What is known of it beside its bytes; nothing of groups.
    pub described: Option<Described>,
}

/// What can be told of all rows together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandTotals {
    /// The average over all censuses.
    pub mean: f64,
    /// In the first census of the range.
    pub first: u64,
    /// In the last census of the range.
    pub last: u64,
    /// The integral over time.
    pub integral_byte_seconds: f64,
    /// Of the bytes of all bands.
    pub share: f64,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandTable {
    /// Which censuses count.
    pub counted: Counted,
    /// The number of the first of the rows.
    pub first: u64,
    /// The rows asked for, as far as there are so many.
    pub rows: Vec<BandRow>,
    /// How many rows there are.
    pub total: u64,
    /// All rows together.
    pub all: BandTotals,
    /// Whether bands are info tables, of which type, module and place may be known.
    pub info_tables: bool,
    /// How many points each of the small pictures has.
    pub points: u32,
    /// The small pictures of the rows, one after the other: heights, 255 at most.
    #[serde(skip)]
    pub sparks: Vec<u8>,
}

impl BandTable {
    /// The row of that number, if it is one of those asked for.
    #[must_use]
    pub fn row(&self, number: u64) -> Option<&BandRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }

    /// The small picture of a row, by its place among those asked for.
    #[must_use]
    pub fn spark(&self, place: usize) -> &[u8] {
        let points = self.points as usize;
        let part = self.sparks.get(place * points..(place + 1) * points);
        part.unwrap_or_default()
    }
}

/// By what a band is sorted: what is not there comes last in both directions.
type Key = Option<Value>;

#[derive(Clone, Debug)]
enum Value {
    Whole(u128),
    Signed(i64),
    Float(f64),
    Text(String),
}

impl Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(b),
            (Self::Signed(a), Self::Signed(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => alphanumeric_sort::compare_str(a, b),
            // A column has one kind of values.
            _ => Ordering::Equal,
        }
    }
}

fn key(column: BandColumn, sums: &BandSums) -> Key {
    let line = || sums.growth();
    Some(match column {
        // Sorted by texts.
        BandColumn::Name
        | BandColumn::What
        | BandColumn::Type
        | BandColumn::Module
        | BandColumn::Place => return None,
        BandColumn::Mean => Value::Whole(sums.bytes),
        BandColumn::Max => Value::Whole(sums.max.into()),
        BandColumn::First => Value::Whole(sums.first.into()),
        BandColumn::Last => Value::Whole(sums.last.into()),
        BandColumn::Gained => Value::Signed(sums.last as i64 - sums.first as i64),
        BandColumn::Integral => Value::Whole(sums.twice_integral),
        BandColumn::Deviation => Value::Float(sums.stddev()),
        BandColumn::Slope => Value::Float(line()?.bytes_per_second),
        BandColumn::R2 => Value::Float(line()?.r2),
    })
}

/// What a band is sorted by that has no number there; none if it is not known.
fn text(column: BandColumn, described: Described) -> Key {
    let text = match column {
        BandColumn::What => Some(described.what),
        BandColumn::Type => described.type_,
        BandColumn::Module => described.module,
        BandColumn::Place => described.place,
        _ => None,
    };
    text.filter(|text| !text.is_empty()).map(Value::Text)
}

impl BandTableQuery {
    /// The bands of a profile with what they come to; `None` if the log has no such
    /// profile.
    #[must_use]
    pub fn table(&self, log: HeapLog<'_>) -> Option<BandTable> {
        let chosen = log.chosen(&self.choice, self.range)?;
        let names = log.recording.band_names();
        Some(self.table_of(log.profile(&self.choice)?, &chosen, names))
    }

    fn table_of(&self, profile: &HeapProfile, chosen: &Chosen, names: BandNames<'_>) -> BandTable {
        let (bands, ranking) = (&chosen.bands, &chosen.ranking);
        let places = ranking.censuses();
        let timed = profile.is_timed();
        let breakdown = profile.kind.breakdown;
        let describe = |names: BandNames<'_>, band| {
            let label = profile.label(band).filter(|_| bands.are_single())?;
            Some(names.describe(breakdown, &label))
        };
        let mut rows: Vec<(Key, BandId)> = Vec::new();
        let (mut all, mut bytes) = (BandTotals::default(), 0_u128);
        for &band in chosen.shown.iter().chain(&chosen.others) {
            let sums = ranking.sums(band);
            bytes += sums.bytes;
            all.mean += sums.mean();
            all.first += sums.first;
            all.last += sums.last;
            if timed {
                all.integral_byte_seconds += sums.integral_byte_seconds();
            }
            let key = match self.sort.column.is_described() {
                true => describe(names, band).and_then(|it| text(self.sort.column, it)),
                false => key(self.sort.column, &sums),
            };
            rows.push((key, band));
        }
        all.share = bytes as f64 / ranking.bytes().max(1) as f64;
        let total = rows.len() as u64;
        let wanted = part(&mut rows, &self.rows, |a, b| self.order(bands, a, b));
        let censuses = bands.censuses(profile);
        let mut sparks = Vec::new();
        let row = |&(_, band): &(Key, BandId)| {
            let peak = draw_spark(censuses, band, places, &mut sparks);
            BandRow {
                called: Called::of(bands, band),
                numbers: BandNumbers::of(&ranking.sums(band), ranking.bytes(), timed),
                peak: peak.and_then(|census| profile.time(census)),
                described: describe(names, band),
            }
        };
        let rows = wanted.iter().map(row).collect();
        BandTable {
            counted: Counted::of(profile, places, self.range),
            first: self.rows.start,
            rows,
            total,
            all,
            info_tables: breakdown == Breakdown::InfoTable && bands.are_single(),
            points: spark_points(places),
            sparks,
        }
    }

    fn order(&self, bands: &Bands, a: &(Key, BandId), b: &(Key, BandId)) -> Ordering {
        let turned = |order: Ordering| match self.sort.descending {
            true => order.reverse(),
            false => order,
        };
        let by_value = match (&a.0, &b.0) {
            _ if self.sort.column == BandColumn::Name => turned(alphanumeric_sort::compare_str(
                bands.name(a.1),
                bands.name(b.1),
            )),
            (Some(a), Some(b)) => turned(a.cmp(b)),
            (a, b) => a.is_none().cmp(&b.is_none()),
        };
        by_value.then(a.1.cmp(&b.1))
    }
}

/// Some of the rows in order: only these are sorted.
pub(super) fn part<'a, T>(
    all: &'a mut [T],
    wanted: &Range<u64>,
    order: impl Fn(&T, &T) -> Ordering,
) -> &'a mut [T] {
    let place = |row: u64| usize::try_from(row).unwrap_or(usize::MAX).min(all.len());
    let (first, end) = (place(wanted.start), place(wanted.end));
    if first >= end {
        return &mut [];
    }
    if first > 0 {
        all.select_nth_unstable_by(first - 1, &order);
    }
    let rest = all.get_mut(first..).unwrap_or_default();
    let count = end - first;
    if count < rest.len() {
        rest.select_nth_unstable_by(count, &order);
    }
    let rows = rest.get_mut(..count).unwrap_or_default();
    rows.sort_small_by(order);
    rows
}
