//! Wakeups of all threads in a few bytes each, for the rules that look at them one after the other: finding the waker of
//! each in the log takes longer than what rules do with it.

use analysis::timeline::turn_list::{push_number, read_number};
use eventlog::ids::{CapId, Nanos, ThreadId};

use crate::wakeups::ThreadEvent;

/// List of wakeups by capability. Each is stored as its differences from the one before: its time, the woken thread, and
/// the waker.
#[derive(Debug, Default)]
pub(crate) struct WakeupList {
    bytes: Vec<u8>,
    /// Capabilities in order, each with the end of its wakeups in `bytes`.
    caps: Vec<(CapId, usize)>,
    last: LastWakeup,
}

/// Wakeup before the one that is written or read; of the waker the last one that is known.
#[derive(Clone, Copy, Debug, Default)]
struct LastWakeup {
    at_ns: u64,
    thread: u32,
    by: u32,
}

/// Maps small differences of either sign to small numbers.
const fn difference(from: u32, to: u32) -> u64 {
    let change = to.wrapping_sub(from) as i32;
    ((change << 1) ^ (change >> 31)) as u32 as u64
}

/// Returns the number with this difference from another one.
const fn changed(from: u32, difference: u64) -> u32 {
    let number = difference as u32;
    from.wrapping_add((number >> 1) ^ (number & 1).wrapping_neg())
}

impl WakeupList {
    /// Of about a million wakeups.
    const MAX_BYTES: usize = 8 << 20;

    /// Appends a wakeup. Those of a capability must follow each other.
    pub(crate) fn push(&mut self, wakeup: &ThreadEvent) {
        if self.caps.last().is_none_or(|(cap, _)| *cap != wakeup.cap) {
            self.caps.push((wakeup.cap, self.bytes.len()));
            self.last = LastWakeup::default();
        }
        let LastWakeup { at_ns, thread, by } = self.last;
        let waker = wakeup.by.map(|waker| waker.0);
        let by_number = waker.map_or(0, |waker| 1 + difference(by, waker));
        push_number(&mut self.bytes, wakeup.at.0.wrapping_sub(at_ns));
        push_number(&mut self.bytes, difference(thread, wakeup.thread.0));
        push_number(&mut self.bytes, by_number);
        self.last = LastWakeup {
            at_ns: wakeup.at.0,
            thread: wakeup.thread.0,
            by: waker.unwrap_or(by),
        };
        if let Some((_, end)) = self.caps.last_mut() {
            *end = self.bytes.len();
        }
    }

    /// Returns whether the list is not too long to be kept.
    pub(crate) const fn fits(&self) -> bool {
        self.bytes.len() <= Self::MAX_BYTES
    }

    /// Returns the wakeups in the order in which they were appended.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ThreadEvent> {
        let mut from = 0;
        self.caps.iter().flat_map(move |&(cap, end)| {
            let mut bytes = self.bytes.get(from..end).unwrap_or_default().iter();
            from = end;
            let mut last = LastWakeup::default();
            std::iter::from_fn(move || {
                if bytes.as_slice().is_empty() {
                    return None;
                }
                last.at_ns = last.at_ns.wrapping_add(read_number(&mut bytes));
                last.thread = changed(last.thread, read_number(&mut bytes));
                let by = read_number(&mut bytes).checked_sub(1);
                last.by = by.map_or(last.by, |by| changed(last.by, by));
                Some(ThreadEvent {
                    thread: ThreadId(last.thread),
                    at: Nanos(last.at_ns),
                    cap,
                    by: by.map(|_| ThreadId(last.by)),
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakeups_are_read_as_they_were_appended() {
        let numbers = [0, 1, 5, 127, 128, 1 << 20, u32::MAX - 1, u32::MAX];
        let mut all = Vec::new();
        for cap in [3, 0, 65_535].map(CapId) {
            for thread in numbers {
                for by in numbers.map(Some).into_iter().chain([None]) {
                    let at = u64::from(thread) << 20 | u64::from(by.unwrap_or(1));
                    all.push(ThreadEvent {
                        thread: ThreadId(thread),
                        at: Nanos(at),
                        cap,
                        by: by.map(ThreadId),
                    });
                }
            }
        }
        let mut list = WakeupList::default();
        all.iter().for_each(|wakeup| list.push(wakeup));
        assert!(list.iter().eq(all));
        assert!(list.fits());
    }
}
