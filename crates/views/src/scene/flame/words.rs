//! What boxes and weights are called.

use super::super::format;
use super::Graph;
use eventlog::ids::Duration;
use model::profile::frames::{Frame, FrameKind};
use model::profile::source::Unit;
use model::profile::weights::Measure;

/// How a frame is called: the runtime's own frames need no module.
#[must_use]
pub fn frame_name(frame: &Frame) -> String {
    match frame.kind {
        FrameKind::BuiltIn => frame.label.clone(),
        _ => frame.name(),
    }
}

/// How a frame is called on a box that has room for `room` pixels: where the
/// whole name does not fit, the function says more than its module.
#[must_use]
pub(crate) fn box_name(frame: &Frame, room: f64, mut width: impl FnMut(&str) -> f64) -> String {
    let name = frame_name(frame);
    if width(&name) <= room {
        return name;
    }
    format::truncate_middle(&frame.label, room, width).into_owned()
}

/// In what weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The unit of the source.
    pub unit: Unit,
    /// Whether samples are counted instead.
    pub measure: Measure,
    /// How many heap samples the weights are sums of.
    pub heap_samples: u32,
}

impl Value {
    /// A weight in words. Of several heap samples it is the mean.
    #[must_use]
    pub fn text(self, weight: f64) -> String {
        let weight = weight.max(0.0);
        match (self.measure, self.unit) {
            (Measure::Count, _) => samples(weight as u64),
            (Measure::Amount, Unit::Time) => format::duration(Duration(weight as u64)),
            (Measure::Amount, Unit::Bytes) => {
                format::bytes((weight / f64::from(self.heap_samples.max(1))) as u64)
            }
        }
    }

    /// Whether weights are means over heap samples.
    pub(super) fn means(self) -> bool {
        (self.measure, self.unit) == (Measure::Amount, Unit::Bytes)
    }

    /// What the whole graph stands for.
    #[must_use]
    pub fn whole(self, total: u64) -> String {
        let text = self.text(total as f64);
        match (self.measure, self.unit, self.heap_samples) {
            (Measure::Amount, Unit::Bytes, 2..) => {
                let samples = format::count(u64::from(self.heap_samples));
                format!("{text} alive, the mean of {samples} heap samples")
            }
            (Measure::Amount, Unit::Bytes, _) => format!("{text} alive"),
            _ => text,
        }
    }
}

fn samples(count: u64) -> String {
    match count {
        1 => "1 sample".to_owned(),
        count => format!("{} samples", format::count(count)),
    }
}

impl Graph {
    /// What a box is, in words: a name to stand out, and the rest.
    #[must_use]
    pub fn describe(&self, index: usize) -> Option<(String, String)> {
        let boxes = &self.boxes;
        let frame = self.frame(index)?;
        let total = *boxes.total.get(index)?;
        let own = *boxes.own.get(index)?;
        if let Some((before, after)) = self.shares(index) {
            let (before, after) = (format::fraction(before), format::fraction(after));
            let text = match self.value.means() {
                // The other time has another number of heap samples.
                true => format!("{before} of what was alive before, {after} now"),
                false => format!(
                    "{before} of the time before, {after} now ({} before, {} now)",
                    self.value.text(*boxes.before.get(index)?),
                    self.value.text(total),
                ),
            };
            return Some((frame_name(frame), text));
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
            "{} in all ({share}), {} itself{counted}{place}",
            self.value.text(total),
            self.value.text(own)
        );
        Some((frame_name(frame), text))
    }
}

/// Whether samples, not spans, are counted.
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
        let value = |unit, measure, heap_samples| Value {
            unit,
            measure,
            heap_samples,
        };
        let time = value(Unit::Time, Measure::Amount, 0);
        assert_eq!(
            time.text(2_000_000.0),
            format::duration(Duration(2_000_000))
        );
        assert_eq!(time.whole(2_000_000), time.text(2_000_000.0));
        let count = value(Unit::Time, Measure::Count, 0);
        assert_eq!(
            (count.text(1.0), count.text(1234.0)),
            ("1 sample".into(), "1,234 samples".into())
        );
        let heap = value(Unit::Bytes, Measure::Amount, 4);
        assert_eq!(heap.text(4096.0), format::bytes(1024));
        assert!(
            heap.whole(4096)
                .ends_with("alive, the mean of 4 heap samples")
        );
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
