//! Heap profiles by cost-centre stack: bands, flame graph, tree and area chart have the same numbers, on every log
//! and in every part of it.

use crate::common;

use std::collections::HashMap;

use analysis::flamegraph::sources;
use analysis::heap::HeapProfiles;
use common::build::{EventTypeDecl, LogBuilder};
use common::{ExpectedCoverage, expected_coverage, for_all, session_of};
use eventlog::ids::Nanos;
use model::profile::stack_source::FlameSelection;
use model::time::Interval;
use session::Session;
use session::flame::area::{FlameArea, FlameAreaQuery};
use session::flame::query::{FlameBoxes, FlameHead, FlameQuery, View};
use session::heap::tree::{ExpandedNodes, TreeAnswer, TreeColumn, TreeQuery};

fn graph(session: &Session, choice: FlameSelection) -> (FlameHead, FlameBoxes) {
    let query = FlameQuery {
        choice: FlameSelection {
            source: sources::HEAP,
            ..choice
        },
        view: View::LeftHeavy,
        window: (0.0, 1.0),
        width_px: u32::MAX,
        ..FlameQuery::default()
    };
    session.ask(&query).expect("it has stacks")
}

fn tree(session: &Session, profile: u32, range: Option<Interval>) -> Option<TreeAnswer> {
    session.ask(&TreeQuery {
        profile,
        range,
        open: Some(ExpandedNodes::All),
        descending: true,
        rows: 0..u64::MAX,
        ..TreeQuery::default()
    })
}

fn area(session: &Session, stack: Option<u32>, span: Option<Interval>) -> FlameArea {
    session.ask(&FlameAreaQuery {
        source: sources::HEAP,
        view: View::LeftHeavy,
        stack,
        span,
        most: u32::MAX,
        ..FlameAreaQuery::default()
    })
}

/// Returns the bytes of all bands in all profiles by stack, summed over the censuses of a range, and the number of
/// censuses.
fn bands(heap: &HeapProfiles, log: Interval, range: Option<Interval>) -> (u128, usize) {
    let (mut sum, mut many) = (0, 0);
    let by_stack = heap.iter().filter(|profile| profile.has_stacks());
    for profile in by_stack {
        let places = profile.censuses_in(range, log.end());
        many += places.len();
        let of_band = |band| profile.censuses.sums(band, places.clone()).bytes;
        sum += profile.bands().map(of_band).sum::<u128>();
    }
    (sum, many)
}

fn log_of(session: &Session) -> Interval {
    let end = session.overview().span.map_or(Nanos(0), |span| span.end());
    Interval::new(Nanos(0), end)
}

/// Returns the whole log, its parts, and ranges without any census.
fn ranges(session: &Session) -> Vec<Option<Interval>> {
    let end = log_of(session).end().0;
    let cut =
        |part: u64, of: u64| Nanos((u128::from(end) * u128::from(part) / u128::from(of)) as u64);
    let parts = [1, 3, 7].into_iter();
    let parts = parts
        .flat_map(|of| (0..of).map(move |part| Interval::new(cut(part, of), cut(part + 1, of))));
    let odd = [
        Interval::new(Nanos(end / 2), Nanos(end / 2 + 1)),
        Interval::empty_at(Nanos(end)),
    ];
    parts.chain(odd).map(Some).chain([None]).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

fn check(session: &Session, number: u32) -> Result<usize, String> {
    let mut nodes = 0;
    for range in ranges(session) {
        let (sum, censuses) = bands(session.recording().heap(), log_of(session), range);
        let (head, boxes) = graph(
            session,
            FlameSelection {
                range,
                ..FlameSelection::default()
            },
        );
        let tree = tree(session, number, range).ok_or("no tree")?;
        let whole = area(session, None, range);
        let many = f64::from(tree.censuses);
        let told = (u128::from(head.total), head.censuses.now as usize);
        if told != (sum, censuses) {
            return Err(format!(
                "{range:?}: graph {told:?}, bands {:?}",
                (sum, censuses)
            ));
        }
        if !near(tree.all.total * many, sum as f64) || tree.censuses as usize != censuses {
            return Err(format!("{range:?}: tree {:?}, bands {sum}", tree.all));
        }
        if whole.total.iter().sum::<f64>() != sum as f64 || whole.censuses as usize != censuses {
            return Err(format!("{range:?}: area {whole:?}, bands {sum}"));
        }
        let rows: HashMap<u32, _> = tree.rows.iter().map(|row| (row.stack, row)).collect();
        if rows.len() != boxes.len() {
            return Err(format!(
                "{range:?}: {} nodes, {} boxes",
                rows.len(),
                boxes.len()
            ));
        }
        nodes += rows.len();
        for i in 0..boxes.len() {
            let row = rows.get(&boxes.stack[i]).ok_or("a box without a node")?;
            let own = area(session, Some(row.stack), range);
            let last = |column: &[f64]| column.last().copied().unwrap_or_default();
            let same = near(row.bytes.total * many, boxes.total[i])
                && near(row.bytes.own * many, boxes.own[i])
                && own.total.iter().sum::<f64>() == boxes.total[i]
                && own.own.iter().sum::<f64>() == boxes.own[i]
                && last(&own.total) == row.bytes.last_total as f64
                && last(&own.own) == row.bytes.last_own as f64
                && row.level == boxes.depth[i] + 1;
            if !same {
                return Err(format!("{range:?}: {row:?}, box {i} of {boxes:?}, {own:?}"));
            }
        }
    }
    Ok(nodes)
}

fn for_all_profiles(
    known: ExpectedCoverage,
    check: impl Fn(&Session, u32) -> Result<usize, String>,
) {
    for_all(known, |case| {
        let Ok(session) = session_of(&case.bytes()) else {
            return Ok(0);
        };
        let mut heap = session.recording().heap().iter();
        let number = heap.position(|profile| profile.has_stacks());
        number.map_or(Ok(0), |number| check(&session, number as u32))
    });
}

#[test]
fn bands_graph_tree_and_area_are_the_same_numbers() {
    for_all_profiles(expected_coverage([1, 100], [4, 600]), check);
}

/// The change of a stack between the first and the last census is the difference of both, and the changes add up
/// to the total change.
#[test]
fn two_moments_differ_by_what_both_have() {
    for_all_profiles(expected_coverage([1, 9], [4, 60]), |session, _| {
        let log = log_of(session);
        let (head, boxes) = graph(
            session,
            FlameSelection {
                moments: Some(log),
                ..FlameSelection::default()
            },
        );
        let whole = area(session, None, None);
        let ends = |area: &FlameArea| Some((*area.total.first()?, *area.total.last()?));
        let told = (
            head.total_before.unwrap_or_default() as f64,
            head.total as f64,
        );
        if ends(&whole) != Some(told) || (head.censuses.before, head.censuses.now) != (1, 1) {
            return Err(format!("{told:?}, area {:?}", ends(&whole)));
        }
        for i in 0..boxes.len() {
            let own = area(session, Some(boxes.stack[i]), None);
            if ends(&own) != Some((boxes.before[i], boxes.total[i])) {
                return Err(format!("box {i}: {:?}", ends(&own)));
            }
        }
        // The outermost boxes fill the width.
        let widths: f64 = (0..boxes.len())
            .filter(|&i| boxes.depth[i] == 0)
            .map(|i| boxes.width[i])
            .sum();
        match near(widths, 1.0) {
            true => Ok(boxes.len()),
            false => Err(format!("{widths}")),
        }
    });
}

const TYPES: &[EventTypeDecl] = &[
    (18, Some(14), "Block marker"),
    (160, None, "Start of heap profile"),
    (161, None, "Cost-centre definition"),
    (162, Some(8), "Start of heap profile sample"),
    (163, None, "Heap profile cost-centre sample"),
    (165, Some(8), "End of heap profile sample"),
];

struct ProfileBuilder(LogBuilder);

impl ProfileBuilder {
    /// Starts a profile by cost-centre stack, restricted to a biographical state unless `of_lives` is empty.
    fn new(of_lives: &str) -> Self {
        let mut log = LogBuilder::with_types(TYPES);
        let head = [
            &[0][..],
            &10_u64.to_be_bytes(),
            &1_u32.to_be_bytes(),
            b"\0\0\0\0\0\0",
        ]
        .concat();
        log.event(160, 1, &[&head, of_lives.as_bytes(), b"\0"].concat());
        for (id, label) in [(1_u32, "main"), (2, "load"), (3, "parse")] {
            let text = [label.as_bytes(), b"\0M\0M.hs:1:1\0\0"].concat();
            log.event(161, 1, &[&id.to_be_bytes()[..], &text].concat());
        }
        Self(log)
    }

    /// Appends a census: bytes of stacks, innermost frame first.
    fn census(&mut self, at: u64, stacks: &[(u64, &[u32])]) {
        self.0.event(162, at, &at.to_be_bytes());
        for (bytes, stack) in stacks {
            let mut payload = [&[0][..], &bytes.to_be_bytes(), &[stack.len() as u8]].concat();
            payload.extend(stack.iter().flat_map(|id| id.to_be_bytes()));
            self.0.event(163, at, &payload);
        }
        self.0.event(165, at, &at.to_be_bytes());
    }

    fn session(&mut self) -> Session {
        self.0.end();
        session_of(&self.0.bytes).expect("a log")
    }
}

fn shown(tree: &TreeAnswer) -> Vec<String> {
    let row = |row: &session::heap::tree::TreeRow| {
        let sign = match row.open {
            Some(true) => "-",
            Some(false) => "+",
            None => " ",
        };
        let bytes = row.bytes;
        format!(
            "{}{sign}{} {} {} last {} {}",
            "  ".repeat(usize::from(row.level) - 1),
            row.frame.label,
            bytes.total,
            bytes.own,
            bytes.last_total,
            bytes.last_own
        )
    };
    tree.rows.iter().map(row).collect()
}

/// Builds a profile whose last census is at the very end of the log, where it still counts.
fn small() -> Session {
    let mut log = ProfileBuilder::new("");
    log.census(10, &[(80, &[2, 1]), (40, &[3, 2, 1]), (8, &[])]);
    log.census(20, &[(40, &[2, 1])]);
    log.census(30, &[(40, &[3, 2, 1]), (40, &[1]), (16, &[])]);
    log.session()
}

#[test]
fn a_tree_of_a_made_log() {
    let session = small();
    check(&session, 0).expect("the same numbers");
    let all = tree(&session, 0, None).expect("a tree");
    assert_eq!(
        shown(&all),
        [
            "-main 80 13.333333333333334 last 80 40",
            "  -load 66.66666666666667 40 last 40 0",
            "     parse 26.666666666666668 26.666666666666668 last 40 40",
            " MAIN 8 8 last 16 16",
        ]
    );
    let places: Vec<_> = all.rows.iter().map(|row| (row.place, row.parent)).collect();
    assert_eq!(
        places,
        [
            ((1, 2), None),
            ((1, 1), Some(0)),
            ((1, 1), Some(1)),
            ((2, 2), None)
        ]
    );
    let range = Interval::new(Nanos(20), Nanos(30));
    assert_eq!(
        tree(&session, 0, Some(range)).map(|tree| tree.censuses),
        Some(2)
    );
    let range = Interval::new(Nanos(11), Nanos(30));
    let query = TreeQuery {
        range: Some(range),
        rows: 0..10,
        ..TreeQuery::default()
    };
    // Initially open is the path to the node with the most bytes.
    let ask = |query: &TreeQuery| shown(&session.ask(query).expect("a tree"));
    let opened = ask(&query);
    assert_eq!(
        opened,
        [
            " MAIN 8 8 last 16 16",
            "-main 60 20 last 80 40",
            "  -load 40 20 last 40 0",
            "     parse 20 20 last 40 40"
        ]
    );
    let filtered = TreeQuery {
        filter: "LOAD".into(),
        open: Some(ExpandedNodes::These(Vec::new())),
        ..query.clone()
    };
    assert_eq!(
        ask(&filtered),
        ["-main 60 20 last 80 40", "   load 40 20 last 40 0"]
    );
    let closed = TreeQuery {
        sort: TreeColumn::Name,
        open: Some(ExpandedNodes::These(Vec::new())),
        rows: 1..2,
        ..query
    };
    assert_eq!(ask(&closed), [" MAIN 8 8 last 16 16"]);
    assert_eq!(tree(&session, 1, None), Some(all));
}

/// A profile restricted to a biographical state has no times of censuses: they are numbered, and every range
/// includes all of them.
#[test]
fn censuses_without_times_go_by_number() {
    let mut log = ProfileBuilder::new("drag");
    for bytes in [10, 30, 20] {
        log.census(50, &[(bytes, &[2, 1])]);
    }
    let session = log.session();
    let range = Some(Interval::new(Nanos(0), Nanos(3)));
    assert_eq!(
        tree(&session, 0, range).map(|tree| (tree.censuses, tree.timed)),
        Some((3, false))
    );
    let over_time = area(&session, None, range);
    assert_eq!(
        (over_time.time, over_time.total),
        (vec![0.0, 1.0, 2.0], vec![10.0, 30.0, 20.0])
    );
    assert!(!over_time.timed);
    let moments = Some(Interval::new(Nanos(0), Nanos(1)));
    let (head, _) = graph(
        &session,
        FlameSelection {
            moments,
            ..FlameSelection::default()
        },
    );
    assert_eq!((head.total_before, head.total), (Some(10), 30));
}
