//! Band table: statistics of each band in a range.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cache::Bands;
use super::census_range::{CensusRange, draw_spark, spark_points};
use super::choice::{HeapChoice, HeapLog, SelectedBands};
use crate::link_text::{order_words, read_order};
use analysis::heap::names::{BandDescription, BandNames};
use analysis::heap::{Breakdown, HeapProfile};
use eventlog::ids::Nanos;
use model::census::{BandId, BandSums};
use model::sorting::rows_in_order;
use model::time::Interval;

model::named_enum! {
    /// Column by which the band table can be sorted.
    #[derive(Default, Hash, Serialize, Deserialize)]
    pub enum BandColumn: from_name {
        /// Name, in natural order of the numbers in it.
        Name: "name";
        /// Mean bytes, shown with the share of all bytes.
        #[default]
        Mean: "mean";
        /// Maximum bytes in one census.
        Max: "max";
        /// Bytes in the first census.
        First: "first";
        /// Bytes in the last census.
        Last: "last";
        /// Difference between the last and the first census.
        Gained: "gained";
        /// Integral of the bytes over time.
        Integral: "integral";
        /// Standard deviation of the bytes.
        Deviation: "stddev";
        /// Slope of the regression line, in bytes per second.
        Slope: "slope";
        /// Coefficient of determination of the regression line.
        R2: "r2";
        /// Description, such as `thunk of type [Shape]`.
        What: "what";
        /// Type of the values.
        Type: "type";
        /// Module of the code that creates the values.
        Module: "module";
        /// Source location that creates the values.
        Place: "place";
    }
    /// Returns the word in links, which never changes.
    fn name;
}

impl BandColumn {
    /// Returns whether the column sorts in descending order by default.
    pub const fn largest_first(self) -> bool {
        !matches!(self, Self::Name) && !self.is_described()
    }

    /// Returns whether the column describes the band rather than its bytes.
    pub const fn is_described(self) -> bool {
        matches!(self, Self::What | Self::Type | Self::Module | Self::Place)
    }
}

/// Sort order of a band table; ties are broken by band id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BandSort {
    /// Column by which the rows are sorted.
    pub column: BandColumn,
    /// Whether the order is descending.
    pub descending: bool,
}

impl Default for BandSort {
    fn default() -> Self {
        Self::sorted_by(BandColumn::default())
    }
}

impl BandSort {
    /// Sorts by a column in its default direction.
    pub const fn sorted_by(column: BandColumn) -> Self {
        Self {
            column,
            descending: column.largest_first(),
        }
    }

    /// Returns the order after a click on a column header, which reverses the current sort column.
    #[must_use]
    pub fn clicked(self, column: BandColumn) -> Self {
        match self.column == column {
            true => Self {
                descending: !self.descending,
                ..self
            },
            false => Self::sorted_by(column),
        }
    }

    /// Formats the order for links.
    pub fn words(self) -> String {
        let usual = self.column.largest_first();
        order_words(self.column.name(), self.descending, usual)
    }

    /// Parses the order of a link.
    pub fn from_words(words: &str) -> Option<Self> {
        let order = read_order(words, BandColumn::from_name, BandColumn::largest_first);
        order.map(|(column, descending)| Self { column, descending })
    }
}

/// Query for rows of the band table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandTableQuery {
    /// Selection of bands; the maximum number of individual bands is ignored.
    pub choice: HeapChoice,
    /// Range to evaluate; `None` is the whole log.
    pub range: Option<Interval>,
    /// Sort order of the rows.
    pub sort: BandSort,
    /// Range of row numbers to return.
    pub rows: Range<u64>,
}

/// Statistics of a band in a range; in bytes unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandNumbers {
    /// Mean over all censuses.
    pub mean: f64,
    /// Maximum in one census.
    pub max: u64,
    /// Bytes in the first census of the range.
    pub first: u64,
    /// Bytes in the last census of the range.
    pub last: u64,
    /// Integral over time, by the trapezoidal rule; 0 if the censuses have no times.
    pub integral_byte_seconds: f64,
    /// Standard deviation over the censuses.
    pub stddev: f64,
    /// Slope of the regression line; `None` if the censuses have no times.
    pub bytes_per_second: Option<f64>,
    /// Coefficient of determination of that line, from 0 to 1.
    pub r2: Option<f64>,
    /// Share of the bytes of all bands, including bands that are not listed, from 0 to 1.
    pub share: f64,
    /// Number of censuses in which the band holds bytes.
    pub held: u32,
}

impl BandNumbers {
    pub(super) fn from_sums(sums: &BandSums, all_bytes: u128, timed: bool) -> Self {
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

    /// Returns the difference between the last and the first census.
    pub const fn gained(&self) -> i64 {
        self.last as i64 - self.first as i64
    }
}

/// Names of a band.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandLabel {
    /// Key in links, which never changes for a log.
    pub key: String,
    /// Display name, unique among the bands.
    pub name: String,
    /// Description, module and source location; may be empty.
    pub subtitle: String,
}

impl BandLabel {
    pub(super) fn new(bands: &Bands, band: BandId) -> Self {
        Self {
            key: bands.key(band).to_owned(),
            name: bands.name(band).to_owned(),
            subtitle: bands.subtitle(band).to_owned(),
        }
    }
}

/// Row of the band table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandRow {
    /// Names of the band.
    pub band_label: BandLabel,
    /// Statistics of the band.
    pub numbers: BandNumbers,
    /// Time at which the band first held its maximum; `None` if it holds nothing, or if the censuses have no
    /// times.
    pub peak: Option<Nanos>,
    /// Description of the band; `None` for groups.
    pub described: Option<BandDescription>,
}

/// Sums over all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandTotals {
    /// Mean bytes over all censuses.
    pub mean: f64,
    /// Bytes in the first census of the range.
    pub first: u64,
    /// Bytes in the last census of the range.
    pub last: u64,
    /// Integral of the bytes over time, in byte-seconds.
    pub integral_byte_seconds: f64,
    /// Share of the bytes of all bands, from 0 to 1.
    pub share: f64,
}

/// Rows of the band table, with totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandTable {
    /// Censuses that the statistics cover.
    pub census_range: CensusRange,
    /// Row number of the first returned row.
    pub first: u64,
    /// Requested rows, as far as they exist.
    pub rows: Vec<BandRow>,
    /// Number of all rows.
    pub total: u64,
    /// Sums over all rows.
    pub all: BandTotals,
    /// Whether the bands are info tables, which may have a type, module and source location.
    pub info_tables: bool,
    /// Number of points in each sparkline.
    pub points: u32,
    /// Concatenated sparklines of the rows: heights from 0 to 255.
    #[serde(skip)]
    pub sparks: Vec<u8>,
}

impl BandTable {
    /// Returns the row with that number, if it was requested.
    pub fn row(&self, number: u64) -> Option<&BandRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }

    /// Returns the sparkline of a row, by its index in `rows`.
    pub fn spark(&self, place: usize) -> &[u8] {
        let points = self.points as usize;
        let part = self.sparks.get(place * points..(place + 1) * points);
        part.unwrap_or_default()
    }
}

/// Sort key; missing values sort last in both directions.
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
            // Unreachable: a column has values of one variant.
            _ => Ordering::Equal,
        }
    }
}

fn key(column: BandColumn, sums: &BandSums) -> Key {
    let line = || sums.growth();
    Some(match column {
        // Text columns have no numeric key.
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

/// Returns the sort key of a text column; `None` if the text is unknown.
fn text(column: BandColumn, described: BandDescription) -> Key {
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
    /// Returns rows of the band table; `None` if the log has no such profile.
    pub fn table(&self, log: HeapLog<'_>) -> Option<BandTable> {
        let chosen = log.select_bands(&self.choice, self.range)?;
        let names = log.recording.band_names();
        Some(self.table_of(log.profile(&self.choice)?, &chosen, names))
    }

    fn table_of(
        &self,
        profile: &HeapProfile,
        chosen: &SelectedBands,
        names: BandNames<'_>,
    ) -> BandTable {
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
        let wanted = rows_in_order(rows.len(), &self.rows, &mut |a, b| {
            self.order(bands, &rows[a], &rows[b])
        });
        let censuses = bands.censuses(profile);
        let mut sparks = Vec::new();
        let row = |at: usize| {
            let band = rows[at].1;
            let peak = draw_spark(censuses, band, places, &mut sparks);
            BandRow {
                band_label: BandLabel::new(bands, band),
                numbers: BandNumbers::from_sums(&ranking.sums(band), ranking.bytes(), timed),
                peak: peak.and_then(|census| profile.time(census)),
                described: describe(names, band),
            }
        };
        let rows = wanted.into_iter().map(row).collect();
        BandTable {
            census_range: CensusRange::new(profile, places, self.range),
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
