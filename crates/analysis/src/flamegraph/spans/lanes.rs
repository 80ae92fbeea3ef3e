//! Assigns the spans of a thread to lanes.
//!
//! Spans on one lane are nested or disjoint; a span that only partly overlaps another goes to the next lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ProgramSpan;
use eventlog::ids::ThreadId;
use model::saturating::saturating_u32;
use model::sorting::CompactSort;

/// Limit of lanes per thread, and so of spans that partly overlap at one time.
pub const MAX_LANES: usize = 256;
/// Number of lanes in which spans may nest; on further lanes, spans only follow each other.
const SEARCHED: usize = 16;

/// Spans of a thread, by lane.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Spans of each lane, outer ones before those nested in them.
    pub(super) lanes: Vec<Vec<ProgramSpan>>,
    /// Number of spans dropped because all lanes were occupied.
    pub(super) left_out: u64,
}

/// A lane of one thread, or of several threads one after the other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lane {
    /// Thread of the spans; `None` for spans of several threads, or of none.
    pub(super) thread: Option<ThreadId>,
    /// Number of the lane within the thread.
    pub lane: u32,
    /// Outer spans before those nested in them.
    pub spans: Vec<ProgramSpan>,
}

impl Lane {
    fn start(&self) -> u64 {
        self.spans.first().map_or(0, |span| span.start)
    }

    /// Returns the latest end of any span.
    fn end(&self) -> u64 {
        let ends = self.spans.iter().map(|span| span.end);
        ends.max().unwrap_or(0)
    }

    /// Returns the time covered by spans, in ns.
    fn covered_ns(&self) -> u64 {
        let (mut until, mut sum) = (0, 0_u64);
        for span in &self.spans {
            sum = sum.saturating_add(span.end.saturating_sub(span.start.max(until)));
            until = span.end.max(until);
        }
        sum
    }
}

/// Limit of lanes that keep their thread.
pub(super) const MAX_OWN: usize = 200;

/// Limits the number of lanes, for programs that create a thread per request.
///
/// The [`MAX_OWN`] lanes with the most time stay. The others share lanes, one after the other, without a thread.
/// Also returns the number of dropped spans.
pub(super) fn share(all: Vec<Lane>) -> (Vec<Lane>, u64) {
    if all.len() <= MAX_OWN {
        return (all, 0);
    }
    let mut keyed: Vec<(u64, Lane)> = all
        .into_iter()
        .map(|lane| (lane.covered_ns(), lane))
        .collect();
    keyed.sort_small_by_key(|(covered_ns, lane)| (Reverse(*covered_ns), lane.thread, lane.lane));
    let mut all: Vec<Lane> = keyed.into_iter().map(|(_, lane)| lane).collect();
    let mut sharing = all.split_off(MAX_OWN);
    let first = all.iter().filter(|lane| lane.thread.is_none());
    let first = first.map(|lane| lane.lane + 1).max().unwrap_or(0);
    sharing.sort_small_by_key(|lane| (lane.start(), lane.thread, lane.lane));
    let mut shared: Vec<Lane> = Vec::new();
    let mut busy: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    let mut left_out = 0;
    for lane in sharing {
        while let Some(&Reverse((end, place))) = busy.peek() {
            if end > lane.start() {
                break;
            }
            busy.pop();
            free.push(Reverse(place));
        }
        let place = free.pop().map_or(shared.len(), |Reverse(place)| place);
        if place >= MAX_LANES {
            left_out += lane.spans.len() as u64;
            continue;
        }
        busy.push(Reverse((lane.end(), place)));
        if let Some(shared) = shared.get_mut(place) {
            shared.spans.extend(lane.spans);
        } else {
            let number = saturating_u32(place);
            shared.push(Lane {
                thread: None,
                lane: first.saturating_add(number),
                ..lane
            });
        }
    }
    all.extend(shared);
    all.sort_small_by_key(|lane| (lane.thread, lane.lane));
    (all, left_out)
}

/// Assigns spans to lanes. They must be sorted by start, then by descending end.
pub(super) fn lanes(spans: impl Iterator<Item = ProgramSpan>) -> Lanes {
    let mut placed = Lanes::default();
    // Ends of the open spans of each searched lane, outermost first.
    let mut open_ends: Vec<Vec<u64>> = Vec::new();
    // Other lanes in use, by the end of their last span.
    let mut busy: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    for span in spans {
        while let Some(&Reverse((end, lane))) = busy.peek() {
            if end > span.start {
                break;
            }
            busy.pop();
            free.push(Reverse(lane));
        }
        let fits = open_ends.iter_mut().position(|ends| {
            while ends.last().is_some_and(|&end| end <= span.start) {
                ends.pop();
            }
            ends.last().is_none_or(|&end| span.end <= end)
        });
        let lane = match fits {
            Some(lane) => lane,
            None if placed.lanes.len() < SEARCHED => {
                open_ends.push(Vec::new());
                placed.lanes.push(Vec::new());
                placed.lanes.len() - 1
            }
            None => match free.pop() {
                Some(Reverse(lane)) => lane,
                None if placed.lanes.len() < MAX_LANES => {
                    placed.lanes.push(Vec::new());
                    placed.lanes.len() - 1
                }
                None => {
                    placed.left_out += 1;
                    continue;
                }
            },
        };
        match open_ends.get_mut(lane) {
            Some(ends) => ends.push(span.end),
            None => busy.push(Reverse((span.end, lane))),
        }
        if let Some(spans) = placed.lanes.get_mut(lane) {
            spans.push(span);
        }
    }
    placed
}
