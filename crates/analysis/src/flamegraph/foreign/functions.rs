//! Entries and returns of announced C functions, in log order by OS thread; 12 bytes each.

use std::collections::BTreeMap;

use super::parse::FunctionMessage;
use eventlog::hash::SeededMap;
use eventlog::ids::{Address, Nanos, OsThreadId};

/// A C function, as an index into [`Functions::addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// Entry or return of a C function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionStep {
    /// Time of the message.
    pub at: Nanos,
    /// Function entered or left.
    pub function: FunctionId,
    /// True for a return, false for an entry.
    pub returns: bool,
}

/// Entries and returns on one OS thread, in time order.
#[derive(Clone, Debug, Default)]
pub struct ThreadSteps {
    at: Vec<Nanos>,
    /// Twice the function's number, plus one for a return.
    what: Vec<u32>,
}

impl ThreadSteps {
    /// Appends a step.
    ///
    /// Its time is raised to that of the previous step if it is earlier, as times of one thread cannot go back.
    fn push(&mut self, step: FunctionStep) {
        let last = self.at.last().copied().unwrap_or_default();
        self.at.push(step.at.max(last));
        self.what
            .push((step.function.0 << 1) | u32::from(step.returns));
    }

    /// Returns the step at `index`.
    pub fn get(&self, index: usize) -> Option<FunctionStep> {
        let (&at, &what) = self.at.get(index).zip(self.what.get(index))?;
        Some(FunctionStep {
            at,
            function: FunctionId(what >> 1),
            returns: what & 1 == 1,
        })
    }

    /// Returns the number of steps.
    pub const fn len(&self) -> usize {
        self.at.len()
    }

    /// Returns whether the thread has no steps.
    pub const fn is_empty(&self) -> bool {
        self.at.is_empty()
    }
}

/// C functions of a log.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// Code address of each function.
    pub addresses: Vec<Address>,
    ids: SeededMap<Address, FunctionId>,
    /// Entries and returns by OS thread.
    pub threads: BTreeMap<OsThreadId, ThreadSteps>,
}

impl Functions {
    /// Limit of distinct functions: half the range of `u32`, as steps use one bit for the direction.
    const MAX: u32 = u32::MAX >> 1;

    /// Processes the next message.
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

    /// Returns the code address of a function.
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
