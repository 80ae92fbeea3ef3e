//! Tables of an open log as texts, for files.

use serde::{Deserialize, Serialize};

use super::Session;
use super::query::{Host, Query};
use crate::cells::Separated;
use crate::collection_export::collection_text;
use crate::thread_export::thread_text;
use crate::ticky_export::ticky_text;
use analysis::numbers::collections_query::CollectionsQuery;
use analysis::ticky::TickyQuery;
use analysis::timeline::thread_table::ThreadTableQuery;
use model::time::Interval;

/// A table of threads as a text, with the names of its columns before the first row of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadTextQuery {
    /// Which rows.
    pub query: ThreadTableQuery,
    /// How their cells are told apart.
    pub separated: Separated,
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

/// A table of collections as a text, with the names of its columns before the first row of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionTextQuery {
    /// Which rows.
    pub query: CollectionsQuery,
    /// How their cells are told apart.
    pub separated: Separated,
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

/// A table of ticky counters as a text, with the names of its columns before
/// the first row of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickyTextQuery {
    /// Which rows.
    pub query: TickyQuery,
    /// How their cells are told apart.
    pub separated: Separated,
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
