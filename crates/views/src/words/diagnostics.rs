//! Texts and JSON for diagnostics: damage and anomalies of a log.

use std::fmt;

use serde::Serialize;

use super::capitalized;
pub use super::rules::{RuleWords, for_rule};
use analysis::automata::Anomaly;
use analysis::automata::validity::{LifeEvent, Problem, Tolerated};
use analysis::diagnostics::{Diagnostic, Fact, Number, Subject};
use analysis::flamegraph::foreign::{CallKey, CallProblem};
use analysis::flamegraph::spans::MAX_LANES;
use analysis::flamegraph::stack_samples::problem::StackProblem;
use analysis::timeline::messages::TEXT_BUDGET_BYTES;
use eventlog::DamageKind;
use eventlog::Names;
use eventlog::ids::CapId;
use eventlog::info_tables::InfoTables;
use eventlog::problem::LineFlaw;
use model::census::Censuses;
use scene::format;

/// Describes a diagnostic as a clause without initial capital and full stop, to stand alone or after a location.
pub fn sentence(diagnostic: &Diagnostic) -> String {
    match &diagnostic.fact {
        Fact::Damage { kind, lost_bytes } => damage(*kind, *lost_bytes),
        Fact::Compressed(said) => said.clone(),
        Fact::BufferMissing(cap) => {
            let since = diagnostic.start().map_or_else(String::new, |start| {
                format!(" from {} on", format::time(start))
            });
            format!(
                "the events of capability {cap}{since} are missing: the log ends before they were written"
            )
        }
        Fact::MemoryExceeded {
            resident_bytes,
            allowed_bytes,
        } => format!(
            "{} of the log are in memory, more than the limit of {}: there is no disk space to spill the rest",
            format::bytes(*resident_bytes),
            format::bytes(*allowed_bytes)
        ),
        Fact::SpillLost => {
            "data spilled to disk could not be read back: numbers and charts are wrong where it is missing".to_owned()
        }
        Fact::MessagesCut { messages, bytes } => format!(
            "{} no text from here on, {} in all: only the first {} of all texts are kept",
            number(*messages, "message has", "messages have"),
            format::bytes(*bytes),
            format::bytes(TEXT_BUDGET_BYTES as u64)
        ),
        Fact::NamesLeftOut(count) => format!(
            "{} left out: only {} of them are kept",
            number(*count, "name is", "names are"),
            format::bytes(Names::BUDGET_BYTES as u64)
        ),
        Fact::TooLarge => {
            "the log is too large: it has more than 4,294,967,295 runs, samples or stacks, and some numbers are wrong"
                .to_owned()
        }
        Fact::InfoTablesLeftOut(count) => format!(
            "{} left out: only {} of them are kept",
            number(
                *count,
                "description of an info table is",
                "descriptions of info tables are"
            ),
            format::bytes(InfoTables::BUDGET_BYTES as u64)
        ),
        Fact::HeapBandsFolded(count) => format!(
            "{} merged to save memory",
            number(
                *count,
                "small band of a heap profile is",
                "small bands of heap profiles are"
            )
        ),
        Fact::HeapBytesCapped => format!(
            "a census of the heap claims more than {}: the rest is left out",
            format::bytes(Censuses::MAX_BYTES)
        ),
        Fact::Anomaly(anomaly) => anomaly_text(*anomaly),
        Fact::Order { subject, problem } => {
            format!(
                "{} {}",
                subject_or_none(subject.as_ref()),
                problem_text(*problem)
            )
        }
        Fact::Call(problem) => call_problem_text(problem),
        Fact::Stack(problem) => stack_problem_text(*problem),
        Fact::SpansLeftOut(count) => format!(
            "{} not in the flame graph: they overlap {MAX_LANES} others without nesting",
            number(*count, "span is", "spans are")
        ),
        Fact::TimesGoBack { events, most } => format!(
            "{} out of order, by {} at most",
            number(*events, "event is", "events are"),
            format::duration(*most)
        ),
        Fact::UnknownType {
            id,
            description,
            events,
        } => format!(
            "{} of type {id} (“{description}”), which is unknown to this program",
            number(*events, "event", "events")
        ),
        Fact::OpenCollection => "a garbage collection has no end".to_owned(),
        Fact::OpenRun(thread) => format!("thread {thread} still runs at the end of the log"),
        Fact::UnfinishedThreads(1) => {
            "1 thread waits at the end of the log, and has not finished".to_owned()
        }
        Fact::UnfinishedThreads(count) => format!(
            "{} threads wait at the end of the log, and have not finished",
            format::count(*count)
        ),
    }
}

/// Describes a diagnostic with its location, as one line.
pub fn line(diagnostic: &Diagnostic) -> String {
    let text = sentence(diagnostic);
    match (diagnostic.offset, diagnostic.cap) {
        (Some(at), _) => format!("{text} (byte {})", format::count(at.0)),
        // The capability where it was found, unless the clause names it already.
        (None, Some(cap))
            if !diagnostic
                .fact
                .subjects()
                .contains(&Subject::Capability(cap)) =>
        {
            format!("{text} (capability {cap})")
        }
        (None, _) => text,
    }
}

/// Describes a diagnostic with its location, as a full sentence.
pub fn whole_sentence(diagnostic: &Diagnostic) -> String {
    let line = capitalized(&line(diagnostic));
    let stop = if line.ends_with('.') { "" } else { "." };
    format!("{line}{stop}")
}

/// Names a subject; `None` stands for a capability that the log does not name.
pub fn subject_or_none(subject: Option<&Subject>) -> String {
    match subject {
        None => "no capability".to_owned(),
        Some(Subject::Capability(cap)) => format!("capability {cap}"),
        Some(Subject::Thread(thread)) => format!("thread {thread}"),
        Some(Subject::Task(task)) => format!("task {:#x}", task.0),
        Some(Subject::OsThread(thread)) => format!("OS thread {thread}"),
        Some(Subject::EventType(id)) => format!("event type {id}"),
        Some(Subject::Call(key)) => Call(key).to_string(),
        Some(Subject::Function(address)) => format!("function {address}"),
        Some(Subject::CostCentre(name)) => format!("cost centre {name}"),
        Some(Subject::Text(id)) => format!("text {id}"),
        Some(Subject::Location(id)) => format!("location {id}"),
    }
}

/// Names an irregularity that `check` tolerates.
const fn tolerated(what: Tolerated) -> &'static str {
    match what {
        Tolerated::OlderThread => "threads older than the log",
        Tolerated::RunAfterEnd => "runs of finished threads",
        Tolerated::WakeupAfterEnd => "wakeups of finished threads",
        Tolerated::NeedlessWakeup => "wakeups of threads that did not wait",
        Tolerated::SparkThreadUncreated => "threads for sparks without a creation",
        Tolerated::OlderTask => "tasks older than the log",
        Tolerated::TaskReplaced => "tasks replaced without an end",
        Tolerated::TaskWithoutEnd => "tasks without an end",
    }
}

/// Summarizes the result of `check`.
pub fn out_of_order(count: u64) -> String {
    match count {
        0 => "nothing is out of order".to_owned(),
        1 => "1 event is out of order".to_owned(),
        many => format!("{} events are out of order", format::count(many)),
    }
}

/// Lists the irregularities that `check` tolerated with their counts: `runs of finished threads: 3`. Returns
/// `None` if there are none.
pub fn all_tolerated(counts: impl IntoIterator<Item = (Tolerated, u64)>) -> Option<String> {
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(what, count)| format!("{}: {}", tolerated(what), format::count(count)))
        .collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// JSON form of a diagnostic, including its text. Absent values are `null`; times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagnosticJson {
    rule: &'static str,
    severity: &'static str,
    /// Start in nanoseconds.
    start: Option<u64>,
    /// End in nanoseconds; equals the start for an instant.
    end: Option<u64>,
    /// Byte offset in the uncompressed file.
    offset: Option<u64>,
    subjects: Vec<Subject>,
    numbers: Vec<Number>,
    sentence: String,
}

impl From<&Diagnostic> for DiagnosticJson {
    fn from(diagnostic: &Diagnostic) -> Self {
        let rule = diagnostic.rule();
        Self {
            rule: rule.name(),
            severity: rule.severity().name(),
            start: diagnostic.range.map(|range| range.start().0),
            end: diagnostic.range.map(|range| range.end().0),
            offset: diagnostic.offset.map(|offset| offset.0),
            subjects: diagnostic.subjects(),
            numbers: diagnostic.fact.numbers(),
            sentence: sentence(diagnostic),
        }
    }
}

/// Formats a count with the singular or plural word.
fn number(count: u64, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", format::count(count))
}

fn damage(kind: DamageKind, lost_bytes: u64) -> String {
    let lost = number(lost_bytes, "byte", "bytes");
    let skipped = match lost_bytes {
        0 => "nothing was skipped".to_owned(),
        _ => number(lost_bytes, "byte was skipped", "bytes were skipped"),
    };
    match kind {
        DamageKind::UndeclaredType(id) => {
            format!("event type {id} is not declared in the header; {skipped}")
        }
        DamageKind::Overrun(id) => {
            format!("an event of type {id} is longer than its block; {skipped}")
        }
        DamageKind::TimeOutsideBlock(time) => {
            let what = match lost_bytes {
                0 => "it is shown at their time",
                _ => skipped.as_str(),
            };
            let time = format::time(time);
            format!("an event is dated {time}, which does not fit between its neighbors; {what}")
        }
        DamageKind::BlockTimes(time) => format!(
            "events from here on are dated {} and later, outside the time of their block; they were read",
            format::time(time)
        ),
        DamageKind::Misfit(id) => format!(
            "bytes that begin like an event of type {id} do not end where another event begins; {skipped}"
        ),
        DamageKind::BlockSize(size) => format!(
            "a block claims {}, which does not fit; its events were read up to the next block",
            number(size.into(), "byte", "bytes")
        ),
        DamageKind::BlockMarker => format!(
            "a block marker is damaged; its events were read as far as the rest of it allows; {skipped}"
        ),
        DamageKind::Length(id) => format!(
            "an event of type {id} claims to extend past the next events; it was cut where they begin"
        ),
        DamageKind::BetweenBlocks => {
            format!("the bytes between two blocks are not an event; {skipped}")
        }
        DamageKind::BeforeHeader => {
            format!("{lost} before the header, as GHC 9.0 writes them when logging restarts")
        }
        DamageKind::AfterEnd => format!(
            "{} the end of the log and {} not read",
            number(lost_bytes, "byte follows", "bytes follow"),
            if lost_bytes == 1 { "was" } else { "were" }
        ),
        DamageKind::Truncated => format!(
            "incomplete log: it ends inside an event or block, and {} not be read; the program was killed or was still running, or the file was not copied whole",
            number(lost_bytes, "byte could", "bytes could")
        ),
        DamageKind::NoEndMarker => {
            "incomplete log: the program was killed or was still running".to_owned()
        }
        DamageKind::SectionHeader => format!(
            "a second log in this file has a broken header; {} read",
            number(lost_bytes, "byte was not", "bytes were not")
        ),
        DamageKind::ReportLine(flaw) => format!("{}; {skipped}", line_flaw_text(flaw)),
        DamageKind::ReportTime(time) => format!(
            "a census or mark is dated {}, earlier than its predecessor; it is shown at the time of the predecessor",
            format::time(time)
        ),
        DamageKind::ReportUnit => {
            "the unit on this line is unknown; the numbers are read as seconds and bytes".to_owned()
        }
        DamageKind::ReportCut => format!(
            "incomplete heap profile: it ends inside a line or census, and {} left out; the program was killed or was still running, or the file was not copied whole",
            number(lost_bytes, "byte was", "bytes were")
        ),
    }
}

/// Describes the flaw of a line in a textual heap profile.
const fn line_flaw_text(flaw: LineFlaw) -> &'static str {
    match flaw {
        LineFlaw::Unknown => "this line does not belong in a heap profile",
        LineFlaw::Number => "the number on this line cannot be read",
        LineFlaw::Outside => "this line belongs in a census, but is outside of one",
        LineFlaw::TooLong => "this line is longer than any that the runtime writes",
        LineFlaw::Unended => "a census begins inside another, which is assumed to have ended",
    }
}

fn anomaly_text(anomaly: Anomaly) -> String {
    match anomaly {
        Anomaly::GcEndWithoutStart => "a collection ends that had not begun".to_owned(),
        Anomaly::GcStartRepeated => "a collection begins during another".to_owned(),
        Anomaly::StopBeforeRun { thread } => format!("thread {thread} stops, but had not run"),
        Anomaly::OtherThread {
            running,
            thread,
            run,
        } => {
            let what = if run { "runs" } else { "stops" };
            format!("thread {thread} {what} while thread {running} is running")
        }
    }
}

/// Describes the problem of an event; the text follows the name of the subject.
pub fn problem_text(problem: Problem) -> String {
    match problem {
        Problem::Uncreated(life_event) => {
            format!("{}, but was never created", life_event_verb(life_event))
        }
        Problem::CreatedAgain => "is created, but was created before".to_owned(),
        Problem::AfterEnd(life_event) => {
            format!("{}, but has ended before", life_event_verb(life_event))
        }
        Problem::RunsAlready { on } => format!("runs, but is running already{}", On(on)),
        Problem::StopsUnrun => "stops, but was not running".to_owned(),
        Problem::StopsElsewhere { ran_on } => format!("stops, but was running{}", On(ran_on)),
        Problem::MovesRunning => "moves to another capability while it runs".to_owned(),
        Problem::OtherThread {
            running,
            thread,
            runs,
        } => {
            let what = if runs { "runs" } else { "stops" };
            format!("{what} thread {thread} while it runs thread {running}")
        }
        Problem::MovesFromElsewhere { was_on, from } => {
            format!("moves from capability {from}, but was on capability {was_on}")
        }
        Problem::SparkWithoutThread => "runs a spark, but no thread".to_owned(),
        Problem::SparkInOtherThread { thread } => {
            format!("runs a spark in thread {thread}, which is not a spark thread")
        }
    }
}

const fn life_event_verb(life_event: LifeEvent) -> &'static str {
    match life_event {
        LifeEvent::Create => "is created",
        LifeEvent::Run => "runs",
        LifeEvent::Stop => "stops",
        LifeEvent::Wake => "is woken",
        LifeEvent::Move => "moves",
        LifeEvent::End => "ends",
    }
}

/// Displays a location, ` on capability 3`, or nothing.
struct On(Option<CapId>);

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(cap) => write!(f, " on capability {cap}"),
            None => Ok(()),
        }
    }
}

/// Displays a foreign call by its number in the program and its function.
struct Call<'a>(&'a CallKey);

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} of {}", self.0.number, self.0.name)
    }
}

fn call_problem_text(problem: &CallProblem) -> String {
    match problem {
        CallProblem::StartRepeated(key) => format!("{} starts twice", Call(key)),
        CallProblem::StopWithoutStart(key) => format!("{} stops, but had not started", Call(key)),
        CallProblem::AnnotationBeforeStart(key) => {
            format!("{} is annotated before its start", Call(key))
        }
        CallProblem::AnnotationRepeated(key) => {
            format!("{} has the same annotation twice", Call(key))
        }
        CallProblem::NumberMissing => "an annotation has no call number".to_owned(),
        CallProblem::ThreadMissing(key) => {
            format!("the annotation of {} has no thread number", Call(key))
        }
        CallProblem::StackUnreadable(key) => {
            format!(
                "the stack of {} is not a printed list of strings",
                Call(key)
            )
        }
        CallProblem::UnknownCostCentre(name) => {
            format!("an annotation names {name}, which the log does not declare")
        }
        CallProblem::Overlap(key) => {
            format!(
                "{} overlaps with another on its OS thread and is cut off",
                Call(key)
            )
        }
        CallProblem::CutByReturn { call, function } => {
            format!(
                "{} is cut off: function {function} around it returns",
                Call(call)
            )
        }
        CallProblem::AddressMissing => {
            "an annotation of a C function has no addresses that can be read".to_owned()
        }
        CallProblem::FunctionThreadMissing(function) => {
            format!("the annotation of function {function} has no thread number")
        }
        CallProblem::ReturnWithoutCall { function, thread } => {
            format!("function {function} returns on OS thread {thread}, where it was not running")
        }
        CallProblem::TooManyAtOnce(key) => {
            format!(
                "{} is not shown: too many calls at the same time",
                Call(key)
            )
        }
    }
}

fn stack_problem_text(problem: StackProblem) -> String {
    match problem {
        StackProblem::LastPartMissing(thread) => {
            format!("a stack sample of thread {thread} lacks its last part")
        }
        StackProblem::NoSuchCapability(cap) => {
            format!("a stack sample has an impossible number of a capability ({cap}) or thread")
        }
        StackProblem::UnknownText(id) => {
            format!("stack samples refer to text {id}, which is not defined")
        }
        StackProblem::UnknownLocation(id) => {
            format!("stack samples refer to location {id}, which is not defined")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::diagnostics::Rule;

    /// Guards against new rules that reuse the texts of another.
    #[test]
    fn every_rule_has_words_of_its_own() {
        let mut titles: Vec<&str> = Vec::new();
        for &rule in Rule::ALL {
            let RuleWords {
                title,
                meaning,
                advice,
            } = for_rule(rule);
            assert!(!title.ends_with('.') && title.len() > 5, "{}", rule.name());
            assert!(
                meaning.ends_with('.') && meaning.len() > 30,
                "{}",
                rule.name()
            );
            assert!(
                advice.is_empty() || advice.ends_with('.'),
                "{}",
                rule.name()
            );
            titles.push(title);
        }
        titles.sort_unstable();
        titles.dedup();
        // Two pairs of rules share a title: `check` and the automata find the same.
        assert_eq!(titles.len(), Rule::ALL.len() - 2);
    }
}
