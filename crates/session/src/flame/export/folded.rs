//! Folded stacks: one line per stack, with its frames outermost first, separated by semicolons, and its weight.
//! Readers include `flamegraph.pl`, inferno and speedscope.

use std::io::{self, Write};

use super::export_stacks::ExportStacks;
use super::output::{Scale, frame_name};
use super::tree::{DEEPER, Tree};
use crate::flame::query::NO_FRAME;
use model::profile::frames::{FrameId, Frames};

/// Writer of stacks, sorted by their frames. Frames with equal names are merged, because the format identifies
/// frames by name.
#[derive(Debug)]
pub(super) struct Folded {
    names: Vec<String>,
    pub(super) tree: Tree,
    scale: Scale,
    /// Next row to write.
    next: usize,
    /// Frames of the last row; updated from row to row.
    line: String,
    /// Length of the line at the end of each frame.
    ends: Vec<usize>,
}

impl Folded {
    pub(super) fn new(export_stacks: &ExportStacks<'_>, scale: Scale) -> Self {
        let Names { names, of, deeper } = Names::new(export_stacks.frames());
        let key = |frame: FrameId| of.get(frame.0 as usize).copied().unwrap_or(0);
        Self {
            tree: export_stacks.tree(key, deeper),
            names,
            scale,
            next: 0,
            line: String::new(),
            ends: Vec::new(),
        }
    }

    /// Writes at most `stacks` lines; returns whether the file is complete.
    pub(super) fn advance(&mut self, out: &mut impl Write, stacks: usize) -> io::Result<bool> {
        for _ in 0..stacks {
            let Some(row) = self.tree.get(self.next) else {
                return Ok(true);
            };
            self.next += 1;
            if let Some(outer) = row.depth.checked_sub(1) {
                self.ends.truncate(usize::from(outer));
                self.line.truncate(self.ends.last().copied().unwrap_or(0));
                if outer > 0 {
                    self.line.push(';');
                }
                let name = self.names.get(row.key as usize);
                self.line.push_str(name.map_or(NO_FRAME, |name| name));
                self.ends.push(self.line.len());
            }
            let weight = self.scale.whole(row.own);
            if weight > 0 {
                let text = if self.line.is_empty() {
                    NO_FRAME
                } else {
                    &self.line
                };
                writeln!(out, "{text} {weight}")?;
            }
        }
        Ok(false)
    }
}

/// Distinct frame names, sorted.
struct Names {
    names: Vec<String>,
    /// Name index of each frame.
    of: Vec<u32>,
    /// Name index of [`DEEPER`].
    deeper: u32,
}

impl Names {
    fn new(frames: &Frames) -> Self {
        let of: Vec<String> = frames
            .iter()
            .map(|(_, frame)| folded(&frame_name(frame)))
            .collect();
        let mut names = of.clone();
        names.push(DEEPER.to_owned());
        names.sort_unstable();
        names.dedup();
        let place = |name: &str| names.binary_search_by(|other| other.as_str().cmp(name));
        let place = |name: &str| place(name).map_or(0, |place| place as u32);
        let of = of.iter().map(|name| place(name)).collect();
        let deeper = place(DEEPER);
        Self { names, of, deeper }
    }
}

/// Returns a name without characters that would end a frame or a line.
fn folded(name: &str) -> String {
    let plain = |c: char| match c {
        ';' => ':',
        c if c.is_control() => ' ',
        c => c,
    };
    let name: String = name.trim().chars().map(plain).collect();
    if name.is_empty() {
        NO_FRAME.to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_a_frame_or_a_line() {
        for (name, expected) in [
            ("Main.f", "Main.f"),
            ("a;b\nc\td", "a:b c d"),
            (" two words ", "two words"),
            ("", NO_FRAME),
            ("\n", NO_FRAME),
        ] {
            assert_eq!(folded(name), expected);
        }
    }
}
