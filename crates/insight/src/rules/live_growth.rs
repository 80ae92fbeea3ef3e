//! Does live data grow?
//!
//! Major collections say how much is alive, and come when that has doubled, so that a leak has
//! few points. Growth is what the second half of the time added; its rate is the line through
//! its points. It has ended if the last quarter adds next to nothing, or, where no major
//! collection came in that time, if minor collections copied next to nothing since the last.

use super::{Look, Rule, census};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use eventlog::ids::Nanos;
use model::format;
use model::gauge::Samples;
use model::time::Interval;

/// Less is a matter of when the collections were.
const LEAST_BYTES: u64 = 10_000_000;
/// Of the most that was live: less is no growth.
const LEAST_SHARE: f64 = 0.25;
/// Growth that adds less than this share of itself in the last quarter has ended.
const GOES_ON: f64 = 0.10;
/// What rises so often in a row is no matter of chance.
const SURE_RISES: usize = 4;

const NAME: &str = "live-growth";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does live data grow?",
    inputs: &[Input::GcStatistics],
    look: Look::AtOnce(look),
};

/// Live data after a major collection.
#[derive(Clone, Copy, Debug)]
struct Point {
    time_ns: u64,
    bytes: u64,
}

/// What was alive in a part of the time.
#[derive(Debug)]
struct Live {
    points: Vec<Point>,
    from_ns: u64,
    to_ns: u64,
}

impl Live {
    fn of(context: &RuleContext<'_>) -> Self {
        let live = context.log.numbers.live();
        let (from_ns, to_ns) = (context.range.start().0, context.range.end().0);
        let places = live.first_at(from_ns)..live.first_at(to_ns);
        let point = |at| Point {
            time_ns: live.time(at),
            bytes: live.value(at),
        };
        Self {
            points: places.map(point).collect(),
            from_ns,
            to_ns,
        }
    }

    /// The points from the last one before a share of the time on; none if there is none
    /// before it, or none after.
    fn since(&self, share: f64) -> Option<&[Point]> {
        let time_ns = self.from_ns + ((self.to_ns - self.from_ns) as f64 * share) as u64;
        let next = self.points.partition_point(|point| point.time_ns < time_ns);
        let since = self.points.get(next.checked_sub(1)?..)?;
        (since.len() > 1).then_some(since)
    }

    /// How many times in a row, up to the last point, there was more than before.
    fn rises(&self) -> usize {
        let pairs = self.points.windows(2).rev();
        pairs.take_while(|two| two[1].bytes > two[0].bytes).count()
    }
}

/// What was added from the first point to the last, in bytes.
fn added(points: &[Point]) -> u64 {
    let first = points.first().map_or(0, |point| point.bytes);
    let last = points.last().map_or(0, |point| point.bytes);
    last.saturating_sub(first)
}

/// The slope of the line through points by least squares, in bytes a second; 0 if it falls, or
/// if all points are at one time.
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

/// Whether growth of so many bytes had ended when the log did.
fn has_ended(context: &RuleContext<'_>, live: &Live, growth: u64) -> bool {
    let least = growth as f64 * GOES_ON;
    if let Some(last) = live.since(0.75) {
        return (added(last) as f64) < least;
    }
    // No more than what was copied since can have become old.
    let last_ns = live.points.last().map_or(0, |point| point.time_ns);
    let since = context
        .stops
        .iter()
        .filter(|stop| stop.pause.start.0 > last_ns);
    let copied = since
        .filter_map(|stop| stop.told)
        .map(|told| told.copied_bytes);
    let quiet_ns = live.to_ns.saturating_sub(last_ns);
    let is_long = quiet_ns as f64 >= (live.to_ns - live.from_ns) as f64 / 4.0;
    is_long && (copied.fold(0, u64::saturating_add) as f64) < least
}

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    // Until it has marked again, all that was promoted meanwhile counts as alive
    // (`Note [Live data accounting in nonmoving collector]`, rts/sm/NonMoving.c).
    if context.is_nonmoving() {
        return Outcome::CannotTell("the nonmoving collector counts garbage as alive until it has marked again: a heap profile (-hT) of a run without it would tell".into());
    }
    let live = Live::of(context);
    let Some(half) = live.since(0.5) else {
        return Outcome::CannotTell("there are too few major collections to see whether live data grows: a longer log, or performMajorGC now and then, would tell".into());
    };
    let [before, after] = [half[0].bytes, half[half.len() - 1].bytes];
    let most = live.points.iter().map(|point| point.bytes).max();
    let growth = added(half);
    let share = growth as f64 / most.unwrap_or(0).max(1) as f64;
    let said = format!(
        "{} in the middle, {} in the end",
        format::bytes(before),
        format::bytes(after)
    );
    if growth < LEAST_BYTES || share < LEAST_SHARE {
        return Outcome::Clear(format!(
            "live data was {said}; the limits are 10 MB and a quarter of the most"
        ));
    }
    if has_ended(context, &live, growth) {
        return Outcome::Clear(format!(
            "live data was {said}, but the last quarter of the time added less than a tenth of that growth: it has ended"
        ));
    }
    let title = format!(
        "Live data grew by {} a second, to {}",
        format::bytes(bytes_per_second(half) as u64),
        format::bytes(after)
    );
    let mut finding = Finding::of_memory(NAME, title, (growth, share));
    let rises = live.rises();
    if half.len() < 3 && rises < SURE_RISES {
        finding.confidence = Confidence::Hint;
    }
    let held = census::largest_bands(context);
    finding.meaning = format!(
        "Something is kept that may not be needed any more, or loading goes on.{}",
        held.map_or(String::new(), |held| format!(
            " The largest census has {held}."
        ))
    )
    .into();
    finding.tries = vec![
        Try::measure(
            "-hT -l",
            "A heap profile by closure types names what grows, without a profiling build.",
        ),
        Try::measure(
            "-hi -l",
            "With -finfo-table-map it names the line of the program that made it (GHC 9.2 and later).",
        ),
        Try::code("Look for maps and references that are only added to."),
    ];
    finding.distrust = "Caches that fill and data that is loaded once grow too.".into();
    finding.numbers = vec![
        ("growth".into(), Value::Bytes(growth)),
        ("in the middle".into(), Value::Bytes(before)),
        ("in the end".into(), Value::Bytes(after)),
        (
            "more than before, times in a row".into(),
            Value::Count(rises as u64),
        ),
    ];
    let range = Interval::new(Nanos(half[0].time_ns), context.range.end());
    let evidence = Evidence {
        range,
        subjects: Vec::new(),
        amount: Value::Bytes(growth),
    };
    Outcome::Found(vec![finding.seen_in([evidence])])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(bytes: &[u64]) -> Live {
        let points = bytes.iter().enumerate();
        let points = points.map(|(at, bytes)| Point {
            time_ns: at as u64 * 1_000_000_000,
            bytes: *bytes,
        });
        Live {
            points: points.collect(),
            from_ns: 0,
            to_ns: bytes.len() as u64 * 1_000_000_000,
        }
    }

    #[test]
    fn the_rate_is_that_of_the_line_through_all_points() {
        let even = live(&[10, 20, 30, 40]);
        assert_eq!(bytes_per_second(&even.points), 10.0);
        // The last point alone does not make it.
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
