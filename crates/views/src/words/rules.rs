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

const fn words(title: &'static str, meaning: &'static str, advice: &'static str) -> RuleWords {
    RuleWords {
        title,
        meaning,
        advice,
    }
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

/// Returns the texts of a rule.
pub const fn for_rule(rule: Rule) -> RuleWords {
    match rule {
        Rule::UndeclaredType
        | Rule::EventOverrun
        | Rule::EventTime
        | Rule::EventLength
        | Rule::BlockTimes
        | Rule::EventMisfit
        | Rule::BlockSize
        | Rule::BlockMarker
        | Rule::BetweenBlocks
        | Rule::BeforeHeader
        | Rule::AfterEnd
        | Rule::CutOff
        | Rule::NoEndMarker
        | Rule::SectionHeader
        | Rule::Compressed
        | Rule::BufferMissing => file_rule(rule),
        Rule::ReportLine | Rule::ReportTime | Rule::ReportUnit | Rule::ReportCut => {
            heap_report_rule(rule)
        }
        Rule::OrderUncreated
        | Rule::OrderCreatedAgain
        | Rule::OrderAfterEnd
        | Rule::OrderRunsAlready
        | Rule::OrderStopsUnrun
        | Rule::OrderStopsElsewhere
        | Rule::OrderMovesRunning
        | Rule::OrderOtherThread
        | Rule::OrderTaskElsewhere
        | Rule::OrderSparkWithoutThread
        | Rule::OrderSparkInOtherThread => order_rule(rule),
        Rule::CallStartRepeated
        | Rule::CallStopWithoutStart
        | Rule::CallAnnotationEarly
        | Rule::CallAnnotationRepeated
        | Rule::CallNumberMissing
        | Rule::CallThreadMissing
        | Rule::CallStackUnreadable
        | Rule::CallUnknownCostCentre
        | Rule::CallOverlap
        | Rule::CallCutByReturn
        | Rule::CallAddressMissing
        | Rule::CallFunctionThreadMissing
        | Rule::CallReturnUnmatched
        | Rule::CallTooMany => call_rule(rule),
        _ => other_rule(rule),
    }
}

/// Texts of rules about damage of the file.
const fn file_rule(rule: Rule) -> RuleWords {
    match rule {
        Rule::UndeclaredType => words(
            "Events of undeclared types",
            "The file is damaged there. Reading continues at the next event that can be made out.",
            COPY_AGAIN,
        ),
        Rule::EventOverrun => words(
            "Events longer than their block",
            "The file is damaged there. Reading continues at the next event that can be made out.",
            COPY_AGAIN,
        ),
        Rule::EventTime => words(
            "Events with impossible times",
            "The file is damaged there: the time of an event is impossible.",
            COPY_AGAIN,
        ),
        Rule::BlockTimes => words(
            "Blocks whose times differ from their events’",
            "The block's marker and its events disagree about the time. The events are shown at their own times.",
            COPY_AGAIN,
        ),
        Rule::EventMisfit => words(
            "Bytes that only look like an event",
            "The file is damaged there. Reading continues at the next event that can be made out.",
            COPY_AGAIN,
        ),
        Rule::EventLength => words(
            "Events of impossible length",
            "The file is damaged there. The event ends where the next one begins.",
            COPY_AGAIN,
        ),
        Rule::BlockSize => words(
            "Blocks of impossible size",
            "The file is damaged there, or was changed. The block is read as far as the next one.",
            COPY_AGAIN,
        ),
        Rule::BlockMarker => words(
            "Damaged block markers",
            "A block marker contains the capability and the time of its events. They may be shown in the wrong place.",
            COPY_AGAIN,
        ),
        Rule::BetweenBlocks => words(
            "Bytes that are not events",
            "The file is damaged there, or parts of it are missing.",
            COPY_AGAIN,
        ),
        Rule::BeforeHeader => words(
            "Bytes before the header",
            "GHC 9.0 writes them when logging restarts. Nothing is missing.",
            "",
        ),
        Rule::AfterEnd => words(
            "Bytes after the end",
            "The log is complete, but other data follows. Only a complete second log would be read.",
            "If several logs were joined, open them one by one.",
        ),
        Rule::CutOff => words(
            "Truncated file",
            "The file ends inside an event: the program was killed or was still running, or the copy is incomplete. Later events are missing.",
            END_PROPERLY,
        ),
        Rule::NoEndMarker => words(
            "Incomplete log",
            "The program was killed or was still running. Events that it had not yet written to the file are missing.",
            END_PROPERLY,
        ),
        Rule::SectionHeader => words(
            "Unreadable second log",
            "The file contains several concatenated logs. The one with the broken header is missing.",
            "If the logs were joined, open them one by one.",
        ),
        Rule::Compressed => words(
            "Damaged compression",
            "Only what could be decompressed is shown.",
            "Compress the log again, or open it uncompressed.",
        ),
        _ => words(
            "A capability's events are missing",
            "The runtime buffers the events of each capability, and the log ends before this buffer was written: the program was killed, or the file is incomplete. The state of the capability is unknown, not idle.",
            END_PROPERLY,
        ),
    }
}

/// Texts of rules about textual heap profiles.
const fn heap_report_rule(rule: Rule) -> RuleWords {
    match rule {
        Rule::ReportLine => words(
            "Unreadable lines",
            "The heap profile has lines that the runtime does not write. Only these lines are lost: a band without its line counts as 0 bytes in that census.",
            "Check the line, or record a new profile.",
        ),
        Rule::ReportTime => words(
            "Censuses that go back in time",
            "A census or mark in the heap profile is earlier than its predecessor. It is shown at the predecessor's time.",
            "If several profiles were joined, open them one by one.",
        ),
        Rule::ReportUnit => words(
            "Unknown units",
            "The heap profile does not count in seconds or bytes. Its numbers are shown as if it did.",
            "",
        ),
        _ => words(
            "Truncated heap profile",
            "The profile ends inside a census: the program was killed or was still running, or the copy is incomplete. That census is omitted, because a part of it would show too few live bytes.",
            "Let the program exit normally.",
        ),
    }
}

/// Texts of rules about events in an impossible order.
const fn order_rule(rule: Rule) -> RuleWords {
    let title = match rule {
        Rule::OrderUncreated => "Threads and tasks that were never created",
        Rule::OrderCreatedAgain => "Threads created twice",
        Rule::OrderAfterEnd => "Threads and tasks active after their end",
        Rule::OrderRunsAlready => "Threads running twice at once",
        Rule::OrderStopsUnrun => "Threads that stop without having run",
        Rule::OrderStopsElsewhere => "Threads that stop on another capability",
        Rule::OrderMovesRunning => "Threads that move while they run",
        Rule::OrderOtherThread => "Two threads at once on one capability",
        Rule::OrderTaskElsewhere => "Tasks that move from the wrong capability",
        Rule::OrderSparkWithoutThread => "Sparks run by no thread",
        _ => "Sparks run by threads that are not spark threads",
    };
    words(
        title,
        AROUND_IT,
        "Look for damage around this time. If there is none, this may be a bug of the runtime: report it to GHC.",
    )
}

/// Texts of rules about messages of foreign calls.
const fn call_rule(rule: Rule) -> RuleWords {
    match rule {
        Rule::CallStartRepeated => words("Calls that begin twice", NO_MORE, CHECK_MESSAGES),
        Rule::CallStopWithoutStart => words(
            "Calls that end without a beginning",
            "The call may have begun before the log; it is not shown.",
            CHECK_MESSAGES,
        ),
        Rule::CallAnnotationEarly => {
            words("Annotations before their call", NO_MORE, CHECK_MESSAGES)
        }
        Rule::CallAnnotationRepeated => words("Repeated annotations", NO_MORE, CHECK_MESSAGES),
        Rule::CallNumberMissing => words("Annotations without a call", NO_MORE, CHECK_MESSAGES),
        Rule::CallThreadMissing => words(
            "Calls without an OS thread",
            "The call is shown on an unknown OS thread.",
            CHECK_MESSAGES,
        ),
        Rule::CallStackUnreadable => words(
            "Call stacks that cannot be read",
            "The call is shown without its Haskell stack.",
            CHECK_MESSAGES,
        ),
        Rule::CallUnknownCostCentre => words(
            "Unknown cost centres",
            "They are shown under the announced name, separate from declared cost centres.",
            "",
        ),
        Rule::CallOverlap => words(
            "Calls that overlap",
            "Calls on one OS thread must nest. The first call is cut off where the second begins.",
            CHECK_MESSAGES,
        ),
        Rule::CallCutByReturn => words(
            "Calls that outlast their C function",
            "The call is cut off where the function around it returns.",
            CHECK_MESSAGES,
        ),
        Rule::CallAddressMissing => {
            words("C functions without an address", NO_MORE, CHECK_MESSAGES)
        }
        Rule::CallFunctionThreadMissing => {
            words("C functions without an OS thread", NO_MORE, CHECK_MESSAGES)
        }
        Rule::CallReturnUnmatched => words(
            "C functions that return without a call",
            "The call may have been before the log; it is not shown.",
            CHECK_MESSAGES,
        ),
        _ => words(
            "Too many calls at once",
            "Calls on unknown OS threads are stacked, and there is no room for these.",
            "Announce the OS thread of each call.",
        ),
    }
}

const fn other_rule(rule: Rule) -> RuleWords {
    match rule {
        Rule::MemoryExceeded => words(
            "More memory than allowed",
            "Data beyond the memory limit is spilled to a file, but there is no file, or no room in it. The data stays in memory: results are the same, but a small device may become slow, or the browser may close the tab.",
            "Free disk space, leave the private window, or allow more memory: ?memory=2048 in the page's address, --memory 2048 on the command line (MiB).",
        ),
        Rule::SpillLost => words(
            "Spilled data is lost",
            "Part of the log's data was spilled to a file for lack of memory, and could not be read back. Numbers and charts are wrong where it is missing.",
            "Open the log again, or allow more memory: ?memory=2048 in the page's address, --memory 2048 on the command line (MiB).",
        ),
        Rule::MessagesCut => words(
            "Messages without their text",
            "The text of the log exceeds the limit. Messages beyond it are counted and shown without text; spans that they begin or end are not shown, or shown as open. The list of events has their text.",
            "Log less text, or a shorter time.",
        ),
        Rule::NamesLeftOut => words(
            "Names left out",
            "The names of threads, cost centres and counters exceed the limit. Events about the others show only a number.",
            "Give threads shorter labels, or log a shorter time.",
        ),
        Rule::TooLarge => words(
            "Too large to be counted",
            "The log has more runs, samples or stacks than Eventscope can count. Some numbers are wrong.",
            "Log a shorter time, or fewer kinds of events.",
        ),
        Rule::InfoTablesLeftOut => words(
            "Info tables without a name",
            "The descriptions of info tables exceed the limit. The other info tables are shown by address, unless the executable names them.",
            "Build only the modules of interest with -finfo-table-map, or drop the executable on the page.",
        ),
        Rule::HeapBandsFolded => words(
            "Merged bands",
            "A heap profile has too many bands. Bands that were always small are merged into one, whose bytes are exact.",
            "Use a coarser breakdown, such as -hT or -hm, or take fewer censuses (-i).",
        ),
        Rule::HeapBytesCapped => words(
            "Impossible sizes",
            "A census claims more bytes than any machine has: the file may be damaged.",
            "Compare the file with its original.",
        ),
        Rule::GcEndWithoutStart => words(
            "Collections without a beginning",
            "The collection may have begun before the log; it is not shown.",
            "",
        ),
        Rule::GcStartRepeated => words("Collections within collections", AROUND_IT, ""),
        Rule::StopBeforeRun => words("Threads that stop without having run", AROUND_IT, ""),
        Rule::OtherThread => words("Two threads at once on one capability", AROUND_IT, ""),
        Rule::StackIncomplete => words(
            "Incomplete stack samples",
            "The sample is not shown: the log ends before its last part, or that part was lost.",
            "",
        ),
        Rule::StackNoSuchCapability => words(
            "Stack samples with impossible numbers",
            "No capability or thread can have that number, so the sample is not shown.",
            CHECK_LIBRARY,
        ),
        Rule::StackUnknownText => words(
            "Undefined texts of stack samples",
            "The frames are shown with the number of the text.",
            CHECK_LIBRARY,
        ),
        Rule::StackUnknownLocation => words(
            "Undefined locations of stack samples",
            "The frames are shown without source locations.",
            CHECK_LIBRARY,
        ),
        Rule::SpansLeftOut => words(
            "Spans missing from the flame graph",
            "The flame graph has a limited number of levels for spans that overlap without nesting. The timeline shows all spans.",
            "End each span, or run concurrent spans in separate threads.",
        ),
        Rule::TimesGoFarBack => words(
            "Times go back far",
            "The runtime never does this: the log is damaged, holds several runs, or the machine's clocks disagree. Lengths around it may be wrong.",
            "Open each run on its own.",
        ),
        Rule::TimesGoBack => words(
            "Times go back a little",
            "Normal: the runtime back-dates the end of a collection to its actual time.",
            "",
        ),
        Rule::UnknownType => words(
            "Unknown event types",
            "A newer runtime or another program wrote them. They are counted, but not decoded.",
            "",
        ),
        Rule::OpenCollection => words(
            "Unfinished collection at the end",
            "Normal when a program is killed or still runs. It is not drawn, because its end is unknown.",
            "",
        ),
        Rule::OpenRun => words(
            "Threads run at the end",
            "Normal when a program is killed, still runs, or ends while other threads run.",
            "",
        ),
        _ => words(
            "Threads have not finished",
            "Normal: the program exits with the main thread, without waiting for other threads.",
            "",
        ),
    }
}
