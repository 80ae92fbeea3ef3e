//! Assigns samples of capabilities to Haskell threads.
//!
//! The sample event has no thread, so it is taken from scheduler events: the thread that ran on the capability at
//! that time. Samples while no thread runs (idle, collecting) have none.

use std::ops::Range;

use super::stack_source::{FlameSelection, ProfileRef};
use super::stacks::StackId;
use super::weights::Weight;
use crate::profile::samples::Samples;
use crate::profile::{Profile, Track, TrackSource};
use crate::sorting::CompactSort;
use crate::time::Interval;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};

/// Consecutive samples of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThreadRun {
    /// Exclusive end index.
    end: usize,
    thread: Option<ThreadId>,
}

/// Threads of samples in run-length encoding, by track index.
#[derive(Clone, Debug, Default)]
pub struct SampleThreads {
    runs: Vec<Vec<ThreadRun>>,
}

impl SampleThreads {
    /// Assigns a thread to each sample of the capability tracks.
    ///
    /// `running` returns the thread that ran on a capability at a time. It is called with ascending times per
    /// capability; its last argument is a cursor that starts at 0 and is kept between the calls for one
    /// capability.
    pub fn from_tracks(
        tracks: &[Track],
        running: impl Fn(CapId, Nanos, &mut usize) -> Option<ThreadId>,
    ) -> Self {
        let of_track = |track: &Track| {
            let TrackSource::Capability(cap) = track.source else {
                return Vec::new();
            };
            let (mut runs, mut place) = (Vec::<ThreadRun>::new(), 0);
            for index in 0..track.samples.len() {
                let at = track.samples.get(index).map(|(span, _)| span.end());
                let thread = at.and_then(|at| running(cap, at, &mut place));
                match runs.last_mut().filter(|last| last.thread == thread) {
                    Some(last) => last.end = index + 1,
                    None => runs.push(ThreadRun {
                        end: index + 1,
                        thread,
                    }),
                }
            }
            runs
        };
        Self {
            runs: tracks.iter().map(of_track).collect(),
        }
    }

    /// Returns the threads that have samples, with the number of samples, in descending order of that number.
    pub fn counts(&self) -> Vec<(ThreadId, u64)> {
        let mut counts: SeededMap<ThreadId, u64> = SeededMap::default();
        for (_, samples, thread) in self.thread_runs() {
            *counts.entry(thread).or_default() += samples.len() as u64;
        }
        let mut counts: Vec<(ThreadId, u64)> = counts.into_iter().collect();
        counts.sort_small_by_key(|&(thread, count)| (std::cmp::Reverse(count), thread));
        counts
    }

    /// Iterates over track, sample indices and thread of every run with a thread.
    fn thread_runs(&self) -> impl Iterator<Item = (usize, Range<usize>, ThreadId)> + '_ {
        let of_track = |(track, runs): (usize, &'_ Vec<ThreadRun>)| {
            let starts = std::iter::once(0).chain(runs.iter().map(|run| run.end));
            let pairs: Vec<_> = starts.zip(runs).map(|(start, s)| (start, *s)).collect();
            pairs
                .into_iter()
                .filter_map(move |(start, s)| Some((track, start..s.end, s.thread?)))
        };
        self.runs.iter().enumerate().flat_map(of_track)
    }
}

/// Returns the threads in `selection` that have no track of their own in the profile.
pub(super) fn threads_without_track(
    profile: &Profile,
    selection: &FlameSelection,
) -> Vec<ThreadId> {
    let thread = |source: &TrackSource| match source {
        TrackSource::Thread(thread) => Some(*thread),
        _ => None,
    };
    let has_track = |thread: ThreadId| {
        let mut tracks = profile.tracks.iter();
        tracks.any(|track| track.source == TrackSource::Thread(thread))
    };
    let threads = selection.tracks.iter().filter_map(thread);
    threads.filter(|thread| !has_track(*thread)).collect()
}

/// Adds the weights of the samples of these threads within a range.
pub fn weigh(profile: &Profile, threads: &[ThreadId], range: Interval, own: &mut [Weight]) {
    if threads.is_empty() {
        return;
    }
    for (track, samples, thread) in profile.threads.thread_runs() {
        let Some(track) = profile
            .tracks
            .get(track)
            .filter(|_| threads.contains(&thread))
        else {
            continue;
        };
        let touching = track.samples.overlapping(range);
        let samples = samples.start.max(touching.start)..samples.end.min(touching.end);
        for sample in samples.filter_map(|index| track.samples.clipped(index, range)) {
            if let Some(weight) = own.get_mut(sample.stack.index()) {
                weight.add(Weight {
                    amount: sample.span.duration().0,
                    count: u64::from(sample.counts),
                });
            }
        }
    }
}

/// Adds tracks for these threads to the profile; returns it with the indices of the chosen tracks.
pub(super) fn with_thread_tracks<'a>(
    profile: &'a Profile,
    threads: &[ThreadId],
    chosen: Vec<usize>,
) -> (ProfileRef<'a>, Vec<usize>) {
    if threads.is_empty() {
        return (ProfileRef::OfLog(profile), chosen);
    }
    let mut tracks: Vec<Track> = chosen
        .iter()
        .filter_map(|&track| profile.tracks.get(track).cloned())
        .collect();
    tracks.extend(threads.iter().map(|&thread| track_of(profile, thread)));
    let all = (0..tracks.len()).collect();
    let profile = Profile {
        frames: profile.frames.clone(),
        stacks: profile.stacks.clone(),
        tracks,
        threads: SampleThreads::default(),
        heap: None,
        ..*profile
    };
    (ProfileRef::Temporary(Box::new(profile)), all)
}

/// Collects the samples of a thread from all capabilities.
fn track_of(profile: &Profile, thread: ThreadId) -> Track {
    let mut found: Vec<(Interval, StackId)> = Vec::new();
    for (track, places, other) in profile.threads.thread_runs() {
        let track = profile.tracks.get(track).filter(|_| other == thread);
        if let Some(track) = track {
            found.extend(places.filter_map(|index| track.samples.get(index)));
        }
    }
    found.sort_by_key(|(span, _)| (span.end(), span.start()));
    let mut samples = Samples::default();
    for (span, stack) in found {
        samples.push(span, stack);
    }
    Track {
        source: TrackSource::Thread(thread),
        samples,
        open: Vec::new(),
        sampled: true,
    }
}
