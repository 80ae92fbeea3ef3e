//! Sampled step functions, and windows of a log to evaluate them in.

use eventlog::cap_table::CapTable;
use eventlog::ids::CapId;
use model::gauge;

/// A half-open part of a log.
///
/// Only a window up to the end of the log includes its end, so that parts add up to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: u64,
    pub(super) to: u64,
    with_end: bool,
}

impl Window {
    /// Creates a window of the whole log, which begins at `begin`, and whose last event is at `end`.
    pub(super) const fn whole(begin: u64, end: u64) -> Self {
        Self {
            from: begin,
            to: end,
            with_end: true,
        }
    }

    /// Creates a window from `from` to `to`, clipped to the log.
    pub(crate) fn part(from: u64, to: u64, end: u64) -> Self {
        let from = from.min(end);
        let clipped = to.clamp(from, end);
        Self {
            from,
            to: clipped,
            with_end: from < clipped && to >= end,
        }
    }

    /// Returns whether a time is before the end of the window.
    pub(super) const fn is_before_end(self, at: u64) -> bool {
        at < self.to || (self.with_end && at == self.to)
    }

    /// Returns whether a time is in the window.
    pub(super) const fn contains(self, at: u64) -> bool {
        at >= self.from && self.is_before_end(at)
    }

    /// Returns the length in ns.
    pub(super) const fn duration(self) -> u64 {
        self.to - self.from
    }

    /// Returns the part of the window between two times.
    pub(super) fn clip(self, from: u64, to: u64) -> Self {
        let from = from.clamp(self.from, self.to);
        Self {
            from,
            to: to.clamp(from, self.to),
            with_end: false,
        }
    }

    /// Returns the length of the window's overlap with a time range.
    pub(super) fn overlap_ns(self, start: u64, end: u64) -> u64 {
        end.min(self.to).saturating_sub(start.max(self.from))
    }
}

/// Step function of time, from samples. Of a run of equal samples, only the first and the last are stored.
#[derive(Clone, Debug)]
pub(crate) struct StepFunction<T> {
    /// Value before the first sample, if it is known.
    initial: Option<T>,
    times: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for StepFunction<T> {
    fn default() -> Self {
        Self {
            initial: None,
            times: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Copy + PartialEq> StepFunction<T> {
    /// Appends a sample. A time before the last sample's is raised to it.
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

    /// Returns the samples converted to numbers by `of`.
    pub(crate) fn column(&self, of: fn(&T) -> u64) -> SampleColumn<'_, T> {
        SampleColumn {
            initial: self.initial.as_ref(),
            times: &self.times,
            values: &self.values,
            of,
        }
    }

    /// Returns the value at a time: of the last sample at or before it, or the one before all samples.
    pub(super) fn at(&self, time: u64) -> Option<T> {
        let [before, _] = self.around(time);
        before.map(|(_, value)| value).or(self.initial)
    }

    /// Returns the value of the last sample.
    pub(crate) fn last(&self) -> Option<T> {
        self.values.last().copied()
    }

    /// Returns the time of the last sample.
    pub(super) fn last_time(&self) -> Option<u64> {
        self.times.last().copied()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the number of samples before the window.
    fn before(&self, window: Window) -> usize {
        self.times.partition_point(|&at| at < window.from)
    }

    /// Returns the number of samples before the window's end.
    fn until(&self, window: Window) -> usize {
        self.times.partition_point(|&at| window.is_before_end(at))
    }

    /// Returns the values at the start and at the end of the window.
    pub(super) fn ends(&self, window: Window) -> (Option<T>, Option<T>) {
        let value = |count: usize| match count.checked_sub(1) {
            Some(last) => self.values.get(last).copied(),
            None => self.initial,
        };
        (value(self.before(window)), value(self.until(window)))
    }

    /// Returns the samples in the window with their times, preceded by the value in effect at its start.
    pub(super) fn within(&self, window: Window) -> impl Iterator<Item = (u64, T)> + '_ {
        let begun = self.times.partition_point(|&at| at <= window.from);
        let places = begun.saturating_sub(1)..self.until(window).max(begun);
        places.filter_map(move |i| {
            let at = self.times.get(i)?;
            Some(((*at).max(window.from), *self.values.get(i)?))
        })
    }

    /// Returns the samples around a time: the last one at or before it, and the next one.
    ///
    /// Either is `None` if it does not exist.
    pub(crate) fn around(&self, at: u64) -> [Option<(u64, T)>; 2] {
        let next = self.times.partition_point(|&time| time <= at);
        let sample = |i: usize| Some((*self.times.get(i)?, *self.values.get(i)?));
        [next.checked_sub(1).and_then(sample), sample(next)]
    }
}

/// View of step function samples as numbers.
#[derive(Debug)]
pub(crate) struct SampleColumn<'a, T> {
    initial: Option<&'a T>,
    times: &'a [u64],
    values: &'a [T],
    of: fn(&T) -> u64,
}

impl<T> gauge::Samples for SampleColumn<'_, T> {
    fn len(&self) -> usize {
        self.values.len()
    }
    fn time(&self, index: usize) -> u64 {
        self.times[index]
    }
    fn value(&self, index: usize) -> u64 {
        (self.of)(&self.values[index])
    }
    fn initial(&self) -> u64 {
        self.initial.map_or(0, self.of)
    }
}

/// A step function per capability.
#[derive(Clone, Debug)]
pub(super) struct CapStepFunctions<T> {
    caps: CapTable<StepFunction<T>>,
}

impl<T> Default for CapStepFunctions<T> {
    fn default() -> Self {
        Self {
            caps: CapTable::default(),
        }
    }
}

impl<T: Copy + PartialEq> CapStepFunctions<T> {
    /// Appends a sample of a capability, and returns the previous value.
    ///
    /// In a log begun late (`is_late`), a counter has its first value from the start: how much of it is older, nobody
    /// knows.
    pub(super) fn push(&mut self, cap: CapId, at: u64, value: T, is_late: bool) -> Option<T> {
        let steps = self.caps.get_mut(Some(cap));
        if is_late && steps.is_empty() {
            steps.initial = Some(value);
        }
        let before = steps.last().or(steps.initial);
        steps.push(at, value);
        before
    }

    /// Returns the samples of a capability, if it has any.
    pub(super) fn cap(&self, cap: CapId) -> Option<&StepFunction<T>> {
        let steps = self.caps.get(Some(cap));
        steps.filter(|steps| !steps.is_empty())
    }

    /// Returns the capabilities with samples.
    pub(super) fn caps(&self) -> impl Iterator<Item = (CapId, &StepFunction<T>)> {
        let caps = self
            .caps
            .iter()
            .filter_map(|(cap, steps)| Some((cap?, steps)));
        caps.filter(|(_, steps)| !steps.is_empty())
    }
}

impl CapStepFunctions<u64> {
    /// Returns the growth of a capability's counter in the window. It is unknown if the first value is that of the only
    /// sample.
    pub(super) fn growth(&self, cap: CapId, window: Window) -> Option<u64> {
        let steps = self.cap(cap)?;
        let is_known = steps.initial.is_none() || steps.values.len() > 1;
        let (before, after) = steps.ends(window);
        is_known.then(|| after.unwrap_or(0).saturating_sub(before.unwrap_or(0)))
    }
}

/// Individual samples, none of which is merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    all: Vec<(u64, u64)>,
    /// Whether times decrease somewhere, as in a damaged log.
    unsorted: bool,
}

impl Samples {
    /// Appends a sample.
    pub(super) fn push(&mut self, at: u64, value: u64) {
        self.unsorted |= self.all.last().is_some_and(|&(last, _)| at < last);
        self.all.push((at, value));
    }

    /// Returns the samples in the window, with their times.
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
        samples.copied().filter(move |(at, _)| window.contains(*at))
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
        let has = |from, to, at| Window::part(from, to, 100).contains(at);
        assert!(has(0, 50, 0) && has(0, 50, 49) && !has(0, 50, 50));
        assert!(has(50, 100, 50) && has(50, 100, 100) && has(50, 900, 100));
        assert!(!has(100, 100, 100) && !has(100, 200, 100) && !has(70, 30, 70));
        assert!(Window::whole(0, 100).contains(100) && Window::whole(0, 0).contains(0));
        assert_eq!(Window::part(20, 900, 100).duration(), 80);
    }

    #[test]
    fn steps_keep_the_ends_of_what_is_flat() {
        let mut steps = StepFunction::default();
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
