//! The file format of <https://speedscope.app>
//! (<https://www.speedscope.app/file-format-schema.json>).

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::stretches::{Stretch, Stretches};
use super::{About, Place, Scale, Shown, frame_name, weighed};
use crate::flame::query::{FlameQuery, Measure};
use model::profile::frames::{Frame, Frames};
use model::profile::origin::{Choice, Origin, Weighed};
use model::profile::source::Unit;
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::Weight;
use model::profile::{Profile, Track};
use model::time::Span;

/// Where the format is described.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// The whole file. Its lists of samples are made while they are written.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a, P> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<P>,
}

impl<'a, P> File<'a, P> {
    fn new(about: &'a About, frames: &'a Frames, profiles: Vec<P>) -> Self {
        Self {
            schema: SCHEMA,
            exporter: format!("eventscope {}", env!("CARGO_PKG_VERSION")),
            name: &about.program,
            active_profile_index: 0,
            shared: Shared {
                frames: FrameList(frames),
            },
            profiles,
        }
    }
}

#[derive(serde::Serialize)]
struct Shared<'a> {
    frames: FrameList<'a>,
}

struct FrameList<'a>(&'a Frames);

impl Serialize for FrameList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(_, frame)| NamedFrame::new(frame)))
    }
}

#[derive(serde::Serialize)]
struct NamedFrame<'a> {
    name: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<u32>,
}

impl<'a> NamedFrame<'a> {
    fn new(frame: &'a Frame) -> Self {
        let place = frame.location.as_deref().and_then(Place::parse);
        Self {
            name: frame_name(frame),
            file: place.map(|place| place.file),
            line: place.map(|place| place.line),
            col: place.and_then(|place| place.column),
        }
    }
}

/// A profile: samples and their weights, two lists of one length.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled<S, W> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: f64,
    end_value: f64,
    samples: S,
    weights: W,
}

pub(super) fn write(
    origin: &dyn Origin,
    query: &FlameQuery,
    about: &About,
    out: &mut impl Write,
) -> io::Result<()> {
    match query.choice.source.unit() {
        Unit::Time => write_tracks(origin, query, about, out),
        Unit::Bytes => write_sums(&weighed(origin, query), query, about, out),
    }
}

/// A profile for each track.
fn write_tracks(
    origin: &dyn Origin,
    query: &FlameQuery,
    about: &About,
    out: &mut impl Write,
) -> io::Result<()> {
    let choice = Choice {
        before: None,
        ..query.choice.clone()
    };
    let (profile, tracks) = origin.in_time(&choice);
    let shown = Shown::of_profile(&profile, &query.steps);
    let timed = |&index: &usize| {
        let timed = Timed {
            profile: &profile,
            track: profile.tracks.get(index)?,
            range: choice.range.unwrap_or(profile.span),
            measure: query.measure,
            shown: &shown,
        };
        Some(timed.sampled())
    };
    let profiles = tracks.iter().filter_map(timed).collect();
    serde_json::to_writer(&mut *out, &File::new(about, &shown.frames, profiles))?;
    writeln!(out)
}

/// The samples of a track. Measured by time they fill the range: gaps are
/// idle, so that all tracks begin and end together.
#[derive(Clone, Copy)]
struct Timed<'a> {
    profile: &'a Profile,
    track: &'a Track,
    range: Span,
    measure: Measure,
    shown: &'a Shown<'a>,
}

impl<'a> Timed<'a> {
    fn sampled(self) -> Sampled<TimedStacks<'a>, TimedWeights<'a>> {
        let (unit, start, end) = match self.measure {
            Measure::Amount => ("nanoseconds", self.range.start.0, self.range.end.0),
            Measure::Count => ("none", 0, self.stretches().count() as u64),
        };
        Sampled {
            kind: "sampled",
            name: self.track.source.to_string(),
            unit,
            start_value: start as f64,
            end_value: end as f64,
            samples: TimedStacks(self),
            weights: TimedWeights(self),
        }
    }

    fn stretches(self) -> impl Iterator<Item = Stretch> + 'a {
        let all = Stretches::new(self.profile, self.track, self.range);
        all.filter(move |stretch| match self.measure {
            Measure::Amount => true,
            Measure::Count => stretch.counts && self.shown.stack(stretch.stack).is_some(),
        })
    }
}

struct TimedStacks<'a>(Timed<'a>);

impl Serialize for TimedStacks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = self.0.shown;
        // What fell away leaves time without a frame, which is how this
        // format says that nothing is known.
        let stacks = self.0.stretches().map(|stretch| {
            let stack = shown.stack(stretch.stack);
            stack.unwrap_or(StackId::EMPTY)
        });
        serialize_stacks(&shown.stacks, stacks, serializer)
    }
}

struct TimedWeights<'a>(Timed<'a>);

impl Serialize for TimedWeights<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let measure = self.0.measure;
        serializer.collect_seq(self.0.stretches().map(|stretch| match measure {
            Measure::Amount => stretch.duration.0,
            Measure::Count => 1,
        }))
    }
}

/// The frames of each stack, outermost first.
fn serialize_stacks<S: Serializer>(
    stacks: &Stacks,
    which: impl Iterator<Item = StackId>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(None)?;
    let mut frames: Vec<u32> = Vec::new();
    for stack in which {
        frames.clear();
        frames.extend(stacks.innermost_first(stack).map(|frame| frame.0));
        frames.reverse();
        sequence.serialize_element(&frames)?;
    }
    sequence.end()
}

/// One profile with the weight of every stack, for what has no tracks.
fn write_sums(
    weighed: &Weighed<'_>,
    query: &FlameQuery,
    about: &About,
    out: &mut impl Write,
) -> io::Result<()> {
    let sums = Sums {
        weighed,
        scale: Scale::new(query, weighed.heap_samples),
    };
    let total: Weight = sums.all().fold(Weight::default(), |mut total, (_, own)| {
        total.add(own);
        total
    });
    let profile = Sampled {
        kind: "sampled",
        name: match weighed.heap_samples {
            1 => "Heap, 1 sample".to_owned(),
            count => format!("Heap, mean of {count} samples"),
        },
        unit: match query.measure {
            Measure::Amount => "bytes",
            Measure::Count => "none",
        },
        start_value: 0.0,
        end_value: sums.scale.exact(total),
        samples: SumStacks(sums),
        weights: SumWeights(sums),
    };
    let file = File::new(about, &weighed.frames, vec![profile]);
    serde_json::to_writer(&mut *out, &file)?;
    writeln!(out)
}

#[derive(Clone, Copy)]
struct Sums<'a> {
    weighed: &'a Weighed<'a>,
    scale: Scale,
}

impl<'a> Sums<'a> {
    /// The stacks that weigh something.
    fn all(self) -> impl Iterator<Item = (StackId, Weight)> + 'a {
        let own = self.weighed.own.iter().copied();
        let all = (0..).map(StackId).zip(own);
        all.filter(|(_, own)| own.amount > 0)
    }
}

struct SumStacks<'a>(Sums<'a>);

impl Serialize for SumStacks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stacks = self.0.all().map(|(stack, _)| stack);
        serialize_stacks(&self.0.weighed.stacks, stacks, serializer)
    }
}

struct SumWeights<'a>(Sums<'a>);

impl Serialize for SumWeights<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Sums { scale, .. } = self.0;
        serializer.collect_seq(self.0.all().map(|(_, own)| scale.exact(own)))
    }
}
