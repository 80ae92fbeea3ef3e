//! Texts of the diagnostic rules: title, meaning and advice.

use analysis::diagnostics::Rule;

/// Texts of a rule that do not depend on what it was found about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleWords {
    /// Heading without a full stop.
    pub title: &'static str,
    /// Consequences for the displayed data, in one or two sentences.
    pub meaning: &'static str,
    /// What to try; empty if there is nothing to do.
    pub advice: &'static str,
}

const COPY_AGAIN: &str =
    "Copy the file again in binary mode. If the original is damaged too, record a new log.";
const END_PROPERLY: &str =
    "Let the program exit normally, or flush more often: +RTS --eventlog-flush-interval=1.";
const AROUND_IT: &str =
    "Earlier events were lost or reordered; the display around this time may be wrong.";
const NO_MORE: &str = "Only this message is lost; everything else is shown.";
const CHECK_MESSAGES: &str =
    "Check the messages that the program or its library writes with traceEvent.";
const CHECK_LIBRARY: &str = "Use the same version of ghc-stack-profiler throughout the program.";
const LOOK_FOR_DAMAGE: &str = "Look for damage around this time. If there is none, this may be a bug of the runtime: report it to GHC.";

/// Defines the texts of all rules: title, meaning and advice.
macro_rules! texts {
    ($($rule:ident => $title:literal, $meaning:expr, $advice:expr;)+) => {
        /// Returns the texts of a rule.
        pub const fn for_rule(rule: Rule) -> RuleWords {
            match rule {
                $(Rule::$rule => RuleWords {
                    title: $title,
                    meaning: $meaning,
                    advice: $advice,
                },)+
            }
        }
    };
}

texts! {
    // Damage of the file.
    UndeclaredType => "Events of undeclared types",
        "The file is damaged there. Reading continues at the next event that can be made out.", COPY_AGAIN;
    EventOverrun => "Events longer than their block",
        "The file is damaged there. Reading continues at the next event that can be made out.", COPY_AGAIN;
    EventTime => "Events with impossible times",
        "The file is damaged there: the time of an event is impossible.", COPY_AGAIN;
    BlockTimes => "Blocks whose times differ from their events’",
        "The block's marker and its events disagree about the time. The events are shown at their own times.", COPY_AGAIN;
    EventMisfit => "Bytes that only look like an event",
        "The file is damaged there. Reading continues at the next event that can be made out.", COPY_AGAIN;
    EventLength => "Events of impossible length",
        "The file is damaged there. The event ends where the next one begins.", COPY_AGAIN;
    BlockSize => "Blocks of impossible size",
        "The file is damaged there, or was changed. The block is read as far as the next one.", COPY_AGAIN;
    BlockMarker => "Damaged block markers",
        "A block marker contains the capability and the time of its events. They may be shown in the wrong place.", COPY_AGAIN;
    BetweenBlocks => "Bytes that are not events", "The file is damaged there, or parts of it are missing.", COPY_AGAIN;
    BeforeHeader => "Bytes before the header", "GHC 9.0 writes them when logging restarts. Nothing is missing.", "";
    AfterEnd => "Bytes after the end",
        "The log is complete, but other data follows. Only a complete second log would be read.",
        "If several logs were joined, open them one by one.";
    CutOff => "Truncated file",
        "The file ends inside an event: the program was killed or was still running, or the copy is incomplete. Later events are missing.", END_PROPERLY;
    NoEndMarker => "Incomplete log",
        "The program was killed or was still running. Events that it had not yet written to the file are missing.", END_PROPERLY;
    SectionHeader => "Unreadable second log",
        "The file contains several concatenated logs. The one with the broken header is missing.",
        "If the logs were joined, open them one by one.";
    Compressed => "Damaged compression",
        "Only what could be decompressed is shown.",
        "Compress the log again, or open it uncompressed.";
    BufferMissing => "A capability's events are missing",
        "The runtime buffers the events of each capability, and the log ends before this buffer was written: the program was killed, or the file is incomplete. The state of the capability is unknown, not idle.", END_PROPERLY;

    // Textual heap profiles.
    ReportLine => "Unreadable lines",
        "The heap profile has lines that the runtime does not write. Only these lines are lost: a band without its line counts as 0 bytes in that census.",
        "Check the line, or record a new profile.";
    ReportTime => "Censuses that go back in time",
        "A census or mark in the heap profile is earlier than its predecessor. It is shown at the predecessor's time.",
        "If several profiles were joined, open them one by one.";
    ReportUnit => "Unknown units",
        "The heap profile does not count in seconds or bytes. Its numbers are shown as if it did.", "";
    ReportCut => "Truncated heap profile",
        "The profile ends inside a census: the program was killed or was still running, or the copy is incomplete. That census is omitted, because a part of it would show too few live bytes.",
        "Let the program exit normally.";

    // Events in an impossible order.
    OrderUncreated => "Threads and tasks that were never created", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderCreatedAgain => "Threads created twice", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderAfterEnd => "Threads and tasks active after their end", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderRunsAlready => "Threads running twice at once", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderStopsUnrun => "Threads that stop without having run", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderStopsElsewhere => "Threads that stop on another capability", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderMovesRunning => "Threads that move while they run", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderOtherThread => "Two threads at once on one capability", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderTaskElsewhere => "Tasks that move from the wrong capability", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderSparkWithoutThread => "Sparks run by no thread", AROUND_IT, LOOK_FOR_DAMAGE;
    OrderSparkInOtherThread => "Sparks run by threads that are not spark threads", AROUND_IT, LOOK_FOR_DAMAGE;

    // Messages of foreign calls.
    CallStartRepeated => "Calls that begin twice", NO_MORE, CHECK_MESSAGES;
    CallStopWithoutStart => "Calls that end without a beginning",
        "The call may have begun before the log; it is not shown.", CHECK_MESSAGES;
    CallAnnotationEarly => "Annotations before their call", NO_MORE, CHECK_MESSAGES;
    CallAnnotationRepeated => "Repeated annotations", NO_MORE, CHECK_MESSAGES;
    CallNumberMissing => "Annotations without a call", NO_MORE, CHECK_MESSAGES;
    CallThreadMissing => "Calls without an OS thread", "The call is shown on an unknown OS thread.", CHECK_MESSAGES;
    CallStackUnreadable => "Call stacks that cannot be read",
        "The call is shown without its Haskell stack.", CHECK_MESSAGES;
    CallUnknownCostCentre => "Unknown cost centres",
        "They are shown under the announced name, separate from declared cost centres.", "";
    CallOverlap => "Calls that overlap",
        "Calls on one OS thread must nest. The first call is cut off where the second begins.", CHECK_MESSAGES;
    CallCutByReturn => "Calls that outlast their C function",
        "The call is cut off where the function around it returns.", CHECK_MESSAGES;
    CallAddressMissing => "C functions without an address", NO_MORE, CHECK_MESSAGES;
    CallFunctionThreadMissing => "C functions without an OS thread", NO_MORE, CHECK_MESSAGES;
    CallReturnUnmatched => "C functions that return without a call",
        "The call may have been before the log; it is not shown.", CHECK_MESSAGES;
    CallTooMany => "Too many calls at once",
        "Calls on unknown OS threads are stacked, and there is no room for these.",
        "Announce the OS thread of each call.";

    // Limits of Eventscope, contradictory events, and usual findings in sound logs.
    MemoryExceeded => "More memory than allowed",
        "Data beyond the memory limit is spilled to a file, but there is no file, or no room in it. The data stays in memory: results are the same, but a small device may become slow, or the browser may close the tab.",
        "Free disk space, leave the private window, or allow more memory: ?memory=2048 in the page's address, --memory 2048 on the command line (MiB).";
    SpillLost => "Spilled data is lost",
        "Part of the log's data was spilled to a file for lack of memory, and could not be read back. Numbers and charts are wrong where it is missing.",
        "Open the log again, or allow more memory: ?memory=2048 in the page's address, --memory 2048 on the command line (MiB).";
    MessagesCut => "Messages without their text",
        "The text of the log exceeds the limit. Messages beyond it are counted and shown without text; spans that they begin or end are not shown, or shown as open. The list of events has their text.",
        "Log less text, or a shorter time.";
    NamesLeftOut => "Names left out",
        "The names of threads, cost centres and counters exceed the limit. Events about the others show only a number.",
        "Give threads shorter labels, or log a shorter time.";
    TooLarge => "Too large to be counted",
        "The log has more runs, samples or stacks than Eventscope can count. Some numbers are wrong.",
        "Log a shorter time, or fewer kinds of events.";
    InfoTablesLeftOut => "Info tables without a name",
        "The descriptions of info tables exceed the limit. The other info tables are shown by address, unless the executable names them.",
        "Build only the modules of interest with -finfo-table-map, or drop the executable on the page.";
    HeapBandsFolded => "Merged bands",
        "A heap profile has too many bands. Bands that were always small are merged into one, whose bytes are exact.",
        "Use a coarser breakdown, such as -hT or -hm, or take fewer censuses (-i).";
    HeapBytesCapped => "Impossible sizes",
        "A census claims more bytes than any machine has: the file may be damaged.",
        "Compare the file with its original.";
    GcEndWithoutStart => "Collections without a beginning",
        "The collection may have begun before the log; it is not shown.", "";
    GcStartRepeated => "Collections within collections", AROUND_IT, "";
    StopBeforeRun => "Threads that stop without having run", AROUND_IT, "";
    OtherThread => "Two threads at once on one capability", AROUND_IT, "";
    StackIncomplete => "Incomplete stack samples",
        "The sample is not shown: the log ends before its last part, or that part was lost.", "";
    StackNoSuchCapability => "Stack samples with impossible numbers",
        "No capability or thread can have that number, so the sample is not shown.", CHECK_LIBRARY;
    StackUnknownText => "Undefined texts of stack samples",
        "The frames are shown with the number of the text.", CHECK_LIBRARY;
    StackUnknownLocation => "Undefined locations of stack samples",
        "The frames are shown without source locations.", CHECK_LIBRARY;
    SpansLeftOut => "Spans missing from the flame graph",
        "The flame graph has a limited number of levels for spans that overlap without nesting. The timeline shows all spans.",
        "End each span, or run concurrent spans in separate threads.";
    TimesGoFarBack => "Times go back far",
        "The runtime never does this: the log is damaged, contains several runs, or the machine's clocks disagree. Lengths around it may be wrong.",
        "Open each run on its own.";
    TimesGoBack => "Times go back a little",
        "Normal: the runtime back-dates the end of a collection to its actual time.", "";
    UnknownType => "Unknown event types",
        "A newer runtime or another program wrote them. They are counted, but not decoded.", "";
    OpenCollection => "Unfinished collection at the end",
        "Normal when a program is killed or still runs. It is not drawn, because its end is unknown.", "";
    OpenRun => "Threads run at the end",
        "Normal when a program is killed, still runs, or ends while other threads run.", "";
    UnfinishedThreads => "Threads have not finished",
        "Normal: the program exits with the main thread, without waiting for other threads.", "";
}
