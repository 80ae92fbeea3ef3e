//! Folded stacks: a line for each, its frames outermost first with semicolons
//! between them, then its weight. `flamegraph.pl`, inferno, speedscope and
//! others read it.

use std::io::{self, Write};

use super::{Scale, frame_name, weighed};
use crate::flame::query::FlameQuery;
use model::profile::frames::Frames;
use model::profile::origin::{Origin, Weighed};
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::Weight;

/// The name of the stack without frames, which steps may leave over.
const NO_FRAME: &str = "(no frame)";

/// Writes the stacks, sorted by their frames. Frames of one name are one: the
/// format knows frames by their names alone.
pub(super) fn write(
    origin: &dyn Origin,
    query: &FlameQuery,
    out: &mut impl Write,
) -> io::Result<()> {
    let weighed = weighed(origin, query);
    let scale = Scale::new(query, weighed.heap_samples);
    let names = Names::new(&weighed.frames);
    let tree = Tree::new(&weighed, &names);
    drop(weighed);
    tree.write(&names, scale, out)
}

/// The different names of frames, by order.
struct Names {
    names: Vec<String>,
    /// Which one each frame has.
    of: Vec<u32>,
}

impl Names {
    fn new(frames: &Frames) -> Self {
        let of: Vec<String> = frames
            .iter()
            .map(|(_, frame)| folded(&frame_name(frame)))
            .collect();
        let mut names = of.clone();
        names.sort_unstable();
        names.dedup();
        let place = |name: &String| names.binary_search(name).unwrap_or(0) as u32;
        let of = of.iter().map(place).collect();
        Self { names, of }
    }
}

/// A name without what ends it in a line.
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

/// Stacks of names.
struct Tree {
    stacks: Stacks<u32>,
    own: Vec<Weight>,
    /// The stacks in which each lies, sorted by those and then by their
    /// innermost names; without those that weigh nothing.
    children: Vec<StackId>,
    /// Where the children of each begin.
    first: Vec<u32>,
}

impl Tree {
    fn new(weighed: &Weighed<'_>, names: &Names) -> Self {
        let mut stacks: Stacks<u32> = Stacks::default();
        let name = |frame: model::profile::frames::FrameId| names.of.get(frame.0 as usize);
        let new = weighed
            .stacks
            .translate(&mut stacks, |frame| name(frame).copied().unwrap_or(0));
        let mut own = vec![Weight::default(); stacks.len()];
        for (stack, &weight) in new.iter().zip(&weighed.own) {
            own[stack.index()].add(weight);
        }
        let weighs = |weight: &Weight| weight.amount > 0 || weight.count > 0;
        let mut used: Vec<bool> = own.iter().map(weighs).collect();
        for stack in stacks.ids().rev().filter(|&stack| stack != StackId::EMPTY) {
            used[stacks.parent(stack).index()] |= used[stack.index()];
        }
        let inner = |stack: &StackId| *stack != StackId::EMPTY && used[stack.index()];
        let mut children: Vec<StackId> = stacks.ids().filter(inner).collect();
        children.sort_unstable_by_key(|&stack| (stacks.parent(stack), stacks.frame(stack)));
        let mut first = vec![0; stacks.len() + 1];
        for &child in &children {
            first[stacks.parent(child).index() + 1] += 1;
        }
        for place in 1..first.len() {
            first[place] += first[place - 1];
        }
        Self {
            stacks,
            own,
            children,
            first,
        }
    }

    fn children(&self, stack: StackId) -> impl DoubleEndedIterator<Item = StackId> + '_ {
        let places = self.first[stack.index()] as usize..self.first[stack.index() + 1] as usize;
        self.children[places].iter().copied()
    }

    /// Walks through the tree with one line, which grows and shrinks.
    fn write(&self, names: &Names, scale: Scale, out: &mut impl Write) -> io::Result<()> {
        let mut line = String::new();
        // How long the line is up to each of its frames.
        let mut ends: Vec<usize> = Vec::new();
        let mut to_come = vec![StackId::EMPTY];
        while let Some(stack) = to_come.pop() {
            if let Some(name) = self.stacks.frame(stack) {
                let outer = usize::from(self.stacks.depth(stack)) - 1;
                ends.truncate(outer);
                line.truncate(ends.last().copied().unwrap_or(0));
                if outer > 0 {
                    line.push(';');
                }
                line.push_str(&names.names[name as usize]);
                ends.push(line.len());
            }
            let weight = scale.whole(self.own[stack.index()]);
            if weight > 0 {
                let text = if line.is_empty() { NO_FRAME } else { &line };
                writeln!(out, "{text} {weight}")?;
            }
            to_come.extend(self.children(stack).rev());
        }
        Ok(())
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
