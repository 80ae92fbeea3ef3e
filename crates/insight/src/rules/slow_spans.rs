//! Why are the slowest spans slow?
//!
//! Of similar spans of the program, such as requests, a few may take many times as long as most. The time of these
//! is divided by what happened meanwhile: collections and, for a span that the same thread begins and ends,
//! waiting for a capability, being blocked, or running.

use std::collections::BTreeMap;

use super::prelude::*;
use analysis::timeline::user_spans::UserSpan;
use model::sorting::CompactSort;

/// Minimum number of spans; fewer have no 99th percentile.
const MIN_COUNT: usize = 100;
/// Minimum ratio of the 99th percentile to the median.
const MIN_TIMES: u64 = 5;
/// One in this many spans counts as slow.
const ONE_OF: usize = 20;
/// Maximum number of slow spans to examine, slowest first.
const MAX_SLOW: usize = 500;

pub(super) const RULE: Rule = Rule {
    name: "slow-spans",
    question: "Why are the slowest spans slow?",
    inputs: &[Input::EachRun],
    evaluate: Evaluation::Yielding(|context, _| Box::pin(evaluate(context))),
};

/// Time in spans by cause, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct TimeByCause {
    collections: u64,
    ready: u64,
    blocked: u64,
    running: u64,
    /// Time in spans without a single known thread.
    unknown: u64,
}

impl TimeByCause {
    /// Returns the largest cause: its time, name and advice.
    fn worst(&self) -> (u64, &'static str, &'static str) {
        let all = [
            (
                self.collections,
                "collections",
                "Follow the findings about collections: pauses delay every span in progress.",
            ),
            (
                self.ready,
                "waiting for a capability",
                "Use more capabilities, or run fewer computing threads at a time.",
            ),
            (
                self.blocked,
                "being blocked",
                "Find the thread that ended each wait in the panel Threads.",
            ),
            (
                self.running,
                "running",
                "Compare their work with that of faster spans: they have more of it.",
            ),
            (
                self.unknown,
                "from one thread to another",
                "Begin and end each span in one thread: then the log shows what it waited for.",
            ),
        ];
        all.into_iter()
            .max_by_key(|(ns, ..)| *ns)
            .unwrap_or_default()
    }
}

/// A single span is also slow if it takes this many times the median, and at least the share `ONCE_SHARE` of the
/// time.
const ONCE_TIMES: u64 = 20;
const ONCE_SHARE: f64 = 0.05;

/// Spans of a name with median and 99th percentile of their lengths.
struct SlowSpans<'a> {
    name: &'a str,
    count: u64,
    median_ns: u64,
    /// 99th percentile, or the length of the slowest span if `is_one`.
    high_ns: u64,
    is_one: bool,
    /// Slow spans, slowest first.
    slowest: Vec<UserSpan>,
}

/// Returns the name without a trailing number: `request 17` and `request 18` are alike.
fn base_name(name: &str) -> &str {
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let bare = bare.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    if bare.is_empty() { name } else { bare }
}

/// Returns the spans by name that have ended and lie in the range.
fn spans_by_base_name<'a>(context: &RuleContext<'a>) -> BTreeMap<&'a str, Vec<UserSpan>> {
    let mut all: BTreeMap<&str, Vec<UserSpan>> = BTreeMap::new();
    for listed in context.log.tracks.spans.listed() {
        let inside = listed.calls().iter().filter(|span| {
            span.last.is_some()
                && Nanos(span.start) >= context.range.start()
                && Nanos(span.end) <= context.range.end()
        });
        all.entry(base_name(&listed.info.name))
            .or_default()
            .extend(inside);
    }
    all
}

fn slow_spans<'a>(
    context: &RuleContext<'_>,
    name: &'a str,
    mut spans: Vec<UserSpan>,
) -> Option<SlowSpans<'a>> {
    // With very many names, only those with the most time are listed, so the median of all spans is unknown.
    let all_known = context.log.tracks.spans.names <= context.log.tracks.spans.listed().len();
    if spans.len() < MIN_COUNT {
        return None;
    }
    let length = |span: &UserSpan| span.end - span.start;
    spans.sort_small_by_key(|span| std::cmp::Reverse(length(span)));
    let length_at = |index: usize| length(&spans[index]);
    let (median_ns, most_ns) = (length_at(spans.len() / 2).max(1), length_at(0));
    let often_ns = length_at(spans.len() / 100);
    let is_once =
        most_ns >= median_ns.saturating_mul(ONCE_TIMES) && context.share(most_ns) >= ONCE_SHARE;
    let is_often = all_known && often_ns >= median_ns.saturating_mul(MIN_TIMES);
    // A span much longer than the other slow ones is a case of its own.
    let is_one = is_once && !(is_often && most_ns < often_ns.saturating_mul(MIN_TIMES));
    if !is_often && !is_one {
        return None;
    }
    let count = spans.len() as u64;
    let times = if is_one { ONCE_TIMES } else { MIN_TIMES };
    spans.truncate((spans.len() / ONE_OF).min(MAX_SLOW));
    spans.retain(|span| length(span) >= median_ns.saturating_mul(times));
    Some(SlowSpans {
        name,
        count,
        median_ns,
        high_ns: if is_one { most_ns } else { often_ns },
        is_one,
        slowest: spans,
    })
}

/// Adds the time of a span by cause.
fn add_span_time(context: &RuleContext<'_>, span: &UserSpan, causes: &mut TimeByCause) {
    let pauses = context.log.store.account().pauses();
    let (start, end) = (span.start, span.end);
    causes.collections += pauses.paused_in_ns(start, end);
    let outside = |(from, to): (u64, u64)| context.unpaused_ns((from.max(start), to.min(end)));
    let life = context
        .thread_of(span)
        .and_then(|thread| context.log.store.thread_lane(thread));
    let Some(life) = life else {
        causes.unknown += outside((start, end));
        return;
    };
    for (_, turn) in life.turns_overlapping(Interval::new(Nanos(start), Nanos(end))) {
        let blocked = outside(turn.blocked_span());
        // A thread that yields is ready at once.
        match turn.wait_reason() {
            None => causes.ready += blocked,
            Some(_) => causes.blocked += blocked,
        }
        causes.ready += outside(turn.runnable_span());
        causes.running += outside(turn.run_span());
    }
}

async fn evaluate(context: &RuleContext<'_>) -> Outcome {
    let mut findings = Vec::new();
    let mut steps = context.steps();
    for (name, spans) in spans_by_base_name(context) {
        context.yielder.yield_if_due().await;
        let Some(slow) = slow_spans(context, name, spans) else {
            continue;
        };
        let mut causes = TimeByCause::default();
        for span in &slow.slowest {
            steps.step().await;
            add_span_time(context, span, &mut causes);
        }
        findings.push(finding(context, &slow, causes));
    }
    match findings.is_empty() {
        true => Outcome::Clear("no name with 100 spans or more has a 99th percentile of 5 times the median, or a span of 20 times the median and 5 % of the time".to_owned()),
        false => Outcome::Found(findings),
    }
}

fn finding(context: &RuleContext<'_>, slow: &SlowSpans<'_>, causes: TimeByCause) -> Finding {
    let length: u64 = slow.slowest.iter().map(|span| span.end - span.start).sum();
    let (worst_ns, what, help) = causes.worst();
    let share = worst_ns as f64 / length.max(1) as f64;
    let [median, high] = [slow.median_ns, slow.high_ns].map(format::duration_ns);
    let (name, share_text) = (slow.name, format::fraction(share));
    let title = match slow.is_one {
        true => format!(
            "Spans {name}: half take up to {median}, the slowest {high}; {share_text} of the time of the slow ones is {what}"
        ),
        false => format!(
            "Spans {name}: median {median}, 99th percentile {high}; {share_text} of the time of the slowest 1 % is {what}"
        ),
    };
    let mut finding = Finding::new(RULE.name, Axis::Latency, title);
    finding.subject = Some(slow.name.to_owned());
    let late_ns = slow.high_ns - slow.median_ns;
    finding.severity = Severity::of_latency(late_ns);
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Ns(late_ns);
    finding.share = context.share(late_ns);
    finding.meaning = "Waiting for one of these spans takes many times longer than usual.".into();
    finding.tries = vec![Advice::code(help)];
    finding.distrust =
        "Spans of one name may do different work, and overlapping spans of one name count as one, unless a number before the name tells them apart."
            .into();
    let which = match slow.is_one {
        true => "the slowest takes",
        false => "one of 100 takes",
    };
    finding.set_numbers([
        (which, Value::Ns(slow.high_ns)),
        ("half take at most", Value::Ns(slow.median_ns)),
        ("spans", Value::Count(slow.count)),
        ("slow ones", Value::Count(slow.slowest.len() as u64)),
        ("in collections", Value::Ns(causes.collections)),
        ("waiting for a capability", Value::Ns(causes.ready)),
        ("blocked", Value::Ns(causes.blocked)),
        ("running", Value::Ns(causes.running)),
    ]);
    let evidence = slow.slowest.iter().map(|span| Evidence {
        range: Interval::new(Nanos(span.start), Nanos(span.end)),
        subjects: context
            .thread_of(span)
            .map(Subject::Thread)
            .into_iter()
            .collect(),
        amount: Value::Ns(span.end - span.start),
    });
    finding.with_evidence(evidence)
}
