//! Cost of heap censuses, as text.

use analysis::heap::ProfileKind;
use analysis::heap::cost::{CensusCosts, CensusPause};

use scene::format::{count, duration, duration_ns, percent};

/// Factor by which a longer census interval is proposed.
const LONGER: u64 = 5;

/// Formats a pause, such as `12.3 ms, 9.1 ms of it for the census`.
pub fn pause(pause: &CensusPause) -> String {
    let stopped = duration(pause.stopped.duration());
    match pause.counting_ns {
        0 => stopped,
        ns => format!("{stopped}, {} of it for the census", duration_ns(ns)),
    }
}

/// Describes how long the censuses of a range stopped the program, and how to reduce that. `costs` is `None` if
/// they are unknown for a profile of that kind.
pub fn costs(kind: &ProfileKind, costs: Option<&CensusCosts>) -> String {
    let Some(costs) = costs else {
        return "The cost of the censuses is unknown: this profile has no census times.".to_owned();
    };
    if costs.censuses == 0 {
        return "No census is in this range.".to_owned();
    }
    let censuses = match costs.censuses {
        1 => "1 census".to_owned(),
        number => format!("{} censuses", count(number)),
    };
    if costs.with_pause == 0 {
        return format!(
            "The cost of {censuses} is not in the log: censuses happen in GC pauses, which are logged with +RTS -l (class g), but not with -l-g or -l-au."
        );
    }
    let stopped = duration_ns(costs.stopped_ns);
    let range = duration_ns(costs.range_ns);
    let share = percent(costs.stopped_ns, costs.range_ns);
    let mut text = format!("{censuses} stopped the program for {stopped} of {range} ({share})");
    if costs.counting_ns > 0 {
        let counting = duration_ns(costs.counting_ns);
        text += &format!(
            ", {counting} of it for counting, the rest for the required major collections"
        );
    }
    if let Some(longest) = costs.longest {
        text += &format!(". The longest took {}", duration(longest.duration()));
    }
    if costs.with_pause < costs.censuses {
        let without_pause = count(costs.censuses - costs.with_pause);
        text += &format!("; the pauses of {without_pause} are not in the log");
    }
    text + &format!(
        ". This is the overhead of the profile, not of the program: to reduce it, set {}.",
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
            with_pause: 23,
            stopped_ns: 760_000_000,
            counting_ns: 510_000_000,
            range_ns: 2_200_000_000,
            longest: Some(Interval::new(Nanos(5), Nanos(45_000_005))),
        };
        assert_eq!(
            text(&every(100_000_000), &of),
            "23 censuses stopped the program for 760 ms of 2.20 s (34.5 %), 510 ms of it for counting, the rest for the required major collections. The longest took 45.0 ms. This is the overhead of the profile, not of the program: to reduce it, set a longer interval (-i0.5)."
        );
        let single = CensusCosts {
            censuses: 1,
            with_pause: 0,
            ..CensusCosts::default()
        };
        assert!(text(&every(0), &single).starts_with("The cost of 1 census is not in the log"));
        assert_eq!(
            text(&every(0), &CensusCosts::default()),
            "No census is in this range."
        );
        let some = CensusCosts {
            with_pause: 20,
            counting_ns: 0,
            longest: None,
            ..of
        };
        assert_eq!(
            text(&every(0), &some),
            "23 censuses stopped the program for 760 ms of 2.20 s (34.5 %); the pauses of 3 are not in the log. This is the overhead of the profile, not of the program: to reduce it, set an interval (-i1, in seconds) instead of one at each major collection."
        );
    }
}
