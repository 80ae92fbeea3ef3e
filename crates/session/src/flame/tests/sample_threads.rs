//! Samples restricted to selected Haskell threads.

use proptest::prelude::*;

use eventlog::ids::{CapId, Nanos, ThreadId};
use model::profile::sample_threads::SampleThreads;
use model::profile::stack_source::{FlameSelection, StackSource};
use model::profile::*;
use model::time::Interval;

use super::profile;

fn choice(threads: &[u32], range: Option<Interval>) -> FlameSelection {
    let threads = threads.iter().map(|&id| TrackSource::Thread(ThreadId(id)));
    FlameSelection {
        tracks: threads.collect(),
        range,
        ..FlameSelection::default()
    }
}

/// Threads 1 and 2 take turns of 25 ns; no thread runs in the third turn.
fn turns(_: CapId, at: Nanos, _: &mut usize) -> Option<ThreadId> {
    [Some(ThreadId(1)), Some(ThreadId(2)), None][at.0 as usize / 25 % 3]
}

fn sampled() -> Profile {
    let rows: Vec<(u64, u64, &str)> = (0..10).map(|i| (i * 10, i * 10 + 10, "ab")).collect();
    let mut profile = profile(&rows, &[]);
    profile.threads = SampleThreads::from_tracks(&profile.tracks, turns);
    profile
}

#[test]
fn samples_are_of_the_thread_that_ran() {
    let profile = sampled();
    // Thread 1 has the ticks at 10, 20, 80, 90; thread 2 those at 30, 40, 100.
    let counts = profile.threads.counts();
    assert_eq!(counts, [(ThreadId(1), 4), (ThreadId(2), 3)]);
    let weighted = profile.weighted_stacks(&choice(&[1], None));
    let weights = weighted.own.iter().filter(|weight| weight.count > 0);
    let weights: Vec<(u64, u64)> = weights.map(|of| (of.amount, of.count)).collect();
    assert_eq!(weights, [(40, 4)]);
    let (with_track, tracks) = profile.tracks_in_time_order(&choice(&[2], None));
    assert_eq!(tracks, [0]);
    let samples = &with_track.tracks[0].samples;
    let ends: Vec<u64> = (0..samples.len())
        .filter_map(|i| samples.get(i))
        .map(|(span, _)| span.end().0)
        .collect();
    assert_eq!(ends, [30, 40, 100]);
}

proptest! {
    #[test]
    fn parts_sum_to_the_whole(cut in 0_u64..110) {
        let profile = sampled();
        let time = |range| -> u64 {
            let weighted = profile.weighted_stacks(&choice(&[1, 2], Some(range)));
            weighted.own.iter().map(|weight| weight.amount).sum()
        };
        let (start, cut, end) = (Nanos(0), Nanos(cut), Nanos(110));
        prop_assert_eq!(time(Interval::new(start, cut)) + time(Interval::new(cut, end)), 70);
    }
}
