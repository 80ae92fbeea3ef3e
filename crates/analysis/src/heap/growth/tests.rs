use eventlog::ids::Nanos;
use proptest::prelude::*;

use super::*;
use crate::heap::ranking::Ranking;

/// A profile with a band per series and a census per second.
fn written(series: &[Vec<u64>]) -> Censuses {
    let mut censuses = Censuses::default();
    let bands: Vec<BandId> = series.iter().map(|_| censuses.add_band()).collect();
    let count = series.iter().map(Vec::len).max().unwrap_or(0);
    for census in 0..count {
        censuses.begin(Nanos(census as u64 * 1_000_000_000));
        for (band, series) in bands.iter().zip(series) {
            let bytes = series.get(census).copied().unwrap_or(0);
            if bytes > 0 {
                censuses.add(*band, bytes);
            }
        }
    }
    censuses.end();
    censuses
}

fn found(series: &[Vec<u64>]) -> Vec<Burst> {
    let censuses = written(series);
    let places = 0..censuses.len() as u32;
    let ranking = Ranking::compute(&censuses, places.clone());
    bursts(&censuses, &places, ranking.bands())
}

fn series(of: impl Fn(u64) -> u64) -> Vec<u64> {
    (0..100).map(of).collect()
}

fn leak() -> Vec<u64> {
    series(|census| 1_000 + 500 * census)
}

fn saw() -> Vec<u64> {
    series(|census| 4_000 * (census % 10))
}

fn constant() -> Vec<u64> {
    series(|_| 7_000)
}

fn burst() -> Vec<u64> {
    series(|census| match census {
        40 => 30_000,
        41 => 50_000,
        42 => 20_000,
        _ => 1_000 + census % 3,
    })
}

#[test]
fn only_a_burst_is_a_burst() {
    let step = series(|census| if census < 50 { 1_000 } else { 90_000 });
    // Does not fall again.
    let last = series(|census| if census < 95 { 1_000 } else { 90_000 });
    let restless = series(|census| 10_000 + (census * 7_919) % 6_000);
    for none in [leak(), saw(), constant(), step, last, restless] {
        assert_eq!(found(std::slice::from_ref(&none)), [], "{none:?}");
    }
    let all = found(&[leak(), burst(), saw(), constant()]);
    let expected = Burst {
        band: BandId(1),
        censuses: 40..43,
        peak: 41,
        bytes: 50_000,
        usual_bytes: 1_001,
    };
    assert_eq!(all, [expected]);
    assert_eq!(all[0].rise_bytes(), 48_999);
}

#[test]
fn a_band_that_is_there_now_and_then_bursts_each_time() {
    let now_and_then = series(|census| if census % 30 == 5 { 9_000 + census } else { 0 });
    let found = found(&[now_and_then, constant()]);
    let peaks: Vec<(u32, u64)> = found
        .iter()
        .map(|burst| (burst.peak, burst.usual_bytes))
        .collect();
    assert_eq!(peaks, [(95, 0), (65, 0), (35, 0), (5, 0)]);
}

#[test]
fn what_rises_by_little_of_the_heap_is_no_burst() {
    let huge = series(|_| 10_000_000);
    assert_eq!(found(&[burst(), huge]), []);
}

#[test]
fn companions_rise_and_fall_with_the_suspect() {
    let half = leak().iter().map(|bytes| bytes / 2).collect();
    let falls = leak().iter().map(|bytes| 60_000 - bytes).collect();
    let tiny = leak().iter().map(|bytes| bytes / 4_000).collect();
    let censuses = written(&[leak(), saw(), half, falls, constant(), tiny]);
    let places = 0..censuses.len() as u32;
    let ranking = Ranking::compute(&censuses, places.clone());
    let of = |suspect, places: &Range<u32>| companions(&censuses, places, ranking.bands(), suspect);
    let found = of(BandId(0), &places);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].band, BandId(2));
    assert!(found[0].correlation > 0.9999, "{found:?}");
    assert_eq!(of(BandId(1), &places), []);
    assert_eq!(of(BandId(4), &places), []);
    // Too few censuses.
    assert_eq!(of(BandId(0), &(3..9)), []);
}

#[test]
fn a_band_grows_if_it_is_there_to_be_seen() {
    let brief = series(|census| {
        if (40..44).contains(&census) {
            90_000 * census
        } else {
            0
        }
    });
    let falls = leak().iter().map(|bytes| 60_000 - bytes).collect();
    let censuses = written(&[leak(), constant(), falls, brief]);
    let places = 0..censuses.len() as u32;
    let grown: Vec<bool> = (0..4)
        .map(|band| grows(&censuses.sums(BandId(band), places.clone())))
        .collect();
    assert_eq!(grown, [true, false, false, false]);
}

fn plain_correlation(one: &[u64], other: &[u64]) -> f64 {
    let n = one.len() as f64;
    let mean = |series: &[u64]| series.iter().map(|&v| v as f64).sum::<f64>() / n;
    let (a, b) = (mean(one), mean(other));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        let pairs = one.iter().zip(other);
        pairs.map(|(&x, &y)| of(x as f64 - a, y as f64 - b)).sum()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x).sqrt() * sum(&|_, y| y * y).sqrt())
}

proptest! {
    #[test]
    fn a_constant_series_has_no_burst(bytes in 0..1_u64 << 47, count in 0..200_usize, other in prop::collection::vec(0..1_u64 << 40, 0..200)) {
        let found = found(&[vec![bytes; count.max(other.len())], other]);
        prop_assert!(found.iter().all(|burst| burst.band != BandId(0)));
    }

    #[test]
    fn bursts_and_correlation_are_those_of_any_unit(
        one in prop::collection::vec(prop_oneof![9 => 90..110_u64, 1 => 0..100_000_u64], 8..120),
        times in 1..1_000_u64,
    ) {
        let scaled: Vec<u64> = one.iter().map(|bytes| bytes * times).collect();
        let places = |found: Vec<Burst>| -> Vec<(Range<u32>, u32)> {
            found.into_iter().map(|burst| (burst.censuses, burst.peak)).collect()
        };
        let small = places(found(std::slice::from_ref(&one)));
        prop_assert_eq!(small, places(found(std::slice::from_ref(&scaled))));
        let other: Vec<u64> = one.iter().rev().copied().collect();
        match (correlation(&one, &other), correlation(&scaled, &other)) {
            (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12, "{a} {b}"),
            (a, b) => prop_assert_eq!(a, b),
        }
    }

    #[test]
    fn correlation_is_that_of_the_book(pairs in prop::collection::vec((0..1_u64 << 30, 0..1_u64 << 30), 2..600)) {
        let (one, other): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
        if let Some(found) = correlation(&one, &other) {
            prop_assert!((found - plain_correlation(&one, &other)).abs() < 1e-6);
            prop_assert_eq!(correlation(&other, &one), Some(found));
        }
    }

    #[test]
    fn chosen_censuses_are_read_as_they_are(
        band in prop::collection::vec(prop_oneof![Just(0), Just(8), 0..90_u64], 1..300),
        most in 1..100_usize,
        (a, b) in (0..300_u32, 0..300_u32),
    ) {
        let censuses = written(&[band.clone(), vec![1; band.len()]]);
        let end = band.len() as u32;
        let range = a.min(b).min(end)..a.max(b).min(end);
        let chosen = sample_evenly(&range, most);
        prop_assert!(chosen.len() == range.len().min(most) && chosen.is_sorted_by(|a, b| a < b));
        let expected: Vec<u64> = chosen.iter().map(|&census| band[census as usize]).collect();
        prop_assert_eq!(bytes_at(&censuses, BandId(0), &chosen), expected);
        if most > 1 && !range.is_empty() {
            prop_assert_eq!((chosen[0], chosen[chosen.len() - 1]), (range.start, range.end - 1));
        }
    }
}
