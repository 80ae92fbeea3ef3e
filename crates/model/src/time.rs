//! Stretches of time, and what it means that something is in one.

use eventlog::ids::{Duration, Nanos};
use serde::{Deserialize, Serialize};

/// A stretch of time, **half open**: its start is in it, its end is not. So
/// intervals that follow each other share no moment and leave none out.
///
/// - It never ends before it starts. Made of a pair that does (times go back in
///   a damaged log, and a question may ask anything) it is empty, at its start.
/// - An empty interval contains no moment and overlaps nothing; it still has a
///   place, so that a mark without length can be drawn there.
/// - A log's interval goes from its first to its last event, and by this rule
///   does not contain the last one. What counts moments in a part of a log
///   counts those at the log's very end to every part that reaches up to it
///   and is not empty: so parts add up to the whole.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "Ends")]
pub struct Interval {
    start: Nanos,
    end: Nanos,
}

/// An interval as somebody sends it: anything.
#[derive(Deserialize)]
struct Ends {
    start: Nanos,
    end: Nanos,
}

impl From<Ends> for Interval {
    fn from(Ends { start, end }: Ends) -> Self {
        Self::new(start, end)
    }
}

/// An interval as `{"from_ns": …, "to_ns": …}`, for scripts: `#[serde(with = "range_ns")]`.
pub mod range_ns {
    use super::{Interval, Nanos};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Range {
        #[serde(alias = "start")]
        from_ns: Nanos,
        #[serde(alias = "end")]
        to_ns: Nanos,
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(range: &Interval, to: S) -> Result<S::Ok, S::Error> {
        let (from_ns, to_ns) = (range.start(), range.end());
        Range { from_ns, to_ns }.serialize(to)
    }

    /// Reads it, also as `{"start": …, "end": …}`.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Interval, D::Error> {
        let range = Range::deserialize(from)?;
        Ok(Interval::new(range.from_ns, range.to_ns))
    }
}

impl Interval {
    /// From `start` up to `end`; empty if `end` is earlier.
    #[must_use]
    pub const fn new(start: Nanos, end: Nanos) -> Self {
        let end = if end.0 < start.0 { start } else { end };
        Self { start, end }
    }

    /// From the earlier of two moments up to the later one.
    #[must_use]
    pub const fn between(a: Nanos, b: Nanos) -> Self {
        if a.0 <= b.0 {
            Self::new(a, b)
        } else {
            Self::new(b, a)
        }
    }

    /// The empty interval at a moment.
    #[must_use]
    pub const fn at(moment: Nanos) -> Self {
        Self::new(moment, moment)
    }

    /// When it begins; the first moment in it unless it is empty.
    #[must_use]
    pub const fn start(&self) -> Nanos {
        self.start
    }

    /// When it ends; the first moment after it.
    #[must_use]
    pub const fn end(&self) -> Nanos {
        self.end
    }

    /// How long it is.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        self.end.since(self.start)
    }

    /// The moment in the middle of it.
    #[must_use]
    pub const fn middle(&self) -> Nanos {
        Nanos(u64::midpoint(self.start.0, self.end.0))
    }

    /// Whether no moment is in it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start.0 == self.end.0
    }

    /// Whether a moment is in it.
    #[must_use]
    pub const fn contains(&self, moment: Nanos) -> bool {
        self.start.0 <= moment.0 && moment.0 < self.end.0
    }

    /// The part of it that is in another; if there is none, an empty interval
    /// at the end that is nearer to the other.
    #[must_use]
    pub fn clip(&self, to: Self) -> Self {
        Self::new(to.nearest(self.start), to.nearest(self.end))
    }

    /// The moments that are in both, if there are some.
    #[must_use]
    pub fn intersection(&self, other: Self) -> Option<Self> {
        let both = self.clip(other);
        (!both.is_empty()).then_some(both)
    }

    /// Whether some moment is in both.
    #[must_use]
    pub fn overlaps(&self, other: Self) -> bool {
        self.intersection(other).is_some()
    }

    /// The smallest interval that has all of both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// Makes it reach as far as a moment.
    #[inline]
    pub fn extend(&mut self, moment: Nanos) {
        self.start = self.start.min(moment);
        self.end = self.end.max(moment);
    }

    /// What of it comes before a moment.
    #[must_use]
    pub fn until(self, moment: Nanos) -> Self {
        Self::new(self.start, self.end.min(moment))
    }

    /// Of its moments and its end the one that is nearest to `moment`.
    #[must_use]
    pub fn nearest(&self, moment: Nanos) -> Nanos {
        moment.clamp(self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Close together, so that they meet, touch and are empty.
    fn any_interval() -> impl Strategy<Value = Interval> {
        (0u64..12, 0u64..12).prop_map(|(start, end)| Interval::new(Nanos(start), Nanos(end)))
    }

    fn moments(interval: Interval) -> Vec<u64> {
        (0..20).filter(|&at| interval.contains(Nanos(at))).collect()
    }

    proptest! {
        #[test]
        fn none_ends_before_it_starts(start: u64, end: u64) {
            let made = Interval::new(Nanos(start), Nanos(end));
            prop_assert_eq!(made.start(), Nanos(start));
            prop_assert_eq!(made.duration().0, end.saturating_sub(start));
            let sent = format!("{{\"start\":{start},\"end\":{end}}}");
            prop_assert_eq!(serde_json::from_str::<Interval>(&sent).unwrap(), made);
            prop_assert_eq!(serde_json::from_str::<Interval>(&serde_json::to_string(&made).unwrap()).unwrap(), made);
            let either = Interval::between(Nanos(start), Nanos(end));
            prop_assert_eq!(either, Interval::between(Nanos(end), Nanos(start)));
            prop_assert_eq!(either.duration().0, start.abs_diff(end));
        }

        /// All that is said of intervals is what is true of their moments.
        #[test]
        fn an_interval_is_its_moments(a in any_interval(), b in any_interval()) {
            prop_assert_eq!(moments(a).len() as u64, a.duration().0);
            prop_assert_eq!(moments(a).is_empty(), a.is_empty());
            let both: Vec<u64> = moments(a).into_iter().filter(|&at| b.contains(Nanos(at))).collect();
            prop_assert_eq!(a.overlaps(b), !both.is_empty());
            prop_assert_eq!(a.intersection(b).map(moments).unwrap_or_default(), both.clone());
            prop_assert_eq!(moments(a.clip(b)), both);
            prop_assert_eq!(a.intersection(b), b.intersection(a));
            let hull = a.hull(b);
            prop_assert!([a, b].iter().all(|one| one.clip(hull) == *one));
        }

        /// Of intervals that follow each other exactly one has a moment.
        #[test]
        fn neighbours_leave_nothing_out(whole in any_interval(), cut in 0u64..12, at in 0u64..12) {
            let cut = whole.nearest(Nanos(cut));
            let parts = [Interval::new(whole.start(), cut), Interval::new(cut, whole.end())];
            let holding = parts.iter().filter(|part| part.contains(Nanos(at))).count();
            prop_assert_eq!(holding, usize::from(whole.contains(Nanos(at))));
            prop_assert!(!parts[0].overlaps(parts[1]));
        }
    }
}
