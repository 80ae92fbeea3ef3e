//! Builds the profile of cost centre samples and announced foreign calls from events.
//!
//! On each tick, the runtime reads the current cost centre stack twice: once for its own report (`+RTS -p`) and
//! once for the event (`handleProfTick` in `rts/Proftimer.c`). The total number of samples equals the ticks of the
//! report; the numbers of functions that constantly call each other differ slightly.

use std::collections::BTreeMap;

use super::centres::CostCentres;
use super::cost_centre_samples::{CapSamples, CostCentreSamples, SliceCostCentreSamples};
use super::draft::Draft;
use super::foreign::{Call, CallProblem, Calls};
use super::nesting::{NestedSamples, ResolvedCall, ThreadFunctions, lanes, nest};
use crate::diagnostics::{Diagnostic, Diagnostics};
use eventlog::ids::{Address, CapId, Duration, Nanos, OsThreadId};
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track, TrackSource};
use model::sorting::CompactCollect;
use model::time::Interval;

/// Collects the cost centre samples and the announced foreign calls of a log.
#[derive(Clone, Debug, Default)]
pub struct ProfileCollector {
    cost_centre_samples: CostCentreSamples,
    tick_interval: Option<Duration>,
    calls: Calls,
}

impl Sink for ProfileCollector {
    const CONSUMES: EventSet = EventSet::from_types(&[
        EventType::USER_MSG,
        EventType::USER_MARKER,
        EventType::PROF_SAMPLE_COST_CENTRE,
        EventType::PROF_BEGIN,
    ]);

    fn event(&mut self, record: &Record<'_>) {
        self.profile_event(record.event(), record.time);
    }
}

impl ProfileCollector {
    /// Processes an event of a profile; ignores others.
    pub fn profile_event(&mut self, event: Event<'_>, at: Nanos) {
        match event {
            Event::ProfSampleCostCentre { .. } => self.cost_centre_samples.event(&event, at),
            Event::ProfBegin { tick_interval } if tick_interval > 0 => {
                self.tick_interval = Some(Duration(tick_interval));
            }
            Event::UserMessage { msg } => self.calls.message(&msg.to_str(), at),
            Event::UserMarker { markername } => {
                self.calls.message(&markername.to_str(), at);
            }
            _ => {}
        }
    }

    /// Appends the samples of the next slice.
    pub(crate) fn append(&mut self, samples: &SliceCostCentreSamples) {
        self.cost_centre_samples.append(samples);
    }

    /// Builds the profile of a log from its first to its last event, and the diagnostics about foreign calls.
    pub fn finish(mut self, log: Interval, centres: &CostCentres) -> (Profile, Diagnostics) {
        let end = log.end();
        self.calls.finish(end);
        let mut draft = Draft::new();
        let tracks = self.capability_tracks(centres, &mut draft);
        draft.tracks.extend(tracks);
        let mut anomalies = std::mem::take(&mut self.calls.anomalies);
        let names = self.announced_frames(centres, &mut draft.frames, &mut anomalies);
        let tracks = self.thread_tracks(&names, &mut draft, &mut anomalies, end);
        draft.tracks.extend(tracks);
        let mut profile = draft.finish(end, self.tick_interval);
        // Tracks are idle in gaps, so the profile spans the whole log.
        profile.span = profile.span.hull(log);
        (profile, anomalies)
    }

    fn capability_tracks(&mut self, centres: &CostCentres, draft: &mut Draft) -> Vec<Track> {
        let CostCentreSamples { stacks, caps } = std::mem::take(&mut self.cost_centre_samples);
        let placed = centres.insert_stacks(stacks, &mut draft.frames, &mut draft.stacks);
        let interval = self.tick_interval.unwrap_or(Profile::DEFAULT_TICK);
        let new = |stack: StackId| placed.get(stack.index()).copied().unwrap_or_default();
        let track = |(cap, cost_centre_samples): (CapId, CapSamples)| {
            let samples = cost_centre_samples.finish(interval, new);
            Track {
                source: TrackSource::Capability(cap),
                samples,
                open: Vec::new(),
                sampled: true,
            }
        };
        caps.into_iter().map(track).collect()
    }

    /// Returns a track per OS thread with calls or C functions, and per lane of calls of unknown threads.
    fn thread_tracks(
        &mut self,
        names: &[FrameId],
        draft: &mut Draft,
        anomalies: &mut Diagnostics,
        end: Nanos,
    ) -> Vec<Track> {
        let Draft { frames, stacks, .. } = draft;
        let mut threads: BTreeMap<OsThreadId, Vec<ResolvedCall>> = BTreeMap::new();
        let mut unknown = Vec::new();
        for call in std::mem::take(&mut self.calls.finished) {
            let thread = call.thread;
            let placed = resolve_call(call, &self.calls.stacks, names, frames);
            match thread {
                Some(thread) => threads.entry(thread).or_default().push(placed),
                None => unknown.push(placed),
            }
        }
        let mut functions = std::mem::take(&mut self.calls.functions);
        let function = |&address: &Address| frames.intern(Frame::foreign_function(address));
        let function_frames: Vec<FrameId> = functions.addresses.iter().map(function).collect();
        let mut steps = std::mem::take(&mut functions.threads);
        for &thread in steps.keys() {
            threads.entry(thread).or_default();
        }
        let mut tracks = Vec::new();
        for (thread, calls) in threads {
            let steps = steps.remove(&thread).unwrap_or_default();
            let on_thread = ThreadFunctions {
                thread,
                steps: &steps,
                functions: &functions,
                frames: &function_frames,
            };
            let nested = nest(calls, Some(&on_thread), end, stacks, anomalies);
            tracks.extend(thread_track(TrackSource::OsThread(thread), nested));
        }
        for (lane, calls) in (0..).zip(lanes(unknown, anomalies)) {
            let nested = nest(calls, None, end, stacks, anomalies);
            tracks.extend(thread_track(TrackSource::UnknownThread { lane }, nested));
        }
        tracks
    }

    /// Returns the frames of the cost centres in announced stacks.
    ///
    /// Frames of undeclared ones are created from the printed name; they are reported only if the log declares
    /// cost centres at all.
    fn announced_frames(
        &self,
        centres: &CostCentres,
        frames: &mut Frames,
        anomalies: &mut Diagnostics,
    ) -> Vec<FrameId> {
        let all = centres.frames();
        let declared: BTreeMap<String, &Frame> =
            all.map(|frame| (frame.printed(), frame)).collect_small();
        let mut frame = |(name, at): &(String, Nanos)| {
            if let Some(&frame) = declared.get(name) {
                return frames.intern(frame.clone());
            }
            if !declared.is_empty() {
                let what = CallProblem::UnknownCostCentre(name.clone());
                anomalies.push(Diagnostic::at_time(*at, what));
            }
            frames.intern(Frame::from_printed(name))
        };
        self.calls.names.iter().map(&mut frame).collect()
    }
}

/// Creates the track of an OS thread; `None` without samples.
fn thread_track(source: TrackSource, nested: NestedSamples) -> Option<Track> {
    (!nested.samples.is_empty()).then_some(Track {
        source,
        samples: nested.samples,
        open: nested.open,
        sampled: false,
    })
}

fn resolve_call(
    call: Call,
    stacks: &Stacks<u32>,
    names: &[FrameId],
    frames: &mut Frames,
) -> ResolvedCall {
    let stack = call.stack.map(|stack| stacks.outermost_first(stack));
    let haskell = stack.unwrap_or_default().into_iter();
    ResolvedCall {
        haskell: haskell
            .filter_map(|name| names.get(name as usize).copied())
            .collect(),
        frame: frames.intern(Frame::foreign_call(&call.key.name)),
        key: call.key,
        span: call.span,
        open: call.open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flamegraph::test_support::declared;
    use eventlog::EventType;
    use eventlog::status::StopCodes;

    impl ProfileCollector {
        fn take(&mut self, at: u64, id: u16, payload: &[&[u8]]) {
            let payload = payload.concat();
            let event = Event::decode(EventType(id), &payload, StopCodes::default());
            self.profile_event(event, Nanos(at));
        }

        /// Adds a sample of these cost centres, innermost first.
        fn sample(&mut self, at: u64, cap: u32, stack: &[u32]) {
            let mut payload = [&cap.to_be_bytes()[..], &[0; 8], &[stack.len() as u8]].concat();
            payload.extend(stack.iter().flat_map(|id| id.to_be_bytes()));
            self.take(at, 167, &[&payload]);
        }

        fn message(&mut self, at: u64, text: &str) {
            self.take(at, 19, &[text.as_bytes()]);
        }
    }

    fn finish(
        collector: ProfileCollector,
        end: u64,
        centres: &CostCentres,
    ) -> (Profile, Diagnostics) {
        collector.finish(Interval::new(Nanos(0), Nanos(end)), centres)
    }

    /// Formats every sample with its track, start, end and frames.
    fn rows(profile: &Profile) -> Vec<String> {
        let mut rows = Vec::new();
        for track in &profile.tracks {
            for (span, stack) in (0..track.samples.len()).filter_map(|i| track.samples.get(i)) {
                let frames = profile.stacks.outermost_first(stack).into_iter();
                let names: Vec<String> = frames
                    .filter_map(|id| profile.frames.get(id).map(Frame::name))
                    .collect();
                let (start, end) = (span.start().0, span.end().0);
                rows.push(format!(
                    "{} {start}..{end} {}",
                    track.source,
                    names.join(" ")
                ));
            }
        }
        rows
    }

    #[test]
    fn cost_centres_may_be_declared_after_their_samples() {
        let mut collector = ProfileCollector::default();
        collector.take(0, 168, &[&10_u64.to_be_bytes()]);
        collector.sample(25, 1, &[2, 1]);
        collector.sample(5, 0, &[]);
        collector.sample(12, 0, &[1]);
        collector.sample(40, 0, &[9, 1]);
        collector.sample(40, 0x1_0000, &[1]);
        let centres = declared(&[(1, "main\0Main\0M.hs:1:1\0"), (2, "go\0Main\0M.hs:2:1\0")]);
        let (profile, anomalies) = finish(collector, 50, &centres);
        assert_eq!(
            rows(&profile),
            [
                "Capability 0 0..5 MAIN.MAIN",
                "Capability 0 5..12 Main.main",
                "Capability 0 30..40 Main.main cost centre 9",
                "Capability 1 15..25 Main.main Main.go",
            ]
        );
        assert_eq!(anomalies, Diagnostics::default());
        assert_eq!(profile.tick_interval, Some(Duration(10)));
        assert_eq!(profile.span, Interval::new(Nanos(0), Nanos(50)));
    }

    #[test]
    fn calls_stand_on_declared_cost_centres() {
        let mut collector = ProfileCollector::default();
        collector.sample(2_000_000, 0, &[1]);
        collector.message(10, "START 0 blur");
        collector.message(
            11,
            r#"ANN_SCC 0 blur ["Main.a.B.c (M.hs:1:1)","Main.gone (M.hs:9:9)"]"#,
        );
        collector.message(12, "ANN_TH 0 blur 71");
        collector.message(30, "START parse");
        collector.message(40, "STOP 0 blur");
        collector.message(50, "START 1 blur");
        let centres = declared(&[(1, "a.B.c\0Main\0M.hs:1:1\0")]);
        let (profile, anomalies) = finish(collector, 60, &centres);
        assert_eq!(
            rows(&profile),
            [
                "Capability 0 1000000..2000000 Main.a.B.c",
                "OS thread 71 10..40 Main.a.B.c Main.gone blur",
                "Unknown OS thread 50..60 blur",
            ]
        );
        let of_declared = profile
            .frames
            .iter()
            .filter(|(_, frame)| frame.label == "a.B.c");
        assert_eq!(of_declared.count(), 1);
        assert_eq!(profile.tracks[2].open, [0]);
        let what = CallProblem::UnknownCostCentre("Main.gone (M.hs:9:9)".into());
        assert_eq!(anomalies.kept(), [Diagnostic::at_time(Nanos(11), what)]);
    }

    #[test]
    fn c_functions_stand_on_the_call_of_their_thread() {
        let mut collector = ProfileCollector::default();
        collector.message(10, "START 0 bar");
        collector.message(11, r#"ANN_SCC 0 bar ["Main.main (M.hs:1:1)"]"#);
        collector.message(12, "ANN_TH 0 bar 71");
        collector.message(15, "START 1 baz");
        collector.message(20, "ANN_CALL_TO 0x410061 0x40ff00 71");
        collector.message(21, "ANN_CALL_TO 0x410061 0x40ff00 72");
        collector.message(30, "ANN_CALL_RET 0x410061 0x40ff00 71");
        collector.message(31, "ANN_CALL_RET 0x410061 0x40ff00 73");
        collector.message(40, "STOP 0 bar");
        collector.message(45, "STOP 1 baz");
        let (profile, anomalies) = finish(collector, 60, &CostCentres::default());
        assert_eq!(
            rows(&profile),
            [
                "OS thread 71 10..20 Main.main bar",
                "OS thread 71 20..30 Main.main bar 0x410061",
                "OS thread 71 30..40 Main.main bar",
                "OS thread 72 21..60 0x410061",
                // Its thread is not guessed.
                "Unknown OS thread 15..45 baz",
            ]
        );
        assert_eq!(profile.tracks[1].open, [0]);
        let at: Vec<_> = anomalies
            .kept()
            .iter()
            .filter_map(Diagnostic::start)
            .collect();
        assert_eq!(at, [Nanos(31)]);
    }

    #[test]
    fn a_log_without_a_profile_has_no_tracks() {
        let (profile, anomalies) = ProfileCollector::default()
            .finish(Interval::empty_at(Nanos(7)), &CostCentres::default());
        assert!(profile.tracks.is_empty() && anomalies == Diagnostics::default());
        assert_eq!(profile.span, Interval::new(Nanos(7), Nanos(7)));
    }
}
