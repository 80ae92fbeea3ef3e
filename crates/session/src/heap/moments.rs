//! One census, or the difference of two.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cache::Bands;
use super::choice::{HeapChoice, HeapLog};
use super::counted::{Counted, Moment};
use super::table::{Called, part};
use crate::link_text::{number, order_words, split_order};
use analysis::heap::HeapProfile;
use model::census::BandId;
use model::time::Interval;

/// What the bands of two censuses can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MomentColumn {
    /// The name; numbers in it as numbers.
    Name,
    /// What it held before.
    Before,
    /// What it holds after.
    After,
    /// What it gained; the most lost is at the other end.
    #[default]
    Difference,
}

impl MomentColumn {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Name, Self::Before, Self::After, Self::Difference];

    /// Its word in links, which never changes.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Before => "before",
            Self::After => "after",
            Self::Difference => "difference",
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
        !matches!(self, Self::Name)
    }
}

/// Which two censuses, and how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MomentsChoice {
    /// The earlier one, by its number; the first of the range without.
    pub before: Option<u32>,
    /// The later one, by its number; the last of the range without.
    pub after: Option<u32>,
    /// Only the later one is looked at.
    pub alone: bool,
    /// By what bands are sorted.
    pub column: MomentColumn,
    /// The largest first.
    pub descending: bool,
}

impl Default for MomentsChoice {
    fn default() -> Self {
        Self {
            before: None,
            after: None,
            alone: false,
            column: MomentColumn::default(),
            descending: true,
        }
    }
}

impl MomentsChoice {
    /// After a click on a column: the one that counts already is turned over.
    #[must_use]
    pub fn clicked(self, column: MomentColumn) -> Self {
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

    /// Which censuses, in links, where they are counted from 1.
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

    /// Takes over what a link says of them; `None` if it is not understood.
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

    /// The order of bands in links.
    pub fn order_words(self) -> Option<String> {
        let usual = Self::default();
        let is_usual = (self.column, self.descending) == (usual.column, usual.descending);
        let usual_direction = self.column.largest_first();
        (!is_usual).then(|| order_words(self.column.word(), self.descending, usual_direction))
    }

    /// Takes over what a link says of it; `None` if it is not understood.
    pub fn read_order(&mut self, raw: &str) -> Option<()> {
        let (word, direction) = split_order(raw);
        let column = MomentColumn::of_word(word)?;
        self.descending = direction.unwrap_or(Some(column.largest_first()))?;
        self.column = column;
        Some(())
    }
}

/// What became of the bands from one census to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentsQuery {
    /// Which bands: how many of them are drawn by themselves does not count.
    pub choice: HeapChoice,
    /// The range whose ends they are, unless they are chosen.
    pub range: Option<Interval>,
    /// Which two.
    pub moments: MomentsChoice,
    /// How many points the small picture of all censuses may have.
    pub points: u32,
    /// Which rows are wanted.
    pub rows: Range<u64>,
}

/// A band in two censuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentRow {
    /// What it is called.
    pub called: Called,
    /// Its bytes before.
    pub before: u64,
    /// Its bytes after.
    pub after: u64,
}

impl MomentRow {
    /// What it gained.
    #[must_use]
    pub const fn difference(&self) -> i64 {
        self.after as i64 - self.before as i64
    }
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Which censuses the range has.
    pub counted: Counted,
    /// The earlier one; the empty heap before the first one if only one is looked at.
    pub before: Moment,
    /// The later one.
    pub after: Moment,
    /// The number of the first of the rows.
    pub first: u64,
    /// The rows asked for, as far as there are so many.
    pub rows: Vec<MomentRow>,
    /// How many bands hold something in one of the two.
    pub total: u64,
    /// The bytes of all rows, before and after.
    pub all: (u64, u64),
    /// The greatest difference of a band, in bytes, or its most bytes if one census
    /// is looked at: the length of the longest bar.
    pub longest: u64,
    /// The bytes of all bands over the whole profile: the most in each of as many
    /// parts as there are points.
    pub totals: Vec<f64>,
}

impl Moments {
    /// The row of that number, if it is one of those asked for.
    #[must_use]
    pub fn row(&self, number: u64) -> Option<&MomentRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }
}

impl MomentsQuery {
    /// The bands in two censuses; `None` if the log has no such profile.
    #[must_use]
    pub fn moments(&self, log: HeapLog<'_>) -> Option<Moments> {
        let profile = log.profile(&self.choice)?;
        let bands = log.bands(&self.choice)?;
        let places = profile.places(self.range, log.recording.end());
        let counted = Counted::of(profile, &places, self.range);
        Some(self.moments_of(profile, &bands, counted))
    }

    fn moments_of(&self, profile: &HeapProfile, bands: &Bands, counted: Counted) -> Moments {
        let last = bands.known(0..counted.of).end.saturating_sub(1);
        let ends = counted
            .ends
            .map(|(first, last)| (first.census, last.census));
        // Without a census in the range, the nearest one is told.
        let nearest = counted.nearest.map_or(last, |moment| moment.census);
        let (start, end) = ends.unwrap_or((nearest, nearest));
        let before = self.moments.before.unwrap_or(start).min(last);
        let after = self.moments.after.unwrap_or(end).min(last);
        let (before, after) = (Moment::of(profile, before), Moment::of(profile, after));
        let mut held = self.held(profile, bands, before.census, after.census);
        let longest = held
            .iter()
            .map(|(_, before, after)| before.abs_diff(*after));
        let longest = longest.max().unwrap_or(0);
        let all = held
            .iter()
            .fold((0, 0), |sum, held| (sum.0 + held.1, sum.1 + held.2));
        let total = held.len() as u64;
        let wanted = part(&mut held, &self.rows, |a, b| self.order(bands, a, b));
        let row = |&(band, before, after): &Held| MomentRow {
            called: Called::of(bands, band),
            before,
            after,
        };
        Moments {
            counted,
            before,
            after,
            first: self.rows.start,
            rows: wanted.iter().map(row).collect(),
            total,
            all,
            longest,
            totals: peaks(
                profile.censuses.totals(),
                self.points.min(MOST_POINTS) as usize,
            ),
        }
    }

    /// The bands that hold something in one of both.
    fn held(&self, profile: &HeapProfile, bands: &Bands, before: u32, after: u32) -> Vec<Held> {
        let censuses = bands.censuses(profile);
        let wanted = bands.wanted(&self.choice);
        let all = (0..censuses.bands() as u32).map(BandId);
        let held = all.map(|band| {
            let before = match self.moments.alone {
                true => 0,
                false => censuses.at(band, before),
            };
            (band, before, censuses.at(band, after))
        });
        held.filter(|&(band, before, after)| before.max(after) > 0 && wanted(band))
            .collect()
    }

    fn order(&self, bands: &Bands, a: &Held, b: &Held) -> Ordering {
        let difference = |held: &Held| held.2 as i64 - held.1 as i64;
        let order = match self.moments.column {
            MomentColumn::Name => alphanumeric_sort::compare_str(bands.name(a.0), bands.name(b.0)),
            MomentColumn::Before => a.1.cmp(&b.1),
            MomentColumn::After => a.2.cmp(&b.2),
            MomentColumn::Difference => difference(a).cmp(&difference(b)),
        };
        let order = match self.moments.descending {
            true => order.reverse(),
            false => order,
        };
        order.then(a.0.cmp(&b.0))
    }
}

/// A band with its bytes before and after.
type Held = (BandId, u64, u64);

/// No screen has more pixels.
const MOST_POINTS: u32 = 8_192;

/// The most in each of so many parts of a series.
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
            let mut choice = MomentsChoice::default();
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
            let mut read_before = MomentsChoice {
                before: Some(7),
                ..MomentsChoice::default()
            };
            if read_before.read_censuses(raw).is_some() {
                let now = (read_before.before, read_before.after, read_before.alone);
                assert_eq!(Some(now), expected, "{raw}, after another");
            }
            if let Some((before, after, alone)) = expected {
                let choice = MomentsChoice {
                    before,
                    after,
                    alone,
                    ..MomentsChoice::default()
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
