//! The messages between page and worker. Control messages are small and go
//! through serde; a question or an answer goes beside them, the columns of an
//! answer beside that as typed arrays, and a file as a handle. Further workers
//! of the same program analyse slices of large logs for the first one, each over
//! a port of their own.

pub mod wire;

use js_sys::{ArrayBuffer, WebAssembly};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;

use analysis::flamegraph::source_info::SourceInfo;
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::Progress;
use eventlog_edit::merge::Align;
use session::tracks::Contents;
use session::{JobId, MemoryBudget, MemoryUse, Overview};
use views::trouble::Code;

/// How many bytes of memory the program takes that calls this: all that it ever took, as it is never given back.
#[must_use]
pub fn memory_bytes() -> u64 {
    let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let bytes: ArrayBuffer = memory.buffer().unchecked_into();
    bytes.byte_length().into()
}

/// Changes whenever a message does: page and worker of different builds must
/// not talk to each other.
pub const VERSION: u32 = 12;

/// An open log: the page gives each a number of its own.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LogId(pub u32);

impl LogId {
    /// The numbers of logs that are read on are above those that the page gives.
    const GROWING: u32 = 1 << 31;

    /// The same log, longer, until it is read and takes the place of this one.
    #[must_use]
    pub const fn growing(self) -> Self {
        Self(self.0 | Self::GROWING)
    }

    /// Whether it is the longer one.
    #[must_use]
    pub const fn is_growing(self) -> bool {
        self.0 & Self::GROWING != 0
    }
}

/// A question that is to be answered, with a number of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AskId(pub u32);

/// From the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Analyse the slices that are wanted over the port that comes with this.
    Help,
    /// Another worker analyses slices for this one: over the port that comes with this.
    Helper,
    /// There are no other workers any more.
    Alone,
    /// Open the file that comes with this message, beside what is open. It may take
    /// that much memory; when the worker takes so many bytes, it stops reading.
    Open(LogId, MemoryBudget, u64),
    /// Read on in a log whose file has become the one that comes with this: it is longer, or (if
    /// that is said) another one, which is read from its start. Until that is read, questions
    /// are answered about what was there. When the worker takes so many bytes, it stops reading.
    /// Answered by [`News::Grown`] or [`News::NotGrown`].
    Grow(LogId, bool, u64),
    /// A log is read, and is not or no more followed: its file counts as it is now.
    Settle(LogId),
    /// Drop a log that is open or being opened.
    Close(LogId),
    /// Look for spans of the program with these words, in what is open and in
    /// what will be; answered by [`News::Contents`] for each log that is read.
    SpanPrefixes(SpanPrefixes),
    /// Name the addresses in the logs by the executable, or by the output of
    /// `nm`, that comes with this; also in logs that are opened later.
    /// Answered by [`FromWorker::Symbols`].
    Symbols,
    /// Answer the question of that name ([`questions`](session::questions))
    /// that comes with this, about that log.
    Ask(AskId, LogId, String),
    /// Nobody waits for that answer any more.
    Forget(AskId),
    /// Make one log of the files that come with this. Whoever is told does nothing else until that
    /// is done; answered by [`FromWorker::Merging`] and [`FromWorker::Merged`].
    Merge(MergeWish),
}

/// How logs are to be merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeWish {
    /// What puts them onto one axis.
    pub align: Align,
    /// By how many nanoseconds each is moved beside that.
    pub offsets_ns: Vec<i64>,
    /// What the file of the new log is called.
    pub name: String,
}

/// What became of merging.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeReport {
    /// How many processes the logs are of.
    pub processes: u64,
    /// What is to be said of the new log: what was left out, which log is damaged, by which
    /// messages they were aligned.
    pub said: Vec<String>,
}

/// To a worker that helps: with this come the file and the slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToHelper(pub LogId);

/// From a worker that helps: with this comes what the slice is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromHelper {
    /// The log that the slice is of.
    pub log: LogId,
    /// The slice.
    pub job: JobId,
    /// Where the file could not be read, and why, if so: there the slice ends.
    pub failed: Option<(u64, String)>,
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// It is ready for messages.
    Ready {
        /// Its [`VERSION`].
        version: u32,
    },
    /// It has heard that it shall open or close a log: it is not deaf.
    Heard(LogId),
    /// Something is to be told about a log.
    News(LogId, News),
    /// What became of the addresses of the logs, in a sentence.
    Symbols(String),
    /// The answer comes with this, unless there is a reason why not.
    Answer(AskId, Result<(), NotAnswered>),
    /// How much of what there is to read for merging is read, in percent.
    Merging(u64),
    /// Logs were merged: the new one comes with this. Or why they could not be.
    Merged(Result<MergeReport, String>),
    /// It is about to die: a defect of this program.
    Died {
        /// What it says of itself.
        message: String,
    },
}

/// What the worker tells about a log without being asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// It is being read.
    Loading {
        /// In bytes.
        progress: Progress,
        /// Events so far.
        events: u64,
        /// What is known so far, now and then.
        overview: Option<Box<Overview>>,
    },
    /// It is read to its end.
    Loaded {
        /// What it is.
        overview: Box<Overview>,
        /// How long that took, in milliseconds.
        elapsed_ms: f64,
        /// How much memory the worker takes, and what it put away.
        memory: MemoryUse,
    },
    /// All that was added to it is read.
    Grown {
        /// What it is now.
        overview: Box<Overview>,
        /// How much memory the worker takes, and what it put away.
        memory: MemoryUse,
    },
    /// Nothing more of it can be shown: what there is has no event yet or cannot be read, or
    /// there is no memory for it.
    NotGrown {
        /// Whether it is for want of memory.
        is_short: bool,
    },
    /// It is read in part: there is no memory for more.
    Short {
        /// What it is, as far as it is read.
        overview: Box<Overview>,
        /// How much memory the worker takes, and what it put away.
        memory: MemoryUse,
    },
    /// What there is to be shown of it, after names or the words for spans of
    /// the program have changed.
    Contents(Box<Contents>, Vec<SourceInfo>),
    /// It is no log that can be read.
    Failed {
        /// What is wrong.
        code: Code,
        /// Why, and what to try.
        message: String,
    },
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NotAnswered {
    /// The log was closed, or the worker was replaced.
    #[error("the log is not open any more")]
    Closed,
    /// Page and worker do not understand each other: a defect of this program.
    #[error("the question “{0}” was not understood")]
    Garbled(String),
}
