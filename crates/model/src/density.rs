//! Layout of point events: as single signs where there is room, and as columns with counts where signs would
//! overlap.

use super::marks::{MarkWriter, NewMoment, Payload};
use crate::time::Interval;
use eventlog::ids::Nanos;

/// Width of a column in buckets. A bucket is one or two pixels wide.
const COLUMN_BUCKETS: u64 = 2;
/// Signs closer together than this number of buckets would overlap.
const MIN_SIGN_BUCKETS: u64 = 6;
/// A group with fewer events than this is drawn as signs with counts.
const MANY: usize = 8;
/// A group of at least this many events is drawn as columns, even if all are at the same place.
const VERY_MANY: usize = 64;
/// Number of buckets examined on each side of the view. A group of fewer than [`MANY`] events never reaches
/// further, so how it is drawn does not depend on where the view ends.
const MARGIN_BUCKETS: u64 = 64;

/// Collects the events of a track and writes them as marks.
#[derive(Debug)]
pub struct Density<P> {
    view: Interval,
    bucket_ns: u64,
    /// One entry per column that has events, in time order.
    moments: Vec<NewMoment<P>>,
}

impl<P: Payload> Density<P> {
    /// Creates a collector for the current view of `writer`.
    pub const fn new(writer: &MarkWriter) -> Self {
        Self {
            view: writer.view,
            bucket_ns: writer.bucket_ns,
            moments: Vec::new(),
        }
    }

    /// Returns the interval to collect events from: the view plus a margin on both sides.
    pub fn collect_interval(&self) -> Interval {
        let margin_ns = self.bucket_ns.saturating_mul(MARGIN_BUCKETS);
        let (start, end) = (self.view.start().0, self.view.end().0);
        let collect_interval = (
            start.saturating_sub(margin_ns),
            end.saturating_add(margin_ns),
        );
        Interval::new(Nanos(collect_interval.0), Nanos(collect_interval.1))
    }

    /// Returns the length of a column in nanoseconds. Columns begin at multiples of it.
    pub const fn column_ns(&self) -> u64 {
        self.bucket_ns.saturating_mul(COLUMN_BUCKETS)
    }

    /// Adds all events of one column. Columns must be added in time order.
    pub fn push(&mut self, moment: NewMoment<P>) {
        self.moments.push(moment);
    }

    /// Writes the marks. `join` merges the payloads of two events, the earlier one first.
    pub fn write(self, writer: &mut MarkWriter, join: impl Fn(P, P) -> P) {
        let min_sign_ns = self.bucket_ns.saturating_mul(MIN_SIGN_BUCKETS);
        let is_near = |one: &NewMoment<P>, next: &NewMoment<P>| {
            next.start.saturating_sub(one.end) < min_sign_ns
        };
        for group in self.moments.chunk_by(is_near) {
            let count: usize = group.iter().map(|one| one.count).sum();
            let (first, last) = (group.first(), group.last());
            let length = first.zip(last).map_or(0, |(a, b)| b.end - a.start);
            if count >= VERY_MANY || (count >= MANY && length >= min_sign_ns) {
                self.write_columns(group, writer);
            } else {
                self.write_signs(group, min_sign_ns, writer, &join);
            }
        }
    }

    fn is_in_view(&self, from: u64, to: u64) -> bool {
        from <= self.view.end().0 && self.view.start().0 <= to
    }

    fn write_columns(&self, group: &[NewMoment<P>], writer: &mut MarkWriter) {
        let column_ns = self.column_ns();
        for one in group {
            let start = one.start / column_ns * column_ns;
            let end = start.saturating_add(column_ns - 1);
            if self.is_in_view(start, end) {
                writer.column(NewMoment { start, end, ..*one });
            }
        }
    }

    /// Merges events that are too close for separate signs; a sign is at its first event.
    fn write_signs(
        &self,
        group: &[NewMoment<P>],
        min_sign_ns: u64,
        writer: &mut MarkWriter,
        join: &impl Fn(P, P) -> P,
    ) {
        let mut signs: Vec<NewMoment<P>> = Vec::new();
        for one in group {
            match signs.last_mut() {
                Some(sign) if one.start - sign.start < min_sign_ns => {
                    sign.end = one.end;
                    sign.count += one.count;
                    sign.payload = join(sign.payload, one.payload);
                }
                _ => signs.push(*one),
            }
        }
        for sign in signs {
            if self.is_in_view(sign.start, sign.end) {
                writer.moment(sign);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::marks::{MarkKind, PackedPayload, TimelineReply};

    /// Kind, start, end and count of a mark.
    type Shown = (MarkKind, u64, u64, u32);

    fn shown(times: &[u64], view: Interval, bucket_ns: u64) -> Vec<Shown> {
        let mut writer = MarkWriter {
            view,
            bucket_ns,
            end: Nanos(u64::MAX),
            row: 0,
            reply: TimelineReply::default(),
        };
        let mut density = Density::new(&writer);
        let (collect_interval, column_ns) = (density.collect_interval(), density.column_ns());
        let from = collect_interval.start().0 / column_ns * column_ns;
        let told = times.iter().copied().filter(|&at| from <= at);
        let told: Vec<u64> = told.collect();
        for column in told.chunk_by(|a, b| a / column_ns == b / column_ns) {
            if column[0] <= collect_interval.end().0 {
                density.push(NewMoment {
                    start: column[0],
                    end: column[column.len() - 1],
                    count: column.len(),
                    payload: PackedPayload::default(),
                });
            }
        }
        density.write(&mut writer, |first, _| first);
        let origin = view.start().0 as f64;
        let marks = writer.reply.row_marks(0);
        let marks = marks.map(|mark| {
            let [start, end] = [mark.start, mark.end].map(|at| (origin + at) as u64);
            (mark.kind, start, end, mark.count)
        });
        marks.collect()
    }

    fn between(from: u64, to: u64) -> Interval {
        Interval::new(Nanos(from), Nanos(to))
    }

    #[test]
    fn few_are_signs_and_many_are_columns() {
        use MarkKind::{Column, Moment};
        let view = between(0, 1000);
        // Far apart, or all at one place.
        assert_eq!(
            shown(&[10, 100, 101, 103], view, 1),
            [(Moment, 10, 10, 1), (Moment, 100, 103, 3)]
        );
        assert_eq!(shown(&[7; 50], view, 1), [(Moment, 7, 7, 50)]);
        assert_eq!(shown(&[7; 100], view, 1), [(Column, 6, 7, 100)]);
        // Close together, but few: no two signs overlap.
        assert_eq!(
            shown(&[10, 13, 16, 19], view, 1),
            [(Moment, 10, 13, 2), (Moment, 16, 19, 2)]
        );
        // A dense run of many.
        let every_ns: Vec<u64> = (20..30).collect();
        let columns: Vec<Shown> = (10..15).map(|i| (Column, 2 * i, 2 * i + 1, 2)).collect();
        assert_eq!(shown(&every_ns, view, 1), columns);
    }

    proptest! {
        /// Each event is counted once, and the end of the view does not change the marks inside it.
        #[test]
        fn all_are_counted_and_panning_changes_nothing(
            steps in prop::collection::vec(prop_oneof![0u64..3, 0u64..40, 0u64..600], 0..300),
            bucket in 0u32..5,
            from in 0u64..4000,
            length in 0u64..3000,
        ) {
            let bucket_ns = 1 << bucket;
            let times: Vec<u64> = steps
                .iter()
                .scan(1000, |at, step| { *at += step; Some(*at) })
                .collect();
            let all = shown(&times, between(0, 1 << 40), bucket_ns);
            let sum: usize = all.iter().map(|&(.., count)| count as usize).sum();
            prop_assert_eq!(sum, times.len());
            for &(kind, start, end, count) in &all {
                let here = times.iter().filter(|&&at| start <= at && at <= end).count();
                prop_assert_eq!(here, count as usize, "{:?} {}", kind, start);
            }
            let view = between(from, from + length);
            let in_view = |&&(_, start, end, _): &&Shown| start <= from + length && from <= end;
            let expected: Vec<Shown> = all.iter().filter(in_view).copied().collect();
            prop_assert_eq!(shown(&times, view, bucket_ns), expected);
            // At most one mark per column.
            prop_assert!(all.len() as u64 <= 1 + times.last().unwrap_or(&0) / (2 * bucket_ns));
        }
    }
}
