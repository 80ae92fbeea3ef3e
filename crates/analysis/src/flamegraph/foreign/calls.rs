//! Extracts the foreign calls of a log from its messages.

use std::collections::BTreeMap;

use super::functions::Functions;
use super::parse::{Message, MessageKind, parse, parse_function};
use super::{CallKey, Input, State, step};
use crate::diagnostics::{Diagnostic, Diagnostics};
use eventlog::ids::{Nanos, OsThreadId};
use model::profile::stacks::{StackId, Stacks};
use model::saturating::saturating_u32;
use model::time::Interval;

/// A finished call, or one cut off by the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Key by which its messages name it.
    pub key: CallKey,
    /// From `START` to `STOP`.
    pub span: Interval,
    /// Haskell stack of the caller in [`Calls::stacks`], if announced.
    pub stack: Option<StackId>,
    /// OS thread of the call, if announced.
    pub thread: Option<OsThreadId>,
    /// Whether the log ends before the call does.
    pub open: bool,
}

/// Foreign calls of a log.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    in_progress: BTreeMap<CallKey, State>,
    /// Cost centres as printed by `ccsToStrings`, each with the time of its first occurrence. Frames of
    /// [`stacks`](Self::stacks) are indices into this list.
    pub names: Vec<(String, Nanos)>,
    name_ids: BTreeMap<String, u32>,
    /// Interned stacks of announced cost centres.
    pub stacks: Stacks<u32>,
    /// Finished calls, in order of their end.
    pub finished: Vec<Call>,
    /// C functions announced in the log.
    pub functions: Functions,
    /// Problems found in the messages.
    pub anomalies: Diagnostics,
}

impl Calls {
    /// Processes the next user message.
    pub fn message(&mut self, text: &str, at: Nanos) {
        match parse_function(text) {
            None => {}
            Some(Ok(message)) => return self.functions.message(message, at),
            Some(Err(what)) => return self.anomalies.push(Diagnostic::at_time(at, what)),
        }
        match parse(text) {
            None => {}
            Some(Ok(message)) => self.call_message(message, at),
            Some(Err(what)) => self.anomalies.push(Diagnostic::at_time(at, what)),
        }
    }

    fn call_message(&mut self, message: Message, at: Nanos) {
        let Message { key, kind } = message;
        let input = match kind {
            MessageKind::Start => Input::Start,
            MessageKind::Stop => Input::Stop,
            MessageKind::Thread(thread) => Input::Thread(thread),
            MessageKind::Stack(names) => Input::Stack(self.stack(names, at)),
        };
        let state = self.in_progress.remove(&key).unwrap_or_default();
        let step = step(state, input, at);
        if let Some(anomaly) = step.anomaly {
            self.anomalies
                .push(Diagnostic::at_time(at, anomaly(key.clone())));
        }
        if let Some((call, span)) = step.yields {
            self.finished.push(Call {
                key,
                span,
                stack: call.stack,
                thread: call.thread,
                open: false,
            });
        } else if step.next != State::Idle {
            self.in_progress.insert(key, step.next);
        }
    }

    fn stack(&mut self, outermost_first: Vec<String>, at: Nanos) -> StackId {
        let ids: Vec<u32> = outermost_first
            .into_iter()
            .map(|name| self.name(name, at))
            .collect();
        self.stacks.intern(ids)
    }

    fn name(&mut self, name: String, at: Nanos) -> u32 {
        let next = saturating_u32(self.names.len());
        let id = *self.name_ids.entry(name.clone()).or_insert(next);
        if id == next {
            self.names.push((name, at));
        }
        id
    }

    /// Closes calls in progress at `end`, the end of the log.
    pub fn finish(&mut self, end: Nanos) {
        for (key, state) in std::mem::take(&mut self.in_progress) {
            let State::Calling(call) = state else {
                continue;
            };
            self.finished.push(Call {
                key,
                span: Interval::new(call.since, end.max(call.since)),
                stack: call.stack,
                thread: call.thread,
                open: true,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anomaly_costs_only_itself() {
        let mut calls = Calls::default();
        for (at, text) in [
            "ANN_TH 1 f 7",
            "START 1 f",
            "START 1 f",
            "ANN_TH 1 f x",
            "ANN_TH 1 f 8",
            "STOP 2 f",
            "STOP 1 f",
            "START 3 g",
        ]
        .into_iter()
        .enumerate()
        {
            calls.message(text, Nanos(at as u64));
        }
        calls.finish(Nanos(50));
        let found: Vec<(i64, Interval, Option<OsThreadId>, bool)> = calls
            .finished
            .iter()
            .map(|call| (call.key.number, call.span, call.thread, call.open))
            .collect();
        let span = |start, end| Interval::new(Nanos(start), Nanos(end));
        assert_eq!(
            found,
            [
                (1, span(1, 6), Some(OsThreadId(8)), false),
                (3, span(7, 50), None, true),
            ]
        );
        let anomalies = calls.anomalies.kept().iter();
        let at: Vec<_> = anomalies.filter_map(Diagnostic::start).collect();
        assert_eq!(at, [0, 2, 3, 5].map(Nanos));
    }
}
