//! The messages between page and worker. Control messages are small and go
//! through serde; the columns of an answer go beside them as typed arrays,
//! and the file goes as a handle. A second worker of the same program only
//! reads; it hands pieces of the file to the first over a port of their own.

use serde::{Deserialize, Serialize};

use analysis::flamegraph::profiles::SourceInfo;
use analysis::numbers::collections_query::{CollectionsQuery, CollectionsReply};
use analysis::numbers::sparks_query::SparksReply;
use analysis::numbers::summary::Summary;
use analysis::process::Process;
use analysis::timeline::contents::Contents;
use analysis::timeline::details::{DetailsQuery, Fact};
use analysis::timeline::flow::{Arrow, FlowQuery};
use analysis::timeline::messages::Message;
use analysis::timeline::query::{TimelineQuery, UsageRow};
use analysis::timeline::thread_table::{ThreadTable, ThreadTableQuery};
use analysis::timeline::threads::{ThreadFilter, ThreadRow};
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::Progress;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::time::Span;
use views::events::visit::FoundRow;
use views::events::{EventList, EventRow};
use views::flame::query::{
    ExportFormat, FlameHead, FlamePlaceQuery, FlameQuery, FlameRow, FlameTableQuery,
};
use views::session::Overview;

/// Changes whenever a message does: page and worker of different builds must
/// not talk to each other.
pub const VERSION: u32 = 6;

/// From the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Be the worker that reads: answer over the port that comes with this.
    Read,
    /// Pieces of files are to be had over the port that comes with this.
    Pieces,
    /// Open the file that comes with this message; what was open is dropped.
    Open,
    /// Drop what is open.
    Cancel,
    /// Look for spans of the program with these words, in what is open and in
    /// what will be; answered by [`FromWorker::Contents`] once a log is read.
    SpanPrefixes(SpanPrefixes),
    /// Name the addresses in the log by the executable, or by the output of
    /// `nm`, that comes with this; also in logs that are opened later.
    /// Answered by [`FromWorker::Symbols`].
    Symbols,
    /// Count the rows of a list, instead of any other; `None`: of none.
    Count(Option<EventList>),
    /// Answer a question about the open log.
    Ask {
        /// Comes back with the answer.
        id: u32,
        /// The question.
        question: Question,
    },
}

/// What the page may ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// The marks of the timeline.
    Timeline(TimelineQuery),
    /// The usage of each capability in a range.
    Usage(Span),
    /// A list of threads.
    Threads(ThreadFilter),
    /// How threads spent their time.
    ThreadTable(ThreadTableQuery),
    /// The same as CSV, with names of columns before the first row of all.
    ThreadCsv(ThreadTableQuery),
    /// One message of the program.
    Message(u32),
    /// What is known of an item beyond its mark.
    Details(DetailsQuery),
    /// How a thread came to run, in view.
    Flow(FlowQuery),
    /// The labels of threads.
    Labels(Vec<ThreadId>),
    /// The boxes of a flame graph.
    Flame(FlameQuery),
    /// How much each frame of a flame graph weighs.
    FlameTable(FlameTableQuery),
    /// Where a box of it is on the timeline.
    FlamePlace(FlamePlaceQuery),
    /// What it shows, as a file.
    FlameExport(FlameQuery, ExportFormat),
    /// The numbers of a range, or of the whole log.
    Summary(Option<Span>),
    /// Some of the collections.
    Collections(CollectionsQuery),
    /// The sparks of a range, or of the whole log.
    Sparks(Option<Span>),
    /// Events.
    Events(EventQuery),
    /// The process that wrote the log, and what is wrong with the log.
    Process,
    /// The environment of the process, which may hold secrets.
    Environment,
}

/// What may be asked about the events, which are read again for the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventQuery {
    /// `count` rows of a list from row `first` on.
    Rows {
        /// Which list.
        list: EventList,
        /// The first row.
        first: u64,
        /// How many at most.
        count: u32,
    },
    /// The next row after a row of the list with the searched text, or the
    /// last one before it.
    Find {
        /// Which list, with the text.
        list: EventList,
        /// After or before which row.
        from: Option<u64>,
        /// Whether after it.
        forward: bool,
    },
    /// The first row at or after a time.
    At {
        /// Which list.
        list: EventList,
        /// The time.
        time: Nanos,
        /// If there are several at that time: of this capability.
        cap: Option<CapId>,
    },
    /// All fields of the event of that number.
    Fields(u64),
}

/// What the worker answers; columns come beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The columns of a [`TimelineReply`](model::marks::TimelineReply) come beside.
    Timeline,
    /// The usage of each capability.
    Usage(Vec<UsageRow>),
    /// The threads, and how many there are in all.
    Threads(Vec<ThreadRow>, u64),
    /// How threads spent their time.
    ThreadTable(ThreadTable),
    /// The same as CSV.
    ThreadCsv(String),
    /// The message, if there is one of that number.
    Message(Option<Message>),
    /// Facts about the item.
    Details(Vec<Fact>),
    /// The arrows to the thread's runs.
    Flow(Vec<Arrow>),
    /// Labels, as far as the threads have one.
    Labels(Vec<(ThreadId, String)>),
    /// The boxes of the flame graph come beside.
    Flame(FlameHead),
    /// The frames of a flame graph, and of how many heap samples their weights
    /// are sums.
    FlameTable(Vec<FlameRow>, u32),
    /// When the box is, if it is at any later time.
    FlamePlace(Option<Span>),
    /// The bytes of a file come beside.
    File,
    /// The numbers.
    Summary(Box<Summary>),
    /// The collections that were asked for.
    Collections(CollectionsReply),
    /// The sparks.
    Sparks(SparksReply),
    /// Rows of a list of events.
    EventRows(Vec<EventRow>),
    /// A row of it.
    EventFound(Option<FoundRow>),
    /// Names and values of an event's fields.
    EventFields(Vec<(String, String)>),
    /// The process.
    Process(Box<Process>),
    /// Names and values of environment variables.
    Environment(Vec<(String, String)>),
    /// No log is open, or it has nothing of that kind.
    Nothing,
}

/// How many rows a list has, as far as they are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Which list.
    pub list: EventList,
    /// Its rows.
    pub rows: u64,
    /// Rows with the searched text.
    pub found: u64,
    /// Which part of the log is counted, from 0 to 1.
    pub part: f64,
    /// Whether that is all of it.
    pub complete: bool,
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// It is ready for messages.
    Ready {
        /// Its [`VERSION`].
        version: u32,
    },
    /// It goes on loading.
    Loading {
        /// In bytes.
        progress: Progress,
        /// Events so far.
        events: u64,
        /// What is known so far, now and then.
        overview: Option<Box<Overview>>,
    },
    /// The log is read to its end.
    Loaded {
        /// What it is.
        overview: Box<Overview>,
        /// How long that took, in milliseconds.
        elapsed_ms: f64,
    },
    /// What there is to be shown of the open log, after the words for spans
    /// of the program have changed.
    Contents(Box<Contents>, Vec<SourceInfo>),
    /// What became of the addresses in the open log.
    Symbols {
        /// How many have a name now.
        named: u64,
        /// How many there are.
        addresses: u64,
        /// A sentence to show.
        text: String,
        /// Whether the file could not be used.
        failed: bool,
    },
    /// The file is no log that can be read.
    Failed {
        /// Why, and what to try.
        message: String,
    },
    /// How far the counting of a list's rows is.
    Counted(Counted),
    /// It dropped what was open.
    Cancelled,
    /// An answer.
    Answer {
        /// That of the question.
        id: u32,
        /// The answer.
        answer: Answer,
    },
    /// It is about to die: a defect of this program.
    Died {
        /// What it says of itself.
        message: String,
    },
}
