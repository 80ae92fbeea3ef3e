//! The rules: what can be found, each with a name that never changes.

use serde::{Deserialize, Serialize};

/// How grave something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Sound logs may have it; there is nothing to do.
    Note,
    /// The log contradicts itself, or not all of it is shown: what is around
    /// it may not be as it was.
    Warning,
    /// A part of the log is missing or cannot be read.
    Error,
}

impl Severity {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $severity:ident $rule:ident $name:literal,)*) => {
        /// What was found, without what it is about. The names are for scripts:
        /// they stay as they are.
        ///
        /// | rule | severity | what it is |
        /// |---|---|---|
        $(#[doc = concat!("| `", $name, "` | ", stringify!($severity), " |", $($doc,)+ " |")])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Rule {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $rule,)*
        }

        impl Rule {
            /// Every rule: first what is about the file, then events, messages
            /// of libraries, and what is usual.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// Its name, in kebab case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// How grave it is.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$rule => Severity::$severity,)* }
            }
        }
    };
}

rules! {
    /// An event whose type the header does not declare.
    Error UndeclaredType "undeclared-type",
    /// An event that is longer than the block it stands in.
    Error EventOverrun "event-overrun",
    /// An event dated when it cannot have happened.
    Error EventTime "event-time",
    /// Events that are all dated outside their block.
    Warning BlockTimes "block-times",
    /// What begins like an event does not end where another begins.
    Error EventMisfit "event-misfit",
    /// A block marker whose size cannot be.
    Error BlockSize "block-size",
    /// A block marker with another field that cannot be, or inside a block.
    Error BlockMarker "block-marker",
    /// An event whose length reaches over the events after it.
    Error EventLength "event-length",
    /// Bytes between blocks that are no event.
    Error BetweenBlocks "between-blocks",
    /// Bytes before the header.
    Note BeforeHeader "before-header",
    /// Bytes after the end-of-data marker.
    Warning AfterEnd "after-end",
    /// The file ends inside an event or a block.
    Error CutOff "cut-off",
    /// The file ends without the end-of-data marker.
    Warning NoEndMarker "no-end-marker",
    /// A second log in the file has a broken header.
    Error SectionHeader "section-header",
    /// A line of a heap profile in text (`.hp`) that cannot be read.
    Error ReportLine "heap-report-line",
    /// A census of a heap profile in text that is dated before the one before it.
    Warning ReportTime "heap-report-time",
    /// A heap profile in text counts in units that are not known.
    Warning ReportUnit "heap-report-unit",
    /// A heap profile in text ends inside a line or a census.
    Error ReportCut "heap-report-cut-off",
    /// The compressed data is broken.
    Error Compressed "compressed-data",
    /// Most of what a capability did never came to a file that is not whole.
    Error BufferMissing "buffer-missing",
    /// More is in memory than allowed, as there is no other place for it.
    Warning MemoryExceeded "memory-exceeded",
    /// Something that was put away could not be read again.
    Error PutAwayLost "put-away-lost",
    /// Messages are kept without their text, as there is too much of it.
    Warning MessagesCut "messages-cut",
    /// Threads, cost centres or counters stay without a name, as the log has too much text of names.
    Warning NamesLeftOut "names-left-out",
    /// The log has more of something than can be counted.
    Warning TooLarge "too-large",
    /// Info tables stay without a name, as the log describes too many.
    Warning InfoTablesLeftOut "info-tables-left-out",
    /// Small bands of a heap profile are put together, as there are too many.
    Warning HeapBandsFolded "heap-bands-folded",
    /// A census has more bytes than any machine.
    Warning HeapBytesCapped "heap-bytes-capped",
    /// A collection ends that had not begun.
    Warning GcEndWithoutStart "gc-end-without-start",
    /// A collection begins during another on the same capability.
    Warning GcStartRepeated "gc-start-repeated",
    /// A thread stops that had not run.
    Warning StopBeforeRun "stop-before-run",
    /// A thread runs or stops on a capability that is running another.
    Warning OtherThread "other-thread",
    /// Something happens to a thread or task that was never created.
    Warning OrderUncreated "order-uncreated",
    /// A thread is created that there is already.
    Warning OrderCreatedAgain "order-created-again",
    /// Something happens to a thread or task that has ended.
    Warning OrderAfterEnd "order-after-end",
    /// A thread runs that is running.
    Warning OrderRunsAlready "order-runs-already",
    /// A thread stops that was not running.
    Warning OrderStopsUnrun "order-stops-unrun",
    /// A thread stops where it was not running.
    Warning OrderStopsElsewhere "order-stops-elsewhere",
    /// A thread moves while it runs.
    Warning OrderMovesRunning "order-moves-running",
    /// A capability runs or stops a thread while it runs another.
    Warning OrderOtherThread "order-other-thread",
    /// A task moves from where it is not.
    Warning OrderTaskElsewhere "order-task-elsewhere",
    /// A capability runs a spark, but no thread.
    Warning OrderSparkWithoutThread "order-spark-without-thread",
    /// A capability runs a spark in a thread that is not for sparks.
    Warning OrderSparkInOtherThread "order-spark-in-other-thread",
    /// A foreign call begins that goes on already.
    Warning CallStartRepeated "call-start-repeated",
    /// A foreign call ends that had not begun.
    Warning CallStopWithoutStart "call-stop-without-start",
    /// A foreign call is annotated before it begins.
    Warning CallAnnotationEarly "call-annotation-early",
    /// A foreign call has an annotation twice.
    Warning CallAnnotationRepeated "call-annotation-repeated",
    /// An annotation does not say of which foreign call it is.
    Warning CallNumberMissing "call-number-missing",
    /// An annotation of a foreign call does not say its OS thread.
    Warning CallThreadMissing "call-thread-missing",
    /// The announced stack of a foreign call cannot be read.
    Warning CallStackUnreadable "call-stack-unreadable",
    /// The announced stack of a foreign call names an undeclared cost centre.
    Warning CallUnknownCostCentre "call-unknown-cost-centre",
    /// A foreign call is cut off where another on its OS thread begins.
    Warning CallOverlap "call-overlap",
    /// A foreign call is cut off where a C function around it returns.
    Warning CallCutByReturn "call-cut-by-return",
    /// A C function is announced without an address that can be read.
    Warning CallAddressMissing "call-address-missing",
    /// A C function is announced without its OS thread.
    Warning CallFunctionThreadMissing "call-function-thread-missing",
    /// A C function returns that was not running.
    Warning CallReturnUnmatched "call-return-unmatched",
    /// A foreign call is not shown, as too many go on at once.
    Warning CallTooMany "call-too-many",
    /// A stack sample has no last part.
    Warning StackIncomplete "stack-incomplete",
    /// A stack sample has a capability or thread with a number that none has.
    Warning StackNoSuchCapability "stack-no-such-capability",
    /// Stack samples refer to a text that is not defined.
    Warning StackUnknownText "stack-unknown-text",
    /// Stack samples refer to a place in the source that is not defined.
    Warning StackUnknownLocation "stack-unknown-location",
    /// Spans are not in the flame graph, as they overlap too many others.
    Warning SpansLeftOut "spans-left-out",
    /// Times go back by more than the runtime dates events back.
    Warning TimesGoFarBack "times-go-far-back",
    /// Times go back by a little, as the runtime dates events back.
    Note TimesGoBack "times-go-back",
    /// The header declares a type of events that is not known.
    Note UnknownType "unknown-type",
    /// A collection goes on when the log ends.
    Note OpenCollection "open-collection",
    /// A thread runs when the log ends.
    Note OpenRun "open-run",
    /// Threads have not finished when the log ends, and do not run.
    Note UnfinishedThreads "unfinished-threads",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_different() {
        let mut names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        let plain = |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        assert!(names.iter().all(plain));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Rule::ALL.len());
    }
}
