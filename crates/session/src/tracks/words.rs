//! Descriptions shared by several tracks, made from a mark alone so that they are available at once. Further
//! details come from the worker (`tracks::details`).

use crate::tracks::item::{Item, Names};
use eventlog::ids::{Duration, ThreadId};
use model::class::Class;
use scene::format;

/// Returns the name of a thread: its label and number, or its number alone.
pub(crate) fn thread_name(names: &dyn Names, thread: ThreadId) -> String {
    match names.label(thread) {
        Some(label) => format!("{label} (thread {thread})"),
        None => format!("thread {thread}"),
    }
}

/// Formats start and end.
pub(crate) fn when(item: &Item) -> String {
    let (start, end) = (
        format::time(item.span.start()),
        format::time(item.span.end()),
    );
    format!("{start} – {end}")
}

/// Formats the duration of an item.
pub(crate) fn duration(item: &Item) -> String {
    format::duration(item.span.duration())
}

/// Describes a density column: number of events, time range, rate, and the meaning of its height.
pub(crate) fn density(item: &Item, what: &str) -> String {
    // The end is the last nanosecond of the column, inclusive.
    let time = Duration(item.span.duration().0.saturating_add(1));
    let count = u64::from(item.count);
    if count == 1 {
        return format!("a single one in {}", when(item));
    }
    let number = format::count(count);
    format!(
        "{number} {what} in {}: {} · {} · height: √{number}",
        format::duration(time),
        format::rate(count, time),
        when(item)
    )
}

/// Normalizes the class shares of a pixel. Spans count where they begin, so the last one may extend beyond the
/// pixel and the sum may exceed 1.
pub(crate) fn normalized_shares(shares: &[f32]) -> impl Iterator<Item = f64> + '_ {
    let sum: f64 = shares.iter().map(|&share| f64::from(share)).sum();
    let most = sum.max(1.0);
    shares.iter().map(move |&share| f64::from(share) / most)
}

/// Describes several spans that share a pixel: their number, and the share of each class.
pub(crate) fn several(item: &Item, what: &str) -> String {
    parts(&format!("{} {what}", item.count), item)
}

/// Describes a mark with several parts, with the share of each class.
pub(crate) fn parts(what: &str, item: &Item) -> String {
    let shares = Class::ALL.iter().zip(normalized_shares(&item.shares));
    let shares: Vec<String> = shares
        .filter(|(_, share)| *share > 0.0)
        .map(|(class, share)| format!("{} {}", format::fraction(share), class.name()))
        .collect();
    let shares = shares.join(", ");
    let (duration, when) = (duration(item), when(item));
    format!("{what} in {duration}: {shares} · {when}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_pixel_are_not_more_than_all_of_it() {
        let of = |shares: &[f32]| normalized_shares(shares).collect::<Vec<f64>>();
        assert_eq!(of(&[0.25, 0.0, 0.5]), [0.25, 0.0, 0.5]);
        assert_eq!(of(&[0.5, 0.25, 1.25]), [0.25, 0.125, 0.625]);
        assert_eq!(of(&[]), [0.0; 0]);
    }
}
