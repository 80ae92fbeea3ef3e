//! What is known of an item beyond what its mark says. Each row has a file.

mod collections;
mod graph;
mod spans;

use super::Session;
use crate::timeline::details::{DetailsQuery, Fact};
use crate::timeline::row::Row;

impl Session {
    /// What is known of an item beyond its mark.
    #[must_use]
    pub fn details(&self, query: &DetailsQuery) -> Vec<Fact> {
        match query.row {
            Row::Collections => self.collection_details(query),
            Row::Nonmoving => self.nonmoving_details(query),
            Row::UserSpan(number) => self.user_span_details(number, query),
            Row::Task(task) => self.task_details(task, query),
            Row::Blocks(cap) => self.block_details(cap, query),
            Row::Activity => self.activity_details(query),
            Row::Graph(_) | Row::Sparks(..) | Row::Perf(_) => self.graph_details(query),
            Row::Cap(_) | Row::Thread(_) | Row::Instants(_) | Row::Messages => Vec::new(),
        }
    }
}
