//! Statistics that a few extreme values do not change.

/// Returns the finite values in ascending order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values
        .into_iter()
        .filter(|value| value.is_finite())
        .collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns a quantile of ascending values, linearly interpolated between neighbors (Hyndman and Fan's type 7, as R
/// and NumPy have it); NaN without values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (sorted[at as usize], sorted[(at.ceil() as usize).min(last)]);
    if low == high {
        return low;
    }
    low + (high - low) * at.fract()
}

/// Returns the median; 0 without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let sorted = sorted(values);
    if sorted.is_empty() {
        return 0.0;
    }
    quantile(&sorted, 0.5)
}

/// Ratio of the standard deviation of a normal distribution to its median absolute deviation.
const NORMAL_PER_DEVIATION: f64 = 1.482_602_218_505_602;

/// Returns the standard deviation that a normal distribution with this median absolute deviation from `center` has.
pub fn deviation(values: &[f64], center: f64) -> f64 {
    median(values.iter().map(|value| (value - center).abs())) * NORMAL_PER_DEVIATION
}

/// Returns how many standard deviations from the mean a normal value of `count` is with a probability of `alpha`,
/// on either side, for at least one of them. Few values estimate the deviation badly, which is corrected for.
pub fn limit_of_many(count: usize, alpha: f64) -> f64 {
    let tail = alpha / 2.0 / count.max(1) as f64;
    // The tail of a t-distribution approximates that of a value over the median absolute deviation of `count`
    // values, which is as good as the standard deviation of 37 % of them.
    let freedom = (0.37 * count as f64).max(3.0);
    t_quantile(tail, freedom)
}

/// Returns the value that Student's t-distribution with at least 3 degrees of freedom exceeds with a probability of
/// `tail` (G. W. Hill, Algorithm 396, Communications of the ACM 13, 1970).
fn t_quantile(tail: f64, freedom: f64) -> f64 {
    let (p, n) = (2.0 * tail, freedom);
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * std::f64::consts::FRAC_PI_2).sqrt() * n;
    let mut y = (d * p).powf(2.0 / n);
    if y > 0.05 + a {
        let x = -crate::shift::normal_quantile(p / 2.0);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        let inner = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        let z = a * inner * inner;
        y = if z > 0.002 {
            z.exp() - 1.0
        } else {
            0.5 * z * z + z
        };
    } else {
        let inner = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0)
            + 0.5 / (n + 4.0))
            * y
            - 1.0)
            * (n + 1.0)
            / (n + 2.0);
        y = inner + 1.0 / y;
    }
    (n * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([1, 2, 4, 8, 16], [0, 0.05, 0.25, 0.5, 0.95, 1]).
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        let expected = [1.0, 1.2, 2.0, 4.0, 14.4, 16.0];
        for (share, expected) in [0.0, 0.05, 0.25, 0.5, 0.95, 1.0].into_iter().zip(expected) {
            assert!(
                (quantile(&values, share) - expected).abs() < 1e-12,
                "{share}"
            );
        }
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!(quantile(&[3.0], 0.99), 3.0);
    }

    #[test]
    fn deviation_is_that_of_the_normal_distribution() {
        let normal: Vec<f64> = (1..1000)
            .map(|i| {
                let p = f64::from(i) / 1000.0;
                let z = crate::shift::normal_quantile(p.min(1.0 - p));
                if p < 0.5 { -z } else { z }
            })
            .collect();
        assert!((deviation(&normal, 0.0) - 1.0).abs() < 0.01);
        assert_eq!(median([]), 0.0);
        assert_eq!(median([f64::NAN, 2.0, 1.0, f64::INFINITY, 9.0]), 2.0);
    }

    #[test]
    fn t_quantiles_are_those_of_tables() {
        // R: qt(1 - tail, df).
        for (tail, freedom, expected) in [
            (0.025, 10.0, 2.228_139),
            (0.005, 5.0, 4.032_143),
            (0.0005, 20.0, 3.849_516),
            (0.000_01, 100.0, 4.478_0),
            (0.025, 1000.0, 1.962_339),
        ] {
            let got = t_quantile(tail, freedom);
            assert!(
                (got / expected - 1.0).abs() < 0.01,
                "{tail} {freedom}: {got}"
            );
        }
        assert!(limit_of_many(10_000, 0.01) < 5.3);
        assert!(limit_of_many(10, 0.01) > 8.0);
    }
}
