//! Which spans of a thread stand on each other: those that lie inside each
//! other. A span that only overlaps another is on the next lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ProgramSpan;
use eventlog::ids::ThreadId;
use model::place::place32;
use model::sorting::SortSmall;

/// How many lanes a thread has at most: so many spans may overlap without
/// lying inside each other.
pub const MOST_LANES: usize = 256;
/// In so many of them a place is sought on top of others.
const SEARCHED: usize = 16;

/// The spans of a thread.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// The spans of each, outer ones before those that they have inside.
    pub(super) lanes: Vec<Vec<ProgramSpan>>,
    /// How many spans had no room.
    pub(super) left_out: u64,
}

/// A lane of a thread, or of several that follow each other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lane {
    /// Whose; `None` if of several threads, or of none.
    pub(super) thread: Option<ThreadId>,
    /// The number of the lane among those of the thread.
    pub lane: u32,
    /// Outer spans before those that they have inside.
    pub spans: Vec<ProgramSpan>,
}

impl Lane {
    fn start(&self) -> u64 {
        self.spans.first().map_or(0, |span| span.start)
    }

    /// The end of the last of the outermost spans.
    fn end(&self) -> u64 {
        let ends = self.spans.iter().map(|span| span.end);
        ends.max().unwrap_or(0)
    }

    /// For how long it has spans.
    fn covered_ns(&self) -> u64 {
        let (mut until, mut sum) = (0, 0_u64);
        for span in &self.spans {
            sum = sum.saturating_add(span.end.saturating_sub(span.start.max(until)));
            until = span.end.max(until);
        }
        sum
    }
}

/// So many lanes are shown by themselves.
pub(super) const MOST_OWN: usize = 200;

/// A program that makes a thread for each request has as many lanes as
/// threads. Those with the least time share lanes then, one after the other,
/// as if no thread were known. The number is that of the spans without room.
pub(super) fn share(all: Vec<Lane>) -> (Vec<Lane>, u64) {
    if all.len() <= MOST_OWN {
        return (all, 0);
    }
    let mut keyed: Vec<(u64, Lane)> = all
        .into_iter()
        .map(|lane| (lane.covered_ns(), lane))
        .collect();
    keyed.sort_small_by_key(|(covered_ns, lane)| (Reverse(*covered_ns), lane.thread, lane.lane));
    let mut all: Vec<Lane> = keyed.into_iter().map(|(_, lane)| lane).collect();
    let mut sharing = all.split_off(MOST_OWN);
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
        if place >= MOST_LANES {
            left_out += lane.spans.len() as u64;
            continue;
        }
        busy.push(Reverse((lane.end(), place)));
        if let Some(shared) = shared.get_mut(place) {
            shared.spans.extend(lane.spans);
        } else {
            let number = place32(place);
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

/// Places spans that come by time, of those that begin at one time the
/// longer first.
pub(super) fn lanes(spans: impl Iterator<Item = ProgramSpan>) -> Lanes {
    let mut placed = Lanes::default();
    // The ends of the spans that go on, outermost first; only of the lanes
    // that are searched.
    let mut going_on: Vec<Vec<u64>> = Vec::new();
    // Of the other lanes: when the outermost span ends.
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
        let fits = going_on.iter_mut().position(|ends| {
            while ends.last().is_some_and(|&end| end <= span.start) {
                ends.pop();
            }
            ends.last().is_none_or(|&end| span.end <= end)
        });
        let lane = match fits {
            Some(lane) => lane,
            None if placed.lanes.len() < SEARCHED => {
                going_on.push(Vec::new());
                placed.lanes.push(Vec::new());
                placed.lanes.len() - 1
            }
            None => match free.pop() {
                Some(Reverse(lane)) => lane,
                None if placed.lanes.len() < MOST_LANES => {
                    placed.lanes.push(Vec::new());
                    placed.lanes.len() - 1
                }
                None => {
                    placed.left_out += 1;
                    continue;
                }
            },
        };
        match going_on.get_mut(lane) {
            Some(ends) => ends.push(span.end),
            None => busy.push(Reverse((span.end, lane))),
        }
        if let Some(spans) = placed.lanes.get_mut(lane) {
            spans.push(span);
        }
    }
    placed
}
