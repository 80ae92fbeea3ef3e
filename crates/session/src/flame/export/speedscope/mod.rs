//! File format of <https://speedscope.app> (<https://www.speedscope.app/file-format-schema.json>): one profile per
//! track, or one profile of sums for a source without tracks.

mod sums;
mod tracks;

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use self::sums::Sums;
use self::tracks::Tracks;
use super::export_stacks::ExportStacks;
use super::incomplete::IncompleteStacks;
use super::output::{LogInfo, Scale, frame_name};
use super::source_location::SourceLocation;
use super::tree::{DEEPER, DEEPEST};
use crate::flame::cache::StepCache;
use crate::flame::query::FlameQuery;
use model::profile::frames::{Frame, FrameKind, Frames};
use model::profile::stack_source::StackSource;
use model::profile::stacks::{StackId, Stacks};

/// Writer of a file.
#[derive(Debug)]
pub(super) struct Speedscope {
    /// Text before the profiles, until it is written.
    head: Vec<u8>,
    profiles: Profiles,
}

#[derive(Debug)]
enum Profiles {
    Tracks(Box<Tracks>),
    Sums(Sums),
}

impl Speedscope {
    /// Creates a writer for the samples of tracks in time order.
    pub(super) fn of_tracks(
        cache: &StepCache,
        stack_source: &dyn StackSource,
        query: &FlameQuery,
        log_info: &LogInfo,
    ) -> Self {
        let (tracks, head) = Tracks::new(cache, stack_source, query, |frames, cut| {
            head(log_info, frames, cut)
        });
        Self {
            head,
            profiles: Profiles::Tracks(Box::new(tracks)),
        }
    }

    /// Creates a writer for weighted stacks.
    pub(super) fn of_sums(
        export_stacks: &ExportStacks<'_>,
        scale: Scale,
        log_info: &LogInfo,
    ) -> Self {
        let sums = Sums::new(export_stacks, scale);
        Self {
            head: head(
                log_info,
                export_stacks.frames(),
                sums.tree.incomplete.deep > 0,
            ),
            profiles: Profiles::Sums(sums),
        }
    }

    pub(super) const fn incomplete(&self) -> IncompleteStacks {
        match &self.profiles {
            Profiles::Tracks(tracks) => tracks.incomplete,
            Profiles::Sums(sums) => sums.tree.incomplete,
        }
    }

    /// Returns whether no stack has weight, once the file is complete.
    pub(super) fn is_empty(&self) -> bool {
        match &self.profiles {
            Profiles::Tracks(tracks) => !tracks.has_samples,
            Profiles::Sums(sums) => sums.tree.is_empty(),
        }
    }

    /// Writes at most `samples` samples; returns whether the file is complete.
    pub(super) fn advance(
        &mut self,
        stack_source: &dyn StackSource,
        out: &mut impl Write,
        samples: usize,
    ) -> io::Result<bool> {
        out.write_all(&std::mem::take(&mut self.head))?;
        let done = match &mut self.profiles {
            Profiles::Tracks(tracks) => tracks.advance(stack_source, out, samples)?,
            Profiles::Sums(sums) => sums.advance(out, samples)?,
        };
        if done {
            out.write_all(b"]}\n")?;
        }
        Ok(done)
    }
}

/// Address of the JSON schema.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Returns the text before the profiles.
fn head(log_info: &LogInfo, frames: &Frames, cut: bool) -> Vec<u8> {
    let mut head = Vec::new();
    // Writing to a `Vec` cannot fail.
    let _ = write_head(&mut head, log_info, frames, cut);
    head
}

fn write_head(
    head: &mut Vec<u8>,
    log_info: &LogInfo,
    frames: &Frames,
    cut: bool,
) -> io::Result<()> {
    write!(head, r#"{{"$schema":"{SCHEMA}","exporter":"#)?;
    json(head, concat!("eventscope ", env!("CARGO_PKG_VERSION")))?;
    if !log_info.program.is_empty() {
        head.extend(br#","name":"#);
        json(head, &log_info.program)?;
    }
    head.extend(br#","activeProfileIndex":0,"shared":{"frames":["#);
    let deeper = Frame::with_kind(FrameKind::Unknown, DEEPER);
    let all = frames.iter().map(|(_, frame)| frame);
    for (number, frame) in all.chain(cut.then_some(&deeper)).enumerate() {
        comma(head, number > 0)?;
        json(head, &NamedFrame::new(frame))?;
    }
    head.extend(br#"]},"profiles":["#);
    Ok(())
}

/// Returns the index of the frame that replaces truncated frames.
fn deeper(frames: &Frames) -> u32 {
    u32::try_from(frames.len()).unwrap_or(u32::MAX)
}

fn json(out: &mut impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(serde_json::to_writer(out, value)?)
}

fn comma(out: &mut impl Write, wanted: bool) -> io::Result<()> {
    if wanted { out.write_all(b",") } else { Ok(()) }
}

#[derive(Serialize)]
struct NamedFrame<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<u32>,
}

impl<'a> NamedFrame<'a> {
    fn new(frame: &'a Frame) -> Self {
        let place = frame.location.as_deref().and_then(SourceLocation::parse);
        Self {
            name: frame_name(frame),
            file: place.map(|place| place.file),
            line: place.map(|place| place.line),
            col: place.and_then(|place| place.column),
        }
    }
}

/// Properties of a profile, which precede its lists.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProfileHead<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    unit: &'static str,
    start_value: f64,
    end_value: f64,
}

impl ProfileHead<'_> {
    /// Writes the properties and opens the first list.
    fn write(&self, out: &mut impl Write, list: &str) -> io::Result<()> {
        let head = serde_json::to_string(self)?;
        // The object is closed after the last list.
        write!(out, "{},\"{list}\":[", head.trim_end_matches('}'))
    }
}

/// Collects the frames of a truncated stack, outermost first.
fn frames_of(stacks: &Stacks, stack: StackId, deeper: u32, frames: &mut Vec<u32>) {
    frames.clear();
    frames.extend(stacks.innermost_first(stack).map(|frame| frame.0));
    if stacks.depth(stack) > DEEPEST
        && let Some(innermost) = frames.first_mut()
    {
        *innermost = deeper;
    }
    frames.reverse();
}
