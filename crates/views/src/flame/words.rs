//! Texts for boxes and weights of flame graphs.

use super::Graph;
use model::profile::frames::{Frame, FrameKind};
use model::profile::source::Unit;
use model::profile::stack_source::CensusCounts;
use model::profile::weights::Measure;
use scene::format;

/// Returns the name of a frame for a box of `room` pixels. If the full name does not fit, the module is dropped,
/// as the function is more informative.
pub(crate) fn box_name(frame: &Frame, room: f64, mut width: impl FnMut(&str) -> f64) -> String {
    let name = frame.display_name();
    if width(&name) <= room {
        return name;
    }
    format::truncate_middle(&frame.label, room, width).into_owned()
}

/// Interpretation of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Unit of the source.
    pub unit: Unit,
    /// Quantity of the weights: the source's amount, or the number of samples.
    pub measure: Measure,
    /// Number of censuses that the weights are summed over.
    pub censuses: CensusCounts,
    /// Whether amounts are compared; otherwise shares of each whole.
    pub absolute: bool,
}

impl Value {
    /// Formats a weight; sums over censuses are shown as their mean.
    pub fn text(self, weight: f64) -> String {
        self.text_of(weight, self.censuses.now)
    }

    /// Formats a weight of the baseline of a comparison.
    pub fn text_before(self, weight: f64) -> String {
        self.text_of(weight, self.censuses.before)
    }

    fn text_of(self, weight: f64, censuses: u32) -> String {
        let weight = weight.max(0.0);
        match (self.measure, self.unit) {
            (Measure::Count, _) => samples(weight as u64),
            (Measure::Amount, Unit::Time) => format::duration_ns(weight as u64),
            (Measure::Amount, Unit::Bytes) => format::bytes(mean(weight, censuses) as u64),
        }
    }

    /// Returns whether amounts are compared. Sample counts of the live heap never are, because they only reflect
    /// the number of censuses.
    pub fn compares_amounts(self) -> bool {
        self.absolute && (self.measure, self.unit) != (Measure::Count, Unit::Bytes)
    }

    /// Returns the weights before and now, with sums over censuses converted to means.
    pub(super) fn means(self, before: f64, now: f64) -> (f64, f64) {
        let CensusCounts { now: n, before: m } = self.censuses;
        (mean(before, m), mean(now, n))
    }

    /// Returns the increase from the sums before and now, using means for censuses.
    pub fn gained(self, before: f64, now: f64) -> f64 {
        let (before, now) = self.means(before, now);
        now - before
    }

    /// Formats a change with its sign: `+8 MiB`, `−12 ms`, `±0`.
    pub fn signed(self, change: f64) -> String {
        let size = self.text_of(change.abs().round(), 1);
        match change.round() {
            change if change > 0.0 => format!("+{size}"),
            change if change < 0.0 => format!("−{size}"),
            _ => "±0".to_owned(),
        }
    }

    /// Formats a comparison of the sums before and now: `12 MiB before, 20 MiB now: 8 MiB more`.
    pub fn change(self, before: f64, now: f64) -> String {
        let gained = self.gained(before, now).round();
        let size = self.text_of(gained.abs(), 1);
        let change = match gained {
            gained if gained > 0.0 => format!("{size} more"),
            gained if gained < 0.0 => format!("{size} less"),
            _ => "no change".to_owned(),
        };
        let (before, now) = (self.text_before(before), self.text(now));
        format!("{before} before, {now} now: {change}")
    }

    /// Formats the total of the graph.
    pub fn total_text(self, total: u64) -> String {
        self.total_text_of(total, self.censuses.now)
    }

    /// Formats the total of the baseline of a comparison.
    pub(super) fn total_text_before(self, total: u64) -> String {
        self.total_text_of(total, self.censuses.before)
    }

    fn total_text_of(self, total: u64, censuses: u32) -> String {
        let text = self.text_of(total as f64, censuses);
        match (self.measure, self.unit, censuses) {
            (Measure::Amount, Unit::Bytes, 2..) => {
                let censuses = format::count(u64::from(censuses));
                format!("{text} live, the mean of {censuses} censuses")
            }
            (Measure::Amount, Unit::Bytes, _) => format!("{text} alive"),
            _ => text,
        }
    }
}

/// Converts a sum over censuses to its mean.
fn mean(sum: f64, censuses: u32) -> f64 {
    sum / f64::from(censuses.max(1))
}

fn samples(count: u64) -> String {
    match count {
        1 => "1 sample".to_owned(),
        count => format!("{} samples", format::count(count)),
    }
}

impl Graph {
    /// Describes a box: its name, and the remaining text.
    pub fn describe(&self, index: usize) -> Option<(String, String)> {
        let boxes = &self.boxes;
        let frame = self.frame(index)?;
        let total = *boxes.total.get(index)?;
        let own = *boxes.own.get(index)?;
        if let Some((before, after)) = self.compared(index) {
            let was = *boxes.before.get(index)?;
            let text = if self.value.compares_amounts() {
                self.value.change(was, total)
            } else {
                format!(
                    "{} of the time before, {} now ({} before, {} now)",
                    format::fraction(before),
                    format::fraction(after),
                    self.value.text_before(was),
                    self.value.text(total),
                )
            };
            return Some((frame.display_name(), text));
        }
        let share = format::fraction(total / (self.head.total as f64).max(1.0));
        if self.is_merged(index) {
            let merged = boxes.merged.get(index).copied().unwrap_or(1);
            let text = format!("{}, {share} of the graph", self.value.text(total));
            return Some((format!("{merged} narrow boxes"), text));
        }
        let counted = match (self.value.measure, boxes.count.get(index)) {
            (Measure::Amount, Some(count))
                if *count >= 1.0 && has_samples(frame.kind, self.value.unit) =>
            {
                format!(", {}", samples(*count as u64))
            }
            _ => String::new(),
        };
        let place = match (&*frame.package, frame.location.as_deref()) {
            ("", None) => String::new(),
            ("", Some(place)) => format!(" · {place}"),
            (package, None) => format!(" · package {package}"),
            (package, Some(place)) => format!(" · package {package}, {place}"),
        };
        let text = format!(
            "{} total ({share}), {} self{counted}{place}",
            self.value.text(total),
            self.value.text(own)
        );
        Some((frame.display_name(), text))
    }
}

/// Returns whether counts of a frame are samples rather than spans.
const fn has_samples(kind: FrameKind, unit: Unit) -> bool {
    matches!(unit, Unit::Time)
        && !matches!(
            kind,
            FrameKind::ForeignCall
                | FrameKind::Foreign
                | FrameKind::Span
                | FrameKind::Thread
                | FrameKind::Waiting
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_in_words() {
        let value = |unit, measure, now| Value {
            unit,
            measure,
            censuses: CensusCounts { now, before: 2 },
            absolute: unit == Unit::Bytes,
        };
        let time = value(Unit::Time, Measure::Amount, 0);
        assert_eq!(time.text(2_000_000.0), format::duration_ns(2_000_000));
        assert_eq!(time.total_text(2_000_000), time.text(2_000_000.0));
        let count = value(Unit::Time, Measure::Count, 0);
        assert_eq!(
            (count.text(1.0), count.text(1234.0)),
            ("1 sample".into(), "1,234 samples".into())
        );
        let heap = value(Unit::Bytes, Measure::Amount, 4);
        assert_eq!(heap.text(4096.0), format::bytes(1024));
        assert!(
            heap.total_text(4096)
                .ends_with("live, the mean of 4 censuses")
        );
        assert_eq!(
            heap.change(2048.0, 8192.0),
            format!(
                "{} before, {} now: {} more",
                format::bytes(1024),
                format::bytes(2048),
                format::bytes(1024)
            )
        );
        assert!(heap.change(2048.0, 0.0).ends_with("less"));
        assert!(heap.change(2048.0, 4096.0).ends_with("no change"));
    }

    #[test]
    fn the_function_says_more_than_its_module() {
        let frame = Frame::cost_centre("Data.Map.Strict", "insertWith", "M.hs:1:1");
        let width = |text: &str| text.chars().count() as f64;
        assert_eq!(box_name(&frame, 99.0, width), "Data.Map.Strict.insertWith");
        assert_eq!(box_name(&frame, 12.0, width), "insertWith");
        assert!(box_name(&frame, 6.0, width).contains('…'));
    }
}
