//! A single census, or the difference of two.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cache::Bands;
use super::census_range::{CensusInfo, CensusRange};
use super::choice::{HeapChoice, HeapLog};
use super::table::BandLabel;
use crate::cells::{Column, Columns};
use crate::link_text::{number, order_words, read_order};
use analysis::heap::HeapProfile;
use model::census::BandId;
use model::sorting::rows_in_order;
use model::time::Interval;

model::named_enum! {
    /// Sort column of a census comparison.
    #[derive(Default, Hash, Serialize, Deserialize)]
    pub enum CensusDiffColumn: from_name {
        /// Name, in natural order of the numbers in it.
        Name: "name";
        /// Bytes in the earlier census.
        Before: "before";
        /// Bytes in the later census.
        After: "after";
        /// Change in bytes, which is negative for a loss.
        #[default]
        Difference: "difference";
    }
    /// Returns the word in links, which never changes.
    fn name;
}

impl CensusDiffColumn {
    /// Returns whether the column sorts in descending order by default.
    pub const fn largest_first(self) -> bool {
        !matches!(self, Self::Name)
    }
}

/// Selection of the two censuses, and sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CensusDiffChoice {
    /// Index of the earlier census; `None` is the first of the range.
    pub before: Option<u32>,
    /// Index of the later census; `None` is the last of the range.
    pub after: Option<u32>,
    /// Whether only the later census is shown.
    pub alone: bool,
    /// Column by which the rows are sorted.
    pub column: CensusDiffColumn,
    /// Whether the order is descending.
    pub descending: bool,
}

impl Default for CensusDiffChoice {
    fn default() -> Self {
        Self {
            before: None,
            after: None,
            alone: false,
            column: CensusDiffColumn::default(),
            descending: true,
        }
    }
}

impl CensusDiffChoice {
    /// Returns the choice after a click on a column header, which reverses the current sort column.
    #[must_use]
    pub fn clicked(self, column: CensusDiffColumn) -> Self {
        let descending = match self.column == column {
            true => !self.descending,
            false => column.largest_first(),
        };
        Self {
            column,
            descending,
            ..self
        }
    }

    /// Formats the selected censuses for links, counted from 1.
    pub fn censuses_words(self) -> Option<String> {
        let number = |census: Option<u32>| {
            census.map_or_else(String::new, |census| (u64::from(census) + 1).to_string())
        };
        match (self.alone, self.before, self.after) {
            (true, _, after) => Some(number(after)),
            (false, None, None) => None,
            (false, before, after) => Some(format!("{}-{}", number(before), number(after))),
        }
    }

    /// Applies the censuses of a link; returns `None` if they are malformed.
    pub fn read_censuses(&mut self, raw: &str) -> Option<()> {
        let census = |text: &str| match text {
            "" => Some(None),
            text => Some(Some(u32::try_from(number(text)?.checked_sub(1)?).ok()?)),
        };
        match raw.split_once('-') {
            Some((before, after)) => {
                (self.before, self.after) = (census(before)?, census(after)?);
                self.alone = false;
            }
            None => {
                (self.before, self.after) = (None, census(raw)?);
                self.alone = true;
            }
        }
        Some(())
    }

    /// Formats the sort order for links; `None` is the default.
    pub fn order_words(self) -> Option<String> {
        let usual = Self::default();
        let is_usual = (self.column, self.descending) == (usual.column, usual.descending);
        let usual_direction = self.column.largest_first();
        (!is_usual).then(|| order_words(self.column.name(), self.descending, usual_direction))
    }

    /// Applies the sort order of a link; returns `None` if it is malformed.
    pub fn read_order(&mut self, raw: &str) -> Option<()> {
        let largest_first = CensusDiffColumn::largest_first;
        (self.column, self.descending) =
            read_order(raw, CensusDiffColumn::from_name, largest_first)?;
        Some(())
    }
}

/// Query for the bands in two censuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusDiffQuery {
    /// Selection of bands; the maximum number of individual bands is ignored.
    pub choice: HeapChoice,
    /// Range whose first and last census are compared, unless `moments` has others.
    pub range: Option<Interval>,
    /// Selection of the two censuses, and sort order.
    pub moments: CensusDiffChoice,
    /// Maximum number of points of the overview.
    pub points: u32,
    /// Range of row numbers to return.
    pub rows: Range<u64>,
}

/// One band in two censuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusDiffRow {
    /// Names of the band.
    pub band_label: BandLabel,
    /// Bytes in the earlier census.
    pub before: u64,
    /// Bytes in the later census.
    pub after: u64,
}

impl CensusDiffRow {
    /// Returns the change in bytes.
    pub const fn difference(&self) -> i64 {
        self.after as i64 - self.before as i64
    }
}

/// Columns of the export. Sizes are in bytes.
pub(crate) const COLUMNS: Columns<CensusDiffRow, 5> = Columns([
    Column::text("label", "Label in the log").value(|row| row.band_label.key.as_str().into()),
    Column::text("name", "Name in lists").value(|row| row.band_label.name.as_str().into()),
    Column::number("before", "Bytes in the earlier census").value(|row| row.before.into()),
    Column::number("after", "Bytes in the later census").value(|row| row.after.into()),
    Column::ratio("difference", "Their difference").value(|row| (row.difference() as f64).into()),
]);

/// Comparison of two censuses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CensusDiff {
    /// Censuses that the range has.
    pub census_range: CensusRange,
    /// Earlier census; rows compare with an empty heap if only one census is shown.
    pub before: CensusInfo,
    /// Later census, or the only one shown.
    pub after: CensusInfo,
    /// Row number of the first returned row.
    pub first: u64,
    /// Requested rows, as far as they exist.
    pub rows: Vec<CensusDiffRow>,
    /// Number of bands that hold bytes in either census.
    pub total: u64,
    /// Bytes of all rows, before and after.
    pub all: (u64, u64),
    /// Largest absolute change of a band in bytes, or its size if only one census is shown; it scales the bars.
    pub longest: u64,
    /// Overview: total bytes over the whole profile, as the maximum in each of equal parts.
    pub totals: Vec<f64>,
}

impl CensusDiff {
    /// Returns the row with that number, if it was requested.
    pub fn row(&self, number: u64) -> Option<&CensusDiffRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }
}

impl CensusDiffQuery {
    /// Returns the bands in two censuses; `None` if the log has no such profile.
    pub fn moments(&self, log: HeapLog<'_>) -> Option<CensusDiff> {
        let profile = log.profile(&self.choice)?;
        let bands = log.bands(&self.choice)?;
        let places = profile.censuses_in(self.range, log.recording.end());
        let census_range = CensusRange::new(profile, &places, self.range);
        Some(self.moments_of(profile, &bands, census_range))
    }

    fn moments_of(
        &self,
        profile: &HeapProfile,
        bands: &Bands,
        census_range: CensusRange,
    ) -> CensusDiff {
        let last = bands
            .clip_to_named(0..census_range.of)
            .end
            .saturating_sub(1);
        let ends = census_range
            .ends
            .map(|(first, last)| (first.census, last.census));
        // A range without censuses uses the nearest one.
        let nearest = census_range.nearest.map_or(last, |moment| moment.census);
        let (start, end) = ends.unwrap_or((nearest, nearest));
        let before = self.moments.before.unwrap_or(start).min(last);
        let after = self.moments.after.unwrap_or(end).min(last);
        let (before, after) = (
            CensusInfo::new(profile, before),
            CensusInfo::new(profile, after),
        );
        let held = self.band_changes(profile, bands, before.census, after.census);
        let longest = held
            .iter()
            .map(|(_, before, after)| before.abs_diff(*after));
        let longest = longest.max().unwrap_or(0);
        let all = held
            .iter()
            .fold((0, 0), |sum, held| (sum.0 + held.1, sum.1 + held.2));
        let total = held.len() as u64;
        let wanted = rows_in_order(held.len(), &self.rows, &mut |a, b| {
            self.order(bands, &held[a], &held[b])
        });
        let row = |at: usize| {
            let (band, before, after) = held[at];
            CensusDiffRow {
                band_label: BandLabel::new(bands, band),
                before,
                after,
            }
        };
        CensusDiff {
            census_range,
            before,
            after,
            first: self.rows.start,
            rows: wanted.into_iter().map(row).collect(),
            total,
            all,
            longest,
            totals: peaks(
                profile.censuses.totals(),
                self.points.min(MAX_POINTS) as usize,
            ),
        }
    }

    /// Returns the bands that hold bytes in either census.
    fn band_changes(
        &self,
        profile: &HeapProfile,
        bands: &Bands,
        before: u32,
        after: u32,
    ) -> Vec<BandChange> {
        let censuses = bands.censuses(profile);
        let wanted = bands.filter(&self.choice);
        let all = (0..censuses.bands() as u32).map(BandId);
        let held = all.map(|band| {
            let before = match self.moments.alone {
                true => 0,
                false => censuses.bytes_at(band, before),
            };
            (band, before, censuses.bytes_at(band, after))
        });
        held.filter(|&(band, before, after)| before.max(after) > 0 && wanted(band))
            .collect()
    }

    fn order(&self, bands: &Bands, a: &BandChange, b: &BandChange) -> Ordering {
        let difference = |held: &BandChange| held.2 as i64 - held.1 as i64;
        let order = match self.moments.column {
            CensusDiffColumn::Name => {
                alphanumeric_sort::compare_str(bands.name(a.0), bands.name(b.0))
            }
            CensusDiffColumn::Before => a.1.cmp(&b.1),
            CensusDiffColumn::After => a.2.cmp(&b.2),
            CensusDiffColumn::Difference => difference(a).cmp(&difference(b)),
        };
        let order = match self.moments.descending {
            true => order.reverse(),
            false => order,
        };
        order.then(a.0.cmp(&b.0))
    }
}

/// Band with its bytes before and after.
type BandChange = (BandId, u64, u64);

/// No screen is wider in pixels.
const MAX_POINTS: u32 = 8_192;

/// Returns the maximum of a series in each of `points` parts.
fn peaks(series: &[u64], points: usize) -> Vec<f64> {
    let count = points.min(series.len());
    let place = |point: usize| point * series.len() / count.max(1);
    let part = |point| {
        series
            .get(place(point)..place(point + 1))
            .unwrap_or_default()
    };
    let most = |point| part(point).iter().max().copied().unwrap_or(0) as f64;
    (0..count).map(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_says_which_censuses() {
        let read = |raw: &str| {
            let mut choice = CensusDiffChoice::default();
            choice
                .read_censuses(raw)
                .map(|()| (choice.before, choice.after, choice.alone))
        };
        for (raw, expected) in [
            ("3-40", Some((Some(2), Some(39), false))),
            ("-40", Some((None, Some(39), false))),
            ("3-", Some((Some(2), None, false))),
            ("40", Some((None, Some(39), true))),
            ("", Some((None, None, true))),
            ("0-4", None),
            ("x", None),
            ("1-2-3", None),
        ] {
            assert_eq!(read(raw), expected, "{raw}");
            let mut read_before = CensusDiffChoice {
                before: Some(7),
                ..CensusDiffChoice::default()
            };
            if read_before.read_censuses(raw).is_some() {
                let now = (read_before.before, read_before.after, read_before.alone);
                assert_eq!(Some(now), expected, "{raw}, after another");
            }
            if let Some((before, after, alone)) = expected {
                let choice = CensusDiffChoice {
                    before,
                    after,
                    alone,
                    ..CensusDiffChoice::default()
                };
                assert_eq!(choice.censuses_words().as_deref(), Some(raw));
            }
        }
    }

    #[test]
    fn a_small_picture_has_all_peaks() {
        let series: Vec<u64> = (0..1_000).map(|at| if at == 777 { 9 } else { 1 }).collect();
        let small = peaks(&series, 10);
        assert_eq!(small, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0]);
        assert_eq!(peaks(&series[..3], 10), [1.0; 3]);
        assert_eq!(peaks(&[], 10), [0.0; 0]);
        assert_eq!(peaks(&series, 0), [0.0; 0]);
    }
}
