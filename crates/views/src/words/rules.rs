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
    "Copy the file again in binary mode. If it is damaged where it was written, make a new log.";
const END_PROPERLY: &str =
    "Let the program end by itself, or write more often: +RTS --eventlog-flush-interval=1.";
const AROUND_IT: &str =
    "Something before it was lost or mixed up, so what is shown around it may be wrong.";
const NO_MORE: &str = "Only this message is lost; everything else is shown.";
const CHECK_MESSAGES: &str = "Look at what the program or its library writes with traceEvent.";
const CHECK_LIBRARY: &str = "Use the same version of ghc-stack-profiler throughout the program.";

/// Returns the texts of a rule.
#[must_use]
pub const fn of(rule: Rule) -> RuleWords {
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
        | Rule::BufferMissing => of_file(rule),
        Rule::ReportLine | Rule::ReportTime | Rule::ReportUnit | Rule::ReportCut => {
            of_heap_report(rule)
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
        | Rule::OrderSparkInOtherThread => of_order(rule),
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
        | Rule::CallTooMany => of_call(rule),
        _ => of_the_rest(rule),
    }
}

/// Texts of rules about damage of the file.
const fn of_file(rule: Rule) -> RuleWords {
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
            "The file is damaged there: an event is dated when it cannot have happened.",
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
            "A block's marker says of which capability its events are, and from when. They may be shown in the wrong place.",
            COPY_AGAIN,
        ),
        Rule::BetweenBlocks => words(
            "Bytes that are not events",
            "The file is damaged there, or parts of it are missing.",
            COPY_AGAIN,
        ),
        Rule::BeforeHeader => words(
            "Bytes before the header",
            "GHC 9.0 leaves them when logging begins again. Nothing is missing.",
            "",
        ),
        Rule::AfterEnd => words(
            "Bytes after the end",
            "The log is complete, and something else follows. Only a complete second log would be read.",
            "If several logs were joined, open them one by one.",
        ),
        Rule::CutOff => words(
            "The file breaks off",
            "It ends inside an event: the program was killed or was still running, or the file was not copied whole. What came later is missing.",
            END_PROPERLY,
        ),
        Rule::NoEndMarker => words(
            "Incomplete log",
            "The program was killed or was still running. What it had not yet written to the file is missing.",
            END_PROPERLY,
        ),
        Rule::SectionHeader => words(
            "A second log that cannot be read",
            "The file holds several logs, one after the other. The one with the broken header is missing.",
            "If the logs were joined, open them one by one.",
        ),
        Rule::Compressed => words(
            "Damaged compression",
            "Only what could be decompressed is shown.",
            "Compress the log again, or open it uncompressed.",
        ),
        _ => words(
            "A capability's events are missing",
            "The runtime collects the events of each capability in a buffer, and the log ends before this one was written: the program was killed, or the file is not whole. What the capability did is not known: it was not idle.",
            END_PROPERLY,
        ),
    }
}

/// Texts of rules about textual heap profiles.
const fn of_heap_report(rule: Rule) -> RuleWords {
    match rule {
        Rule::ReportLine => words(
            "Lines that cannot be read",
            "The heap profile has lines that the runtime does not write. Each costs only itself: a band that is missing there counts as nothing in that census.",
            "Look at the line, or make a new profile.",
        ),
        Rule::ReportTime => words(
            "Censuses that go back in time",
            "The heap profile has a census or mark that is dated before the one before it. It is shown at the time of that one.",
            "If several profiles were joined, open them one by one.",
        ),
        Rule::ReportUnit => words(
            "Unknown units",
            "The heap profile does not count in seconds or bytes. Its numbers are shown as if it did.",
            "",
        ),
        _ => words(
            "The heap profile breaks off",
            "It ends inside a census: the program was killed or was still running, or the file was not copied whole. That census is left out, as a part of it would look as if little was held.",
            "Let the program end by itself.",
        ),
    }
}

/// Texts of rules about events in an impossible order.
const fn of_order(rule: Rule) -> RuleWords {
    let title = match rule {
        Rule::OrderUncreated => "Threads and tasks that were never created",
        Rule::OrderCreatedAgain => "Threads created twice",
        Rule::OrderAfterEnd => "Threads and tasks that go on after their end",
        Rule::OrderRunsAlready => "Threads that run twice at once",
        Rule::OrderStopsUnrun => "Threads that stop without having run",
        Rule::OrderStopsElsewhere => "Threads that stop on another capability",
        Rule::OrderMovesRunning => "Threads that move while they run",
        Rule::OrderOtherThread => "Two threads at once on one capability",
        Rule::OrderTaskElsewhere => "Tasks that move from where they are not",
        Rule::OrderSparkWithoutThread => "Sparks run by no thread",
        _ => "Sparks run by threads that are not spark threads",
    };
    words(
        title,
        AROUND_IT,
        "Look for damage at about this time. If there is none, it may be a fault of the runtime: report it to GHC.",
    )
}

/// Texts of rules about messages of foreign calls.
const fn of_call(rule: Rule) -> RuleWords {
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
            "The call is shown among those on an unknown OS thread.",
            CHECK_MESSAGES,
        ),
        Rule::CallStackUnreadable => words(
            "Call stacks that cannot be read",
            "The call is shown without its Haskell stack.",
            CHECK_MESSAGES,
        ),
        Rule::CallUnknownCostCentre => words(
            "Unknown cost centres",
            "They are shown under the announced name, apart from the declared ones.",
            "",
        ),
        Rule::CallOverlap => words(
            "Calls that overlap",
            "One OS thread cannot be in two calls of which neither is inside the other. The first is cut off where the second begins.",
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
            "Calls on unknown OS threads stand one above the other, and there is no room for these.",
            "Announce the OS thread of each call.",
        ),
    }
}

const fn of_the_rest(rule: Rule) -> RuleWords {
    match rule {
        Rule::MemoryExceeded => words(
            "More memory than allowed",
            "What a log takes beyond the memory that is allowed is put into a file, but there is none, or no room in it. It stays in memory: all answers are the same, but a small device may become slow, or the browser may close the tab.",
            "Make room on the disk, leave the private window, or allow more memory: ?memory=2048 in the page's address, --memory 2048 on the command line (MiB).",
        ),
        Rule::PutAwayLost => words(
            "What was put away is gone",
            "A part of what is known of the log was put into a file, as there was no memory for it, and could not be read again. Numbers and pictures are wrong where it is missing.",
            "Open the log again, or allow more memory: ?memory=2048 in the page's address, --memory 2048 on the command line (MiB).",
        ),
        Rule::MessagesCut => words(
            "Messages without their text",
            "There is more text than is kept. The messages are counted and shown without it, and spans that they begin or end are not shown, or shown as open. The list of events has their text.",
            "Log less text, or a shorter time.",
        ),
        Rule::NamesLeftOut => words(
            "Names left out",
            "The log has more names of threads, cost centres and counters than are kept. Events about one of the others give only its number.",
            "Give threads shorter labels, or log a shorter time.",
        ),
        Rule::TooLarge => words(
            "Too large to be counted",
            "The log has more of something than this program can count: runs, samples or stacks. Some numbers are wrong.",
            "Log a shorter time, or fewer kinds of events.",
        ),
        Rule::InfoTablesLeftOut => words(
            "Info tables without a name",
            "The log describes more info tables than are kept. What has one of the others is shown with its address, unless the executable names it.",
            "Build with -finfo-table-map only what you want to see, or drop the executable on the page.",
        ),
        Rule::HeapBandsFolded => words(
            "Bands put together",
            "A heap profile has more bands than can be kept one by one. Those that never held much are shown as one, whose bytes are exact.",
            "Profile by something coarser, such as -hT or -hm, or take fewer censuses (-i).",
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
            "Stack samples of nothing",
            "No capability or thread can have that number, so the sample is not shown.",
            CHECK_LIBRARY,
        ),
        Rule::StackUnknownText => words(
            "Undefined texts of stack samples",
            "The frames are shown with the number of the text.",
            CHECK_LIBRARY,
        ),
        Rule::StackUnknownLocation => words(
            "Undefined places of stack samples",
            "The frames are shown without their place in the source.",
            CHECK_LIBRARY,
        ),
        Rule::SpansLeftOut => words(
            "Spans without room",
            "The flame graph has a limited number of levels for spans that overlap without lying inside each other. The timeline has all of them.",
            "End each span, or give those that run side by side threads of their own.",
        ),
        Rule::TimesGoFarBack => words(
            "Times go back far",
            "The runtime never does this: the log is damaged, holds several runs, or the machine's clocks disagree. Lengths around it may be wrong.",
            "Open each run on its own.",
        ),
        Rule::TimesGoBack => words(
            "Times go back a little",
            "Usual: the runtime writes the end of a collection with the time at which it really was.",
            "",
        ),
        Rule::UnknownType => words(
            "Unknown event types",
            "A newer runtime or another program wrote them. They are counted, but not understood.",
            "",
        ),
        Rule::OpenCollection => words(
            "A collection goes on at the end",
            "Usual when a program is killed or still runs. It is not drawn, as its end is not known.",
            "",
        ),
        Rule::OpenRun => words(
            "Threads run at the end",
            "Usual when a program is killed, still runs, or ends while other threads run.",
            "",
        ),
        _ => words(
            "Threads have not finished",
            "Usual: when the main thread ends, others are not waited for.",
            "",
        ),
    }
}
