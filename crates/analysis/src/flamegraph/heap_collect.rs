//! From the events of a heap profile by cost-centre stack to its samples.
//!
//! A sample is what stands between `HeapProfSampleBegin` and
//! `HeapProfSampleEnd`, or the next begin. For each stack that holds anything
//! the runtime writes the bytes of exactly that stack (`dumpCensus` in
//! `rts/ProfHeap.c`). A profile restricted to a part of the closures' lives
//! (`-hc -hbdrag`) is written at the end of the log; its samples say their
//! own time. Samples by anything else than stacks are left out.

use super::centres::CostCentres;
use super::draft::Draft;
use eventlog::ids::{CostCentreId, Nanos};
use eventlog::{Event, EventSet, Record, Sink, Subject};
use model::profile::heap::HeapSamples;
use model::profile::samples::Samples;
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track, TrackSource};

/// Collects heap samples.
#[derive(Clone, Debug, Default)]
pub struct HeapCollector {
    stacks: Stacks<CostCentreId>,
    samples: HeapSamples,
    /// The sample that goes on: its time, and what it has so far.
    open: Option<(Nanos, Vec<(StackId, u64)>)>,
    has_stacks: bool,
}

impl Sink for HeapCollector {
    const CONSUMES: EventSet = EventSet::about(Subject::HeapProfile);

    fn event(&mut self, record: &Record<'_>) {
        self.heap_event(record.event(), record.time);
    }
}

impl HeapCollector {
    fn heap_event(&mut self, event: Event<'_>, at: Nanos) {
        match event {
            Event::HeapProfSampleBegin { .. } => self.begin(at),
            Event::HeapBioProfSampleBegin { time, .. } => self.begin(Nanos(time).min(at)),
            Event::HeapProfSampleCostCentre {
                residency, stack, ..
            } => {
                let stack = self.stacks.intern(stack.iter().rev());
                self.has_stacks = true;
                let (_, bytes) = self.open.get_or_insert_with(|| (at, Vec::new()));
                bytes.push((stack, residency));
            }
            Event::HeapProfSampleEnd { .. } => self.close(),
            _ => {}
        }
    }

    fn begin(&mut self, at: Nanos) {
        self.close();
        self.open = Some((at, Vec::new()));
    }

    fn close(&mut self) {
        if let Some((at, bytes)) = self.open.take() {
            self.samples.push(at, bytes);
        }
    }

    /// The profile of a log whose last event is at `end`; without tracks if
    /// the log has no such samples.
    #[must_use]
    pub fn finish(mut self, end: Nanos, centres: &CostCentres) -> Profile {
        self.close();
        let mut draft = Draft::new();
        if !self.has_stacks {
            return draft.finish(end, None);
        }
        let placed = centres.place(self.stacks, &mut draft.frames, &mut draft.stacks);
        self.samples.renumber(&placed);
        draft.tracks.push(Track {
            source: TrackSource::Program,
            samples: Samples::default(),
            open: Vec::new(),
            sampled: true,
        });
        draft.finish_heap(end, self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flamegraph::test_support::declared;
    use eventlog::EventType;
    use eventlog::status::StopCodes;
    use proptest::prelude::*;

    use model::time::Interval;

    impl HeapCollector {
        fn take(&mut self, at: u64, id: u16, payload: &[u8]) {
            let event = Event::decode(EventType(id), payload, StopCodes::default());
            self.heap_event(event, Nanos(at));
        }

        fn stack(&mut self, at: u64, bytes: u64, stack: &[u32]) {
            let mut payload = [&[0][..], &bytes.to_be_bytes(), &[stack.len() as u8]].concat();
            payload.extend(stack.iter().flat_map(|id| id.to_be_bytes()));
            self.take(at, 163, &payload);
        }
    }

    fn rows(profile: &Profile) -> Vec<String> {
        let Some(heap) = &profile.heap else {
            return Vec::new();
        };
        let mut rows = Vec::new();
        for (at, stacks) in (0..heap.len()).filter_map(|sample| heap.get(sample)) {
            for (stack, bytes) in stacks {
                let frames = profile.stacks.outermost_first(stack).into_iter();
                let names: Vec<String> = frames
                    .filter_map(|id| {
                        profile
                            .frames
                            .get(id)
                            .map(model::profile::frames::Frame::name)
                    })
                    .collect();
                rows.push(format!("{} {bytes} {}", at.0, names.join(" ")));
            }
        }
        rows
    }

    #[test]
    fn samples_are_what_stands_between_begin_and_end() {
        let mut collector = HeapCollector::default();
        collector.take(10, 162, &0_u64.to_be_bytes());
        collector.take(11, 165, &0_u64.to_be_bytes());
        collector.take(20, 162, &1_u64.to_be_bytes());
        collector.stack(21, 40, &[2, 1]);
        collector.stack(21, 7, &[]);
        // The end is missing.
        collector.take(30, 162, &2_u64.to_be_bytes());
        collector.stack(31, 50, &[9, 1]);
        collector.take(32, 165, &2_u64.to_be_bytes());
        // The begin is missing.
        collector.stack(35, 60, &[1]);
        let declared = declared(&[(1, "main\0Main\0M.hs:1:1\0"), (2, "go\0Main\0M.hs:2:1\0")]);
        let profile = collector.finish(Nanos(40), &declared);
        assert_eq!(
            rows(&profile),
            [
                "20 40 Main.main Main.go",
                "20 7 MAIN.MAIN",
                "30 50 Main.main cost centre 9",
                "35 60 Main.main",
            ]
        );
        assert_eq!(profile.heap.as_ref().map(HeapSamples::len), Some(4));
        assert_eq!(profile.span, Interval::new(Nanos(0), Nanos(40)));
    }

    #[test]
    fn without_stacks_there_is_nothing() {
        let mut collector = HeapCollector::default();
        collector.take(10, 162, &0_u64.to_be_bytes());
        collector.take(11, 165, &0_u64.to_be_bytes());
        let profile = collector.finish(Nanos(40), &CostCentres::default());
        assert!(profile.tracks.is_empty() && profile.heap.is_none());
    }

    #[test]
    fn samples_of_a_part_of_lives_say_their_time() {
        let mut collector = HeapCollector::default();
        for (era, time) in [(1_u64, 5_u64), (2, 9)] {
            collector.take(50, 166, &[era.to_be_bytes(), time.to_be_bytes()].concat());
            collector.stack(50, era, &[1]);
            collector.take(50, 165, &era.to_be_bytes());
        }
        let profile = collector.finish(Nanos(50), &CostCentres::default());
        assert_eq!(rows(&profile), ["5 1 cost centre 1", "9 2 cost centre 1"]);
    }

    proptest! {
        /// Whatever the events: no panic, and the parts of any division of
        /// the time have together what the whole has.
        #[test]
        fn parts_sum_to_the_whole(
            events in prop::collection::vec((161..=166_u16, 0..50_u64, prop::collection::vec(0..4_u8, 0..30)), 0..60),
            cuts in prop::collection::vec(0..60_u64, 0..6),
        ) {
            let mut collector = HeapCollector::default();
            for (id, at, payload) in &events {
                collector.take(*at, *id, payload);
            }
            let profile = collector.finish(Nanos(60), &CostCentres::default());
            crate::flamegraph::test_support::parts_sum(&profile, &[0], cuts)?;
        }
    }
}
