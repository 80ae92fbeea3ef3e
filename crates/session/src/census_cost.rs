//! Cost of heap censuses, as text.

use analysis::heap::ProfileKind;
use analysis::heap::cost::{CensusCosts, CensusPause};
use eventlog::ids::Duration;

use scene::format::{count, duration, percent};

/// Factor by which a longer census interval is proposed.
const LONGER: u64 = 5;

/// Formats a pause, such as `12.3 ms, 9.1 ms of it to count the heap`.
#[must_use]
pub fn pause(pause: &CensusPause) -> String {
    let stopped = duration(pause.stopped.duration());
    match pause.counting_ns {
        0 => stopped,
        ns => format!(
            "{stopped}, {} of it to count the heap",
            duration(Duration(ns))
        ),
    }
}

/// Describes how long the censuses of a range stopped the program, and how to reduce that. `costs` is `None` if
/// they are unknown for a profile of that kind.
#[must_use]
pub fn costs(kind: &ProfileKind, costs: Option<&CensusCosts>) -> String {
    let Some(costs) = costs else {
        return "What the censuses cost is not known: this profile does not say when they were."
            .to_owned();
    };
    if costs.censuses == 0 {
        return "No census is in this range.".to_owned();
    }
    let censuses = match costs.censuses {
        1 => "1 census".to_owned(),
        number => format!("{} censuses", count(number)),
    };
    if costs.told == 0 {
        return format!(
            "What {censuses} cost is not in the log: the pauses in which they are taken are collections, of the class g of +RTS -l, which -l has and -l-g or -l-au leave out."
        );
    }
    let stopped = duration(Duration(costs.stopped_ns));
    let range = duration(Duration(costs.range_ns));
    let share = percent(costs.stopped_ns, costs.range_ns);
    let mut text = format!("{censuses} stopped the program for {stopped} of {range} ({share})");
    if costs.counting_ns > 0 {
        let counting = duration(Duration(costs.counting_ns));
        text += &format!(
            ", {counting} of it to count the heap, the rest for the major collections that they need"
        );
    }
    if let Some(longest) = costs.longest {
        text += &format!(". The longest took {}", duration(longest.duration()));
    }
    if costs.told < costs.censuses {
        let untold = count(costs.censuses - costs.told);
        text += &format!("; of {untold} the log does not tell");
    }
    text + &format!(
        ". That is the price of the profile, not a fault of the program: {} has fewer.",
        longer(kind)
    )
}

/// Returns a longer interval as an RTS flag.
fn longer(kind: &ProfileKind) -> String {
    if kind.period_ns == 0 {
        return "an interval (-i1, in seconds) instead of one at each major collection".to_owned();
    }
    let seconds = kind.period_ns.saturating_mul(LONGER) as f64 / 1e9;
    format!("a longer interval (-i{seconds})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;
    use model::time::Interval;

    #[test]
    fn what_censuses_cost() {
        let every = |period_ns| ProfileKind {
            period_ns,
            ..ProfileKind::default()
        };
        let text =
            |kind: &ProfileKind, of: &CensusCosts| costs(kind, Some(of)).replace('\u{a0}', " ");
        let of = CensusCosts {
            censuses: 23,
            told: 23,
            stopped_ns: 760_000_000,
            counting_ns: 510_000_000,
            range_ns: 2_200_000_000,
            longest: Some(Interval::new(Nanos(5), Nanos(45_000_005))),
        };
        assert_eq!(
            text(&every(100_000_000), &of),
            "23 censuses stopped the program for 760 ms of 2.20 s (34.5 %), 510 ms of it to count the heap, the rest for the major collections that they need. The longest took 45.0 ms. That is the price of the profile, not a fault of the program: a longer interval (-i0.5) has fewer."
        );
        let single = CensusCosts {
            censuses: 1,
            told: 0,
            ..CensusCosts::default()
        };
        assert!(text(&every(0), &single).starts_with("What 1 census cost is not in the log"));
        assert_eq!(
            text(&every(0), &CensusCosts::default()),
            "No census is in this range."
        );
        let some = CensusCosts {
            told: 20,
            counting_ns: 0,
            longest: None,
            ..of
        };
        assert_eq!(
            text(&every(0), &some),
            "23 censuses stopped the program for 760 ms of 2.20 s (34.5 %); of 3 the log does not tell. That is the price of the profile, not a fault of the program: an interval (-i1, in seconds) instead of one at each major collection has fewer."
        );
    }
}
