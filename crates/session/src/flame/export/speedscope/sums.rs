//! One profile with the weight of every stack, for a source without tracks.

use std::io::{self, Write};

use super::super::export_stacks::ExportStacks;
use super::super::output::Scale;
use super::super::tree::{Row, Tree};
use super::{ProfileHead, comma, deeper, json};
use model::profile::weights::Measure;
use model::profile::weights::Weight;

/// Writer of weighted stacks: first all stacks, then all weights.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) tree: Tree,
    scale: Scale,
    censuses: u32,
    list: List,
    /// Next row to write.
    next: usize,
    /// Frames of the last row, outermost first.
    path: Vec<u32>,
    /// Whether the current list is nonempty.
    begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Head,
    Stacks,
    Weights,
}

impl Sums {
    pub(super) fn new(export_stacks: &ExportStacks<'_>, scale: Scale) -> Self {
        let deeper = deeper(export_stacks.frames());
        Self {
            tree: export_stacks.tree(|frame| frame.0, deeper),
            scale,
            censuses: export_stacks.censuses(),
            list: List::Head,
            next: 0,
            path: Vec::new(),
            begun: false,
        }
    }

    /// Writes at most `stacks` stacks; returns whether all are written.
    pub(super) fn advance(&mut self, out: &mut impl Write, stacks: usize) -> io::Result<bool> {
        if self.list == List::Head {
            self.head(out)?;
            self.list = List::Stacks;
        }
        for _ in 0..stacks {
            if let Some(row) = self.tree.get(self.next) {
                self.next += 1;
                self.row(row, out)?;
                continue;
            }
            if self.list == List::Weights {
                out.write_all(b"]}")?;
                return Ok(true);
            }
            out.write_all(br#"],"weights":["#)?;
            (self.list, self.next, self.begun) = (List::Weights, 0, false);
        }
        Ok(false)
    }

    fn head(&self, out: &mut impl Write) -> io::Result<()> {
        let mut total = Weight::default();
        let weights = self.tree.rows().iter().filter(|row| row.own.amount > 0);
        weights.for_each(|row| total.add(row.own));
        let name = match self.censuses {
            1 => "Heap, 1 census".to_owned(),
            count => format!("Heap, mean of {count} censuses"),
        };
        let head = ProfileHead {
            kind: "sampled",
            name: &name,
            unit: match self.scale.measure {
                Measure::Amount => "bytes",
                Measure::Count => "none",
            },
            start_value: 0.0,
            end_value: self.scale.exact(total),
        };
        head.write(out, "samples")
    }

    fn row(&mut self, row: Row, out: &mut impl Write) -> io::Result<()> {
        if let Some(outer) = row.depth.checked_sub(1) {
            self.path.truncate(usize::from(outer));
            self.path.push(row.key);
        }
        if row.own.amount == 0 {
            return Ok(());
        }
        comma(out, std::mem::replace(&mut self.begun, true))?;
        match self.list {
            List::Weights => json(out, &self.scale.exact(row.own)),
            _ => json(out, &self.path),
        }
    }
}
