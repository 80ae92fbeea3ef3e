//! Intervals of time, and what it means to be within one.

use eventlog::ids::{Duration, Nanos};
use serde::{Deserialize, Serialize};

/// A **half-open** interval of time: it includes its start and excludes its end, so that consecutive intervals
/// neither overlap nor leave a gap.
///
/// - It never ends before it starts. Constructed from a reversed pair (times go back in damaged logs, and queries
///   are arbitrary) it is empty, at the given start.
/// - An empty interval contains no moment and overlaps nothing, but it still has a position, so that a mark
///   without length can be drawn there.
/// - The interval of a log goes from its first to its last event, and therefore does not contain the last one.
///   When moments of a range are counted, those at the very end of the log count for every nonempty range that
///   reaches it, so that parts add up to the whole.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "RawInterval")]
pub struct Interval {
    start: Nanos,
    end: Nanos,
}

/// Unchecked interval as received; may be reversed.
#[derive(Deserialize)]
struct RawInterval {
    start: Nanos,
    end: Nanos,
}

impl From<RawInterval> for Interval {
    fn from(RawInterval { start, end }: RawInterval) -> Self {
        Self::new(start, end)
    }
}

/// Serializes an interval as `{"from_ns": …, "to_ns": …}`, for scripts: `#[serde(with = "range_ns")]`.
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

    /// Serializes `range` with both ends in nanoseconds.
    ///
    /// # Errors
    /// Returns the errors of the serializer.
    pub fn serialize<S: Serializer>(range: &Interval, to: S) -> Result<S::Ok, S::Error> {
        let (from_ns, to_ns) = (range.start(), range.end());
        Range { from_ns, to_ns }.serialize(to)
    }

    /// Deserializes an interval, also from `{"start": …, "end": …}`.
    ///
    /// # Errors
    /// Returns the errors of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Interval, D::Error> {
        let range = Range::deserialize(from)?;
        Ok(Interval::new(range.from_ns, range.to_ns))
    }
}

impl Interval {
    /// Creates the interval from `start` to `end`; it is empty if `end` is earlier.
    pub const fn new(start: Nanos, end: Nanos) -> Self {
        let end = if end.0 < start.0 { start } else { end };
        Self { start, end }
    }

    /// Creates the interval between two moments, in whichever order.
    pub const fn between(a: Nanos, b: Nanos) -> Self {
        if a.0 <= b.0 {
            Self::new(a, b)
        } else {
            Self::new(b, a)
        }
    }

    /// Creates the empty interval at a moment.
    pub const fn empty_at(moment: Nanos) -> Self {
        Self::new(moment, moment)
    }

    /// Returns the start, which is the first moment of a nonempty interval.
    pub const fn start(&self) -> Nanos {
        self.start
    }

    /// Returns the end, which is the first moment after the interval.
    pub const fn end(&self) -> Nanos {
        self.end
    }

    /// Returns the length of the interval.
    pub const fn duration(&self) -> Duration {
        self.end.since(self.start)
    }

    /// Returns the midpoint, rounded down.
    pub const fn middle(&self) -> Nanos {
        Nanos(u64::midpoint(self.start.0, self.end.0))
    }

    /// Returns whether the interval contains no moment.
    pub const fn is_empty(&self) -> bool {
        self.start.0 == self.end.0
    }

    /// Returns whether the interval contains `moment`.
    pub const fn contains(&self, moment: Nanos) -> bool {
        self.start.0 <= moment.0 && moment.0 < self.end.0
    }

    /// Clips the interval to `to`. If they are disjoint, returns an empty interval at the end of `to` that is
    /// nearer to `self`.
    pub fn clip(&self, to: Self) -> Self {
        Self::new(to.nearest(self.start), to.nearest(self.end))
    }

    /// Returns the moments that are in both intervals, or `None` if there are none.
    pub fn intersection(&self, other: Self) -> Option<Self> {
        let both = self.clip(other);
        (!both.is_empty()).then_some(both)
    }

    /// Returns whether the intervals have a moment in common.
    pub fn overlaps(&self, other: Self) -> bool {
        self.intersection(other).is_some()
    }

    /// Returns the smallest interval that covers both.
    #[inline]
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// Extends the interval so that it reaches `moment`.
    #[inline]
    pub fn extend(&mut self, moment: Nanos) {
        self.start = self.start.min(moment);
        self.end = self.end.max(moment);
    }

    /// Returns the part before `moment`.
    #[must_use]
    pub fn part_before(self, moment: Nanos) -> Self {
        Self::new(self.start, self.end.min(moment))
    }

    /// Clamps `moment` to the interval, its end included.
    pub fn nearest(&self, moment: Nanos) -> Nanos {
        moment.clamp(self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Small numbers, so that intervals often overlap, touch or are empty.
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

        /// All operations agree with sets of moments.
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

        /// Of consecutive intervals exactly one contains any given moment.
        #[test]
        fn neighbors_leave_nothing_out(whole in any_interval(), cut in 0u64..12, at in 0u64..12) {
            let cut = whole.nearest(Nanos(cut));
            let parts = [Interval::new(whole.start(), cut), Interval::new(cut, whole.end())];
            let holding = parts.iter().filter(|part| part.contains(Nanos(at))).count();
            prop_assert_eq!(holding, usize::from(whole.contains(Nanos(at))));
            prop_assert!(!parts[0].overlaps(parts[1]));
        }
    }
}
