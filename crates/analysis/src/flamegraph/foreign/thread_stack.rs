//! Stack of one OS thread: announced calls, and C functions inside a call or inside each other.
//!
//! `…` is any stack; `X` is all that is above the entry before it.
//!
//! | stack | event | next | |
//! |---|---|---|---|
//! | `…` | call `c` starts, and stops no later than the innermost call | `… c` | as in a callback |
//! | `… b X` | call `c` starts, and outlasts `b` | `… c` | `b` was over, its `STOP` came late |
//! | `… c X` | the innermost call `c` stops | `…` | functions in it were left without return |
//! | `…` without call | a call stops | `…` | |
//! | `…` | function `f` begins | `… f` | |
//! | `… f X`, no other `f` in `X` | function `f` returns | `…` | if there is an `X`: `longjmp` or exception |
//! | `…` without `f` | function `f` returns | `…` | anomaly |
//!
//! A return past `X` also ends the calls in `X`. Removing a call before its stop is an anomaly too; the caller reports
//! it, because it has the list of calls.

use super::functions::FunctionId;
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;

/// A call on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEntry {
    /// Index of the call in the caller's list.
    pub call: usize,
    /// End of the call.
    pub end: Nanos,
}

/// Entry of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An announced foreign call.
    Call(CallEntry),
    /// A C function in progress.
    Function(FunctionId),
}

/// Event on the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEvent {
    /// A foreign call starts.
    Start(CallEntry),
    /// The innermost foreign call stops.
    Stop,
    /// A C function begins.
    Enter(FunctionId),
    /// A C function returns.
    Return(FunctionId),
}

/// Change of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackStep {
    /// Number of outermost entries that stay.
    pub keep: usize,
    /// Entry to push after that.
    pub push: Option<Entry>,
    /// Whether a function returned that was not running.
    pub odd: bool,
}

/// Calls and functions in progress, outermost first.
#[derive(Clone, Debug, Default)]
pub struct ThreadStack {
    entries: Vec<Entry>,
    /// Positions of the calls.
    calls: Vec<usize>,
    /// Positions of each function.
    functions: SeededMap<FunctionId, Vec<usize>>,
}

/// Transition function. The caller applies the result.
pub fn step(stack: &ThreadStack, event: ThreadEvent) -> StackStep {
    let all = stack.entries.len();
    let to = |keep, push| StackStep {
        keep,
        push,
        odd: false,
    };
    match event {
        ThreadEvent::Start(call) => {
            let outlived = stack.calls.iter().rev().take_while(|&&place| {
                matches!(stack.entries.get(place), Some(Entry::Call(inner)) if inner.end < call.end)
            });
            let keep = outlived.last().copied().unwrap_or(all);
            to(keep, Some(Entry::Call(call)))
        }
        ThreadEvent::Stop => to(stack.calls.last().copied().unwrap_or(all), None),
        ThreadEvent::Enter(function) => to(all, Some(Entry::Function(function))),
        ThreadEvent::Return(function) => match stack.innermost(function) {
            Some(place) => to(place, None),
            None => StackStep {
                keep: all,
                push: None,
                odd: true,
            },
        },
    }
}

impl ThreadStack {
    fn innermost(&self, function: FunctionId) -> Option<usize> {
        self.functions.get(&function)?.last().copied()
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether neither calls nor functions are in progress.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the innermost call.
    pub fn call(&self) -> Option<CallEntry> {
        match self.entries.get(*self.calls.last()?) {
            Some(Entry::Call(call)) => Some(*call),
            _ => None,
        }
    }

    /// Removes and returns the innermost entry.
    pub fn pop(&mut self) -> Option<Entry> {
        let entry = self.entries.pop()?;
        match entry {
            Entry::Call(_) => {
                self.calls.pop();
            }
            Entry::Function(function) => {
                if let Some(places) = self.functions.get_mut(&function) {
                    places.pop();
                }
            }
        }
        Some(entry)
    }

    /// Pushes an entry on top.
    pub fn push(&mut self, entry: Entry) {
        let place = self.entries.len();
        match entry {
            Entry::Call(_) => self.calls.push(place),
            Entry::Function(function) => self.functions.entry(function).or_default().push(place),
        }
        self.entries.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn call(call: usize, end: u64) -> CallEntry {
        let end = Nanos(end);
        CallEntry { call, end }
    }

    fn stack(entries: &[Entry]) -> ThreadStack {
        let mut stack = ThreadStack::default();
        for &entry in entries {
            stack.push(entry);
        }
        stack
    }

    /// Checks every row of the module's table.
    #[test]
    fn table() {
        let (long, short, longer) = (call(0, 90), call(1, 50), call(2, 99));
        let f = FunctionId(7);
        let g = FunctionId(8);
        let (on_long, on_short) = (Entry::Call(long), Entry::Call(short));
        let (on_f, on_g) = (Entry::Function(f), Entry::Function(g));
        type Row<'a> = (&'a [Entry], ThreadEvent, usize, Option<Entry>, bool);
        let rows: [Row<'_>; 16] = [
            (&[], ThreadEvent::Start(short), 0, Some(on_short), false),
            (&[on_f], ThreadEvent::Start(short), 1, Some(on_short), false),
            (
                &[on_long, on_f],
                ThreadEvent::Start(short),
                2,
                Some(on_short),
                false,
            ),
            (
                &[on_long],
                ThreadEvent::Start(call(3, 90)),
                1,
                Some(Entry::Call(call(3, 90))),
                false,
            ),
            (
                &[on_g, on_long, on_f, on_short, on_g],
                ThreadEvent::Start(longer),
                1,
                Some(Entry::Call(longer)),
                false,
            ),
            (
                &[on_long, on_short, on_g],
                ThreadEvent::Start(call(4, 60)),
                1,
                Some(Entry::Call(call(4, 60))),
                false,
            ),
            (&[on_long, on_f, on_g], ThreadEvent::Stop, 0, None, false),
            (
                &[on_long, on_f, on_short],
                ThreadEvent::Stop,
                2,
                None,
                false,
            ),
            (&[on_f], ThreadEvent::Stop, 1, None, false),
            (&[], ThreadEvent::Enter(f), 0, Some(on_f), false),
            (
                &[on_long, on_f],
                ThreadEvent::Enter(f),
                2,
                Some(on_f),
                false,
            ),
            (
                &[on_long, on_f, on_f],
                ThreadEvent::Return(f),
                2,
                None,
                false,
            ),
            (
                &[on_long, on_f, on_g, on_g],
                ThreadEvent::Return(f),
                1,
                None,
                false,
            ),
            (
                &[on_f, on_long, on_g],
                ThreadEvent::Return(f),
                0,
                None,
                false,
            ),
            (&[on_long, on_f], ThreadEvent::Return(g), 2, None, true),
            (&[], ThreadEvent::Return(g), 0, None, true),
        ];
        for (entries, event, keep, push, odd) in rows {
            let found = step(&stack(entries), event);
            let row = format!("{entries:?} {event:?}");
            assert_eq!(found, StackStep { keep, push, odd }, "{row}");
        }
    }

    #[test]
    fn what_was_popped_is_forgotten() {
        let f = FunctionId(7);
        let mut stack = stack(&[
            Entry::Function(f),
            Entry::Call(call(0, 9)),
            Entry::Function(f),
        ]);
        assert_eq!(stack.call(), Some(call(0, 9)));
        stack.pop();
        stack.pop();
        assert_eq!((stack.len(), stack.call()), (1, None));
        assert_eq!(step(&stack, ThreadEvent::Return(f)).keep, 0);
        stack.pop();
        assert!(stack.is_empty() && step(&stack, ThreadEvent::Return(f)).odd);
        assert_eq!(stack.pop(), None);
    }
}
