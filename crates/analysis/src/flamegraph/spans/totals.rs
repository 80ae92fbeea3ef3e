//! Total time per span name as in `ghc-events-analyze`, for the whole log or for windows of it.
//!
//! A span counts from its first start to its last stop, without the collections of its process. A window is a
//! span with a given name; each window has totals of its own, with the parts of spans inside it.
//! (`ghc-events-analyze`, in contrast, drops spans that began before the window.) Rows are by name, without the
//! number that distinguishes spans.

use serde::{Deserialize, Serialize};

use super::{ProgramSpan, ProgramSpans, SpanProcesses};
use eventlog::hash::SeededMap;
use eventlog::ids::{Duration, Nanos};
use model::sorting::CompactSort;
use model::time::Interval;

/// Total of the spans with one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanTotal {
    /// Span name, without number and module.
    pub name: String,
    /// Total time without collections, in ns.
    pub time: Nanos,
    /// Number of spans that began in the window.
    pub count: u64,
}

/// Totals of one window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowTotals {
    /// Time range of the window.
    pub window: Interval,
    /// Collection time in the window, summed over processes.
    pub collecting: Duration,
    /// Totals by name, the longest first.
    pub rows: Vec<SpanTotal>,
}

/// Prefix sums of collection time, for fast queries.
struct CollectionTimeSums<'a> {
    all: &'a [(u64, u64)],
    /// Total time of the collections before each, in ns.
    before: Vec<u64>,
}

impl<'a> CollectionTimeSums<'a> {
    fn new(all: &'a [(u64, u64)]) -> Self {
        let mut sum = 0;
        let before = all.iter().map(|(start, end)| {
            let before = sum;
            sum += end - start;
            before
        });
        Self {
            before: before.collect(),
            all,
        }
    }

    fn until(&self, time: u64) -> u64 {
        let begun = self.all.partition_point(|&(start, _)| start < time);
        let Some(last) = begun.checked_sub(1) else {
            return 0;
        };
        let (start, end) = self.all[last];
        self.before[last] + end.min(time) - start
    }

    fn within(&self, start: u64, end: u64) -> u64 {
        self.until(end).saturating_sub(self.until(start))
    }
}

/// Returns the totals of each window, in time order.
///
/// The windows are the spans named `window`, or the whole log.
pub fn span_totals(
    spans: &ProgramSpans,
    processes: &SpanProcesses,
    log: Interval,
    window: Option<&str>,
) -> Vec<WindowTotals> {
    let sums = processes.all().iter();
    let sums: Vec<CollectionTimeSums<'_>> = sums
        .map(|process| CollectionTimeSums::new(&process.collections))
        .collect();
    let collecting = |place: usize, from: u64, to: u64| {
        let sums = sums.get(place);
        sums.map_or(0, |sums| sums.within(from, to))
    };
    // The first one stands for the whole log, in which collections of several processes do not overlap.
    let first = usize::from(sums.len() > 1);
    let collecting_of_all = |from: u64, to: u64| {
        let each = (first..sums.len()).map(|place| collecting(place, from, to));
        Duration(each.fold(0, u64::saturating_add))
    };
    let windows = match window {
        None => vec![(log.start().0, log.end().0)],
        Some(name) => windows(spans, name),
    };
    // Time in ns and count, by name.
    let mut totals: Vec<SeededMap<u32, (u64, u64)>> = vec![SeededMap::default(); windows.len()];
    for span in &spans.spans {
        let place = processes.index_of(span.cap);
        let first = windows.partition_point(|&(_, end)| end < span.start);
        let around = windows.iter().zip(&mut totals).skip(first);
        for (&(from, to), totals) in around.take_while(|((from, _), _)| *from <= span.end) {
            let (start, end) = (span.start.max(from), span.end.min(to));
            let time = (end - start).saturating_sub(collecting(place, start, end));
            // A start at the end of a window belongs to the next one.
            let begins = span.start >= from && (span.start < to || from == to || window.is_none());
            if time > 0 || begins {
                let total = totals.entry(spans.names.plain(span.name)).or_default();
                total.0 = total.0.saturating_add(time);
                total.1 += u64::from(begins);
            }
        }
    }
    let of_window = |((from, to), totals): ((u64, u64), SeededMap<u32, (u64, u64)>)| WindowTotals {
        window: Interval::new(Nanos(from), Nanos(to)),
        collecting: collecting_of_all(from, to),
        rows: rows(spans, totals),
    };
    windows.into_iter().zip(totals).map(of_window).collect()
}

/// Returns the times of all spans with this name, sorted; overlapping ones are merged.
fn windows(spans: &ProgramSpans, name: &str) -> Vec<(u64, u64)> {
    let named = |span: &&ProgramSpan| spans.names.get(span.name) == name;
    let windows = spans.spans.iter().filter(named);
    let mut all: Vec<(u64, u64)> = windows.map(|span| (span.start, span.end)).collect();
    all.sort_unstable();
    all.dedup_by(|later, earlier| {
        let overlap = later.0 < earlier.1;
        if overlap {
            earlier.1 = earlier.1.max(later.1);
        }
        overlap
    });
    all
}

fn rows(spans: &ProgramSpans, totals: SeededMap<u32, (u64, u64)>) -> Vec<SpanTotal> {
    let row = |(name, (time, count))| SpanTotal {
        name: spans.names.get(name).to_owned(),
        time: Nanos(time),
        count,
    };
    let mut rows: Vec<SpanTotal> = totals.into_iter().map(row).collect();
    rows.sort_small_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
    rows
}
