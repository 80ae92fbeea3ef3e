//! Shared code of tracks with moments.

use model::density::Density;
use model::lane::partition;
use model::marks::{NewMoment, Payload};

/// Adds the moments of a list in time order, by column. `time` returns the time of the moment with that index, and
/// `payload` the payload of a column whose first moment that is.
pub(super) fn add_by_column<P: Payload>(
    density: &mut Density<P>,
    len: usize,
    time: impl Fn(usize) -> u64,
    payload: impl Fn(usize) -> P,
) {
    let (wanted, column_ns) = (density.collect_interval(), density.column_ns());
    let aligned = wanted.start().0 / column_ns * column_ns;
    let mut at = partition(len, |i| time(i) < aligned);
    while at < len && time(at) <= wanted.end().0 {
        let start = time(at);
        let next = (start / column_ns + 1).saturating_mul(column_ns);
        let count = partition(len - at, |i| time(at + i) < next).max(1);
        density.push(NewMoment {
            start,
            end: time(at + count - 1),
            count,
            payload: payload(at),
        });
        at += count;
    }
}
