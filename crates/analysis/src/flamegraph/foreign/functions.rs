//! The C functions that programs announce, as they come: 12 bytes each, by OS
//! thread.

use std::collections::BTreeMap;

use super::parse::FunctionMessage;
use eventlog::hash::SeededMap;
use eventlog::ids::{Address, Nanos, OsThreadId};

/// A C function: its place in [`Functions::addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A C function begins or returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionStep {
    /// The time of the message.
    pub at: Nanos,
    /// The function that begins or returns.
    pub function: FunctionId,
    /// Whether it returns.
    pub returns: bool,
}

/// What the C functions of one OS thread do, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct ThreadSteps {
    at: Vec<Nanos>,
    /// Twice the function's number, and one more if it returns.
    what: Vec<u32>,
}

impl ThreadSteps {
    /// Times of one thread never go back; where clocks say so, the message
    /// counts as at the time of the one before.
    fn push(&mut self, step: FunctionStep) {
        let last = self.at.last().copied().unwrap_or_default();
        self.at.push(step.at.max(last));
        self.what
            .push((step.function.0 << 1) | u32::from(step.returns));
    }

    /// The step of this number.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<FunctionStep> {
        let (&at, &what) = self.at.get(index).zip(self.what.get(index))?;
        Some(FunctionStep {
            at,
            function: FunctionId(what >> 1),
            returns: what & 1 == 1,
        })
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.at.is_empty()
    }
}

/// The C functions of a log.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// Where the code of each begins.
    pub addresses: Vec<Address>,
    ids: SeededMap<Address, FunctionId>,
    /// What they do, by OS thread.
    pub threads: BTreeMap<OsThreadId, ThreadSteps>,
}

impl Functions {
    /// How many functions are told apart: half of what a `u32` can count.
    const MAX: u32 = u32::MAX >> 1;

    /// Takes the next message.
    pub fn message(&mut self, message: FunctionMessage, at: Nanos) {
        let next = u32::try_from(self.addresses.len()).unwrap_or(Self::MAX);
        let next = FunctionId(next.min(Self::MAX));
        let function = *self.ids.entry(message.function).or_insert(next);
        if function.0 as usize == self.addresses.len() {
            self.addresses.push(message.function);
        }
        self.threads
            .entry(message.thread)
            .or_default()
            .push(FunctionStep {
                at,
                function,
                returns: message.returns,
            });
    }

    /// Where the code of a function begins.
    #[must_use]
    pub fn address(&self, function: FunctionId) -> Address {
        let address = self.addresses.get(function.0 as usize);
        address.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_kept_by_thread_and_never_go_back() {
        let mut functions = Functions::default();
        for (at, function, thread, returns) in [
            (5, 0x10, 1, false),
            (6, 0x20, 2, false),
            (4, 0x20, 1, false),
            (9, 0x10, 1, true),
        ] {
            let message = FunctionMessage {
                function: Address(function),
                thread: OsThreadId(thread),
                returns,
            };
            functions.message(message, Nanos(at));
        }
        assert_eq!(functions.addresses, [Address(0x10), Address(0x20)]);
        let steps = &functions.threads[&OsThreadId(1)];
        let rows: Vec<(u64, u32, bool)> = (0..)
            .map_while(|index| steps.get(index))
            .map(|step| (step.at.0, step.function.0, step.returns))
            .collect();
        assert_eq!(rows, [(5, 0, false), (5, 1, false), (9, 0, true)]);
        assert_eq!(functions.threads[&OsThreadId(2)].len(), 1);
    }
}
