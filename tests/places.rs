//! Every extreme comes with its range, and every wait with the thread that ended it; compared with other answers
//! about the same logs.

use crate::common;

use analysis::numbers::collections_query::{CollectionColumn, CollectionsQuery};
use analysis::numbers::sparks_query::SparkRunBin;
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableQuery};
use analysis::timeline::wait_totals::{WaitTotal, WaitTotals, WaitTotalsQuery};
use analysis::timeline::waits::WaitKind;
use common::{expect, expected_coverage, for_all_spans};
use eventlog::ids::Nanos;
use model::class::WaitReason;
use model::time::Interval;
use session::queries::{SparksQuery, SummaryQuery};

/// Returns the whole log and its halves.
fn ranges(log: Interval) -> [Option<Interval>; 3] {
    let half = |from, to| Some(Interval::new(from, to));
    let middle = log.middle();
    [None, half(log.start(), middle), half(middle, log.end())]
}

fn top(range: Option<Interval>, sort: CollectionColumn) -> CollectionsQuery {
    CollectionsQuery {
        range,
        sort,
        descending: true,
        rows: 0..1_000_000,
        ..CollectionsQuery::default()
    }
}

/// The longest pause, each percentile and each bar of the histogram name collections of the list.
#[test]
fn numbers_of_collections_lead_to_the_collections() {
    for_all_spans(expected_coverage([27, 688], [102, 2776]), |session, log| {
        let mut looked_at = 0;
        for range in ranges(log) {
            let pauses = session.ask(&CollectionsQuery {
                range,
                pauses: true,
                ..CollectionsQuery::default()
            });
            let listed = session.ask(&top(range, CollectionColumn::Pause));
            let find = |number| listed.rows.iter().find(|gc| gc.number == number);
            for of in &pauses.pauses {
                for pause in [of.median, of.p90, of.p99, of.longest] {
                    let gc = find(pause.collection).ok_or("a pause of no collection")?;
                    expect("pause", (gc.start, gc.pause_ns()), (pause.start, pause.ns))?;
                    looked_at += 1;
                }
            }
            let all = pauses.pauses.first();
            for bin in all.map_or(&[][..], |all| &all.bins) {
                let bar = session.ask(&CollectionsQuery {
                    pause_ns: Some(bin.from_ns..bin.to_ns),
                    ..top(range, CollectionColumn::Pause)
                });
                expect("bar", bar.total, bin.count)?;
                expect("rows", bar.rows.len() as u64, bin.count)?;
            }
            let summary = session.ask(&SummaryQuery(range));
            for row in summary.generations.iter().filter(|row| row.collections > 0) {
                let longest = row.longest.ok_or("no longest pause")?;
                expect("longest", longest.duration().0, row.max_pause_ns)?;
                let is_it = |gc: &&analysis::numbers::Collection| gc.start == longest.start();
                let gc = listed.rows.iter().find(is_it).ok_or("of no collection")?;
                expect("generation", gc.generation, Some(row.generation))?;
            }
            let at = |place: Option<Interval>| {
                let place = place?;
                listed.rows.iter().find(|gc| gc.start == place.start())
            };
            let places = &summary.places;
            if let Some(gc) = at(places.max_fragmentation) {
                let most = summary.max_fragmentation;
                expect("fragmentation", Some(gc.fragmentation_bytes), most)?;
            }
            if let Some(gc) = at(places.max_residency) {
                expect("residency", gc.live_bytes, summary.max_residency)?;
            }
            let there = places.max_residency.is_some();
            expect("a place", there, summary.max_residency.is_some())?;
        }
        Ok(looked_at)
    });
}

/// The longest wait of a thread lies within its life and has the stated length; its waits add up to the times of
/// the table, and each total names its longest wait.
#[test]
fn waits_of_threads_add_up_to_the_table_and_name_their_longest() {
    for_all_spans(
        expected_coverage([29, 2369], [106, 7847]),
        |session, log| {
            let mut looked_at = 0;
            for range in ranges(log) {
                let table = session.ask(&ThreadTableQuery {
                    range,
                    sort: ThreadColumn::Ready,
                    descending: true,
                    rows: 0..12,
                    ..ThreadTableQuery::default()
                });
                let table = table.ok_or("no table")?;
                for row in &table.rows {
                    let sums = &row.sums;
                    expect(
                        "a place",
                        sums.longest_ready.is_some(),
                        sums.longest_ready_ns > 0,
                    )?;
                    if let Some(longest) = sums.longest_ready {
                        let lies = range.unwrap_or(log).hull(log);
                        if longest.duration().0 < sums.longest_ready_ns
                            || longest.clip(lies) != longest
                        {
                            return Err(format!("{:?} at {longest:?}", sums.longest_ready_ns));
                        }
                    }
                    let query = WaitTotalsQuery {
                        thread: row.id,
                        range,
                    };
                    let totals = session.ask(&query).ok_or("no totals")?;
                    looked_at += totals.reasons.len();
                    if totals.examined == totals.waits {
                        let queued =
                            |total: &&WaitTotal<WaitKind>| matches!(total.of, WaitKind::Queued(_));
                        let queued = totals.reasons.iter().filter(queued);
                        let longest = queued.filter_map(|total| total.longest).map(|wait| wait.ns);
                        let longest = longest.max().unwrap_or(0);
                        expect(
                            "the longest wait for a capability",
                            longest,
                            sums.longest_ready_ns,
                        )?;
                    }
                    check(&totals, &sums.times.blocked_ns)?;
                }
            }
            Ok(looked_at)
        },
    );
}

fn check(totals: &WaitTotals, blocked_ns: &[u64]) -> Result<(), String> {
    for (reason, ns) in WaitReason::ALL.into_iter().zip(blocked_ns) {
        let total = totals
            .reasons
            .iter()
            .find(|total| total.of == WaitKind::Blocked(reason));
        expect(reason.name(), total.map_or(0, |total| total.ns), *ns)?;
        if let Some(total) = total.filter(|total| total.ns > 0) {
            let longest = total.longest.map_or(0, |longest| longest.ns);
            if longest == 0
                || longest > total.ns && total.count > 1 && longest < total.ns / total.count
            {
                return Err(format!("{} of {}: {longest}", reason.name(), total.ns));
            }
        }
    }
    // Every wait outside of foreign calls has a total by waker, or one for unknown wakers.
    if totals.examined == totals.waits {
        let foreign = blocked_ns[WaitReason::ForeignCall as usize];
        let all: u64 = blocked_ns.iter().sum();
        let woken: u64 = totals.wakers.iter().map(|total| total.ns).sum();
        expect("woken", woken, all - foreign)?;
    }
    Ok(())
}

/// The longest sparks of each bar have run times within the bar.
#[test]
fn bars_of_sparks_name_their_longest() {
    for_all_spans(expected_coverage([1, 40], [6, 158]), |session, log| {
        let mut looked_at = 0;
        for range in ranges(log) {
            for bin in session.ask(&SparksQuery(range)).runs {
                let named = bin.count.min(SparkRunBin::MAX_PLACES as u64);
                expect("named", bin.longest.len() as u64, named)?;
                let lengths = bin.from_ns..bin.to_ns;
                let inside = bin.longest.iter().all(|run| lengths.contains(&run.ran_ns));
                let sorted = bin.longest.is_sorted_by(|a, b| a.ran_ns >= b.ran_ns);
                expect("in the bar, in order", (inside, sorted), (true, true))?;
                let inside = range.unwrap_or(log);
                let began = |start: Nanos| inside.start() <= start && start <= inside.end();
                expect(
                    "in range",
                    bin.longest.iter().all(|run| began(run.start)),
                    true,
                )?;
                looked_at += bin.longest.len();
            }
        }
        Ok(looked_at)
    });
}
