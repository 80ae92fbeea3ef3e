//! Tables of an open log as text for files.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Session;
use super::query::{Host, Query};
use crate::cells::RowFormat;
use crate::heap::export as band_export;
use crate::heap::table::{BandTable, BandTableQuery};
use crate::ticky_export::ticky_text;
use crate::{collection_export, thread_export};
use analysis::numbers::collections_query::{CollectionsQuery, CollectionsReply};
use analysis::ticky::{TickyQuery, TickyTable};
use analysis::timeline::thread_table::{ThreadTable, ThreadTableQuery};
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

impl TableQuery for ThreadTableQuery {
    const TEXT_NAME: &'static str = "threads as text";

    fn with_rows(self, rows: Range<u64>) -> Self {
        Self { rows, ..self }
    }

    fn text(&self, table: &Option<ThreadTable>, format: RowFormat) -> Option<String> {
        let rows = &table.as_ref()?.rows;
        Some(thread_export::COLUMNS.text(rows, format, self.rows.start == 0))
    }
}

impl TableQuery for CollectionsQuery {
    const TEXT_NAME: &'static str = "collections as text";

    fn with_rows(self, rows: Range<u64>) -> Self {
        Self { rows, ..self }
    }

    fn text(&self, table: &CollectionsReply, format: RowFormat) -> Option<String> {
        Some(collection_export::COLUMNS.text(&table.rows, format, self.rows.start == 0))
    }
}

impl TableQuery for TickyQuery {
    const TEXT_NAME: &'static str = "ticky as text";

    fn with_rows(self, rows: Range<u64>) -> Self {
        Self { rows, ..self }
    }

    fn text(&self, table: &TickyTable, format: RowFormat) -> Option<String> {
        Some(ticky_text(table, format, self.rows.start == 0))
    }
}

impl TableQuery for BandTableQuery {
    const TEXT_NAME: &'static str = "table of bands as text";

    fn with_rows(self, rows: Range<u64>) -> Self {
        Self { rows, ..self }
    }

    fn text(&self, table: &Option<BandTable>, format: RowFormat) -> Option<String> {
        let rows = &table.as_ref()?.rows;
        Some(band_export::COLUMNS.text(rows, format, self.rows.start == 0))
    }
}
