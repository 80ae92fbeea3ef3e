//! What a question about an open log is. Page, command line and tests ask the
//! same ones; [`questions`](super::questions) lists them.

pub use analysis::listen::{Alone, Later, Listen};
pub use model::columns::Column;

use std::borrow::Cow;
use std::future::Future;
use std::ops::Range;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Session;
use analysis::listen::at_once;
use model::time::Interval;

/// A question about an open log: a type with its answer and the function that
/// answers it.
///
/// The function is `async` so that a long answer can stop now and then
/// ([`Listen`]) for whoever answers to hear other questions meanwhile,
/// and so that it can read the file again ([`Host::read`]). To give it up is to
/// drop the future.
pub trait Query: Serialize + DeserializeOwned + Clone + PartialEq + 'static {
    /// What comes back.
    type Answer: Serialize + DeserializeOwned + 'static;
    /// What it is called between page and worker.
    const NAME: &'static str;

    /// Answers it.
    fn answer(&self, log: &Session, host: &dyn Host) -> impl Future<Output = Self::Answer>;

    /// The range that it is about, where `None` is the whole log.
    fn range(&mut self) -> Option<&mut Option<Interval>> {
        None
    }

    /// The part of an answer that is large and travels as typed arrays.
    fn columns(_: &mut Self::Answer) -> Option<&mut dyn Columns> {
        None
    }
}

/// Whoever has a question answered: it gives time and supplies the file.
pub trait Host: Listen {
    /// Begins to read a range of the file at once. What comes are the bytes
    /// from its start on: at least one, not always all.
    fn read(&self, range: Range<u64>) -> Later<'_, Result<Vec<u8>, Unreadable>>;
    /// Another log that is open beside this one, by its number between page and worker.
    fn other(&self, _log: u32) -> Option<Rc<Session>> {
        None
    }
    /// [`Host::read`] for an answer that goes through the file: what it will
    /// need next may be read ahead.
    fn read_on(
        &self,
        range: Range<u64>,
        _next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> Later<'_, Result<Vec<u8>, Unreadable>> {
        self.read(range)
    }
}

impl dyn Host + '_ {
    /// As [`Listen`] has it.
    pub async fn listen(&self) {
        (self as &dyn Listen).listen().await;
    }
}

/// The file of a log can no longer be read: it was changed or removed since it
/// was opened. With what the system says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("the file can no longer be read ({0}): it was changed or removed after it was opened")]
pub struct Unreadable(pub String);

/// There is no file.
impl Host for Alone {
    fn read(&self, _: Range<u64>) -> Later<'_, Result<Vec<u8>, Unreadable>> {
        let none = Unreadable("there is none".to_owned());
        Box::pin(std::future::ready(Err(none)))
    }
}

/// Whoever answers questions about one log: a session, or the page, which asks a worker.
pub trait Answers {
    /// The answer; `None` if the log is closed.
    fn ask<Q: Query>(&self, query: Q) -> impl Future<Output = Option<Q::Answer>>;
}

impl Answers for Session {
    fn ask<Q: Query>(&self, query: Q) -> impl Future<Output = Option<Q::Answer>> {
        std::future::ready(Some(Self::ask(self, &query)))
    }
}

impl Session {
    /// The answer to a question that needs nothing but what is in memory.
    pub fn ask<Q: Query>(&self, query: &Q) -> Q::Answer {
        self.ask_with(query, &Alone)
    }

    /// The answer to a question, with a host that is never waited for: its
    /// futures come true when they are polled again.
    pub fn ask_with<Q: Query>(&self, query: &Q, host: &dyn Host) -> Q::Answer {
        at_once(self.within_cut(query).answer(self, host))
    }

    /// A question about the range that the log was cut to, or the part of its own range that is in it.
    pub fn within_cut<'a, Q: Query>(&self, query: &'a Q) -> Cow<'a, Q> {
        let mut query = Cow::Borrowed(query);
        if self.recording.info.cut_range.is_some()
            && let Some(range) = query.to_mut().range()
        {
            *range = self.recording.within_cut(*range);
        }
        query
    }
}

/// The large part of an answer: lists of numbers, each with a name, whose
/// memory is handed over rather than copied.
pub trait Columns {
    /// Shows each column with its name, to be taken out or filled in.
    fn each(&mut self, see: &mut dyn FnMut(&'static str, Column<'_>));
}

/// Makes a type [`Columns`] by the names of its fields.
macro_rules! columns {
    ($type:ty { $($($field:ident).+),* $(,)? }) => {
        impl $crate::query::Columns for $type {
            fn each(&mut self, see: &mut dyn FnMut(&'static str, $crate::query::Column<'_>)) {
                $(see(stringify!($($field).+), (&mut self.$($field).+).into());)*
            }
        }
    };
}

/// Does something with the type of a question.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Is called with the type.
    fn visit<Q: Query>(self) -> Self::Output;
}

/// Makes of the list of questions the way from a name to its type: the only
/// place where a message becomes a question.
macro_rules! questions {
    ($($query:ty),* $(,)?) => {
        /// The names of all questions.
        pub const NAMES: &[&str] = &[$(<$query as $crate::query::Query>::NAME),*];

        /// Calls `visitor` with the question of that name, if there is one.
        pub fn by_name<V: $crate::query::Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            match name {
                $(<$query as $crate::query::Query>::NAME => Some(visitor.visit::<$query>()),)*
                _ => None,
            }
        }
    };
}

pub(super) use {columns, questions};
