//! Turns of one thread after another in a few bytes each, for readers that need them several times: unpacking a turn
//! from the columns of the log takes longer than what is then done with it.

use super::turns::Turn;
use crate::account::ReadyParts;
use model::class::{ManagerThread, StopCode};

/// Set in the first byte of a turn that ends with a run.
const HAS_RUN: u8 = 1;
/// Set if some of its ready time was in collections or while a capability was idle.
const HAS_READY_PARTS: u8 = 1 << 1;
/// Position in the first byte of the number of the manager thread that ended the wait.
const WOKEN_BY: u32 = 2;

/// List of turns: each as a byte of flags, a byte for each reason of a stop, and its times since the end of the last
/// one, with seven bits in each byte.
#[derive(Clone, Debug, Default)]
pub struct TurnList {
    bytes: Vec<u8>,
    last_end_ns: u64,
}

impl TurnList {
    /// Maximum length of a turn: flags and reasons, and six numbers.
    pub const MAX_TURN_BYTES: usize = 3 + 6 * 10;

    /// Appends a turn.
    pub fn push(&mut self, turn: &Turn) {
        let Turn {
            last_stop,
            code,
            ready_parts,
            woken_by,
            ..
        } = *turn;
        let ((from, ready), (start, end)) = (turn.blocked_span(), turn.run_span());
        let has_parts = ready_parts != ReadyParts::default();
        let mut flags = woken_by.map_or(0, ManagerThread::number) << WOKEN_BY;
        flags |= if code.is_some() { HAS_RUN } else { 0 };
        flags |= if has_parts { HAS_READY_PARTS } else { 0 };
        self.bytes.extend([flags, last_stop.0]);
        self.bytes.extend(code.map(|code| code.0));
        // Turns of a thread follow one another.
        push_number(&mut self.bytes, from.wrapping_sub(self.last_end_ns));
        push_number(&mut self.bytes, ready - from);
        push_number(&mut self.bytes, start - ready);
        push_number(&mut self.bytes, end - start);
        if has_parts {
            push_number(&mut self.bytes, ready_parts.paused_ns);
            push_number(&mut self.bytes, ready_parts.idle_ns);
        }
        self.last_end_ns = end;
    }

    /// Returns the length in bytes.
    pub const fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Begins the turns of another thread. Returns the position of the first.
    pub const fn begin_thread(&mut self) -> TurnPosition {
        self.last_end_ns = 0;
        self.end()
    }

    /// Returns the position of the next turn that is appended.
    pub const fn end(&self) -> TurnPosition {
        TurnPosition {
            at: self.bytes.len(),
            last_end_ns: self.last_end_ns,
        }
    }

    /// Removes the turns from a position on.
    pub fn truncate(&mut self, position: TurnPosition) {
        self.bytes.truncate(position.at);
        self.last_end_ns = position.last_end_ns;
    }

    /// Returns the turn at a position, which moves to the next one; `None` at the end.
    pub fn read(&self, position: &mut TurnPosition) -> Option<Turn> {
        let mut rest = self.bytes.get(position.at..)?.iter();
        let flags = *rest.next()?;
        let last_stop = StopCode(*rest.next()?);
        let code = match flags & HAS_RUN {
            0 => None,
            _ => Some(StopCode(*rest.next()?)),
        };
        let from = position.last_end_ns.wrapping_add(read_number(&mut rest));
        let ready = from.wrapping_add(read_number(&mut rest));
        let start = ready.wrapping_add(read_number(&mut rest));
        let end = start.wrapping_add(read_number(&mut rest));
        let ready_parts = match flags & HAS_READY_PARTS {
            0 => ReadyParts::default(),
            _ => ReadyParts {
                paused_ns: read_number(&mut rest),
                idle_ns: read_number(&mut rest),
            },
        };
        *position = TurnPosition {
            at: self.bytes.len() - rest.len(),
            last_end_ns: end,
        };
        Some(Turn {
            last_stop,
            from,
            ready,
            start,
            end,
            code,
            ready_parts,
            woken_by: ManagerThread::from_number(flags >> WOKEN_BY),
        })
    }
}

/// Appends a number with seven bits in each byte, the low bits first; the high bit of a byte is set if more follow.
#[inline]
pub fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number that was written by [`push_number`].
#[inline]
pub fn read_number(bytes: &mut std::slice::Iter<'_, u8>) -> u64 {
    let (mut number, mut shift) = (0, 0);
    for &byte in bytes {
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 63 {
            break;
        }
    }
    number
}

/// Position of a turn in a list.
#[derive(Clone, Copy, Debug)]
pub struct TurnPosition {
    at: usize,
    last_end_ns: u64,
}

impl TurnPosition {
    /// Returns the position of the first turn of a thread, given by its offset in the list.
    pub const fn of_thread(at: usize) -> Self {
        Self { at, last_end_ns: 0 }
    }

    /// Returns the offset in the list.
    pub const fn offset(self) -> usize {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of every length, as long as four of them have a sum.
    fn time_ns() -> impl Strategy<Value = u64> {
        (any::<u64>(), 2_u32..64).prop_map(|(number, shift)| number >> shift)
    }

    fn turn() -> impl Strategy<Value = Turn> {
        let times = [time_ns(), time_ns(), time_ns(), time_ns()];
        let parts = prop_oneof![Just((0, 0)), (time_ns(), time_ns())];
        let codes = (any::<u8>(), any::<Option<u8>>(), 0_u8..=2);
        (times, parts, codes).prop_map(|(times, (paused_ns, idle_ns), codes)| {
            let [from, blocked, runnable, run] = times;
            let (ready, start) = (from + blocked, from + blocked + runnable);
            Turn {
                last_stop: StopCode(codes.0),
                from,
                ready,
                start,
                end: start.saturating_add(run),
                code: codes.1.map(StopCode),
                ready_parts: ReadyParts { paused_ns, idle_ns },
                woken_by: ManagerThread::from_number(codes.2),
            }
        })
    }

    proptest! {
        #[test]
        fn turns_are_read_as_they_were_pushed(turns in prop::collection::vec(turn(), 0..20), kept in 0_usize..20) {
            let mut list = TurnList::default();
            let mut end = list.end();
            for (index, turn) in turns.iter().enumerate() {
                list.push(turn);
                if index < kept {
                    end = list.end();
                }
            }
            let read = |list: &TurnList| {
                let mut position = TurnList::default().end();
                let read: Vec<Turn> = std::iter::from_fn(|| list.read(&mut position)).collect();
                read
            };
            prop_assert_eq!(format!("{:?}", read(&list)), format!("{turns:?}"));
            let of_next = list.begin_thread();
            turns.iter().for_each(|turn| list.push(turn));
            let mut position = TurnPosition::of_thread(of_next.offset());
            let again: Vec<Turn> = std::iter::from_fn(|| list.read(&mut position)).collect();
            prop_assert_eq!(format!("{again:?}"), format!("{turns:?}"));
            list.truncate(end);
            let kept = kept.min(turns.len());
            prop_assert_eq!(format!("{:?}", read(&list)), format!("{:?}", &turns[..kept]));
        }
    }
}
