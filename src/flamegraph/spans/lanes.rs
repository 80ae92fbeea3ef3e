//! Which spans of a thread stand on each other: those that lie inside each
//! other. A span that only overlaps another is on the next lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ProgramSpan;

/// How many lanes a thread has at most.
pub(super) const MOST_LANES: usize = 256;
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
