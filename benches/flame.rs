//! Flame graphs of 5 million samples with about 100,000 distinct stacks of up to 200 frames. Run with
//! `cargo bench --bench flame`.
//!
//! The profile is synthesized in memory. If `EVENTSCOPE_BENCH_PROFILE` names a log (`examples/make_profile_log.rs`
//! writes one), it is loaded instead, and the loading time and the peak memory are printed.
#![allow(missing_docs, reason = "criterion makes an undocumented function")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use eventlog::FileSource;
use eventlog::ids::{CapId, Duration, Nanos};
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::sample_threads::SampleThreads;
use model::profile::samples::Samples;
use model::profile::stack_source::{FlameSelection, StackSource};
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track, TrackSource};
use model::time::Interval;
use session::Session;
use session::flame::cache::StepCache;
use session::flame::query::answer_with;
use session::flame::query::table;
use session::flame::query::{FlameQuery, FlameTableQuery, View};
use session::flame::transform::Transform;
use session::read_session;

const SAMPLES: u64 = 5_000_000;
const TICK_NS: u64 = 1_000_000;
const DEPTH: u64 = 200;
/// Number of distinct stacks with samples.
const STACKS: u64 = 100_000;

/// Deterministic pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

/// Makes stacks that extend each other, as in a real program.
fn stacks(frames: &[FrameId], stacks: &mut Stacks, random: &mut Random) -> Vec<StackId> {
    let mut seen: Vec<StackId> = Vec::new();
    while (seen.len() as u64) < STACKS {
        let from = match seen.len() as u64 {
            0 => StackId::EMPTY,
            count => seen[random.below(count) as usize],
        };
        let mut stack = from;
        let inwards = if seen.len() < 100 { 150 } else { 4 };
        for _ in 0..=random.below(inwards) {
            if u64::from(stacks.depth(stack)) < DEPTH {
                let frame = frames[random.below(frames.len() as u64) as usize];
                stack = stacks.push(stack, frame);
            }
        }
        seen.push(stack);
    }
    seen
}

fn made() -> Profile {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let (mut frames, mut tree) = (Frames::default(), Stacks::default());
    let idle = frames.intern(Frame::built_in("IDLE", "IDLE"));
    let idle_stack = tree.push(StackId::EMPTY, idle);
    let names = (0..2000).map(|i| {
        let module = format!("Lib.Module{}", i % 97);
        Frame::cost_centre(&module, &format!("function{i}"), "src/Lib.hs:1:1")
    });
    let ids: Vec<FrameId> = names.map(|frame| frames.intern(frame)).collect();
    let seen = stacks(&ids, &mut tree, &mut random);
    let mut end = Nanos(0);
    let mut track = |cap| {
        let mut samples = Samples::default();
        let (mut at, mut near) = (0, 0);
        for _ in 0..SAMPLES / 4 {
            let start = at;
            at += TICK_NS + random.below(20_000);
            if random.below(3000) == 0 {
                near = random.below(STACKS);
            }
            let stack = seen[((near + random.below(2000)) % STACKS) as usize];
            samples.push(Interval::new(Nanos(start), Nanos(at)), stack);
            if random.below(50_000) == 0 {
                at += 500 * TICK_NS;
            }
        }
        end = end.max(Nanos(at));
        Track {
            source: TrackSource::Capability(CapId(cap)),
            samples,
            open: Vec::new(),
            sampled: true,
        }
    };
    let tracks = (0..4).map(&mut track).collect();
    Profile {
        frames,
        stacks: tree,
        idle,
        idle_stack,
        tracks,
        tick_interval: Some(Duration(TICK_NS)),
        span: Interval::new(Nanos(0), end),
        threads: SampleThreads::default(),
        heap: None,
        revision: model::profile::Revision::next(),
    }
}

/// Source of the answers.
enum Subject {
    OwnedProfile(Box<Profile>, StepCache),
    Loaded(Box<Session>, Interval),
}

impl Subject {
    fn new() -> Self {
        match std::env::var_os("EVENTSCOPE_BENCH_PROFILE") {
            None => Self::OwnedProfile(Box::new(made()), StepCache::default()),
            Some(path) => load(path.as_ref()),
        }
    }

    fn span(&self) -> Interval {
        match self {
            Self::OwnedProfile(profile, _) => profile.span,
            Self::Loaded(_, span) => *span,
        }
    }

    fn flame(&self, query: &FlameQuery) -> usize {
        match self {
            Self::OwnedProfile(profile, cache) => answer_with(cache, &**profile, query).1.len(),
            Self::Loaded(session, _) => session.ask(query).map_or(0, |(_, boxes)| boxes.len()),
        }
    }

    fn table(&self, query: &FlameTableQuery) -> usize {
        match self {
            Self::OwnedProfile(profile, cache) => table(cache, &**profile, query).0.len(),
            Self::Loaded(session, _) => session.ask(query).0.len(),
        }
    }
}

fn load(path: &Path) -> Subject {
    let mut file = FileSource::open(path).expect("the log");
    let started = Instant::now();
    let session = read_session(&mut file).expect("a log");
    println!("loaded in {:.2?}; {}", started.elapsed(), peak());
    let span = session.overview().span.expect("events");
    Subject::Loaded(Box::new(session), span)
}

/// Returns the peak resident memory so far (`VmHWM`).
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("no VmHWM").to_owned()
}

fn flame(c: &mut Criterion) {
    let started = Instant::now();
    let subject = Subject::new();
    println!("ready after {:.2?}", started.elapsed());
    let mut group = c.benchmark_group("flame");
    group.sample_size(10);
    let span = subject.span();
    let (start, end) = (span.start(), span.end());
    let at = |part: u64| Nanos(start.0 + (end.0 - start.0) / 100 * part);
    let whole = FlameQuery {
        window: (0.0, 1.0),
        width_px: 1200,
        ..FlameQuery::default()
    };
    let selected = FlameSelection {
        range: Some(Interval::new(at(13), at(91))),
        ..FlameSelection::default()
    };
    let views = [
        ("time", View::Time),
        ("left-heavy", View::LeftHeavy),
        ("callees", View::Callees("Lib.Module5.function5".into())),
        ("callers", View::Callers("Lib.Module5.function5".into())),
    ];
    if let Subject::OwnedProfile(profile, _) = &subject {
        group.bench_function("weigh most", |b| {
            b.iter(|| black_box(profile.weighted_stacks(&selected).own.len()));
        });
    }
    for (name, view) in views {
        let whole = FlameQuery {
            view,
            ..whole.clone()
        };
        let queries = [
            ("whole", whole.clone()),
            (
                "selected",
                FlameQuery {
                    choice: selected.clone(),
                    ..whole.clone()
                },
            ),
            (
                "tenth",
                FlameQuery {
                    window: (0.42, 0.1),
                    ..whole.clone()
                },
            ),
            (
                "thousandth",
                FlameQuery {
                    window: (0.42, 0.001),
                    ..whole.clone()
                },
            ),
            (
                "searched",
                FlameQuery {
                    search: "function7".into(),
                    ..whole.clone()
                },
            ),
            (
                "modules",
                FlameQuery {
                    steps: vec![Transform::MergeModules],
                    ..whole.clone()
                },
            ),
            (
                "inverted",
                FlameQuery {
                    steps: vec![Transform::Invert],
                    ..whole.clone()
                },
            ),
        ];
        for (part, query) in queries {
            let started = Instant::now();
            let boxes = subject.flame(&query);
            println!(
                "{name} {part}: {boxes} boxes, first {:.1?}",
                started.elapsed()
            );
            group.bench_function(format!("{name} {part}"), |b| {
                b.iter(|| black_box(subject.flame(&query)));
            });
        }
    }
    let table = FlameTableQuery {
        choice: selected,
        steps: Vec::new(),
    };
    group.bench_function("table", |b| b.iter(|| black_box(subject.table(&table))));
    group.finish();
    println!("{}", peak());
}

criterion_group!(benches, flame);
criterion_main!(benches);
