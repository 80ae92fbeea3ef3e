//! Samples restricted to selected Haskell threads.

use proptest::prelude::*;

use eventlog::ids::{CapId, Nanos, ThreadId};
use model::profile::origin::{Choice, Origin};
use model::profile::sample_threads::SampleThreads;
use model::profile::*;
use model::time::Interval;

use super::profile;

fn choice(threads: &[u32], range: Option<Interval>) -> Choice {
    let threads = threads.iter().map(|&id| TrackSource::Thread(ThreadId(id)));
    Choice {
        tracks: threads.collect(),
        range,
        ..Choice::default()
    }
}

/// Threads 1 and 2 take turns of 25 ns; no thread runs in the third turn.
fn turns(_: CapId, at: Nanos, _: &mut usize) -> Option<ThreadId> {
    [Some(ThreadId(1)), Some(ThreadId(2)), None][at.0 as usize / 25 % 3]
}

fn sampled() -> Profile {
    let rows: Vec<(u64, u64, &str)> = (0..10).map(|i| (i * 10, i * 10 + 10, "ab")).collect();
    let mut profile = profile(&rows, &[]);
    profile.threads = SampleThreads::of(&profile.tracks, turns);
    profile
}

#[test]
fn samples_are_of_the_thread_that_ran() {
    let profile = sampled();
    // Thread 1 has the ticks at 10, 20, 80, 90; thread 2 those at 30, 40, 100.
    let counts = profile.threads.counts();
    assert_eq!(counts, [(ThreadId(1), 4), (ThreadId(2), 3)]);
    let weighed = profile.weighed(&choice(&[1], None));
    let weights = weighed.own.iter().filter(|weight| weight.count > 0);
    let weights: Vec<(u64, u64)> = weights.map(|of| (of.amount, of.count)).collect();
    assert_eq!(weights, [(40, 4)]);
    let (with_track, tracks) = profile.in_time(&choice(&[2], None));
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
            let weighed = profile.weighed(&choice(&[1, 2], Some(range)));
            weighed.own.iter().map(|weight| weight.amount).sum()
        };
        let (start, cut, end) = (Nanos(0), Nanos(cut), Nanos(110));
        prop_assert_eq!(time(Interval::new(start, cut)) + time(Interval::new(cut, end)), 70);
    }
}
