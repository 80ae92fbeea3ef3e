//! Collection phases of a capability, as logged by its own events. They are shown while the log is being read, and
//! are the input of the account.

use super::columns::SpanColumns;
use crate::automata::gc_phase::Phase;
use model::class::Class;
use model::lane::Lane;
use model::sorting::CompactSort;
use model::time::Interval;

/// Collection phases of one capability.
#[derive(Clone, Debug)]
pub struct PhaseLane {
    spans: SpanColumns<4>,
    /// Indexes of the spans of collections without logged phases, sorted.
    bare: Vec<u32>,
    /// Phases of the collection in progress.
    pending: Vec<(Class, Interval)>,
    sorted: bool,
}

impl Default for PhaseLane {
    fn default() -> Self {
        Self {
            spans: SpanColumns::new([Class::Gc, Class::GcIdle, Class::GcDone, Class::GcStart]),
            bare: Vec::new(),
            pending: Vec::new(),
            sorted: true,
        }
    }
}

impl From<Phase> for Class {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Start => Self::GcStart,
            Phase::Work => Self::Gc,
            Phase::Idle => Self::GcIdle,
            Phase::Done => Self::GcDone,
        }
    }
}

/// Returns whether phases of this class have events of their own.
const fn is_logged(class: Class) -> bool {
    matches!(class, Class::Gc | Class::GcIdle | Class::GcDone)
}

impl PhaseLane {
    /// Returns the phases in time order.
    pub const fn lane(&self) -> &SpanColumns<4> {
        &self.spans
    }

    /// Adds a finished phase. It is stored when its collection ends.
    pub(crate) fn push(&mut self, phase: Phase, span: Interval) {
        self.pending.push((phase.into(), span));
    }

    /// Adds a finished collection, whose phases have been pushed before. They are clipped so that together they
    /// cover exactly its span.
    pub(crate) fn collection(&mut self, span: Interval) {
        let (start, end) = (span.start(), span.end().0);
        let first = self.spans.len();
        let last_end = first
            .checked_sub(1)
            .map_or(0, |last| self.spans.span(last).1);
        self.sorted &= last_end <= start.0;
        self.spans.mark_collection_start(first);
        let bare = !self.pending.iter().any(|(class, _)| is_logged(*class));
        let (mut class, mut at) = (Class::Gc, start.0);
        let mut phases = self.pending.drain(..).peekable();
        while let Some((this, phase)) = phases.next() {
            class = if bare { Class::Gc } else { this };
            let to = match phases.peek() {
                Some(_) => span.nearest(phase.end()).0.max(at),
                None => end,
            };
            if at < to {
                self.spans.push(class, at, to);
            }
            at = to;
        }
        drop(phases);
        // A collection without a duration gets an empty span; one without phases counts as work.
        if self.spans.len() == first {
            self.spans.push(class, start.0, end);
        }
        if bare {
            self.bare.extend(first as u32..self.spans.len() as u32);
        }
    }

    /// Returns whether the phase of a span is logged. Otherwise the span is only known to be part of a collection.
    pub(crate) fn is_logged(&self, place: usize) -> bool {
        is_logged(self.spans.class(place)) && !self.is_bare(place)
    }

    fn is_bare(&self, place: usize) -> bool {
        self.bare.binary_search(&(place as u32)).is_ok()
    }

    /// Sorts the spans and clips overlaps like [`PlainLane::sort_and_clip`](model::lane::PlainLane::sort_and_clip), so that both
    /// lanes cover the same time.
    pub(crate) fn sort_and_clip(&mut self) {
        self.pending = Vec::new();
        if self.sorted {
            return;
        }
        let old = std::mem::take(self);
        let mut places: Vec<usize> = (0..old.spans.len()).collect();
        places.sort_small_by_key(|&place| old.spans.span(place));
        let mut covered = 0;
        for place in places {
            let (start, end) = old.spans.span(place);
            let start = start.max(covered);
            if old.spans.is_first(place) {
                self.spans.mark_collection_start(self.spans.len());
            }
            if start < end {
                if old.is_bare(place) {
                    self.bare.push(self.spans.len() as u32);
                }
                self.spans.push(old.spans.class(place), start, end);
            }
            covered = covered.max(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::automata::gc;
    use crate::automata::gc_phase::{self, Input};
    use eventlog::ids::Nanos;
    use model::class::ClassTimes;
    use model::lane::{Mark, PlainLane, marks};

    const GC: [Class; 4] = [Class::Gc, Class::GcStart, Class::GcIdle, Class::GcDone];

    /// Returns the phases that `events` yield, and the lane of whole collections.
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
        phases.sort_and_clip();
        whole.sort_and_clip();
        (phases, whole)
    }

    fn spans(lane: &PhaseLane) -> Vec<(Class, u64, u64)> {
        let lane = lane.lane();
        let span = |i| (lane.class(i), lane.span(i).0, lane.span(i).1);
        (0..lane.len()).map(span).collect()
    }

    fn input() -> impl Strategy<Value = Input> {
        use Input as I;
        prop::sample::select(vec![
            I::Start,
            I::Start,
            I::Work,
            I::Work,
            I::Idle,
            I::Done,
            I::End,
            I::End,
        ])
    }

    #[test]
    fn an_end_before_the_last_phase_cuts_it() {
        use Input::{Done, End, Start, Work};
        let events = [(Start, 5), (Work, 7), (Done, 12), (End, 10)];
        let (lane, _) = lanes(&events);
        let expected = [(Class::GcStart, 5, 7), (Class::Gc, 7, 10)];
        assert_eq!(spans(&lane), expected);
        let lane = lane.lane();
        assert_eq!((lane.count(0, 1), lane.count(1, 2)), (1, 0));
        assert_eq!(lane.collection_of(1), 0..2);
    }

    #[test]
    fn without_phases_it_is_work_and_without_an_end_nothing() {
        let events = [
            (Input::Start, 2),
            (Input::End, 9),
            (Input::Start, 10),
            (Input::End, 10),
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
        /// For any events and times, the phases together cover the collections, and no two spans overlap.
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
                let gc: u64 = GC.iter().map(|&class| lane.lane().time_before(cut)[class as usize]).sum();
                prop_assert_eq!(gc, whole.time_before(cut)[Class::Gc as usize], "before {}", cut);
            }
        }

        /// At any zoom level, the times of the marks add up to the times of the spans.
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
            let lane = lane.lane();
            let mut times = ClassTimes::default();
            let (mut count, mut single) = (0, 0);
            let all = Interval::new(Nanos(0), Nanos(u64::MAX >> 1));
            marks(lane, all, 1 << bucket, |mark| match mark {
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
            prop_assert_eq!(times, lane.times_before_index(lane.len()));
            prop_assert_eq!(count + single, lane.count(0, lane.len() + 1));
        }
    }
}
