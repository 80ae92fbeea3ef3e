//! Does live data grow?
//!
//! Major collections log live data, but come only when it has doubled, so a leak has few points. Growth is what
//! the second half of the time added; its rate is that of the line through these points. Growth has ended if the
//! last quarter adds next to nothing or, without a major collection in that time, if minor collections since the
//! last one copied next to nothing.

use super::census;
use super::prelude::*;
use crate::collection_in_range::CollectionInRange;
use model::gauge::Samples;

/// Minimum growth; less depends on when the collections happened.
const MIN_BYTES: u64 = 5_000_000;
/// Minimum growth as a share of the maximum live data.
const MIN_SHARE: f64 = 0.25;
/// Live data below which growth is no severe problem yet, and a program that runs for less than `SHORT_NS` may simply
/// load its data.
const SMALL_BYTES: u64 = 64_000_000;
const SHORT_NS: u64 = 5_000_000_000;
/// Time in which growth may be the program's purpose, however much it is, such as that of an index.
const LOADING_NS: u64 = 60_000_000_000;
/// Growth has ended if the last quarter adds less than this share of it.
const CONTINUES: f64 = 0.10;
/// Share of the copying before the last major collection that goes on after it, for growth that seems to continue.
const ON_AND_ON: f64 = 0.7;
/// Number of consecutive rises that is hardly chance.
const SURE_RISES: usize = 4;

pub(super) const RULE: Rule = Rule {
    name: "live-growth",
    question: "Does live data grow?",
    inputs: &[Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Live data after a major collection.
#[derive(Clone, Copy, Debug)]
struct Point {
    time_ns: u64,
    bytes: u64,
}

/// Live data over time in the range.
#[derive(Debug)]
struct LiveData {
    points: Vec<Point>,
    from_ns: u64,
    to_ns: u64,
}

impl LiveData {
    fn new(context: &RuleContext<'_>) -> Self {
        let live = context.log.numbers.live();
        let (from_ns, to_ns) = (context.range.start().0, context.range.end().0);
        let indices = live.first_at(from_ns)..live.first_at(to_ns);
        let point = |at| Point {
            time_ns: live.time(at),
            bytes: live.value(at),
        };
        Self {
            points: indices.map(point).collect(),
            from_ns,
            to_ns,
        }
    }

    /// Returns the points from the last one before a share of the time; `None` without one before, or without one
    /// after.
    fn since(&self, share: f64) -> Option<&[Point]> {
        let time_ns = self.from_ns + ((self.to_ns - self.from_ns) as f64 * share) as u64;
        let next = self.points.partition_point(|point| point.time_ns < time_ns);
        let since = self.points.get(next.checked_sub(1)?..)?;
        (since.len() > 1).then_some(since)
    }

    /// Returns the number of consecutive rises up to the last point.
    fn rises(&self) -> usize {
        let pairs = self.points.windows(2).rev();
        pairs.take_while(|two| two[1].bytes > two[0].bytes).count()
    }
}

/// Returns the growth from the first point to the last, in bytes.
fn added(points: &[Point]) -> u64 {
    let first = points.first().map_or(0, |point| point.bytes);
    let last = points.last().map_or(0, |point| point.bytes);
    last.saturating_sub(first)
}

/// Returns the least-squares slope in bytes per second; 0 if it falls, or if all points are at one time.
fn bytes_per_second(points: &[Point]) -> f64 {
    let count = points.len().max(1) as f64;
    let origin_ns = points.first().map_or(0, |point| point.time_ns);
    let seconds = |point: &Point| point.time_ns.saturating_sub(origin_ns) as f64 / 1e9;
    let mean_time = points.iter().map(seconds).sum::<f64>() / count;
    let mean_bytes = points.iter().map(|point| point.bytes as f64).sum::<f64>() / count;
    let (mut together, mut squares) = (0.0, 0.0);
    for point in points {
        let distance = seconds(point) - mean_time;
        together += distance * (point.bytes as f64 - mean_bytes);
        squares += distance * distance;
    }
    if squares > 0.0 {
        (together / squares).max(0.0)
    } else {
        0.0
    }
}

/// Returns whether this growth had ended before the log did.
fn has_ended(context: &RuleContext<'_>, live: &LiveData, growth: u64) -> bool {
    let least = growth as f64 * CONTINUES;
    if let Some(last) = live.since(0.75) {
        return (added(last) as f64) < least;
    }
    // Bytes copied since then bound what can have been promoted.
    let last_ns = live.points.last().map_or(0, |point| point.time_ns);
    let since = context
        .collections
        .iter()
        .filter(|gc| gc.pause.start.0 > last_ns);
    let copied = since
        .filter_map(|gc| gc.statistics)
        .map(|statistics| statistics.copied_bytes);
    let quiet_ns = live.to_ns.saturating_sub(last_ns);
    let is_long = quiet_ns as f64 >= (live.to_ns - live.from_ns) as f64 / 4.0;
    is_long && (copied.fold(0, u64::saturating_add) as f64) < least
}

/// Returns whether minor collections copied as much in each second after the last major collection as before it: data
/// grows old as before.
fn seems_to_continue(context: &RuleContext<'_>, live: &LiveData) -> bool {
    let [.., before, last] = &live.points[..] else {
        return false;
    };
    let rate = |from_ns: u64, to_ns: u64| {
        let between =
            |gc: &&CollectionInRange<'_>| gc.pause.start.0 > from_ns && gc.pause.end.0 < to_ns;
        let minors = context.collections.iter().filter(|gc| !gc.is_major);
        let copied = minors.filter(between).filter_map(|gc| gc.statistics);
        let copied: u64 = copied.map(|statistics| statistics.copied_bytes).sum();
        copied as f64 / to_ns.saturating_sub(from_ns).max(1) as f64
    };
    let earlier = rate(before.time_ns, last.time_ns);
    earlier > 0.0 && rate(last.time_ns, live.to_ns) >= ON_AND_ON * earlier
}

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    // The nonmoving collector counts everything promoted as live until it has marked again (`Note [Live data
    // accounting in nonmoving collector]`, rts/sm/NonMoving.c).
    if context.is_nonmoving() {
        return Outcome::CannotTell("the nonmoving collector counts garbage as live until it has marked again: take a heap profile (-hT) of a run without it".into());
    }
    let live = LiveData::new(context);
    let Some(half) = live.since(0.5) else {
        return Outcome::CannotTell("too few major collections to measure growth of live data: record a longer log, or call performMajorGC at intervals".into());
    };
    let [before, after] = [half[0].bytes, half[half.len() - 1].bytes];
    let most = live.points.iter().map(|point| point.bytes).max();
    let growth = added(half);
    let share = growth as f64 / most.unwrap_or(0).max(1) as f64;
    let said = format!(
        "{} in the middle, {} at the end",
        format::bytes(before),
        format::bytes(after)
    );
    if growth < MIN_BYTES || share < MIN_SHARE {
        return Outcome::Clear(format!(
            "live data was {said}; the limits are 5 MB and a quarter of the maximum"
        ));
    }
    if has_ended(context, &live, growth) {
        return Outcome::Clear(format!(
            "live data was {said}, but growth has ended: the last quarter of the time added less than a tenth of it"
        ));
    }
    let title = format!(
        "Live data grew by {} a second, to {}",
        format::bytes(bytes_per_second(half) as u64),
        format::bytes(after)
    );
    let mut finding = Finding::of_memory(RULE.name, title, (growth, share));
    let rises = live.rises();
    let is_old = live.since(0.75).is_none();
    let is_steady = is_old && rises >= SURE_RISES && seems_to_continue(context, &live);
    let is_old = is_old && !is_steady;
    if half.len() < 3 && rises < SURE_RISES || is_old {
        finding.confidence = Confidence::Hint;
    }
    if is_old || after < SMALL_BYTES && context.length_ns() < SHORT_NS {
        finding.severity = finding.severity.min(Severity::Low);
    } else if after < SMALL_BYTES || context.length_ns() < LOADING_NS {
        finding.severity = finding.severity.min(Severity::Medium);
    }
    let held = census::largest_bands(context);
    finding.meaning = format!(
        "The program retains data that it may no longer need, or is still loading.{}{}",
        match (is_old, is_steady) {
            (true, _) => " No later major collection shows whether it still grows.",
            (_, true) =>
                " No later major collection shows whether it still grows, but minor collections copy as much as before.",
            (false, false) => "",
        },
        held.map_or(String::new(), |held| format!(
            " The largest census has {held}."
        ))
    )
    .into();
    finding.tries = vec![
        Advice::measure(
            "-hT -l",
            "A heap profile by closure type names the growing data, without a profiling build.",
        ),
        Advice::measure(
            "-hi -l",
            "With -finfo-table-map the profile names the source line that allocates it (GHC 9.2 and later).",
        ),
        Advice::code(
            "Look for maps, lists and references that only grow, and for top-level values (CAFs): these stay as long as code that uses them can run.",
        ),
    ];
    finding.distrust = "Filling caches and data that is loaded once grow too.".into();
    finding.set_numbers([
        ("growth", Value::Bytes(growth)),
        ("in the middle", Value::Bytes(before)),
        ("in the end", Value::Bytes(after)),
        (
            "more than before, times in a row",
            Value::Count(rises as u64),
        ),
    ]);
    let range = Interval::new(Nanos(half[0].time_ns), Nanos(half[half.len() - 1].time_ns));
    let evidence = Evidence::new(range, Value::Bytes(growth));
    Outcome::Found(vec![finding.with_evidence([evidence])])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(bytes: &[u64]) -> LiveData {
        let points = bytes.iter().enumerate();
        let points = points.map(|(at, bytes)| Point {
            time_ns: at as u64 * 1_000_000_000,
            bytes: *bytes,
        });
        LiveData {
            points: points.collect(),
            from_ns: 0,
            to_ns: bytes.len() as u64 * 1_000_000_000,
        }
    }

    #[test]
    fn the_rate_is_that_of_the_line_through_all_points() {
        let even = live(&[10, 20, 30, 40]);
        assert_eq!(bytes_per_second(&even.points), 10.0);
        // The last point alone does not determine the rate.
        let odd = live(&[10, 20, 30, 80]);
        assert_eq!(bytes_per_second(&odd.points), 22.0);
        assert_eq!(bytes_per_second(&odd.points[..1]), 0.0);
        assert_eq!(bytes_per_second(&live(&[40, 10]).points), 0.0);
    }

    #[test]
    fn rises_are_counted_from_the_end() {
        assert_eq!(live(&[1, 2, 4, 8, 16]).rises(), 4);
        assert_eq!(live(&[1, 2, 4, 3, 16]).rises(), 1);
        assert_eq!(live(&[]).rises(), 0);
    }

    #[test]
    fn a_part_begins_with_the_point_before_it() {
        let all = live(&[1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(all.since(0.5).map(added), Some(128 - 8));
        assert_eq!(all.since(0.75).map(added), Some(128 - 32));
        assert!(all.since(0.99).is_none() && all.since(0.0).is_none());
    }
}
