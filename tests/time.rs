//! Account of time, on every log: every nanosecond of every capability and thread has exactly one class.

use crate::common;

use analysis::account::costs::{GcCosts, GcParts};
use analysis::account::report::{CapTimes, ProgramTimes};
use analysis::timeline::activity::{COLLECTING, UNREAD};
use analysis::timeline::store::Store;
use common::{expect, expected_coverage, for_all_stores, store_of};
use eventlog::ids::{Duration, Nanos};
use eventlog::{Need, SlicingRule, Step};
use model::time::Interval;
use session::Session;
use session::queries::{GcCostsQuery, ThreadTimeQuery, TimeQuery};
use session::tracks::TimelineQuery;
use session::tracks::activity::Activity;

/// Checks that the costs of collections by capability equal the classes of the account.
fn costs_are_the_account(store: &Store, range: Interval) -> Result<Vec<GcCosts>, String> {
    let times = store.account().program(Some(range));
    let costs = store.account().gc_costs(Some(range));
    let count: u64 = costs.iter().map(|row| row.count).sum();
    expect("collections", count, times.collections.count)?;
    let pauses: u64 = costs.iter().map(|row| row.pause_ns).sum();
    expect("pauses", pauses, times.collections.pause_ns)?;
    for (place, (cap, times)) in times.caps.iter().enumerate() {
        let mut sum = GcParts::default();
        for row in &costs {
            expect("capability", row.caps[place].0, *cap)?;
            sum.add(&row.caps[place].1);
        }
        let waiting_ns = sum.idle_ns + sum.done_ns + sum.outside_ns;
        let what = format!("collections of capability {cap} in {range:?}");
        expect(&what, sum.stopping_ns, times.stopping_ns)?;
        expect(&what, sum.work_ns, times.collecting_ns)?;
        expect(&what, waiting_ns, times.waiting_ns)?;
        expect(&what, sum.census_ns, times.census_ns)?;
        expect(&what, sum.returning_ns, times.returning_ns)?;
    }
    for row in &costs {
        if row.mean_standstill_ns > row.max_standstill_ns {
            return Err(format!("the mean is above the most: {row:?}"));
        }
    }
    Ok(costs)
}

/// With one capability, the costs of collections equal the sum of their standstills.
#[test]
fn collections_cost_what_capabilities_spend_on_them() {
    for_all_stores(expected_coverage([27, 43], [102, 164]), |_, store| {
        let log = store.account().log();
        let whole = costs_are_the_account(store, log)?;
        let account = store.account();
        for row in whole.iter().filter(|row| row.count > 0) {
            let place = row.max_standstill;
            let around = Interval::new(place.start(), Nanos(place.end().0 + 1));
            let there = account.gc_costs(Some(around));
            let is_it = |of: &GcCosts| {
                (of.generation, of.max_standstill_ns) == (row.generation, row.max_standstill_ns)
            };
            if !there.iter().any(is_it) {
                return Err(format!("the longest stop is elsewhere: {row:?}, {there:?}"));
            }
        }
        if let [cap] = account.caps() {
            let standstills: u64 = whole
                .iter()
                .map(|row| row.mean_standstill_ns * row.count)
                .sum();
            let count: u64 = whole.iter().map(|row| row.count).sum();
            let spent: u64 = whole.iter().map(|row| row.all_caps().all_ns()).sum();
            // Each mean is rounded down.
            if !(standstills..=standstills + count).contains(&spent) {
                return Err(format!(
                    "{cap}: stood still for {standstills}, spent {spent}"
                ));
            }
        }
        for part in 0..7 {
            let length = log.duration().0;
            let (from, to) = (length / 7 * part + part, length / 7 * (part + 2));
            let range = Interval::new(
                Nanos(log.start().0 + from.min(length)),
                Nanos(log.start().0 + to.clamp(from.min(length), length)),
            );
            costs_are_the_account(store, range)?;
        }
        Ok(whole.len())
    });
}

/// Checks that the parts between cuts add up to the whole, in every class.
fn adds_up(store: &Store, cuts: &[u64]) -> Result<usize, String> {
    let account = store.account();
    let whole = account.program(None);
    let log = account.log();
    let length = log.duration().0;
    let mut cuts: Vec<u64> = cuts
        .iter()
        .map(|cut| log.start().0 + cut % (length + 1))
        .collect();
    cuts.extend([log.start().0, log.end().0]);
    cuts.sort_unstable();
    let mut sum = ProgramTimes {
        parallelism_ns: vec![0; whole.parallelism_ns.len()],
        caps: whole
            .caps
            .iter()
            .map(|(cap, _)| (*cap, CapTimes::default()))
            .collect(),
        ..ProgramTimes::default()
    };
    for part in cuts.windows(2) {
        let range = Interval::new(Nanos(part[0]), Nanos(part[1]));
        let part = account.program(Some(range));
        let parallel: u64 = part.parallelism_ns.iter().sum();
        expect("parallelism", parallel, part.life_ns)?;
        sum.life_ns += part.life_ns;
        sum.ready_ns += part.ready_ns;
        for (sum, time) in sum.parallelism_ns.iter_mut().zip(&part.parallelism_ns) {
            *sum += time;
        }
        sum.collections.stopping_ns += part.collections.stopping_ns;
        sum.collections.pause_ns += part.collections.pause_ns;
        sum.collections.capability_ns += part.collections.capability_ns;
        for ((_, sum), (_, times)) in sum.caps.iter_mut().zip(&part.caps) {
            sum.add(times);
        }
    }
    sum.collections.count = whole.collections.count;
    expect("the sum of all parts", &sum, &whole)?;
    for (cap, times) in &whole.caps {
        let classes: u64 = times.classes().iter().map(|(_, time)| time).sum();
        expect(&format!("capability {cap}"), classes, times.life_ns)?;
    }
    Ok(whole.caps.len())
}

#[test]
fn times_add_up_in_every_log() {
    for_all_stores(expected_coverage([0, 0], [0, 0]), |_, store| {
        let log = store.account().log().duration().0;
        let cuts: Vec<u64> = (1..7).map(|i| log / 7 * i + i).collect();
        adds_up(store, &cuts)
    });
}

#[test]
fn a_log_that_is_still_read_tells_its_runs() {
    let bytes = common::fixture("ghc-9.6.6/dense-N2-l-flush").bytes();
    let store = store_of(&bytes).expect("a log");
    let log = store.account().log();
    let cuts = (1..8).map(|part| log.start() + Duration(log.duration().0 / 8 * part));
    let mut session =
        Session::new(bytes.len() as u64).with_slicing_rule(SlicingRule::At(cuts.collect()));
    while session.events() < 1000 && !session.is_complete() {
        if let Step::Need(needs) = session.advance(200).expect("a log") {
            for Need(range) in needs {
                let part = &bytes[range.start as usize..range.end as usize];
                session.supply(range.start, part);
            }
        }
    }
    assert!(!session.is_complete());
    let times = session.ask(&TimeQuery(None));
    assert_eq!(times.caps.len(), 2);
    for (cap, times) in times.caps {
        let classes: u64 = times.classes().iter().map(|(_, time)| time).sum();
        assert_eq!(classes, times.life_ns, "capability {cap}");
        assert!(times.running_ns > 0, "capability {cap}");
    }
    // The activity track shows the runs read so far.
    let points = session.ask(&TimelineQuery {
        view: session.overview().span.expect("events"),
        width_px: 100,
        rows: vec![Activity.into()],
        ..TimelineQuery::default()
    });
    let points = points.points;
    let ran: f64 = (0..points.mean.len())
        .filter(|&i| ![COLLECTING, UNREAD].contains(&points.series[i]))
        .map(|i| points.mean[i] * (points.end[i] - points.start[i]))
        .sum();
    let times = session.ask(&TimeQuery(None));
    assert!(times.so_far);
    assert_eq!(ran.round() as u64, times.all_caps().running_ns);
    assert!(session.ask(&ThreadTimeQuery(None)).is_none());
    assert!(session.ask(&GcCostsQuery(None)).is_none());
}
