//! Rules: the kinds of diagnostics, each with a stable name.

use serde::{Deserialize, Serialize};

model::named_enum! {
    /// Severity of a rule, in ascending order.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Severity {
        /// Also found in sound logs; no action needed.
        Note: "note";
        /// The log contradicts itself, or is shown incompletely: results nearby may be inaccurate.
        Warning: "warning";
        /// A part of the log is missing or unreadable.
        Error: "error";
    }
    /// Returns the severity's name in JSON.
    fn name;
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $severity:ident $rule:ident $name:literal,)*) => {
        /// Kind of a diagnostic. The names are a stable interface for scripts and never change.
        ///
        /// | rule | severity | meaning |
        /// |---|---|---|
        $(#[doc = concat!("| `", $name, "` | ", stringify!($severity), " |", $($doc,)+ " |")])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Rule {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $rule,)*
        }

        impl Rule {
            /// All rules: first those about the file, then events, messages of libraries, and usual findings.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// Returns the stable name, in kebab case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// Returns the severity, which is fixed for each rule.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$rule => Severity::$severity,)* }
            }
        }
    };
}

rules! {
    /// An event of a type that the header does not declare.
    Error UndeclaredType "undeclared-type",
    /// An event longer than its block.
    Error EventOverrun "event-overrun",
    /// An event with an impossible time.
    Error EventTime "event-time",
    /// A block whose events are all dated outside the block's own times.
    Warning BlockTimes "block-times",
    /// Bytes that look like an event, but do not end where another event begins.
    Error EventMisfit "event-misfit",
    /// A block marker with an impossible size.
    Error BlockSize "block-size",
    /// A block marker with another impossible field, or inside a block.
    Error BlockMarker "block-marker",
    /// An event whose length overlaps the events after it.
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
    /// A further log in the file has a broken header.
    Error SectionHeader "section-header",
    /// An unreadable line in a textual heap profile (`.hp`).
    Error ReportLine "heap-report-line",
    /// A census in a textual heap profile is dated before the previous one.
    Warning ReportTime "heap-report-time",
    /// A textual heap profile uses unknown units.
    Warning ReportUnit "heap-report-unit",
    /// A textual heap profile ends inside a line or a census.
    Error ReportCut "heap-report-cut-off",
    /// The compressed data is corrupt.
    Error Compressed "compressed-data",
    /// Most events of a capability are missing from an incomplete file.
    Error BufferMissing "buffer-missing",
    /// Memory use exceeds the budget, because there is no room to spill to.
    Warning MemoryExceeded "memory-exceeded",
    /// Spilled data could not be read back.
    Error SpillLost "put-away-lost",
    /// Messages are stored without text, because there is too much of it.
    Warning MessagesCut "messages-cut",
    /// Threads, cost centres or counters stay unnamed, because the log has too much text of names.
    Warning NamesLeftOut "names-left-out",
    /// Something in the log overflows 32-bit counters.
    Warning TooLarge "too-large",
    /// Info tables stay unnamed, because the log describes too many.
    Warning InfoTablesLeftOut "info-tables-left-out",
    /// Small bands of a heap profile are merged, because there are too many.
    Warning HeapBandsFolded "heap-bands-folded",
    /// A census claims more bytes than any machine has.
    Warning HeapBytesCapped "heap-bytes-capped",
    /// A collection ends without having begun.
    Warning GcEndWithoutStart "gc-end-without-start",
    /// A collection begins during another on the same capability.
    Warning GcStartRepeated "gc-start-repeated",
    /// A thread stops without having run.
    Warning StopBeforeRun "stop-before-run",
    /// A thread runs or stops on a capability that is running another.
    Warning OtherThread "other-thread",
    /// An event of a thread or task that was never created.
    Warning OrderUncreated "order-uncreated",
    /// A thread is created that already exists.
    Warning OrderCreatedAgain "order-created-again",
    /// An event of a thread or task that has ended.
    Warning OrderAfterEnd "order-after-end",
    /// A thread runs that is already running.
    Warning OrderRunsAlready "order-runs-already",
    /// A thread stops that was not running.
    Warning OrderStopsUnrun "order-stops-unrun",
    /// A thread stops on a capability that was not running it.
    Warning OrderStopsElsewhere "order-stops-elsewhere",
    /// A thread moves while it runs.
    Warning OrderMovesRunning "order-moves-running",
    /// A capability runs or stops a thread while it runs another.
    Warning OrderOtherThread "order-other-thread",
    /// A task moves from a capability that it was not on.
    Warning OrderTaskElsewhere "order-task-elsewhere",
    /// A capability executes a spark without running a thread.
    Warning OrderSparkWithoutThread "order-spark-without-thread",
    /// A capability executes a spark in a thread that is no spark thread.
    Warning OrderSparkInOtherThread "order-spark-in-other-thread",
    /// A foreign call begins that is already in progress.
    Warning CallStartRepeated "call-start-repeated",
    /// A foreign call ends without having begun.
    Warning CallStopWithoutStart "call-stop-without-start",
    /// A foreign call is annotated before it begins.
    Warning CallAnnotationEarly "call-annotation-early",
    /// An annotation of a foreign call is repeated.
    Warning CallAnnotationRepeated "call-annotation-repeated",
    /// An annotation does not identify its foreign call.
    Warning CallNumberMissing "call-number-missing",
    /// An annotation of a foreign call lacks the OS thread.
    Warning CallThreadMissing "call-thread-missing",
    /// The announced stack of a foreign call is unreadable.
    Warning CallStackUnreadable "call-stack-unreadable",
    /// The announced stack of a foreign call names an undeclared cost centre.
    Warning CallUnknownCostCentre "call-unknown-cost-centre",
    /// A foreign call is cut off where another begins on its OS thread.
    Warning CallOverlap "call-overlap",
    /// A foreign call is cut off where an enclosing C function returns.
    Warning CallCutByReturn "call-cut-by-return",
    /// A C function is announced without a readable address.
    Warning CallAddressMissing "call-address-missing",
    /// A C function is announced without its OS thread.
    Warning CallFunctionThreadMissing "call-function-thread-missing",
    /// A C function returns that was not running.
    Warning CallReturnUnmatched "call-return-unmatched",
    /// A foreign call is not shown, because too many are in progress at once.
    Warning CallTooMany "call-too-many",
    /// A stack sample lacks its last part.
    Warning StackIncomplete "stack-incomplete",
    /// A stack sample has an impossible capability or thread number.
    Warning StackNoSuchCapability "stack-no-such-capability",
    /// Stack samples refer to an undefined string.
    Warning StackUnknownText "stack-unknown-text",
    /// Stack samples refer to an undefined source location.
    Warning StackUnknownLocation "stack-unknown-location",
    /// Spans are missing from the flame graph, because they overlap too many others.
    Warning SpansLeftOut "spans-left-out",
    /// Times go back by more than the runtime's usual back-dating.
    Warning TimesGoFarBack "times-go-far-back",
    /// Times go back a little, as the runtime back-dates ends of collections.
    Note TimesGoBack "times-go-back",
    /// The header declares an event type unknown to this program.
    Note UnknownType "unknown-type",
    /// A collection is still running at the end of the log.
    Note OpenCollection "open-collection",
    /// A thread is still running at the end of the log.
    Note OpenRun "open-run",
    /// Threads have neither finished nor run at the end of the log.
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
