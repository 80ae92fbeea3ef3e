//! Tables of an open log as text for files.

use serde::{Deserialize, Serialize};

use super::Session;
use super::query::{Host, Query};
use crate::cells::RowFormat;
use crate::collection_export::collection_text;
use crate::thread_export::thread_text;
use crate::ticky_export::ticky_text;
use analysis::numbers::collections_query::CollectionsQuery;
use analysis::ticky::TickyQuery;
use analysis::timeline::thread_table::ThreadTableQuery;
use model::time::Interval;

/// Thread table as text. The header precedes row 0 only, so that parts can be concatenated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadTextQuery {
    /// Rows, order and range.
    pub query: ThreadTableQuery,
    /// File format of the text.
    pub separated: RowFormat,
}

impl Query for ThreadTextQuery {
    type Answer = Option<String>;
    const NAME: &'static str = "threads as text";

    fn range(&mut self) -> Option<&mut Option<Interval>> {
        Some(&mut self.query.range)
    }

    async fn answer(&self, log: &Session, host: &dyn Host) -> Option<String> {
        let table = log.recording.store.thread_table(&self.query, host).await?;
        let is_first = self.query.rows.start == 0;
        Some(thread_text(&table, self.separated, is_first))
    }
}

/// Garbage collection table as text. The header precedes row 0 only, so that parts can be concatenated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionTextQuery {
    /// Rows, order and range.
    pub query: CollectionsQuery,
    /// File format of the text.
    pub separated: RowFormat,
}

impl Query for CollectionTextQuery {
    type Answer = String;
    const NAME: &'static str = "collections as text";

    fn range(&mut self) -> Option<&mut Option<Interval>> {
        Some(&mut self.query.range)
    }

    async fn answer(&self, log: &Session, _: &dyn Host) -> String {
        let end = log.recording.end();
        let table = log.recording.numbers.collections(end, &self.query);
        collection_text(&table, self.separated, self.query.rows.start == 0)
    }
}

/// Table of ticky counters as text. The header precedes row 0 only, so that parts can be concatenated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyTextQuery {
    /// Rows, order and range.
    pub query: TickyQuery,
    /// File format of the text.
    pub separated: RowFormat,
}

impl Query for TickyTextQuery {
    type Answer = String;
    const NAME: &'static str = "ticky as text";

    fn range(&mut self) -> Option<&mut Option<Interval>> {
        Some(&mut self.query.range)
    }

    async fn answer(&self, log: &Session, _: &dyn Host) -> String {
        let table = log.recording.ticky_table(&self.query);
        ticky_text(&table, self.separated, self.query.rows.start == 0)
    }
}
