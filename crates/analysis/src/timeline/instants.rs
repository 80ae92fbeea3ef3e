//! Point events of capabilities: wakeups, migrations, requests for collections, fates of sparks. They are
//! numerous, and take eight bytes if they are about a thread, four otherwise.

use serde::{Deserialize, Serialize};

use super::slice::with_margin;
use super::store::Store;
use eventlog::EventType;
use eventlog::cap_table::CapTable;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::columns::Column;
use model::moments::Moments;
use model::sorting::CompactSort;
use model::spill_store::SpillStore;
use model::time::Interval;

model::named_enum! {
    /// Kind of a point event, most notable first: if several events share a bucket, the first kind is displayed.
    #[derive(PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum InstantKind {
        /// `Shutdown`: the runtime shuts down.
        Shutdown: "shutdown of the runtime", "shutdowns of the runtime";
        /// `CapDelete`: the capability was deleted.
        CapDeleted: "deletion of the capability", "deletions of the capability";
        /// `CapCreate`: the capability was created.
        CapCreated: "creation of the capability", "creations of the capability";
        /// `CapDisable`: the capability may not run threads any more.
        CapDisabled: "disabling of the capability", "times that the capability was disabled";
        /// `CapEnable`: the capability may run threads again.
        CapEnabled: "enabling of the capability", "times that the capability was enabled";
        /// `UserMarker`: a marker of the program.
        Marker: "marker of the program", "markers of the program";
        /// `UserMessage`: a message of the program.
        Message: "message of the program", "messages of the program";
        /// `RequestSeqGC`: a sequential collection was requested.
        SeqGcRequested: "request for a sequential collection", "requests for sequential collections";
        /// `RequestParGC`: a parallel collection was requested.
        ParGcRequested: "request for a parallel collection", "requests for parallel collections";
        /// `MigrateThread`: a thread migrated to another capability.
        Migrated: "migration of a thread", "migrations of threads";
        /// `SparkOverflow`: a spark was lost because the pool was full.
        SparkOverflowed: "overflowed spark", "overflowed sparks";
        /// `SparkFizzle`: a spark was dropped because its value had been evaluated before it ran.
        SparkFizzled: "fizzled spark", "fizzled sparks";
        /// `SparkDud`: a spark was requested for a value that was already evaluated.
        SparkDud: "dud spark", "dud sparks";
        /// `SparkSteal`, `StealSpark`: a spark was stolen from another capability.
        SparkStolen: "stolen spark", "stolen sparks";
        /// `CreateThread`: a thread was created.
        ThreadCreated: "new thread", "new threads";
        /// `CreateSparkThread`: a thread that runs sparks was created.
        SparkThreadCreated: "new thread for sparks", "new threads for sparks";
        /// `WakeupThread`: a thread was woken.
        Woken: "wakeup of a thread", "wakeups of threads";
        /// `ThreadRunnable`: a thread is runnable. GHC wrote it until 2009.
        Runnable: "thread that can run", "threads that can run";
        /// `SparkRun`, `RunSpark`: a spark was run.
        SparkRun: "spark run", "sparks run";
        /// `SparkCreate`: a spark was created.
        SparkCreated: "new spark", "new sparks";
        /// `SparkGC`: a spark whose result is unused was collected.
        SparkCollected: "collected spark", "collected sparks";
        /// `PerfTracepoint`: a tracepoint of a performance counter was hit.
        PerfTracepoint: "tracepoint", "tracepoints";
        /// `PerfCounter`: a performance counter overflowed.
        PerfCounter: "count of a performance counter", "counts of performance counters";
    }
    /// Returns a singular phrase for the user interface.
    fn singular;
    /// Returns a plural phrase for the user interface.
    fn plural;
}

/// Number of kinds.
const KINDS: usize = 23;

/// Group of kinds by subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The capability itself, or the whole runtime.
    Capability,
    /// Messages and markers of the program.
    Message,
    /// Requests for collections.
    Collection,
    /// Creations of threads.
    Creation,
    /// Wakeups of threads.
    Wakeup,
    /// Migrations of threads.
    Migration,
    /// Fates of individual sparks.
    Spark,
    /// Events of performance counters.
    Perf,
}

impl InstantKind {
    /// Returns the kind with that number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns the kind of an event type; `None` if it has none.
    pub const fn from_event_type(event: EventType) -> Option<Self> {
        Some(match event {
            EventType::CREATE_THREAD => Self::ThreadCreated,
            EventType::THREAD_RUNNABLE => Self::Runnable,
            EventType::MIGRATE_THREAD => Self::Migrated,
            EventType::RUN_SPARK | EventType::SPARK_RUN => Self::SparkRun,
            EventType::STEAL_SPARK | EventType::SPARK_STEAL => Self::SparkStolen,
            EventType::SHUTDOWN => Self::Shutdown,
            EventType::THREAD_WAKEUP => Self::Woken,
            EventType::REQUEST_SEQ_GC => Self::SeqGcRequested,
            EventType::REQUEST_PAR_GC => Self::ParGcRequested,
            EventType::CREATE_SPARK_THREAD => Self::SparkThreadCreated,
            EventType::USER_MSG => Self::Message,
            EventType::SPARK_CREATE => Self::SparkCreated,
            EventType::SPARK_DUD => Self::SparkDud,
            EventType::SPARK_OVERFLOW => Self::SparkOverflowed,
            EventType::SPARK_FIZZLE => Self::SparkFizzled,
            EventType::SPARK_GC => Self::SparkCollected,
            EventType::CAP_CREATE => Self::CapCreated,
            EventType::CAP_DELETE => Self::CapDeleted,
            EventType::CAP_DISABLE => Self::CapDisabled,
            EventType::CAP_ENABLE => Self::CapEnabled,
            EventType::USER_MARKER => Self::Marker,
            EventType::PERF_COUNTER => Self::PerfCounter,
            EventType::PERF_TRACEPOINT => Self::PerfTracepoint,
            _ => return None,
        })
    }

    /// Returns whether events of this kind name a thread.
    pub const fn has_thread(self) -> bool {
        matches!(
            self,
            Self::ThreadCreated
                | Self::SparkThreadCreated
                | Self::Woken
                | Self::Runnable
                | Self::Migrated
        )
    }

    /// Returns whether the event names its capability itself, because it is not logged by one.
    pub(super) const fn names_its_capability(self) -> bool {
        matches!(
            self,
            Self::CapCreated | Self::CapDeleted | Self::CapDisabled | Self::CapEnabled
        )
    }

    /// Returns the group of the kind.
    pub const fn family(self) -> Family {
        match self {
            Self::Shutdown
            | Self::CapDeleted
            | Self::CapCreated
            | Self::CapDisabled
            | Self::CapEnabled => Family::Capability,
            Self::Marker | Self::Message => Family::Message,
            Self::SeqGcRequested | Self::ParGcRequested => Family::Collection,
            Self::ThreadCreated | Self::SparkThreadCreated => Family::Creation,
            Self::Woken | Self::Runnable => Family::Wakeup,
            Self::Migrated => Family::Migration,
            Self::PerfTracepoint | Self::PerfCounter => Family::Perf,
            _ => Family::Spark,
        }
    }
}

/// Point events by capability. Lane 0 is for events of no capability.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Instants {
    /// Events by kind number.
    lanes: CapTable<Vec<Moments>>,
}

/// Number of events by capability and kind.
#[derive(Debug, Default)]
pub(super) struct InstantSizes(Vec<(Option<CapId>, InstantKind, usize)>);

/// Sentinel index of an unknown thread.
const NO_THREAD: u32 = u32::MAX;

/// A point event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) kind: InstantKind,
    pub(crate) at_ns: u64,
    /// Index of the thread that it names.
    pub(crate) thread: Option<u32>,
}

/// Summary of the events in one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantMark {
    /// Most notable kind.
    pub kind: InstantKind,
    /// Most frequent kind.
    pub most: InstantKind,
    /// Time of the first event in nanoseconds.
    pub first_ns: u64,
    /// Time of the last event in nanoseconds.
    pub last_ns: u64,
    /// Number of events.
    pub count: usize,
    /// Index of the thread if there is exactly one event and it names one.
    thread: Option<u32>,
}

impl Instants {
    #[inline]
    pub(crate) fn push(&mut self, cap: Option<CapId>, instant: Instant) {
        let kinds = self.lanes.get_mut(cap);
        if kinds.is_empty() {
            *kinds = Self::no_events();
        }
        let moments = &mut kinds[instant.kind as usize];
        if instant.kind.has_thread() {
            moments.push(instant.thread.unwrap_or(NO_THREAD), instant.at_ns);
        } else {
            moments.push_time(instant.at_ns);
        }
    }

    /// Creates an empty list with room for a little more events than these.
    pub(super) fn with_room(sizes: &InstantSizes) -> Self {
        let mut instants = Self::default();
        for &(cap, kind, events) in &sizes.0 {
            let kinds = instants.lanes.get_mut(cap);
            if kinds.is_empty() {
                *kinds = Self::no_events();
            }
            kinds[kind as usize].reserve(with_margin(events), kind.has_thread());
        }
        instants
    }

    /// Drops the lists of capabilities that have no event.
    pub(super) fn drop_empty(&mut self) {
        let lanes = self.lanes.values_mut().iter_mut();
        let empty = lanes.filter(|kinds| kinds.iter().all(Moments::is_empty));
        empty.for_each(|kinds| *kinds = Vec::new());
    }

    /// Returns the number of events of each list that has some.
    pub(super) fn sizes(&self) -> InstantSizes {
        let lanes = self.lanes.iter();
        let lists = lanes.flat_map(|(cap, kinds)| {
            let kinds = InstantKind::ALL.into_iter().zip(kinds);
            kinds.map(move |(kind, moments)| (cap, kind, moments.len()))
        });
        InstantSizes(lists.filter(|&(.., events)| events > 0).collect())
    }

    #[cold]
    fn no_events() -> Vec<Moments> {
        vec![Moments::default(); KINDS]
    }

    /// Appends later events; `thread` maps their thread indexes.
    pub(super) fn append(
        &mut self,
        later: &Self,
        thread: impl Fn(u32) -> u32 + Copy,
        spill_store: &SpillStore,
    ) {
        for (cap, later) in later.lanes.iter().filter(|(_, kinds)| !kinds.is_empty()) {
            let all = self.lanes.get_mut(cap);
            all.resize_with(all.len().max(later.len()), Moments::default);
            for (all, later) in all.iter_mut().zip(later) {
                all.append(
                    later,
                    &[],
                    |one| if one == NO_THREAD { one } else { thread(one) },
                    spill_store,
                );
            }
        }
    }

    /// Calls `see` with each column, always in the same order.
    pub(super) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        let all = self.lanes.values_mut().iter_mut().flatten();
        all.for_each(|moments| moments.columns(see));
    }

    /// Returns the capabilities with events.
    pub(crate) fn caps(&self) -> impl Iterator<Item = CapId> + '_ {
        let lanes = self.lanes.iter();
        let any = lanes.filter(|(_, kinds)| kinds.iter().any(|moments| !moments.is_empty()));
        any.filter_map(|(cap, _)| cap)
    }

    /// Returns the kinds with events on a capability, and these.
    fn kinds(&self, cap: CapId) -> impl Iterator<Item = (InstantKind, &Moments)> + '_ {
        let kinds = self.lanes.get(Some(cap));
        let kinds = kinds.map_or(&[][..], Vec::as_slice);
        let all = InstantKind::ALL.into_iter().zip(kinds);
        all.filter(|(_, moments)| !moments.is_empty())
    }

    /// Returns the events of a kind on a capability; `None` if that capability has no events.
    pub(crate) fn of_kind(&self, cap: CapId, kind: InstantKind) -> Option<&Moments> {
        self.lanes.get(Some(cap))?.get(kind as usize)
    }

    /// Returns the threads of the events of a kind on all capabilities, after the start of `range` and up to its
    /// end, or of all time.
    pub(crate) fn threads(
        &self,
        kind: InstantKind,
        range: Option<Interval>,
    ) -> impl Iterator<Item = u32> + '_ {
        let lanes = self.lanes.iter();
        let lanes = lanes.filter_map(move |(_, kinds)| kinds.get(kind as usize));
        lanes.flat_map(move |moments| moments.threads_in_range(range))
    }

    /// Returns time and capability of a thread's first event of a kind between two times, both inclusive.
    pub(crate) fn first_of(
        &self,
        kind: InstantKind,
        thread: u32,
        (from_ns, to_ns): (u64, u64),
    ) -> Option<(u64, Option<CapId>)> {
        self.thread_events(kind, thread, (from_ns, to_ns), false)
            .min_by_key(|(at, _)| *at)
    }

    /// Returns time and capability of a thread's last event of a kind between two times, both inclusive.
    pub(crate) fn last_of(
        &self,
        kind: InstantKind,
        thread: u32,
        (from_ns, to_ns): (u64, u64),
    ) -> Option<(u64, Option<CapId>)> {
        self.thread_events(kind, thread, (from_ns, to_ns), true)
            .max_by_key(|(at, _)| *at)
    }

    /// Returns times and threads of the events of a kind on a capability in a half-open range.
    pub(super) fn on_cap(
        &self,
        cap: Option<CapId>,
        kind: InstantKind,
        (from_ns, to_ns): (u64, u64),
    ) -> impl Iterator<Item = (u64, u32)> + '_ {
        let moments = self
            .lanes
            .get(cap)
            .and_then(|kinds| kinds.get(kind as usize));
        moments.into_iter().flat_map(move |moments| {
            let places = moments.count_before(from_ns)..moments.count_before(to_ns);
            places.filter_map(|place| Some((moments.time_ns(place)?, moments.thread(place)?)))
        })
    }

    /// Returns the thread's first or last event of each capability.
    fn thread_events(
        &self,
        kind: InstantKind,
        thread: u32,
        (from_ns, to_ns): (u64, u64),
        last: bool,
    ) -> impl Iterator<Item = (u64, Option<CapId>)> + '_ {
        let lanes = self.lanes.iter();
        lanes.filter_map(move |(cap, kinds)| {
            let moments = kinds.get(kind as usize)?;
            let places = moments.count_before(from_ns)..moments.count_up_to(to_ns);
            let place = if last {
                moments.last_of_thread(thread, places)
            } else {
                moments.first_of_thread(thread, places)
            };
            Some((moments.time_ns(place?)?, cap))
        })
    }

    /// Returns the event counts of a capability by kind between two times, both inclusive.
    pub(crate) fn counts(
        &self,
        cap: CapId,
        (from_ns, to_ns): (u64, u64),
    ) -> impl Iterator<Item = (InstantKind, usize)> + '_ {
        let kinds = self.kinds(cap);
        let counts = kinds.map(move |(kind, moments)| {
            let count = moments
                .count_up_to(to_ns)
                .saturating_sub(moments.count_before(from_ns));
            (kind, count)
        });
        counts.filter(|(_, count)| *count > 0)
    }

    /// Returns up to `limit` events of a capability between two times, both inclusive, in time order.
    pub(crate) fn list(
        &self,
        cap: CapId,
        (from_ns, to_ns): (u64, u64),
        limit: usize,
    ) -> Vec<Instant> {
        let mut list = Vec::new();
        for (kind, moments) in self.kinds(cap) {
            let places = moments.count_before(from_ns)..moments.count_up_to(to_ns);
            list.extend(places.take(limit).filter_map(|place| {
                Some(Instant {
                    kind,
                    at_ns: moments.time_ns(place)?,
                    thread: moments.thread(place),
                })
            }));
        }
        list.sort_small_by_key(|instant| instant.at_ns);
        list.truncate(limit);
        list
    }

    /// Emits one mark per non-empty bucket of `bucket_ns`. Empty buckets cost nothing, as the next event
    /// determines the next bucket.
    pub(crate) fn marks(
        &self,
        cap: CapId,
        view: Interval,
        bucket_ns: u64,
        mut emit: impl FnMut(InstantMark),
    ) {
        let aligned = view.start().0 / bucket_ns * bucket_ns;
        let kinds = self.kinds(cap);
        let mut heads: Vec<InstantCursor<'_>> = kinds
            .map(|(kind, moments)| InstantCursor::new(kind, moments, moments.count_before(aligned)))
            .collect();
        loop {
            let next = heads.iter().map(|head| head.next_ns).min();
            let Some(first_ns) = next.filter(|&next| next <= view.end().0) else {
                return;
            };
            let number = (first_ns / bucket_ns).saturating_add(1);
            let last = number.saturating_mul(bucket_ns) - 1;
            let mut mark: Option<InstantMark> = None;
            let mut most = 0;
            for head in heads.iter_mut().filter(|head| head.next_ns <= last) {
                let (count, last_ns, thread) = head.skip_to(last);
                let mark = match &mut mark {
                    None => mark.insert(InstantMark {
                        kind: head.kind,
                        most: head.kind,
                        first_ns,
                        last_ns,
                        count,
                        thread: thread.filter(|_| count == 1),
                    }),
                    Some(mark) => {
                        mark.count += count;
                        mark.last_ns = mark.last_ns.max(last_ns);
                        mark.thread = None;
                        mark
                    }
                };
                if count > most {
                    (mark.most, most) = (head.kind, count);
                }
            }
            match mark {
                Some(mark) => emit(mark),
                None => return,
            }
        }
    }
}

/// Cursor over the events of one kind.
struct InstantCursor<'a> {
    kind: InstantKind,
    moments: &'a Moments,
    place: usize,
    /// Time of the next event; `u64::MAX` if there is none.
    next_ns: u64,
}

impl<'a> InstantCursor<'a> {
    fn new(kind: InstantKind, moments: &'a Moments, place: usize) -> Self {
        Self {
            kind,
            moments,
            place,
            next_ns: moments.time_ns(place).unwrap_or(u64::MAX),
        }
    }

    /// Advances to the first event after `last_ns`. Returns the number of skipped events, the time of the last of
    /// them, and the thread of the first.
    fn skip_to(&mut self, last_ns: u64) -> (usize, u64, Option<u32>) {
        let thread = self.moments.thread(self.place);
        let place = self.moments.count_up_to(last_ns).max(self.place + 1);
        let count = place - self.place;
        let last = self.moments.time_ns(place - 1).unwrap_or(self.next_ns);
        *self = Self::new(self.kind, self.moments, place);
        (count, last, thread)
    }
}

impl Store {
    /// Stores an event; `thread` is a thread index.
    #[inline]
    pub(super) fn push_instant(
        &mut self,
        kind: InstantKind,
        cap: Option<CapId>,
        at: Nanos,
        thread: Option<u32>,
    ) {
        let at_ns = at.0;
        let instant = Instant {
            kind,
            at_ns,
            thread,
        };
        self.instants.push(cap, instant);
    }

    /// Returns the thread ID of an index.
    pub(crate) fn thread_id(&self, index: u32) -> Option<ThreadId> {
        self.threads.id(index)
    }

    /// Returns the event counts of a capability by kind between two times, both inclusive, most notable kind
    /// first.
    pub fn instant_counts(&self, cap: CapId, range_ns: (u64, u64)) -> Vec<(InstantKind, usize)> {
        self.instants.counts(cap, range_ns).collect()
    }

    /// Returns up to `limit` events of a capability between two times, both inclusive, in time order, with their
    /// threads.
    pub fn instant_list(
        &self,
        cap: CapId,
        range_ns: (u64, u64),
        limit: usize,
    ) -> Vec<(InstantKind, Nanos, Option<ThreadId>)> {
        let list = self.instants.list(cap, range_ns, limit).into_iter();
        let known = list.map(|one| {
            let thread = one.thread.and_then(|index| self.thread_id(index));
            (one.kind, Nanos(one.at_ns), thread)
        });
        known.collect()
    }

    /// Emits one mark per bucket of `bucket_ns` with events on a capability.
    pub fn instant_marks(
        &self,
        cap: CapId,
        view: Interval,
        bucket_ns: u64,
        mut emit: impl FnMut(InstantMark, Option<ThreadId>),
    ) {
        self.instants.marks(cap, view, bucket_ns, |mark| {
            let thread = mark.thread.and_then(|index| self.thread_id(index));
            emit(mark, thread);
        });
    }

    /// Returns the capabilities with point events.
    pub fn caps_with_instants(&self) -> impl Iterator<Item = CapId> + '_ {
        self.instants.caps()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_and_kinds_agree() {
        for (number, kind) in InstantKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(InstantKind::from_number(number as u8), Some(kind));
        }
        assert_eq!(InstantKind::from_number(KINDS as u8), None);
        for id in 0..300 {
            let kind = InstantKind::from_event_type(EventType(id));
            assert!(kind.is_none() || EventType(id).name().is_some(), "{id}");
        }
    }

    proptest! {
        /// At any zoom level, each event is counted in exactly one mark, which has the most notable kind of its
        /// bucket.
        #[test]
        fn marks_count_what_is_there(
            steps in prop::collection::vec((0u64..90, 0u8..KINDS as u8, 0u32..5), 0..120),
            unit in prop::sample::select(vec![1u64, 1_000_000_000]),
            bucket in 0u32..40,
            from in 0u64..4000,
            length in 0u64..6000,
        ) {
            let (mut instants, mut list, mut at) = (Instants::default(), Vec::new(), 0);
            for (step, kind, thread) in steps {
                at += step * unit;
                let kind = InstantKind::from_number(kind).expect("a kind");
                let thread = kind.has_thread().then_some(thread);
                let instant = Instant { kind, at_ns: at, thread };
                instants.push(Some(CapId(1)), instant);
                list.push(instant);
            }
            let bucket = 1u64 << bucket;
            let view = Interval::new(Nanos(from * unit), Nanos((from + length) * unit));
            let mut marks = Vec::new();
            instants.marks(CapId(1), view, bucket, |mark| marks.push(mark));
            let mut buckets: Vec<u64> = list.iter().map(|one| one.at_ns / bucket).collect();
            buckets.dedup();
            buckets.retain(|number| *number >= view.start().0 / bucket);
            let mut marks = marks.into_iter();
            for number in buckets {
                let here: Vec<Instant> =
                    list.iter().copied().filter(|one| one.at_ns / bucket == number).collect();
                if here[0].at_ns > view.end().0 {
                    break;
                }
                let mark = marks.next().expect("a mark");
                prop_assert_eq!(mark.count, here.len());
                prop_assert_eq!(Some(mark.kind), here.iter().map(|one| one.kind).min());
                let span = (mark.first_ns, mark.last_ns);
                prop_assert_eq!(span, (here[0].at_ns, here[here.len() - 1].at_ns));
                prop_assert_eq!(mark.thread, here[0].thread.filter(|_| here.len() == 1));
                prop_assert_eq!(instants.list(CapId(1), span, 200).len(), here.len());
                let counts: usize = instants.counts(CapId(1), span).map(|(_, count)| count).sum();
                prop_assert_eq!(counts, here.len());
            }
            prop_assert_eq!(marks.next(), None);
            prop_assert!(instants.caps().eq((!list.is_empty()).then_some(CapId(1))));
        }
    }
}
