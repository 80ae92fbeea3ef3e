//! Messages between page and worker.
//!
//! Control messages are small and serialized with serde. In the same envelope, a query or an answer travels
//! separately, the columns of an answer as typed arrays, and a file as a handle. For large logs, further workers
//! of the same program analyze slices for the first one, each over its own port.

pub mod wire;

use js_sys::{ArrayBuffer, WebAssembly};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;

use analysis::flamegraph::source_info::SourceInfo;
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::Progress;
use eventlog_edit::merge::Align;
use session::tracks::LogContents;
use session::{JobId, MemoryBudget, MemoryUse, Overview};
use views::page_error::Code;

/// Returns the size of the WebAssembly memory of the calling program. It never shrinks, so this is the peak.
pub fn memory_bytes() -> u64 {
    let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let bytes: ArrayBuffer = memory.buffer().unchecked_into();
    bytes.byte_length().into()
}

/// Protocol version, changed whenever a message changes: page and worker of different builds must not
/// communicate.
pub const VERSION: u32 = 12;

/// Number of an open log, assigned by the page.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LogId(pub u32);

impl LogId {
    /// Flag bit for the longer version of a log; the page never assigns numbers that large.
    const GROWING: u32 = 1 << 31;

    /// Returns the number of the longer version of this log, which is used until it is loaded and replaces this
    /// one.
    #[must_use]
    pub const fn growing(self) -> Self {
        Self(self.0 | Self::GROWING)
    }

    /// Returns whether this is the longer version of a log that is being loaded.
    pub const fn is_growing(self) -> bool {
        self.0 & Self::GROWING != 0
    }
}

/// Number of a query, assigned by the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AskId(pub u32);

/// Messages from the page to the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Analyze slices for another worker, over the port that comes with this message.
    ServeSlices,
    /// Use another worker to analyze slices, over the port that comes with this message.
    AddHelper,
    /// No other workers are available any more.
    RemoveHelpers,
    /// Open the file that comes with this message, in addition to open logs. The budget limits the memory for the
    /// log; reading stops when the whole worker takes the given number of bytes.
    Open(LogId, MemoryBudget, u64),
    /// Continue reading a log whose file has grown into the one that comes with this message; or, if the flag is
    /// set, was replaced by it and is read from its start.
    ///
    /// Until that is read, queries are answered from the previous state. Reading stops when the whole worker
    /// takes the given number of bytes. Answered by [`LogUpdate::Grown`] or [`LogUpdate::NotGrown`].
    Grow(LogId, bool, u64),
    /// Stop following a loaded log: its file is read as it is now, and no newer version is fetched.
    StopFollowing(LogId),
    /// Drop a log that is open or being opened.
    Close(LogId),
    /// Recognize user spans by these prefixes, in open and future logs; answered by [`LogUpdate::LogContents`] for each
    /// loaded log.
    SpanPrefixes(SpanPrefixes),
    /// Name addresses by the executable, or the output of `nm`, that comes with this message, in open and future
    /// logs. Answered by [`FromWorker::Symbols`].
    Symbols,
    /// Answer the query that comes with this message about a log. The text is the name of its type
    /// ([`queries`](session::queries)).
    Ask(AskId, LogId, String),
    /// Cancel a query.
    CancelAsk(AskId),
    /// Merge the files that come with this message into one log. Blocks the worker until done; answered by
    /// [`FromWorker::Merging`] and [`FromWorker::Merged`].
    Merge(MergeOptions),
}

/// Options for merging logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeOptions {
    /// Alignment of the logs on one time axis.
    pub align: Align,
    /// Additional offset of each log in nanoseconds.
    pub offsets_ns: Vec<i64>,
    /// File name of the new log.
    pub name: String,
}

/// Result of merging logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeReport {
    /// Number of processes in the new log.
    pub processes: u64,
    /// Sentences about the new log: what was left out, which logs are damaged, which messages aligned them.
    pub notes: Vec<String>,
}

/// Message to a helper worker; the file and the slice come with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToHelper(pub LogId);

/// Message from a helper worker; the analysis of the slice comes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromHelper {
    /// The log of the slice.
    pub log: LogId,
    /// Identifies the slice.
    pub job: JobId,
    /// Position and reason of a read error, if there was one: the slice ends there.
    pub failed: Option<(u64, String)>,
}

/// Messages from the worker to the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// The worker is ready for messages.
    Ready {
        /// Its [`VERSION`].
        version: u32,
    },
    /// Acknowledges a message to open or close a log, to show that the worker responds.
    Acknowledged(LogId),
    /// LogUpdate about a log.
    LogUpdate(LogId, LogUpdate),
    /// Result of naming addresses, as a sentence.
    Symbols(String),
    /// Answer to a query; the data comes with it, unless there is an error.
    Answer(AskId, Result<(), NotAnswered>),
    /// Progress of reading for a merge, in percent.
    Merging(u64),
    /// Result of a merge; the new log comes with it. Or the reason of failure.
    Merged(Result<MergeReport, String>),
    /// The worker crashed because of a bug.
    Died {
        /// The panic message.
        message: String,
    },
}

/// Unsolicited message about a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LogUpdate {
    /// The log is being read.
    Loading {
        /// Progress in bytes.
        progress: Progress,
        /// Events read so far.
        events: u64,
        /// Intermediate results, included at longer intervals.
        overview: Option<Box<Overview>>,
    },
    /// The log is fully read.
    Loaded {
        /// Results for the whole log.
        overview: Box<Overview>,
        /// Duration of loading in milliseconds.
        elapsed_ms: f64,
        /// Memory used by the worker and spilled for the log.
        memory: MemoryUse,
    },
    /// Everything added to the log is read.
    Grown {
        /// Results for the extended log.
        overview: Box<Overview>,
        /// Memory used by the worker and spilled for the log.
        memory: MemoryUse,
    },
    /// The added part cannot be shown: it has no events yet, cannot be read, or exceeds the memory limit.
    NotGrown {
        /// Whether memory is the reason.
        hit_memory_limit: bool,
    },
    /// The log is only partly read, because of the memory limit.
    MemoryLimit {
        /// Results for the part that was read.
        overview: Box<Overview>,
        /// Memory used by the worker and spilled for the log.
        memory: MemoryUse,
    },
    /// Available tracks and flame graph sources, after names or prefixes of user spans changed.
    LogContents(Box<LogContents>, Vec<SourceInfo>),
    /// The file cannot be read as a log.
    Failed {
        /// Kind of error.
        code: Code,
        /// The reason, and what to try.
        message: String,
    },
}

/// Reason why a query was not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NotAnswered {
    /// The log was closed, or the worker was replaced.
    #[error("the log is not open any more")]
    Closed,
    /// The query could not be decoded: a bug in page or worker.
    #[error("the question “{0}” was not understood")]
    Garbled(String),
}
