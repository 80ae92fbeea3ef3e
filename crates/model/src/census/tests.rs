use proptest::prelude::*;

use super::*;

/// Reference data: the time of each census and the bytes of each band.
type Table = Vec<(u64, Vec<u64>)>;

fn table(bands: usize) -> impl Strategy<Value = Table> {
    // Mostly unchanged values, for long runs.
    let value = prop_oneof![4 => Just(None), 2 => (0..9_u64).prop_map(|words| Some(words * 8)),
        1 => (0..1_u64 << 40).prop_map(Some), 1 => Just(Some(0))];
    let row = (0..3_000_000_000_u64, prop::collection::vec(value, bands));
    prop::collection::vec(row, 0..400).prop_map(move |rows| {
        let (mut at, mut held) = (0, vec![0; bands]);
        let row = |(gap, values): (u64, Vec<Option<u64>>)| {
            at += gap;
            for (held, value) in held.iter_mut().zip(values) {
                *held = value.unwrap_or(*held);
            }
            (at, held.clone())
        };
        rows.into_iter().map(row).collect()
    })
}

fn written(table: &Table, bands: usize) -> Censuses {
    let mut censuses = Censuses::default();
    for _ in 0..bands {
        censuses.add_band();
    }
    for (at, values) in table {
        censuses.begin(Nanos(*at));
        for (band, &bytes) in values.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            // A census may list a band in several pieces.
            censuses.add(BandId(band as u32), bytes / 3);
            censuses.add(BandId(band as u32), bytes - bytes / 3);
        }
    }
    censuses.end();
    censuses
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3)
}

/// Textbook formulas in floating point.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let n = points.len() as f64;
    let last = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let max = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let first = points.first()?;
    if points.iter().all(|point| point.1 == first.1)
        || points.iter().all(|point| point.0 == first.0)
    {
        return None;
    }
    let scaled: Vec<(f64, f64)> = points.iter().map(|(t, v)| (t / last, v / max)).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| scaled.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        scaled
            .iter()
            .map(|point| of(point.0 - x, point.1 - y))
            .sum::<f64>()
    };
    let slope = sum(&|x, y| x * y) / sum(&|x, _| x * x);
    let intercept = y - slope * x;
    let r2 = slope * sum(&|x, y| x * y) / sum(&|_, y| y * y);
    Some((intercept, slope, r2))
}

fn check(
    table: &Table,
    censuses: &Censuses,
    band: usize,
    range: Range<u32>,
) -> Result<(), TestCaseError> {
    let id = BandId(band as u32);
    let rows = table
        .get(range.start as usize..range.end as usize)
        .unwrap_or_default();
    let values: Vec<u64> = rows.iter().map(|(_, values)| values[band]).collect();
    prop_assert_eq!(censuses.series(id, range.clone()), values.clone());
    let sums = censuses.sums(id, range.clone());
    prop_assert_eq!(sums.censuses as usize, values.len());
    prop_assert_eq!(
        sums.bytes,
        values.iter().map(|&v| u128::from(v)).sum::<u128>()
    );
    prop_assert_eq!(
        sums.squares,
        values.iter().map(|&v| u128::from(v).pow(2)).sum::<u128>()
    );
    prop_assert_eq!(sums.max, values.iter().copied().max().unwrap_or(0));
    prop_assert_eq!(sums.first, values.first().copied().unwrap_or(0));
    prop_assert_eq!(sums.last, values.last().copied().unwrap_or(0));
    prop_assert_eq!(
        sums.held as usize,
        values.iter().filter(|v| **v > 0).count()
    );
    let pair = |pair: &[(u64, Vec<u64>)]| {
        let [one, other] = pair else { return 0 };
        u128::from(other.0 - one.0) * (u128::from(one.1[band]) + u128::from(other.1[band]))
    };
    prop_assert_eq!(sums.twice_integral, rows.windows(2).map(pair).sum::<u128>());
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
    let variance = values
        .iter()
        .map(|&v| (v as f64 - mean).powi(2))
        .sum::<f64>()
        / n;
    prop_assert!(close(sums.mean(), mean));
    prop_assert!(
        close(sums.stddev(), variance.sqrt()),
        "{} {}",
        sums.stddev(),
        variance.sqrt()
    );
    let held = rows.iter().filter(|(_, values)| values[band] > 0);
    let points: Vec<(f64, f64)> = held
        .map(|(at, values)| (*at as f64, values[band] as f64))
        .collect();
    match (sums.growth(), line(&points)) {
        (None, None) => {}
        (Some(growth), Some((intercept, slope, r2))) => {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
            prop_assert!(near(growth.slope, slope), "{growth:?} {slope}");
            prop_assert!(near(growth.intercept, intercept), "{growth:?} {intercept}");
            prop_assert!(near(growth.r2, r2), "{growth:?} {r2}");
        }
        (one, other) => prop_assert!(false, "{one:?} {other:?}"),
    }
    Ok(())
}

proptest! {
    /// Sums over any range agree with the table.
    #[test]
    fn any_range_is_summed_up_exactly(table in table(3), ends in prop::collection::vec((0..401_u32, 0..401_u32), 1..12)) {
        let censuses = written(&table, 3);
        prop_assert_eq!(censuses.len(), table.len());
        for (a, b) in ends {
            let many = table.len() as u32;
            let (a, b) = (a.min(many), b.min(many));
            for band in 0..3 {
                check(&table, &censuses, band, a.min(b)..a.max(b))?;
            }
        }
        let totals: Vec<u64> = table.iter().map(|(_, values)| values.iter().sum()).collect();
        prop_assert_eq!(censuses.totals(), totals);
    }

    /// A group holds the sum of its members, and so does the band of the folded ones, in later censuses too.
    #[test]
    fn bands_made_of_others_hold_what_these_hold(table in table(4), cut in 0..401_usize) {
        let cut = cut.min(table.len());
        let mut censuses = written(&table[..cut].to_vec(), 4);
        let rest = censuses.add_band();
        let folded = censuses.fold_smallest(rest);
        for (at, values) in &table[cut..] {
            censuses.begin(Nanos(*at));
            for (band, &bytes) in values.iter().enumerate() {
                censuses.add(BandId(band as u32), bytes);
            }
        }
        censuses.end();
        let all = 0..table.len() as u32;
        let is_folded = |band: usize| censuses.folded_into(BandId(band as u32)).is_some();
        prop_assert_eq!((0..4).filter(|&band| is_folded(band)).count(), folded);
        let rest_of = |values: &Vec<u64>| (0..4).filter(|&band| is_folded(band)).map(|band| values[band]).sum::<u64>();
        let expected: Vec<u64> = table.iter().map(|(_, values)| rest_of(values)).collect();
        prop_assert_eq!(censuses.series(rest, all.clone()), expected);

        let whole = written(&table, 4);
        let grouped = whole.grouped(&[BandId(1), BandId(0), BandId(1), BandId(0)], 2);
        let sum = |table: &Table, a: usize, b: usize| table.iter().map(|(_, v)| v[a] + v[b]).collect::<Vec<u64>>();
        prop_assert_eq!(grouped.series(BandId(0), all.clone()), sum(&table, 1, 3));
        prop_assert_eq!(grouped.series(BandId(1), all), sum(&table, 0, 2));
        prop_assert_eq!(grouped.totals(), whole.totals());
    }
}

#[test]
fn what_never_changes_takes_hardly_any_memory() {
    let mut quiet = Censuses::default();
    let bands: Vec<BandId> = (0..1_000).map(|_| quiet.add_band()).collect();
    for census in 0..1_000 {
        quiet.begin(Nanos(census));
        bands.iter().for_each(|&band| quiet.add(band, 80));
    }
    quiet.end();
    assert!(
        quiet.size_bytes() < 400 * bands.len(),
        "{}",
        quiet.size_bytes()
    );
    assert_eq!(quiet.bytes_at(BandId(999), 999), 80);
    assert_eq!(quiet.bytes_at(BandId(999), 1_000), 0);
}

#[test]
fn more_than_any_machine_has_is_left_out() {
    let mut censuses = Censuses::default();
    let band = censuses.add_band();
    censuses.begin(Nanos(u64::MAX));
    censuses.add(band, u64::MAX);
    censuses.add(band, u64::MAX);
    censuses.begin(Nanos(3));
    censuses.add(BandId(7), 1);
    censuses.end();
    assert!(censuses.is_capped());
    assert_eq!(censuses.totals(), [1 << 48, 0]);
    assert_eq!(censuses.times(), [Nanos(u64::MAX); 2]);
    assert_eq!(censuses.sums(band, 0..2).growth(), None);
}
