//! The collections of a capability in their phases, and the waits before them.

use rustc_hash::FxHashMap;

use crate::automata::gc_phase::Phase;
use model::class::{Class, ClassTimes};
use model::lane::{Lane, LaneIndex};
use model::time::Interval;

/// Phases of collections, and before each the wait of the capability that
/// asked for it. Thirteen bytes for each, and four for each collection.
#[derive(Clone, Debug)]
pub struct PhaseLane {
    starts: Vec<u64>,
    /// How long each is, as far as 32 bits hold it.
    durations_ns: Vec<u32>,
    /// Longer ones, by place.
    longer_ns: FxHashMap<usize, u64>,
    classes: Vec<Class>,
    /// The place of the first span of each collection.
    firsts: Vec<u32>,
    /// The places of those collections of which no phase is logged, in order.
    bare: Vec<u32>,
    index: LaneIndex<5>,
    /// What is known of the collection that goes on.
    pending: Vec<(Class, Interval)>,
    sorted: bool,
}

impl Default for PhaseLane {
    fn default() -> Self {
        Self {
            starts: Vec::new(),
            durations_ns: Vec::new(),
            longer_ns: FxHashMap::default(),
            classes: Vec::new(),
            firsts: Vec::new(),
            bare: Vec::new(),
            index: LaneIndex::new([
                Class::Gc,
                Class::GcIdle,
                Class::GcDone,
                Class::GcStart,
                Class::GcSync,
            ]),
            pending: Vec::new(),
            sorted: true,
        }
    }
}

impl From<Phase> for Class {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Sync => Self::GcSync,
            Phase::Start => Self::GcStart,
            Phase::Work => Self::Gc,
            Phase::Idle => Self::GcIdle,
            Phase::Done => Self::GcDone,
        }
    }
}

/// Whether a phase of this class is logged as such.
const fn is_logged(class: Class) -> bool {
    matches!(class, Class::Gc | Class::GcIdle | Class::GcDone)
}

impl PhaseLane {
    /// A phase ended; it counts once its collection has ended.
    pub(crate) fn push(&mut self, phase: Phase, span: Interval) {
        self.pending.push((phase.into(), span));
    }

    /// The collection ended whose phases came: they are cut so that together
    /// they are exactly its span.
    pub(crate) fn collection(&mut self, span: Interval) {
        let (start, end) = (span.start().0, span.end().0.max(span.start().0));
        self.sorted &= self.last_end() <= start;
        let first = u32::try_from(self.len()).unwrap_or(u32::MAX);
        self.firsts.push(first);
        let pending = std::mem::take(&mut self.pending);
        let is_sync = |class: Class| class == Class::GcSync;
        for (_, sync) in pending.iter().filter(|(class, _)| is_sync(*class)) {
            let from = sync.start().0.max(self.last_end());
            self.append(Class::GcSync, from, sync.end().0.min(start));
        }
        let (before, mut at) = (self.len(), start);
        let bare = !pending.iter().any(|(class, _)| is_logged(*class));
        let mut class = Class::Gc;
        let mut phases = pending.iter().filter(|(class, _)| !is_sync(*class));
        while let Some((this, span)) = phases.next() {
            class = if bare { Class::Gc } else { *this };
            let last = phases.clone().next().is_none();
            let to = if last {
                end
            } else {
                span.end().0.clamp(at, end)
            };
            self.append(class, at, to);
            at = to;
        }
        // One without a duration counts, too; one without phases is work.
        if self.len() == before {
            self.append_any(class, start, end);
        }
        if bare {
            let places = before as u32..self.len() as u32;
            self.bare.extend(places);
        }
        self.pending = pending;
        self.pending.clear();
    }

    /// Whether the log says of a span what phase it is; if not, it is only
    /// known to be of a collection.
    pub(crate) fn is_logged(&self, place: usize) -> bool {
        is_logged(self.classes[place]) && self.bare.binary_search(&(place as u32)).is_err()
    }

    /// Appends a span that is not empty.
    fn append(&mut self, class: Class, start: u64, end: u64) {
        if start < end {
            self.append_any(class, start, end);
        }
    }

    fn append_any(&mut self, class: Class, start: u64, end: u64) {
        let duration_ns = end - start;
        let short = u32::try_from(duration_ns).unwrap_or(u32::MAX);
        if short == u32::MAX {
            self.longer_ns.insert(self.len(), duration_ns);
        }
        self.starts.push(start);
        self.durations_ns.push(short);
        self.classes.push(class);
        self.index.push(class, duration_ns);
    }

    fn duration_ns(&self, place: usize) -> u64 {
        match self.durations_ns[place] {
            u32::MAX => {
                let longer = self.longer_ns.get(&place).copied();
                longer.unwrap_or(u64::from(u32::MAX))
            }
            short => u64::from(short),
        }
    }

    fn last_end(&self) -> u64 {
        self.len()
            .checked_sub(1)
            .map_or(0, |last| self.span(last).1)
    }

    /// Sorts the spans and clips overlaps, as
    /// [`PlainLane::settle`](model::lane::PlainLane::settle) does, so that both
    /// cover the same time. A wait never covers a collection.
    pub(crate) fn settle(&mut self) {
        self.pending = Vec::new();
        if self.sorted {
            return;
        }
        let old = std::mem::take(self);
        let is_in = |places: &[u32], i: usize| places.binary_search(&(i as u32)).is_ok();
        let mut spans: Vec<(u64, u64, bool, Class, bool)> = (0..old.len())
            .map(|i| {
                let (start, end) = old.span(i);
                let (first, bare) = (is_in(&old.firsts, i), is_in(&old.bare, i));
                (start, end, first, old.classes[i], bare)
            })
            .collect();
        spans.sort_by_key(|&(start, end, ..)| (start, end));
        let mut covered = 0;
        for (i, &(start, end, first, class, bare)) in spans.iter().enumerate() {
            let (start, mut end) = (start.max(covered), end);
            if class == Class::GcSync {
                let next = spans[i + 1..].iter().find(|next| next.3 != Class::GcSync);
                end = end.min(next.map_or(u64::MAX, |next| next.0));
            }
            if first {
                self.firsts
                    .push(u32::try_from(self.len()).unwrap_or(u32::MAX));
            }
            if bare && start < end {
                self.bare.push(self.len() as u32);
            }
            self.append(class, start, end);
            covered = covered.max(end);
        }
    }

    /// The places of the spans of the collection that a span belongs to, the
    /// wait before it included.
    pub fn collection_of(&self, place: usize) -> std::ops::Range<usize> {
        let next = self
            .firsts
            .partition_point(|&first| first as usize <= place);
        let first = next.checked_sub(1).and_then(|i| self.firsts.get(i));
        let end = self
            .firsts
            .get(next)
            .map_or(self.len(), |&next| next as usize);
        first.map_or(0, |&first| first as usize)..end
    }
}

impl Lane for PhaseLane {
    fn len(&self) -> usize {
        self.starts.len()
    }
    fn span(&self, index: usize) -> (u64, u64) {
        let start = self.starts[index];
        (start, start + self.duration_ns(index))
    }
    fn class(&self, index: usize) -> Class {
        self.classes[index]
    }
    fn before(&self, index: usize) -> ClassTimes {
        let span = |i: usize| (self.classes[i], self.duration_ns(i));
        self.index.before(index, span)
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index.longest(from, to, |i| self.duration_ns(i))
    }

    /// Collections count, where they begin.
    fn count(&self, from: usize, to: usize) -> usize {
        let before = |place: usize| {
            self.firsts
                .partition_point(|&first| (first as usize) < place)
        };
        before(to) - before(from)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::automata::gc;
    use crate::automata::gc_phase::{self, Input};
    use eventlog::ids::Nanos;
    use model::lane::{Mark, PlainLane, marks};

    const GC: [Class; 4] = [Class::Gc, Class::GcStart, Class::GcIdle, Class::GcDone];

    /// The lane that events lead to, and the lane of the whole collections.
    fn lanes(events: &[(Input, u64)]) -> (PhaseLane, PlainLane) {
        let (mut phases, mut whole) = (PhaseLane::default(), PlainLane::new(Class::Gc));
        let (mut phase, mut gc) = (gc_phase::State::Off, gc::State::Idle);
        for &(input, at) in events {
            let step = gc_phase::step(phase, input, Nanos(at));
            phase = step.next;
            if let Some((phase, span)) = step.yields {
                phases.push(phase, span);
            }
            let input = match input {
                Input::Start => gc::Input::Start,
                Input::End => gc::Input::End,
                _ => continue,
            };
            let step = gc::step(gc, input, Nanos(at));
            gc = step.next;
            if let Some(span) = step.yields {
                whole.push(span);
                phases.collection(span);
            }
        }
        phases.settle();
        whole.settle();
        (phases, whole)
    }

    fn spans(lane: &PhaseLane) -> Vec<(Class, u64, u64)> {
        let span = |i| (lane.class(i), lane.span(i).0, lane.span(i).1);
        (0..lane.len()).map(span).collect()
    }

    fn input() -> impl Strategy<Value = Input> {
        use Input as I;
        prop::sample::select(vec![
            I::Request,
            I::Start,
            I::Start,
            I::Work,
            I::Work,
            I::Idle,
            I::Done,
            I::End,
            I::End,
            I::Run,
            I::Stop,
        ])
    }

    #[test]
    fn an_end_before_the_last_phase_cuts_it() {
        use Input::{Done, End, Request, Start, Work};
        let events = [(Request, 1), (Start, 5), (Work, 7), (Done, 12), (End, 10)];
        let (lane, _) = lanes(&events);
        let expected = [
            (Class::GcSync, 1, 5),
            (Class::GcStart, 5, 7),
            (Class::Gc, 7, 10),
        ];
        assert_eq!(spans(&lane), expected);
        assert_eq!(lane.count(0, 3), 1);
        assert_eq!((lane.count(0, 1), lane.count(1, 3)), (1, 0));
        assert_eq!(lane.collection_of(2), 0..3);
    }

    #[test]
    fn without_phases_it_is_work_and_without_an_end_nothing() {
        let events = [
            (Input::Start, 2),
            (Input::End, 9),
            (Input::Start, 10),
            (Input::End, 10),
            (Input::Request, 11),
            (Input::Start, 12),
        ];
        let (lane, _) = lanes(&events);
        assert_eq!(spans(&lane), [(Class::Gc, 2, 9), (Class::Gc, 10, 10)]);
    }

    #[test]
    fn long_phases_keep_their_length() {
        let second = 1_000_000_000;
        let (lane, _) = lanes(&[(Input::Start, 1), (Input::End, 1 + 9 * second)]);
        assert_eq!(spans(&lane), [(Class::Gc, 1, 1 + 9 * second)]);
    }

    proptest! {
        /// Whatever the events and their times, the phases together are the
        /// collections, and no two spans overlap.
        #[test]
        fn phases_are_the_collections(
            events in prop::collection::vec((input(), 0u64..40, 0u64..6), 0..200),
            forward in any::<bool>(),
        ) {
            let mut at = 0;
            let events: Vec<_> = events.into_iter().map(|(input, time, step)| {
                at += step;
                (input, if forward { at } else { time })
            }).collect();
            let (lane, whole) = lanes(&events);
            let mut last = 0;
            for (_, start, end) in spans(&lane) {
                prop_assert!(last <= start && start <= end);
                last = end;
            }
            for cut in 0..1300 {
                let gc: u64 = GC.iter().map(|&class| lane.time_before(cut)[class as usize]).sum();
                prop_assert_eq!(gc, whole.time_before(cut)[Class::Gc as usize], "before {}", cut);
            }
        }

        /// At any zoom the shares of the marks are the times of the spans.
        #[test]
        fn shares_sum_to_the_truth(
            events in prop::collection::vec((input(), 0u64..60), 0..300),
            bucket in 0u32..12,
        ) {
            let mut at = 0;
            let events: Vec<_> = events.into_iter().map(|(input, step)| {
                at += step;
                (input, at)
            }).collect();
            let (lane, _) = lanes(&events);
            let mut times = ClassTimes::default();
            let (mut count, mut single) = (0, 0);
            let all = Interval::new(Nanos(0), Nanos(u64::MAX >> 1));
            marks(&lane, all, 1 << bucket, |mark| match mark {
                Mark::One { index } => {
                    let (start, end) = lane.span(index);
                    times[lane.class(index) as usize] += end - start;
                    single += lane.count(index, index + 1);
                }
                Mark::Many { times: part, count: some, .. } => {
                    count += some as usize;
                    for (sum, time) in times.iter_mut().zip(part) {
                        *sum += time;
                    }
                }
            });
            prop_assert_eq!(times, lane.before(lane.len()));
            prop_assert_eq!(count + single, lane.firsts.len());
        }
    }
}
