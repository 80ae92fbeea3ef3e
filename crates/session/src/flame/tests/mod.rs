//! Flame graphs of small handmade profiles.

mod compare;
mod heap;
mod place;
mod properties;
mod sample_threads;
mod steps;
mod views;

use model::profile::revision::Revision;
use std::fmt::Write;

use super::cache::StepCache;
use super::query::{
    FlameBoxes, FlameHead, FlameQuery, FlameRow, FlameTableQuery, View, answer, table,
};
use super::transform::Transform;
use eventlog::ids::{CapId, Duration, Nanos, OsThreadId};
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::sample_threads::SampleThreads;
use model::profile::samples::Samples;
use model::profile::stack_source::FlameSelection;
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track, TrackSource};
use model::time::Interval;

const TICK: u64 = 10;
const CAP: TrackSource = TrackSource::Capability(CapId(0));
const THREAD: TrackSource = TrackSource::OsThread(OsThreadId(7));

fn span(start: u64, end: u64) -> Interval {
    Interval::new(Nanos(start), Nanos(end))
}

/// Creates a profile of capability 0 and OS thread 7. Each letter of a stack is a frame, outermost first: of
/// module `M`, or of module `N` if uppercase; `-` is `IDLE`.
pub(super) fn profile(cap: &[(u64, u64, &str)], thread: &[(u64, u64, &str)]) -> Profile {
    let (mut frames, mut stacks) = (Frames::default(), Stacks::default());
    let idle = frames.intern(Frame::built_in("IDLE", "IDLE"));
    let idle_stack = stacks.push(StackId::EMPTY, idle);
    let mut samples = |rows: &[(u64, u64, &str)]| {
        let mut samples = Samples::default();
        for &(start, end, letters) in rows {
            let frame = |c: char| {
                let module = if c.is_uppercase() { "N" } else { "M" };
                match c {
                    '-' => idle,
                    c => frames.intern(Frame::cost_centre(module, &c.to_string(), "M.hs:1:1")),
                }
            };
            let stack: Vec<FrameId> = letters.chars().map(frame).collect();
            samples.push(span(start, end), stacks.intern(stack));
        }
        samples
    };
    let (cap, thread) = (samples(cap), samples(thread));
    let track = |source, samples| Track {
        source,
        samples,
        open: Vec::new(),
        sampled: source == CAP,
    };
    let end = cap.end().max(thread.end());
    Profile {
        tracks: vec![track(CAP, cap), track(THREAD, thread)],
        frames,
        stacks,
        idle,
        idle_stack,
        tick_interval: Some(Duration(TICK)),
        span: Interval::new(Nanos(0), end),
        threads: SampleThreads::default(),
        heap: None,
        revision: Revision::next(),
    }
}

fn small() -> Profile {
    let cap = [
        (0, 10, "ab"),
        (11, 20, "abc"), // a late tick
        (20, 30, "ad"),
        (30, 40, "-"),
        (70, 80, "ab"), // after a pause
        (80, 90, "e"),
        (90, 100, "abab"),
    ];
    profile(&cap, &[(5, 25, "af"), (30, 60, "ag")])
}

/// Creates a query for some tracks, in a range or over the whole log.
fn query(tracks: &[TrackSource], range: Option<Interval>, view: View) -> FlameQuery {
    FlameQuery {
        choice: FlameSelection {
            tracks: tracks.to_vec(),
            range,
            ..FlameSelection::default()
        },
        view,
        window: (0.0, 1.0),
        width_px: u32::MAX,
        levels: None,
        ..FlameQuery::default()
    }
}

fn stepped(steps: &[Transform], view: View) -> FlameQuery {
    FlameQuery {
        steps: steps.to_vec(),
        ..query(&[CAP], None, view)
    }
}

/// Formats one line per box: edges in units of the whole, frame, own weight and total, samples.
fn shown(profile: &Profile, query: &FlameQuery) -> String {
    let (head, boxes) = answer(profile, query);
    let bands: Vec<u16> = head.bands.iter().map(|(_, level)| *level).collect();
    let mut text = format!("total {}, bands {bands:?}\n", head.total);
    for i in 0..boxes.len() {
        let total = head.total as f64;
        let (left, right) = (
            boxes.left[i] * total,
            (boxes.left[i] + boxes.width[i]) * total,
        );
        let named = head.frames.iter().find(|named| named.id == boxes.frame[i]);
        let label = named.map_or("?", |named| named.frame.label.as_str());
        let indent = 1 + usize::from(boxes.depth[i]);
        let _ = write!(
            text,
            "{}{:indent$}{label} {left:.0}..{right:.0} own {} of {}, {} samples",
            boxes.depth[i], "", boxes.own[i], boxes.total[i], boxes.count[i],
        );
        if let Some(before) = boxes.before.get(i) {
            let _ = write!(text, ", before {before}");
        }
        if boxes.merged[i] > 1 {
            let _ = write!(text, ", {} boxes", boxes.merged[i]);
        }
        text.push('\n');
    }
    text
}

/// Formats one line per function: own weight, total, samples.
fn tabled(profile: &Profile, query: &FlameQuery) -> String {
    let mut text = String::new();
    for row in rows(profile, query) {
        let FlameRow { own, total, .. } = row;
        let (name, own_count, count) = (row.frame.name(), row.own_count, row.count);
        let _ = write!(
            text,
            "{name} own {own} of {total}, {own_count} of {count} samples"
        );
        if let Some((own, total)) = row.before {
            let _ = write!(text, ", before {own} of {total}");
        }
        text.push('\n');
    }
    text
}

fn rows(profile: &Profile, query: &FlameQuery) -> Vec<FlameRow> {
    let query = FlameTableQuery {
        choice: query.choice.clone(),
        steps: query.steps.clone(),
    };
    table(&StepCache::default(), profile, &query).0
}

/// Returns the boxes at a depth.
fn at_depth(boxes: &FlameBoxes, depth: u16) -> impl Iterator<Item = usize> {
    (0..boxes.len()).filter(move |&i| boxes.depth[i] == depth)
}

/// Returns the box at a depth and a position from 0 to 1.
fn box_at(boxes: &FlameBoxes, depth: u16, x: f64) -> Option<usize> {
    at_depth(boxes, depth).find(|&i| boxes.left[i] <= x && x < boxes.left[i] + boxes.width[i])
}

fn label(head: &FlameHead, boxes: &FlameBoxes, index: usize) -> String {
    let named = head
        .frames
        .iter()
        .find(|named| named.id == boxes.frame[index]);
    named.map_or_else(String::new, |named| named.frame.label.clone())
}
