//! Texts for heap charts.

use super::hit::HitTarget;
use super::paint::number;
use eventlog::ids::Nanos;
use scene::format;
use session::heap::chart::{Chart, ChartBand};

/// Description of the element under the pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HitDescription {
    /// Name of the band, or the census if no band is hit.
    pub title: String,
    /// Labels with their values.
    pub facts: Vec<(&'static str, String)>,
}

impl HitDescription {
    /// Formats everything as one sentence.
    pub fn sentence(&self) -> String {
        let facts = self
            .facts
            .iter()
            .map(|(what, text)| format!("{what} {text}"));
        let facts: Vec<String> = facts.collect();
        format!("{}: {}", self.title, facts.join(", "))
    }
}

fn bytes(value: f64) -> String {
    format::bytes(value.round() as u64)
}

/// Descriptions of a chart.
pub trait ChartText {
    /// Returns the number of a drawn census, with its time if known.
    fn when(&self, stack: usize) -> String;

    /// Describes the element under the pointer.
    fn describe(&self, pointed: HitTarget) -> HitDescription;

    /// Returns the number and the name of a band.
    fn title(&self, place: usize) -> String;

    /// Describes the band that combines all others: `1,200 other bands`.
    fn others_words(&self) -> String;

    /// Describes how many bands are shown individually: `15 of 1,215 bands`.
    fn bands_words(&self) -> String;

    /// Describes what is omitted because censuses share pixels; empty if nothing is.
    fn merged_words(&self) -> String;

    /// Explains an axis that counts censuses; empty if the axis is time.
    fn untimed_words(&self) -> &'static str;

    /// Returns a row of the text alternative: first, last and maximum bytes, and the share of all bands in the
    /// range.
    fn row(&self, band: &ChartBand) -> [String; 4];
}

impl ChartText for Chart {
    fn when(&self, stack: usize) -> String {
        let number = self.stacks.census.get(stack).map_or(0, |census| census + 1);
        let of = format!("census {number} of {}", format::count(self.censuses.into()));
        match self.stacks.at.get(stack) {
            Some(&at) if self.timed => format!("{of}, {}", format::time(Nanos(at as u64))),
            _ => of,
        }
    }

    fn describe(&self, pointed: HitTarget) -> HitDescription {
        let stack = pointed.stack;
        let total = self.stacks.total.get(stack).copied().unwrap_or_default();
        let when = ("at", self.when(stack));
        let Some((place, band)) = pointed
            .band
            .and_then(|place| Some((place, self.bands.get(place)?)))
        else {
            let facts = vec![("all bands", bytes(total))];
            return HitDescription {
                title: self.when(stack),
                facts,
            };
        };
        let held = self.stacks.value(place, stack);
        let share = if total > 0.0 { held / total } else { 0.0 };
        let mut facts = vec![when, ("bytes", bytes(held))];
        facts.push((
            "share",
            format!("{} of {}", format::fraction(share), bytes(total)),
        ));
        if band.is_single() {
            let singles = self.bands.iter().filter(|band| band.is_single()).count();
            let larger = (0..singles).filter(|&other| self.stacks.value(other, stack) > held);
            facts.push(("rank", format!("{} of {singles} shown", larger.count() + 1)));
        }
        HitDescription {
            title: self.title(place),
            facts,
        }
    }

    fn title(&self, place: usize) -> String {
        match self.bands.get(place) {
            Some(band) if band.is_single() => format!("{} {}", number(self, place), band.name),
            Some(_) => self.others_words(),
            None => String::new(),
        }
    }

    fn others_words(&self) -> String {
        format::pluralize(self.others.into(), "other band")
    }

    fn bands_words(&self) -> String {
        let singles = self.bands.iter().filter(|band| band.is_single()).count() as u64;
        let all = format::pluralize(self.in_range.into(), "band");
        if singles == u64::from(self.in_range) {
            format!("all {all}")
        } else {
            format!("{} of {all}", format::count(singles))
        }
    }

    fn merged_words(&self) -> String {
        let shown = self.stacks.len() as u64;
        let all = u64::from(self.censuses_in_view);
        if shown >= all {
            return String::new();
        }
        format!(
            "{} censuses in view; if several share a pixel, the one with the most bytes is drawn",
            format::count(all)
        )
    }

    fn untimed_words(&self) -> &'static str {
        if self.timed {
            ""
        } else {
            "These censuses were logged at the end of the run, without times: they are listed by number"
        }
    }

    fn row(&self, band: &ChartBand) -> [String; 4] {
        let share = if self.sum_in_range > 0.0 {
            band.sum / self.sum_in_range
        } else {
            0.0
        };
        [
            bytes(band.first),
            bytes(band.last),
            bytes(band.max),
            format::fraction(share),
        ]
    }
}

/// Explains a band of a biographical profile (`-hb`).
pub fn biography(label: &str) -> Option<&'static str> {
    Some(match label {
        "LAG" => "Lag: allocated, but not used yet",
        "USE" => "Use: used before and after this census",
        "DRAG" => "Drag: used for the last time, but still retained",
        "VOID" => "Void: never used",
        "INHERENT_USE" => "Inherent use: objects whose uses are not counted, such as arrays",
        _ => return None,
    })
}
