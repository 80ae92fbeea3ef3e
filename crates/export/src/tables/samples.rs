//! Tables `samples` and `stacks`: profiling samples and their stacks.

use analysis::flamegraph::sources;
use model::profile::source::Source;
use model::profile::stack_source::FlameSelection;
use model::profile::{Frame, Profile, StackId};
use session::cells::Cell;

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use session::cells::Column;

/// Profiling samples and foreign calls.
pub(super) const SAMPLES: Table = Table {
    name: "samples",
    help: "One row per sample of cost centres or stacks, and per foreign call that the program logged: the data of flame graphs.",
    columns: &[
        Column::text(
            "source",
            "cost-centres (including foreign calls) or stack-samples",
        ),
        Column::text("track", "Track that was sampled: cap0, os4242, thread5, …"),
        Column::number(
            "start_ns",
            "Start: one tick before a sample of a timer, or the end of the previous one",
        ),
        Column::number(
            "end_ns",
            "End: the time at which the sample was taken, or the end of a call",
        ),
        Column::number("duration_ns", "Length, which flame graphs add up"),
        Column::flag(
            "counts",
            "Whether it counts as a sample: not if the end of the exported range cuts it off",
        ),
        Column::number("stack", "Number of its stack in the table stacks"),
        Column::text(
            "function",
            "Innermost function of the stack; empty if it has none",
        ),
    ],
    fill: fill_samples,
};

/// The stacks of the samples.
pub(super) const STACKS: Table = Table {
    name: "stacks",
    help: "One row per stack of the samples: the stack of its parent with one more function inside.",
    columns: &[
        Column::text(
            "source",
            "As in samples; each source numbers its own stacks",
        ),
        Column::number("stack", "Number of the stack"),
        Column::number(
            "parent",
            "Number of the stack without its innermost function; 0 is the empty stack",
        ),
        Column::number("depth", "Number of functions"),
        Column::text(
            "function",
            "Innermost function, with its module: cost centre, foreign function or Haskell function",
        ),
        Column::text("label", "The same without the module"),
        Column::text("module", "Module of the function"),
        Column::text("location", "Place of the function in the source"),
    ],
    fill: fill_stacks,
};

const SOURCES: [Source; 2] = [sources::COST_CENTRES, sources::STACK_SAMPLES];

/// Calls `take` with each profile of the log and the tracks that flame graphs show together.
fn each_profile(
    log: &Log<'_>,
    mut take: impl FnMut(&'static str, &Profile, &[usize]) -> Result<(), Error>,
) -> Result<(), Error> {
    for source in SOURCES {
        let choice = FlameSelection {
            source,
            range: log.range,
            ..FlameSelection::default()
        };
        if let Some(origin) = log.session.stack_source(source) {
            let (profile, tracks) = origin.tracks_in_time_order(&choice);
            take(sources::description(source).name, &profile, &tracks)?;
        }
    }
    Ok(())
}

/// Returns the innermost frame of a stack.
fn innermost(profile: &Profile, stack: StackId) -> Option<&Frame> {
    profile.frames.get(profile.stacks.frame(stack)?)
}

fn fill_samples(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    each_profile(log, |source, profile, tracks| {
        let functions: Vec<Option<String>> = profile
            .stacks
            .ids()
            .map(|stack| innermost(profile, stack).map(Frame::name))
            .collect();
        let range = log.range.unwrap_or(profile.span);
        for track in tracks.iter().filter_map(|&track| profile.tracks.get(track)) {
            let name = track.source.name();
            for sample in track.samples.clipped_to(range) {
                let function = functions
                    .get(sample.stack.index())
                    .and_then(Option::as_deref);
                rows.row(&[
                    source.into(),
                    name.as_str().into(),
                    sample.span.start().into(),
                    sample.span.end().into(),
                    sample.span.duration().into(),
                    Cell::Flag(sample.counts, "counts"),
                    sample.stack.0.into(),
                    function.into(),
                ])?;
            }
        }
        Ok(())
    })
}

fn fill_stacks(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    each_profile(log, |source, profile, _| {
        for stack in profile.stacks.ids().skip(1) {
            let frame = innermost(profile, stack);
            let module = frame.map(|frame| frame.module.as_str());
            rows.row(&[
                source.into(),
                stack.0.into(),
                profile.stacks.parent(stack).0.into(),
                u64::from(profile.stacks.depth(stack)).into(),
                frame.map(Frame::name).into(),
                frame.map(|frame| frame.label.as_str()).into(),
                module.filter(|module| !module.is_empty()).into(),
                frame.and_then(|frame| frame.location.as_deref()).into(),
            ])?;
        }
        Ok(())
    })
}
