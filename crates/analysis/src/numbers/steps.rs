//! Samples over time, and the part of a log that they are asked for.

use eventlog::cap_table::CapTable;
use eventlog::ids::CapId;
use model::gauge;

/// A part of a log: from a time up to, not including, another. Only one that
/// reaches to the end of the log has the events of that last moment too, so that
/// parts add up to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: u64,
    pub(super) to: u64,
    with_end: bool,
}

impl Window {
    /// All of a log whose last event is at `end`.
    pub(super) const fn whole(end: u64) -> Self {
        Self {
            from: 0,
            to: end,
            with_end: true,
        }
    }

    /// The part from `from` to `to`, clipped to the log.
    pub(crate) fn part(from: u64, to: u64, end: u64) -> Self {
        let from = from.min(end);
        let clipped = to.clamp(from, end);
        Self {
            from,
            to: clipped,
            with_end: from < clipped && to >= end,
        }
    }

    /// Whether a moment comes before the end of the window.
    pub(super) const fn is_before_end(self, at: u64) -> bool {
        at < self.to || (self.with_end && at == self.to)
    }

    /// Whether a moment is in the window.
    pub(super) const fn has(self, at: u64) -> bool {
        at >= self.from && self.is_before_end(at)
    }

    /// How long it is, in nanoseconds.
    pub(super) const fn duration(self) -> u64 {
        self.to - self.from
    }

    /// The part of the window from one time to another.
    pub(super) fn clip(self, from: u64, to: u64) -> Self {
        let from = from.clamp(self.from, self.to);
        Self {
            from,
            to: to.clamp(from, self.to),
            with_end: false,
        }
    }

    /// How much of a stretch of time is in the window.
    pub(super) fn part_of(self, start: u64, end: u64) -> u64 {
        end.min(self.to).saturating_sub(start.max(self.from))
    }
}

/// A value that changes now and then, as a function of time. Of equal samples in
/// a row the first and the last are kept.
#[derive(Clone, Debug)]
pub(crate) struct Steps<T> {
    times: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for Steps<T> {
    fn default() -> Self {
        Self {
            times: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Copy + PartialEq> Steps<T> {
    /// Adds a sample. Where the times of a log go back, it counts as taken
    /// with the one before.
    pub(crate) fn push(&mut self, at: u64, value: T) {
        let at = self.times.last().map_or(at, |&last| last.max(at));
        if let [.., before, last] = self.values[..]
            && before == value
            && last == value
            && let Some(time) = self.times.last_mut()
        {
            *time = at;
            return;
        }
        self.times.push(at);
        self.values.push(value);
    }

    /// The samples, of each of which `of` makes a number.
    pub(crate) fn column(&self, of: fn(&T) -> u64) -> Column<'_, T> {
        Column {
            times: &self.times,
            values: &self.values,
            of,
        }
    }

    /// The value of the last sample.
    pub(crate) fn last(&self) -> Option<T> {
        self.values.last().copied()
    }

    /// The time of the last sample.
    pub(super) fn last_time(&self) -> Option<u64> {
        self.times.last().copied()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many samples come before the window.
    fn before(&self, window: Window) -> usize {
        self.times.partition_point(|&at| at < window.from)
    }

    /// How many samples come before the window's end.
    fn until(&self, window: Window) -> usize {
        self.times.partition_point(|&at| window.is_before_end(at))
    }

    /// The value when the window begins, and when it ends.
    pub(super) fn ends(&self, window: Window) -> (Option<T>, Option<T>) {
        let value = |count: usize| self.values.get(count.checked_sub(1)?).copied();
        (value(self.before(window)), value(self.until(window)))
    }

    /// The samples of the window with their times; the value that is in force
    /// when it begins comes first, with the window's start.
    pub(super) fn within(&self, window: Window) -> impl Iterator<Item = (u64, T)> + '_ {
        let begun = self.times.partition_point(|&at| at <= window.from);
        let places = begun.saturating_sub(1)..self.until(window).max(begun);
        places.filter_map(move |i| {
            let at = self.times.get(i)?;
            Some(((*at).max(window.from), *self.values.get(i)?))
        })
    }

    /// Two samples between which a moment is: the last not after it and the
    /// next; only one of them before the first and after the last.
    pub(crate) fn around(&self, at: u64) -> [Option<(u64, T)>; 2] {
        let next = self.times.partition_point(|&time| time <= at);
        let sample = |i: usize| Some((*self.times.get(i)?, *self.values.get(i)?));
        [next.checked_sub(1).and_then(sample), sample(next)]
    }
}

/// Samples of one number.
#[derive(Debug)]
pub(crate) struct Column<'a, T> {
    times: &'a [u64],
    values: &'a [T],
    of: fn(&T) -> u64,
}

impl<T> gauge::Samples for Column<'_, T> {
    fn len(&self) -> usize {
        self.values.len()
    }
    fn time(&self, index: usize) -> u64 {
        self.times[index]
    }
    fn value(&self, index: usize) -> u64 {
        (self.of)(&self.values[index])
    }
}

/// A value for each capability.
#[derive(Clone, Debug)]
pub(super) struct CapSteps<T> {
    caps: CapTable<Steps<T>>,
}

impl<T> Default for CapSteps<T> {
    fn default() -> Self {
        Self {
            caps: CapTable::default(),
        }
    }
}

impl<T: Copy + PartialEq> CapSteps<T> {
    /// Adds a sample of a capability; the result is its value before.
    pub(super) fn push(&mut self, cap: CapId, at: u64, value: T) -> Option<T> {
        let steps = self.caps.get_mut(Some(cap));
        let before = steps.last();
        steps.push(at, value);
        before
    }

    /// The samples of a capability, if it has some.
    pub(super) fn cap(&self, cap: CapId) -> Option<&Steps<T>> {
        let steps = self.caps.get(Some(cap));
        steps.filter(|steps| !steps.is_empty())
    }

    /// The capabilities that have samples.
    pub(super) fn caps(&self) -> impl Iterator<Item = (CapId, &Steps<T>)> {
        let caps = self
            .caps
            .iter()
            .filter_map(|(cap, steps)| Some((cap?, steps)));
        caps.filter(|(_, steps)| !steps.is_empty())
    }
}

impl CapSteps<u64> {
    /// By how much the counter of a capability grows in the window.
    pub(super) fn growth(&self, cap: CapId, window: Window) -> Option<u64> {
        let (before, after) = self.cap(cap)?.ends(window);
        Some(after.unwrap_or(0).saturating_sub(before.unwrap_or(0)))
    }
}

/// Single samples, each of which counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    all: Vec<(u64, u64)>,
    /// Whether times go back, as they may in a damaged log.
    unsorted: bool,
}

impl Samples {
    /// Adds a sample.
    pub(super) fn push(&mut self, at: u64, value: u64) {
        self.unsorted |= self.all.last().is_some_and(|&(last, _)| at < last);
        self.all.push((at, value));
    }

    /// The samples of the window, with their times.
    pub(super) fn within(&self, window: Window) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.all.partition_point(|&(at, _)| at < window.from);
        let end = self
            .all
            .partition_point(|&(at, _)| window.is_before_end(at));
        let places = if self.unsorted {
            0..self.all.len()
        } else {
            first..end.max(first)
        };
        let samples = self.all.get(places).unwrap_or_default().iter();
        samples.copied().filter(move |(at, _)| window.has(*at))
    }
}

impl gauge::Samples for &Samples {
    fn len(&self) -> usize {
        self.all.len()
    }
    fn time(&self, index: usize) -> u64 {
        self.all[index].0
    }
    fn value(&self, index: usize) -> u64 {
        self.all[index].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_window_has_the_last_moment() {
        let has = |from, to, at| Window::part(from, to, 100).has(at);
        assert!(has(0, 50, 0) && has(0, 50, 49) && !has(0, 50, 50));
        assert!(has(50, 100, 50) && has(50, 100, 100) && has(50, 900, 100));
        assert!(!has(100, 100, 100) && !has(100, 200, 100) && !has(70, 30, 70));
        assert!(Window::whole(100).has(100) && Window::whole(0).has(0));
        assert_eq!(Window::part(20, 900, 100).duration(), 80);
    }

    #[test]
    fn steps_keep_the_ends_of_what_is_flat() {
        let mut steps = Steps::default();
        for (at, value) in [(1, 5), (2, 5), (3, 5), (4, 6), (5, 6), (9, 5)] {
            steps.push(at, value);
        }
        assert_eq!(steps.times, [1, 3, 4, 5, 9]);
        let window = |from, to| Window::part(from, to, 20);
        assert_eq!(steps.ends(window(0, 1)), (None, None));
        assert_eq!(steps.ends(window(0, 2)), (None, Some(5)));
        assert_eq!(steps.ends(window(4, 20)), (Some(5), Some(5)));
        assert_eq!(steps.ends(window(5, 9)), (Some(6), Some(6)));
        let within: Vec<_> = steps.within(window(7, 20)).collect();
        assert_eq!(within, [(7, 6), (9, 5)]);
        assert_eq!(steps.around(3), [Some((3, 5)), Some((4, 6))]);
        assert_eq!(steps.around(0), [None, Some((1, 5))]);
        assert_eq!(steps.around(30), [Some((9, 5)), None]);
    }
}
