//! Queries on an open log. The page, the command line and tests share them; [`queries`](super::queries) lists
//! them all.

pub use analysis::yielder::{LocalBoxFuture, NoYield, Yield};
pub use model::columns::Column;

use std::borrow::Cow;
use std::future::Future;
use std::ops::Range;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Session;
use analysis::yielder::block_on;
use model::time::Interval;

/// A query on an open log: a request type with its answer type and the function that computes it.
///
/// The function is `async` so that a long computation can yield ([`Yield`]) to other queries, and can read the
/// file again ([`Host::read`]). Dropping the future cancels the query.
pub trait Query: Serialize + DeserializeOwned + Clone + PartialEq + 'static {
    /// Type of the result.
    type Answer: Serialize + DeserializeOwned + 'static;
    /// Name in messages between page and worker.
    const NAME: &'static str;

    /// Whether the answer takes long and nobody has to wait for it: others then go first.
    const IS_BACKGROUND: bool = false;

    /// Computes the answer from `log`, with I/O and yields through `host`.
    fn answer(&self, log: &Session, host: &dyn Host) -> impl Future<Output = Self::Answer>;

    /// Returns the range that the query is restricted to; an inner `None` is the whole log.
    fn range(&mut self) -> Option<&mut Option<Interval>> {
        None
    }

    /// Returns the large part of an answer, which is transferred as typed arrays.
    fn columns(_: &mut Self::Answer) -> Option<&mut dyn Columns> {
        None
    }
}

/// Environment in which a query runs: it schedules yields and reads the file.
pub trait Host: Yield {
    /// Starts reading a range of the file immediately. The result begins at the start of the range, and has at
    /// least one byte but possibly fewer than requested.
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>>;
    /// Returns another open log by its number between page and worker.
    fn other_log(&self, _log: u32) -> Option<Rc<Session>> {
        None
    }
    /// Like [`Host::read`], for a scan through the file: `_next` names ranges to prefetch.
    fn read_with_prefetch(
        &self,
        range: Range<u64>,
        _next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        self.read(range)
    }
}

impl dyn Host + '_ {
    /// Yields if it is due; see [`Yield`].
    pub async fn yield_if_due(&self) {
        (self as &dyn Yield).yield_if_due().await;
    }
}

/// Error of a file that can no longer be read: for example, it was changed or removed after it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("the file can no longer be read: {0}")]
pub struct Unreadable(pub String);

/// A host without a file: every read fails.
impl Host for NoYield {
    fn read(&self, _: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        let none = Unreadable("this query has no file".to_owned());
        Box::pin(std::future::ready(Err(none)))
    }
}

/// Anything that answers queries on one log: a session, or the page, which sends them to a worker.
pub trait Answers {
    /// Returns the answer; `None` if the log is closed.
    fn ask<Q: Query>(&self, query: Q) -> impl Future<Output = Option<Q::Answer>>;
}

impl Answers for Session {
    fn ask<Q: Query>(&self, query: Q) -> impl Future<Output = Option<Q::Answer>> {
        std::future::ready(Some(Self::ask(self, &query)))
    }
}

impl Session {
    /// Answers a query that needs only data in memory.
    pub fn ask<Q: Query>(&self, query: &Q) -> Q::Answer {
        self.ask_with(query, &NoYield)
    }

    /// Answers a query by polling. The host must be ready whenever it is polled again.
    pub fn ask_with<Q: Query>(&self, query: &Q, host: &dyn Host) -> Q::Answer {
        block_on(self.clip_to_cut(query).answer(self, host))
    }

    /// Clips the query's range to the range that the log was cut to.
    pub fn clip_to_cut<'a, Q: Query>(&self, query: &'a Q) -> Cow<'a, Q> {
        let mut query = Cow::Borrowed(query);
        if self.recording.info.cut_range.is_some()
            && let Some(range) = query.to_mut().range()
        {
            *range = self.recording.clip_to_cut(*range);
        }
        query
    }
}

/// Large part of an answer: named columns of numbers whose buffers are transferred rather than copied.
pub trait Columns {
    /// Calls `see` with the name and the buffer of each column, to take it out or fill it in.
    fn for_each(&mut self, see: &mut dyn FnMut(&'static str, Column<'_>));
}

/// Implements [`Columns`] from field names.
macro_rules! columns {
    ($type:ty { $($($field:ident).+),* $(,)? }) => {
        impl $crate::query::Columns for $type {
            fn for_each(&mut self, see: &mut dyn FnMut(&'static str, $crate::query::Column<'_>)) {
                $(see(stringify!($($field).+), (&mut self.$($field).+).into());)*
            }
        }
    };
}

/// Implements [`Query::range`] from the field with the range.
macro_rules! range_field {
    ($($field:tt).+) => {
        fn range(&mut self) -> Option<&mut Option<::model::time::Interval>> {
            Some(&mut self.$($field).+)
        }
    };
}

/// Implements [`Query::columns`] for an answer that is `None` if the log has no such data.
macro_rules! optional_columns {
    () => {
        fn columns(answer: &mut Self::Answer) -> Option<&mut dyn $crate::query::Columns> {
            let columns = answer.as_mut()?;
            Some(columns)
        }
    };
}

/// Defines a query that has only a range, by its type, name and answer, and the function that computes it.
macro_rules! range_query {
    (
        $(#[$doc:meta])*
        $query:ident($name:literal) -> $answer:ty, |$log:ident, $range:ident, $host:ident| $compute:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $query(pub Option<Interval>);

        impl Query for $query {
            type Answer = $answer;
            const NAME: &'static str = $name;

            range_field!(0);

            async fn answer(&self, $log: &Session, $host: &dyn Host) -> $answer {
                let $range = self.0;
                $compute
            }
        }
    };
}

/// Callback that receives the type of a query.
pub trait Visitor {
    /// Result of the visit.
    type Output;
    /// Receives the query type.
    fn visit<Q: Query>(self) -> Self::Output;
}

/// Generates the dispatch from names to query types: the only place that turns a message into a query.
macro_rules! queries {
    ($($query:ty),* $(,)?) => {
        /// Names of all queries.
        pub const NAMES: &[&str] = &[$(<$query as $crate::query::Query>::NAME),*];

        /// Calls `visitor` with the type of the query called `name`, if there is one.
        pub fn by_name<V: $crate::query::Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            match name {
                $(<$query as $crate::query::Query>::NAME => Some(visitor.visit::<$query>()),)*
                _ => None,
            }
        }
    };
}

pub(super) use {columns, optional_columns, queries, range_field, range_query};
