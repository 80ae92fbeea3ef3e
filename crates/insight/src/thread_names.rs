//! Names of threads in findings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::context::RuleContext;
use crate::wakeups::ThreadEvent;
use eventlog::hash::SeededSet;
use eventlog::ids::ThreadId;
use model::format;
use model::sorting::CompactSort;

impl RuleContext<'_> {
    /// Returns the display name of a thread: its number, with its label if it has one.
    pub fn thread_name(&self, thread: ThreadId) -> String {
        match self.log.store.label_of(thread) {
            Some(label) => format!("Thread {thread} ({label})"),
            None => format!("Thread {thread}"),
        }
    }

    /// Returns the same name for the inside of a sentence.
    pub(crate) fn thread_name_inside(&self, thread: ThreadId) -> String {
        self.thread_name(thread).replacen("Thread", "thread", 1)
    }

    /// Returns whether two threads have labels that differ in more than a number: they do different work.
    pub(crate) fn have_different_roles(&self, one: ThreadId, other: ThreadId) -> bool {
        let role = |thread| {
            let label = self.log.store.label_of(thread)?;
            Some(label.trim_end_matches(|sign: char| !sign.is_alphabetic()))
        };
        role(one)
            .zip(role(other))
            .is_some_and(|(one, other)| one != other)
    }

    /// Returns the names of threads if there are one or two, `Thread 5 (ping) and thread 6 (pong)`; else their number,
    /// with two labels if they all have one, `3 threads (worker-1, worker-2, …)`.
    pub(crate) fn names_or_count(&self, threads: impl IntoIterator<Item = ThreadId>) -> String {
        let threads: BTreeSet<ThreadId> = threads.into_iter().collect();
        let threads: Vec<ThreadId> = threads.into_iter().collect();
        match threads[..] {
            [one] => self.thread_name(one),
            [one, other] => {
                format!(
                    "{} and {}",
                    self.thread_name(one),
                    self.thread_name_inside(other)
                )
            }
            _ => {
                let count = format::pluralize(threads.len() as u64, "thread");
                let labels = threads.iter().map(|one| self.log.store.label_of(*one));
                match labels.collect::<Option<Vec<_>>>().as_deref() {
                    Some([first, second, ..]) => format!("{count} ({first}, {second}, …)"),
                    _ => count,
                }
            }
        }
    }

    /// Names the threads that created most of `threads`, with the number of each, in a sentence after a space; empty if
    /// these are many, or if the log does not show it.
    pub(crate) async fn makers(&self, threads: &SeededSet<ThreadId>) -> String {
        const MOST_MAKERS: usize = 3;
        const MOST: f64 = 0.90;
        let mut made: BTreeMap<ThreadId, u64> = BTreeMap::new();
        // The last one, and how many it made in a row.
        let mut last: Option<(ThreadId, u64)> = None;
        let mut visit = |created: ThreadEvent| {
            if let Some(by) = created.by.filter(|_| threads.contains(&created.thread)) {
                let count = last.filter(|(maker, _)| *maker == by);
                let count = count.map_or(0, |(_, count)| count);
                let before = last.replace((by, count + 1));
                if let Some((maker, all)) = before.filter(|_| count == 0) {
                    *made.entry(maker).or_default() += all;
                }
            }
        };
        self.each_creation(self.range, &mut visit).await;
        if let Some((maker, count)) = last {
            *made.entry(maker).or_default() += count;
        }
        let mut made: Vec<(ThreadId, u64)> = made.into_iter().collect();
        made.sort_small_by_key(|(_, count)| Reverse(*count));
        made.truncate(MOST_MAKERS);
        let all: u64 = made.iter().map(|(_, count)| count).sum();
        if (all as f64) < MOST * threads.len() as f64 {
            return String::new();
        }
        let made = made.iter().filter(|(_, count)| count * 20 >= all);
        let made = made.enumerate().map(|(place, (maker, count))| {
            let count = format::count(*count);
            match place {
                0 => format!("{} created {count} of them", self.thread_name(*maker)),
                _ => format!("{} created {count}", self.thread_name_inside(*maker)),
            }
        });
        format!(" {}.", made.collect::<Vec<String>>().join(", "))
    }
}
