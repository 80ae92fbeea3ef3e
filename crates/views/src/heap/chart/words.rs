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

/// Returns the number of a drawn census, with its time if known.
fn when(chart: &Chart, stack: usize) -> String {
    let number = chart
        .stacks
        .census
        .get(stack)
        .map_or(0, |census| census + 1);
    let of = format!(
        "census {number} of {}",
        format::count(chart.censuses.into())
    );
    match chart.stacks.at.get(stack) {
        Some(&at) if chart.timed => format!("{of}, {}", format::time(Nanos(at as u64))),
        _ => of,
    }
}

/// Describes the element under the pointer.
pub fn describe(chart: &Chart, pointed: HitTarget) -> HitDescription {
    let stack = pointed.stack;
    let total = chart.stacks.total.get(stack).copied().unwrap_or_default();
    let census = when(chart, stack);
    let Some((place, band)) = pointed
        .band
        .and_then(|place| Some((place, chart.bands.get(place)?)))
    else {
        let facts = vec![("all bands", bytes(total))];
        return HitDescription {
            title: census,
            facts,
        };
    };
    let held = chart.stacks.value(place, stack);
    let share = if total > 0.0 { held / total } else { 0.0 };
    let mut facts = vec![("at", census), ("bytes", bytes(held))];
    facts.push((
        "share",
        format!("{} of {}", format::fraction(share), bytes(total)),
    ));
    if band.is_single() {
        let singles = chart.bands.iter().filter(|band| band.is_single()).count();
        let larger = (0..singles).filter(|&other| chart.stacks.value(other, stack) > held);
        facts.push(("rank", format!("{} of {singles} shown", larger.count() + 1)));
    }
    HitDescription {
        title: title(chart, place),
        facts,
    }
}

/// Returns the number and the name of a band.
pub fn title(chart: &Chart, place: usize) -> String {
    match chart.bands.get(place) {
        Some(band) if band.is_single() => format!("{} {}", number(chart, place), band.name),
        Some(_) => others_words(chart),
        None => String::new(),
    }
}

/// Describes the band that combines all others: `1,200 other bands`.
pub fn others_words(chart: &Chart) -> String {
    format::pluralize(chart.others.into(), "other band")
}

/// Describes how many bands are shown individually: `15 of 1,215 bands`.
pub fn bands_words(chart: &Chart) -> String {
    let singles = chart.bands.iter().filter(|band| band.is_single()).count() as u64;
    let all = format::pluralize(chart.in_range.into(), "band");
    if singles == u64::from(chart.in_range) {
        format!("all {all}")
    } else {
        format!("{} of {all}", format::count(singles))
    }
}

/// Describes what is omitted because censuses share pixels; empty if nothing is.
pub fn merged_words(chart: &Chart) -> String {
    let shown = chart.stacks.len() as u64;
    let all = u64::from(chart.censuses_in_view);
    if shown >= all {
        return String::new();
    }
    format!(
        "{} censuses in view; if several share a pixel, the one with the most bytes is drawn",
        format::count(all)
    )
}

/// Explains an axis that counts censuses; empty if the axis is time.
pub fn untimed_words(chart: &Chart) -> &'static str {
    if chart.timed {
        ""
    } else {
        "These censuses were logged at the end of the run, without times: they are listed by number"
    }
}

/// Returns a row of the text alternative: first, last and maximum bytes, and the share of all bands in the
/// range.
pub fn row(chart: &Chart, band: &ChartBand) -> [String; 4] {
    let share = if chart.sum_in_range > 0.0 {
        band.sum / chart.sum_in_range
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
