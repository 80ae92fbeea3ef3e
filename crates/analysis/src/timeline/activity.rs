//! Activity of the capabilities: per bucket, the share of time that each one runs Haskell code, and the number
//! that collect. Exact at every zoom level.

use super::store::Store;
use eventlog::ids::CapId;
use model::class::Class;
use model::gauge::{Buckets, GaugeSegment};
use model::lane::Lane;
use model::marks::Values;

/// Maximum number of series; with more capabilities, neighbors share a series, which is their sum.
pub const MAX_SERIES: usize = 16;

/// Series of the number of collecting capabilities.
pub const COLLECTING: u8 = 255;

/// Series of the density of the log where it has not been read yet.
pub const UNREAD: u8 = 254;

/// Returns the series of the capability at index `place` of `caps`.
pub fn series_of(place: usize, caps: usize) -> usize {
    if caps <= MAX_SERIES {
        place
    } else {
        place * MAX_SERIES / caps
    }
}

/// Emits the series of a view: the share of each bucket in which each capability ran, and the number of
/// capabilities that collected.
pub fn points(
    store: &Store,
    caps: &[CapId],
    buckets: Buckets,
    mut emit: impl FnMut(u8, GaugeSegment),
) {
    let each: Vec<(u64, u64)> = buckets.intervals().collect();
    let mut collecting = vec![0u64; each.len()];
    let mut running = vec![0u64; each.len()];
    for (place, id) in caps.iter().enumerate() {
        if let Some(cap) = store.cap(*id) {
            let of_class = |lane: &dyn Fn(u64) -> u64, sums: &mut [u64]| {
                let mut before = lane(buckets.first());
                for (&(_, end), sum) in each.iter().zip(sums) {
                    let after = lane(end);
                    *sum += after.saturating_sub(before);
                    before = after;
                }
            };
            let ran = |time| {
                let times = cap.runs.time_before(time);
                times[Class::Running as usize] + times[Class::Open as usize]
            };
            let gc_spans = store.account().gc_spans_of(*id);
            let collected = |time| {
                // The account exists only once the log has been read to its end.
                let times = match gc_spans {
                    Some(gc_spans) => gc_spans.time_before(time),
                    None => cap.gc.time_before(time),
                };
                let gc = Class::ALL.iter().filter(|class| class.is_gc());
                gc.map(|class| times[*class as usize]).sum()
            };
            of_class(&ran, &mut running);
            of_class(&collected, &mut collecting);
        }
        let series = series_of(place, caps.len());
        let is_last = place + 1 == caps.len() || series_of(place + 1, caps.len()) != series;
        if is_last {
            let series = u8::try_from(series).unwrap_or(UNREAD - 1);
            push(&each, &running, |stretch| emit(series, stretch));
            running.fill(0);
        }
    }
    push(&each, &collecting, |stretch| emit(COLLECTING, stretch));
}

/// Emits the points of a series: none for zero, one for consecutive equal values.
fn push(each: &[(u64, u64)], times: &[u64], mut emit: impl FnMut(GaugeSegment)) {
    let mut open: Option<(GaugeSegment, u64)> = None;
    for (&(start, end), &time) in each.iter().zip(times) {
        match &mut open {
            Some((before, same)) if *same == time => before.end = end,
            _ => {
                if let Some((before, _)) = open.take() {
                    emit(before);
                }
                let values = Values::constant(time as f64 / (end - start) as f64);
                open = (time > 0).then_some((GaugeSegment { start, end, values }, time));
            }
        }
    }
    if let Some((last, _)) = open {
        emit(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_share_sixteen_series() {
        for caps in 1..70 {
            let series: Vec<usize> = (0..caps).map(|place| series_of(place, caps)).collect();
            assert_eq!(series.first(), Some(&0));
            assert!(series.windows(2).all(|pair| pair[1] - pair[0] <= 1));
            assert_eq!(
                series.last().map(|last| last + 1),
                Some(caps.min(MAX_SERIES))
            );
        }
    }
}
