//! The marks of rows of the profile: samples and foreign calls.

use super::Entry;
use super::sample::{Made, Sample, buckets};
use analysis::timeline::profile_rows::OPEN;
use analysis::timeline::row::{CallsOf, Row};
use eventlog::ids::{CapId, OsThreadId};
use model::class::Class;
use model::profile::frames::{Frame, FrameKind};

const SAMPLES: Row = Row::Samples(CapId(0));
const CALLS: Row = Row::ForeignCalls(CallsOf::OsThread(OsThreadId(7)));

/// Where a sample's span begins and ends, in pixels.
const FROM: f64 = 8.0;
const TO: f64 = 88.0;

/// The functions of the samples here, by their numbers.
pub(super) fn functions() -> Vec<Frame> {
    let function = |module: &str, label: &str| Frame::cost_centre(module, label, "here");
    vec![
        function("Main", "solve"),
        function("Data.Map", "insert"),
        Frame::built_in("GC", "GC"),
    ]
}

/// The foreign functions of the calls here, by their numbers.
pub(super) fn foreign_functions() -> Vec<Frame> {
    vec![Frame::of_kind(FrameKind::ForeignCall, "blur")]
}

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = samples();
    entries.extend(calls());
    entries
}

/// Samples that follow each other; of each function so many.
fn ticks(functions: &[(Class, u32, u32)], width_px: f64) -> Vec<Made> {
    let each = functions
        .iter()
        .flat_map(|&(class, function, count)| (0..count).map(move |_| (class, function)));
    let made = each.scan(FROM, |from, (class, function)| {
        let mark = Made::span(class, *from, *from + width_px).detail(function);
        *from += width_px;
        Some(mark)
    });
    made.collect()
}

fn samples() -> Vec<Entry> {
    let several = buckets(|place| {
        let busy = 0.5 + 0.4 * (place / 7.0).sin();
        vec![(Class::Running, busy), (Class::Other, 1.0 - busy)]
    });
    let several = several.into_iter().zip(0u32..);
    let several = several.map(|(mark, place)| mark.detail(u32::from(place > 20)));
    vec![
        Entry::new(
            "Samples of a profile",
            "What ran on the capability when the profiler's timer ticked: the innermost function, in its colour of the flame graph. A block reaches back to the tick before; the short line at its end is the tick. Neighbours of one function have its name once.",
            Sample::row(
                SAMPLES,
                ticks(&[(Class::Running, 0, 5), (Class::Running, 1, 3)], 10.0),
            ),
        ),
        Entry::new(
            "A sample within a collection",
            "The timer ticked while the capability collected garbage.",
            Sample::row(SAMPLES, ticks(&[(Class::Gc, 2, 1)], TO - FROM)),
        ),
        Entry::new(
            "A sample of an idle capability",
            "Nothing ran when the timer ticked: a thin line on the ground. Where there is not even that, no sample was taken.",
            Sample::row(SAMPLES, ticks(&[(Class::Other, 0, 1)], TO - FROM)),
        ),
        Entry::new(
            "Several samples in a pixel",
            "The bar is as high as the share of those that are not idle. A function with more than half of these gives it its colour; if there is none, one of those that are there does.",
            Sample::row(SAMPLES, several.collect()),
        ),
    ]
}

fn calls() -> Vec<Entry> {
    let one = |code| {
        let mark = Made::span(Class::Foreign, FROM, TO).detail(0).code(code);
        Sample::row(CALLS, vec![mark])
    };
    let several = buckets(|place| vec![(Class::Foreign, 0.5 + 0.4 * (place / 7.0).sin())]);
    vec![
        Entry::new(
            "A foreign call",
            "An OS thread was in a foreign function that the program announced (“START 3 blur”, then “ANN_TH 3 blur” with the thread). Where a callback calls out again, the inner call takes its place.",
            one(0),
        ),
        Entry::new(
            "A foreign call that is not over",
            "The log ended before its end was announced.",
            one(OPEN.0),
        ),
        Entry::new(
            "Several foreign calls in a pixel",
            "The bar is as high as their share of the time.",
            Sample::row(CALLS, several),
        ),
    ]
}
