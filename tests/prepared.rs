//! What is computed ahead of a query, or left behind by a canceled one, changes how soon it is answered, and not what
//! the answer is.

use std::pin::pin;

use analysis::flamegraph::sources;
use analysis::timeline::thread_table::{
    ThreadColumn, ThreadTable, ThreadTableQuery, ThreadTableSettings,
};
use model::profile::stack_source::FlameSelection;
use model::time::Interval;
use proptest::prelude::*;
use session::Session;
use session::flame::query::{FlameQuery, View};
use session::query::Query;

use crate::common::build::LogBuilder;
use crate::common::polling::{AlwaysYield, finish, poll};
use crate::common::session_of;

/// Threads of the log: several times the number that is processed between two yields.
const THREADS: u32 = 3000;

/// Builds a log in which each thread waits and runs for its own time, and some have labels.
fn session() -> Session {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 100_000_000_000), |block| {
        let mut at = 10;
        for thread in 1..=THREADS {
            block.event(0, at, &thread.to_be_bytes());
            if thread % 7 == 0 {
                let label = [&thread.to_be_bytes()[..], b"worker"].concat();
                block.event(44, at, &label);
            }
            at += 1 + u64::from(thread * 31 % 17);
            block.run(at, thread);
            at += 1 + u64::from(thread * 7919 % 1009);
            block.stop(at, thread, 5);
        }
        block
    })
    .end();
    session_of(&log.bytes).expect("a log")
}

fn rows_of(session: &Session, query: &ThreadTableQuery) -> ThreadTable {
    session.ask(query).expect("the log is read")
}

fn first_rows() -> ThreadTableQuery {
    ThreadTableSettings::default().query(0..20)
}

fn waits(session: &Session) -> FlameQuery {
    FlameQuery {
        choice: FlameSelection {
            source: sources::WAITING,
            range: session.overview().span,
            ..FlameSelection::default()
        },
        view: View::Time,
        width_px: 800,
        window: (0.0, 1.0),
        ..FlameQuery::default()
    }
}

#[test]
fn prepared_answers_need_no_further_work() {
    let (fresh, prepared) = (session(), session());
    let (_, polls) = finish(pin!(first_rows().answer(&fresh, &AlwaysYield)));
    assert!(polls > 5, "{polls}: an answer from nothing yields");
    let (_, polls) = finish(pin!(prepared.prepare_more(&AlwaysYield)));
    assert!(polls > 5, "{polls}: and so does its preparation");

    let (answer, polls) = finish(pin!(first_rows().answer(&prepared, &AlwaysYield)));
    assert_eq!(polls, 1);
    assert_eq!(answer, fresh.ask(&first_rows()));
    let waits = waits(&fresh);
    let (answer, polls) = finish(pin!(waits.answer(&prepared, &AlwaysYield)));
    assert_eq!(polls, 1);
    let expected = fresh.ask(&waits);
    assert!(expected.is_some(), "threads waited");
    assert_eq!(answer, expected);
}

#[test]
fn work_of_a_canceled_query_is_continued() {
    let session = session();
    let query = first_rows();
    let (expected, whole) = finish(pin!(query.answer(&self::session(), &AlwaysYield)));
    {
        let mut canceled = pin!(query.answer(&session, &AlwaysYield));
        for _ in 0..whole / 2 {
            assert!(poll(canceled.as_mut()).is_none());
        }
    }
    let (answer, polls) = finish(pin!(query.answer(&session, &AlwaysYield)));
    assert!(polls <= whole - whole / 2 + 1, "{polls} of {whole}");
    assert_eq!(answer, expected);
}

#[test]
fn queries_for_one_order_share_the_work() {
    let session = session();
    let query = first_rows();
    let (expected, whole) = finish(pin!(query.answer(&self::session(), &AlwaysYield)));
    let mut first = pin!(query.answer(&session, &AlwaysYield));
    let mut second = pin!(query.answer(&session, &AlwaysYield));
    let (mut answers, mut polls) = ((None, None), 0);
    while answers.0.is_none() || answers.1.is_none() {
        polls += 1;
        if answers.0.is_none() {
            answers.0 = poll(first.as_mut());
        }
        if answers.1.is_none() {
            answers.1 = poll(second.as_mut());
        }
    }
    assert!(polls <= whole / 2 + 2, "{polls} of {whole}");
    assert_eq!(answers, (Some(expected.clone()), Some(expected)));
}

#[test]
fn other_orders_do_not_disturb_one_that_is_computed() {
    let session = session();
    let query = first_rows();
    let others = [
        ThreadColumn::Label,
        ThreadColumn::Created,
        ThreadColumn::Ready,
    ];
    let others = others.map(|sort| ThreadTableSettings::sorted_by(sort).query(0..20));
    let mut running = pin!(query.answer(&session, &AlwaysYield));
    assert!(poll(running.as_mut()).is_none());
    for other in &others {
        let mut canceled = pin!(other.answer(&session, &AlwaysYield));
        assert!(poll(canceled.as_mut()).is_none());
    }
    let (answer, _) = finish(running);
    assert_eq!(answer, self::session().ask(&query));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pages_are_the_table(
        column in 0..ThreadColumn::ALL.len(),
        descending: bool,
        filter in prop::sample::select(vec!["", "worker", "12"]),
        range in prop::option::of((0_u64..1_000_000, 0_u64..1_000_000)),
        page in 1_u64..700,
    ) {
        let session = session();
        let query = |rows| ThreadTableQuery {
            range: range.map(|(a, b)| {
                Interval::new(eventlog::ids::Nanos(a.min(b)), eventlog::ids::Nanos(a.max(b)))
            }),
            filter: filter.to_owned(),
            sort: ThreadColumn::ALL[column],
            descending,
            rows,
            ..ThreadTableQuery::default()
        };
        let whole = rows_of(&session, &query(0..u64::MAX));
        let mut rows = Vec::new();
        for first in (0..whole.total).step_by(page as usize) {
            let part = rows_of(&session, &query(first..first + page));
            prop_assert_eq!((part.total, part.all), (whole.total, whole.all));
            rows.extend(part.rows);
        }
        prop_assert_eq!(rows, whole.rows);
    }
}
