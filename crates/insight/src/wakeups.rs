//! Helpers for rules about wakeups and creations of threads, with the threads that caused them.

use std::collections::BTreeMap;

use crate::context::{RuleContext, cached};
use crate::threads::ThreadTurn;
use crate::wakeup_list::WakeupList;
use analysis::yielder::{Steps, Yield, sort};
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::WaitReason;
use model::time::Interval;

/// Wakeup of a thread by another thread of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wakeup {
    /// Thread that was woken.
    pub thread: ThreadId,
    pub at: Nanos,
    /// Capability on which the waker ran.
    pub cap: CapId,
    pub waker: ThreadId,
}

/// Wakeup or creation of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadEvent {
    pub thread: ThreadId,
    pub at: Nanos,
    pub cap: CapId,
    /// Thread that ran on the capability: it woke or created the other one.
    pub by: Option<ThreadId>,
}

impl RuleContext<'_> {
    /// Calls `visit` for each event of a capability about a thread, as `on_cap` returns them.
    async fn each_event<I: Iterator<Item = (Nanos, ThreadId)>>(
        &self,
        on_cap: impl Fn(CapId) -> I,
        visit: &mut dyn FnMut(ThreadEvent),
    ) {
        let mut steps = self.steps();
        for cap in self.cap_ids() {
            let mut runs = self.log.store.run_cursor(cap);
            for (at, thread) in on_cap(cap) {
                steps.step().await;
                visit(ThreadEvent {
                    thread,
                    at,
                    cap,
                    by: runs.thread_at(at),
                });
            }
        }
    }

    /// Calls `visit` for each creation of a thread in a range.
    pub(crate) async fn each_creation(&self, range: Interval, visit: &mut dyn FnMut(ThreadEvent)) {
        self.each_event(|cap| self.log.store.creations_on(cap, range), visit)
            .await;
    }

    /// Calls `visit` for each wakeup in the range, whoever caused it.
    pub(crate) async fn each_wakeup_by_any(&self, visit: &mut dyn FnMut(ThreadEvent)) {
        if let Some(Some(known)) = self.wakeups.get() {
            let mut steps = self.steps();
            for wakeup in known.iter() {
                steps.step().await;
                visit(wakeup);
            }
            return;
        }
        // Those that were too many once are not listed again.
        let is_first = self.is_for_rules && self.wakeups.get().is_none();
        let mut list = is_first.then(WakeupList::default);
        let mut visit = |wakeup: ThreadEvent| {
            if let Some(kept) = &mut list {
                kept.push(&wakeup);
                if !kept.fits() {
                    list = None;
                }
            }
            visit(wakeup);
        };
        self.each_event(|cap| self.log.store.wakeups_on(cap, self.range), &mut visit)
            .await;
        if is_first {
            self.wakeups.get_or_init(|| list);
        }
    }

    /// Calls `visit` for each wakeup in the range by another thread of the program.
    pub(crate) async fn each_wakeup(&self, visit: &mut dyn FnMut(Wakeup)) {
        let mut visit = |ThreadEvent {
                             thread,
                             at,
                             cap,
                             by,
                         }: ThreadEvent| {
            let is_waker = |by: &ThreadId| *by != thread && !self.is_runtime_thread(*by);
            if let Some(waker) = by.filter(is_waker) {
                visit(Wakeup {
                    thread,
                    at,
                    cap,
                    waker,
                });
            }
        };
        self.each_wakeup_by_any(&mut visit).await;
    }

    /// Returns the wakeups in the range by threads of the program, by woken thread, then by time.
    pub(crate) async fn wakeups_by_thread(&self) -> Vec<Wakeup> {
        let mut wakeups = Vec::new();
        self.each_wakeup(&mut |wakeup| wakeups.push(wakeup)).await;
        self.sort_by_thread(&mut wakeups, |wakeup| wakeup.thread)
            .await;
        wakeups
    }

    /// Sorts items that are ordered by a thread first.
    pub(crate) async fn sort_by_thread<T: Ord>(
        &self,
        items: &mut [T],
        thread: impl Fn(&T) -> ThreadId,
    ) {
        sort_by_thread(items, thread, self.yielder).await;
    }

    /// Calls `visit` for each turn in which a thread waited for another one that then woke it; `wakeups` are those of
    /// [`wakeups_by_thread`](Self::wakeups_by_thread).
    pub(crate) async fn each_woken_turn(
        &self,
        wakeups: &[Wakeup],
        visit: &mut dyn FnMut(ThreadTurn<'_>, &Wakeup),
    ) {
        // Turns arrive by thread, in order of time within a thread.
        let mut cursor = WakeupCursor::default();
        let mut visit = |turn: ThreadTurn<'_>| {
            let ready = Nanos(turn.runnable_span().0);
            if let Some(wakeup) = cursor.wakeup_at(wakeups, turn.thread(), ready) {
                visit(turn, wakeup);
            }
        };
        self.each_wanted_wait((&WaitReason::is_for_thread, 0), &mut visit)
            .await;
    }

    /// Returns how often each thread was woken by threads for which `is_waker` is true.
    pub(crate) async fn woken_by(
        &self,
        is_waker: &dyn Fn(ThreadId) -> bool,
    ) -> BTreeMap<ThreadId, u64> {
        let mut woken: BTreeMap<ThreadId, u64> = BTreeMap::new();
        let mut visit = |wakeup: Wakeup| {
            if is_waker(wakeup.waker) {
                *woken.entry(wakeup.thread).or_default() += 1;
            }
        };
        self.each_wakeup(&mut visit).await;
        woken
    }

    /// Returns how many wakeups a thread gave and threads it created.
    pub(crate) async fn gave_work(&self, thread: ThreadId) -> u64 {
        let mut count = 0;
        self.each_wakeup(&mut |wakeup| count += u64::from(wakeup.waker == thread))
            .await;
        let mut visit = |created: ThreadEvent| count += u64::from(created.by == Some(thread));
        self.each_creation(self.range, &mut visit).await;
        count
    }

    /// Returns the bound threads: those created while no thread ran on the capability, for `main`, `forkOS` or a
    /// call from foreign code. The runtime's own threads have labels or are created in collections
    /// (`rts_evalStableIO` in RtsAPI.c; finalizers in Weak.c). A cut log has creations from before its range, too, but
    /// not what ran then: whether these threads are bound is unknown.
    pub(crate) async fn bound_threads(&self) -> &SeededSet<ThreadId> {
        cached(&self.bound_threads, self.find_bound_threads()).await
    }

    async fn find_bound_threads(&self) -> SeededSet<ThreadId> {
        let account = self.log.store.account();
        let mut bound = SeededSet::default();
        let mut visit = |ThreadEvent { thread, at, by, .. }: ThreadEvent| {
            let is_in_pause = || account.pauses().paused_in_ns(at.0, at.0 + 1) > 0;
            if by.is_none()
                && !is_in_pause()
                && !self.is_runtime_thread(thread)
                && !self.is_spark_evaluator(thread)
            {
                bound.insert(thread);
            }
        };
        self.each_creation(self.log.whole_range(), &mut visit).await;
        bound
    }
}

/// Sorts items that are ordered by a thread first, those of each thread by themselves: several times as fast as comparing
/// any two.
async fn sort_by_thread<T: Ord>(
    items: &mut [T],
    thread: impl Fn(&T) -> ThreadId,
    yielder: &dyn Yield,
) {
    /// Numbers of threads that may be missing, beside one for each item.
    const MISSING: usize = 1 << 12;
    /// More items of one thread are sorted in steps.
    const MANY: usize = 1 << 12;
    let numbers = items.iter().map(|item| thread(item).0);
    let bounds = numbers.fold((u32::MAX, 0), |(least, most), number| {
        (number.min(least), number.max(most))
    });
    let (least, most) = bounds;
    let threads = (most.saturating_sub(least) as usize).saturating_add(1);
    if threads > items.len() + MISSING || u32::try_from(items.len()).is_err() {
        return sort(items, yielder).await;
    }
    let place = |item: &T| (thread(item).0 - least) as usize;
    let mut steps = Steps::new(yielder);
    let mut ends = vec![0_u32; threads];
    for item in &*items {
        steps.step().await;
        ends[place(item)] += 1;
    }
    let mut sum = 0;
    let starts = ends.iter_mut().map(|end| {
        let start = sum;
        sum += *end;
        *end = sum;
        start
    });
    let mut next: Vec<u32> = starts.collect();
    for number in 0..threads {
        // Each item that is in the way is moved to where it belongs.
        while next[number] < ends[number] {
            steps.step().await;
            let from = next[number] as usize;
            let to = &mut next[place(&items[from])];
            items.swap(from, *to as usize);
            *to += 1;
        }
    }
    let mut sorted = 0;
    for of_thread in items.chunk_by_mut(|one, next| thread(one) == thread(next)) {
        sorted += of_thread.len();
        if sorted >= MANY {
            sorted = 0;
            yielder.yield_if_due().await;
        }
        match of_thread.len() > MANY {
            true => sort(of_thread, yielder).await,
            false => of_thread.sort_unstable(),
        }
    }
}

/// Cursor over a list of wakeups sorted by thread and time; `rest` are those to come of the current thread.
#[derive(Default)]
struct WakeupCursor<'a> {
    thread: Option<ThreadId>,
    rest: &'a [Wakeup],
    /// Number of the wakeups of this thread and those before it in the list.
    passed: usize,
}

/// Returns how many wakeups at the start of a list are among its first ones, which come before all others. Fast if these
/// are few.
fn count_first(wakeups: &[Wakeup], is_first: impl Fn(&Wakeup) -> bool) -> usize {
    let mut end = 1;
    while wakeups.get(end - 1).is_some_and(&is_first) {
        end *= 2;
    }
    let known = end / 2;
    let near = wakeups.get(known..end.min(wakeups.len()));
    known + near.unwrap_or_default().partition_point(is_first)
}

impl<'a> WakeupCursor<'a> {
    /// Returns the first wakeup of a thread at exactly this time. Times of a thread must be queried in order.
    fn wakeup_at(&mut self, all: &'a [Wakeup], thread: ThreadId, at: Nanos) -> Option<&'a Wakeup> {
        if self.thread != Some(thread) {
            // Most threads come in the order of their numbers.
            let is_later = self.thread.is_some_and(|last| last < thread);
            let passed = if is_later { self.passed } else { 0 };
            let rest = all.get(passed..).unwrap_or_default();
            let before = count_first(rest, |wakeup| wakeup.thread < thread);
            let rest = rest.get(before..).unwrap_or_default();
            let count = count_first(rest, |wakeup| wakeup.thread == thread);
            self.rest = rest.get(..count).unwrap_or_default();
            self.thread = Some(thread);
            self.passed = passed + before + count;
        }
        let over = self.rest.iter().take_while(|wakeup| wakeup.at < at).count();
        self.rest = self.rest.get(over..).unwrap_or_default();
        self.rest.first().filter(|wakeup| wakeup.at == at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::yielder::{NoYield, block_on};

    #[test]
    fn wakeups_sorted_by_thread_are_sorted() {
        for (count, threads) in [(0, 1), (1, 1), (5_000, 1), (9_000, 700), (500, 40_000)] {
            for first in [0, u32::MAX - threads] {
                let wakeup = |number: u32| Wakeup {
                    thread: ThreadId(first + number * 7_919 % threads),
                    at: Nanos(u64::from(number * 31 % 97)),
                    cap: CapId(number as u16 % 3),
                    waker: ThreadId(number % 11),
                };
                let mut wakeups: Vec<Wakeup> = (0..count).map(wakeup).collect();
                let mut sorted = wakeups.clone();
                sorted.sort();
                let sort = sort_by_thread(&mut wakeups, |wakeup| wakeup.thread, &NoYield);
                block_on(sort);
                assert_eq!(wakeups, sorted, "{count} of {threads}");
            }
        }
    }

    #[test]
    fn a_cursor_finds_what_a_search_finds() {
        // Several wakeups of each thread, some at one time; of thread 4 there are many, of 3 and 6 none.
        let counts = [(1, 1), (2, 3), (4, 100), (5, 2), (7, 9)];
        let of_thread = |(thread, count): (u32, u64)| {
            (0..count).map(move |at| Wakeup {
                thread: ThreadId(thread),
                at: Nanos(at / 2 * 2),
                cap: CapId(0),
                waker: ThreadId(at as u32),
            })
        };
        let all: Vec<Wakeup> = counts.into_iter().flat_map(of_thread).collect();
        for order in [[1, 2, 3, 4, 5, 6, 7, 8], [8, 2, 7, 1, 6, 4, 3, 5]] {
            let mut cursor = WakeupCursor::default();
            for thread in order.map(ThreadId) {
                for at in (0..120).map(Nanos) {
                    let mut found = all.iter();
                    let found = found.find(|one| one.thread == thread && one.at == at);
                    assert_eq!(cursor.wakeup_at(&all, thread, at), found, "{thread} {at:?}");
                }
            }
        }
    }
}
