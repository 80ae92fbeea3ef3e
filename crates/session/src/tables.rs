//! Tables of an open log as text for files.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Session;
use super::query::{Host, Query};
use crate::cells::RowFormat;
use crate::event_list::{EventRowsQuery, NoRows};
use crate::events::EventRow;
use crate::heap::census_diff::CensusDiffQuery;
use crate::heap::table::BandTableQuery;
use crate::heap::tree::TreeQuery;
use crate::{collection_export, events, heap, thread_export, ticky_export};
use analysis::numbers::collections_query::CollectionsQuery;
use analysis::ticky::TickyQuery;
use analysis::timeline::thread_table::ThreadTableQuery;
use model::time::Interval;

/// Query for rows of a table that can be exported as text.
pub trait TableQuery: Query {
    /// Name of the query for the text.
    const TEXT_NAME: &'static str;

    /// Returns the query for other rows.
    #[must_use]
    fn with_rows(self, rows: Range<u64>) -> Self;

    /// Formats the rows of an answer; `None` if the log has no such table. The header precedes row 0 only, so that
    /// parts can be concatenated.
    fn text(&self, answer: &Self::Answer, format: RowFormat) -> Option<String>;
}

/// Rows of a table as text; see [`TableQuery::text`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextQuery<Q> {
    /// Rows, order and range.
    pub query: Q,
    /// File format of the text.
    pub format: RowFormat,
}

impl<Q: TableQuery> Query for TextQuery<Q> {
    type Answer = Option<String>;
    const NAME: &'static str = Q::TEXT_NAME;

    fn range(&mut self) -> Option<&mut Option<Interval>> {
        self.query.range()
    }

    async fn answer(&self, log: &Session, host: &dyn Host) -> Option<String> {
        let answer = self.query.answer(log, host).await;
        self.query.text(&answer, self.format)
    }
}

/// Implements [`TableQuery`] for queries with a range of rows, whose answers have the rows of these columns.
macro_rules! table_queries {
    ($($query:ident, $name:literal: |$answer:ident| $rows:expr => $columns:expr;)+) => {
        $(impl TableQuery for $query {
            const TEXT_NAME: &'static str = $name;

            fn with_rows(self, rows: Range<u64>) -> Self {
                Self { rows, ..self }
            }

            fn text(&self, $answer: &<Self as Query>::Answer, format: RowFormat) -> Option<String> {
                Some($columns.text($rows, format, self.rows.start == 0))
            }
        })+
    };
}

table_queries! {
    ThreadTableQuery, "threads as text": |table| &table.as_ref()?.rows => thread_export::COLUMNS;
    CollectionsQuery, "collections as text": |table| &table.rows => collection_export::COLUMNS;
    TickyQuery, "ticky as text": |table| &table.rows => ticky_export::COLUMNS;
    BandTableQuery, "table of bands as text": |table| &table.as_ref()?.rows => heap::export::COLUMNS;
    CensusDiffQuery, "two censuses as text": |found| &found.as_ref()?.rows => heap::census_diff::COLUMNS;
    TreeQuery, "cost-centre tree as text": |tree| &tree.as_ref()?.rows => heap::tree::COLUMNS;
}

impl TableQuery for EventRowsQuery {
    const TEXT_NAME: &'static str = "rows of events as text";

    fn with_rows(self, rows: Range<u64>) -> Self {
        Self {
            first: rows.start,
            count: u32::try_from(rows.end - rows.start).unwrap_or(u32::MAX),
            ..self
        }
    }

    fn text(&self, rows: &Result<Vec<EventRow>, NoRows>, format: RowFormat) -> Option<String> {
        let rows = rows.as_ref().ok()?;
        Some(events::export::COLUMNS.text(rows, format, self.first == 0))
    }
}
