//! Why are the slowest spans slow?
//!
//! Of spans of the program that are alike, such as requests, a few take many times as long
//! as most. What these take longer is divided into what went on meanwhile: collections,
//! and, of a span that one thread begins and ends, waiting for a capability, being blocked,
//! running.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use analysis::timeline::user_spans::UserSpan;
use analysis::yielder::{Steps, Yield};
use eventlog::ids::{Duration, Nanos};
use model::format;
use model::sorting::CompactSort;
use model::time::Interval;

/// With fewer spans one of a hundred is none.
const LEAST: usize = 100;
/// One of a hundred takes so many times as long as the one in the middle.
const LEAST_TIMES: u64 = 5;
/// One of so many counts as slow.
const ONE_OF: usize = 20;
/// So many slow spans are looked at, the slowest.
const MOST_SLOW: usize = 500;

const NAME: &str = "slow-spans";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Why are the slowest spans slow?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, _, yielder| Box::pin(look(context, yielder))),
};

/// What went on in spans, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Causes {
    collections: u64,
    ready: u64,
    blocked: u64,
    running: u64,
    /// Of spans of which no one thread is known.
    unknown: u64,
}

impl Causes {
    /// The largest: its name, and what may help.
    fn worst(&self) -> (u64, &'static str, &'static str) {
        let all = [
            (
                self.collections,
                "collections",
                "What findings about collections say: they hit whatever goes on then.",
            ),
            (
                self.ready,
                "waiting for a capability",
                "More capabilities, or fewer threads that compute at a time.",
            ),
            (
                self.blocked,
                "being blocked",
                "See whom they waited for: the panel Threads says who ended each wait.",
            ),
            (
                self.running,
                "running",
                "Compare what they do with what others do: they have more work.",
            ),
            (
                self.unknown,
                "from one thread to another",
                "Begin and end a span in one thread: then the log can tell what it waited for.",
            ),
        ];
        all.into_iter()
            .max_by_key(|(ns, ..)| *ns)
            .unwrap_or_default()
    }
}

/// A single span that takes so many times as long as the one in the middle, and so much of the
/// time, is slow too.
const ONCE_TIMES: u64 = 20;
const ONCE_SHARE: f64 = 0.05;

/// Spans of a name with their lengths in the middle and of one of a hundred.
struct Slow<'a> {
    name: &'a str,
    count: u64,
    median_ns: u64,
    /// Of one of a hundred, or of the slowest.
    high_ns: u64,
    is_one: bool,
    /// The slowest first.
    slowest: Vec<UserSpan>,
}

/// The name without a number at its end: `request 17` and `request 18` are alike.
fn family(name: &str) -> &str {
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let bare = bare.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    if bare.is_empty() { name } else { bare }
}

/// The spans of each name, as far as they lie in the range and have ended.
fn by_family<'a>(context: &RuleContext<'a>) -> BTreeMap<&'a str, Vec<UserSpan>> {
    let mut all: BTreeMap<&str, Vec<UserSpan>> = BTreeMap::new();
    for listed in context.log.tracks.spans.listed() {
        let inside = listed.spans.iter().filter(|span| {
            span.last.is_some()
                && Nanos(span.start) >= context.range.start()
                && Nanos(span.end) <= context.range.end()
        });
        all.entry(family(&listed.info.name))
            .or_default()
            .extend(inside);
    }
    all
}

fn slow<'a>(
    context: &RuleContext<'_>,
    name: &'a str,
    mut spans: Vec<UserSpan>,
) -> Option<Slow<'a>> {
    // Of very many names those with most time are known: then half of all take less than half of these.
    let all_known = context.log.tracks.spans.names <= context.log.tracks.spans.listed().len();
    if spans.len() < LEAST {
        return None;
    }
    let length = |span: &UserSpan| span.end - span.start;
    spans.sort_small_by_key(|span| std::cmp::Reverse(length(span)));
    let of = |place: usize| length(&spans[place]);
    let (median_ns, most_ns) = (of(spans.len() / 2).max(1), of(0));
    let often_ns = of(spans.len() / 100);
    let is_once =
        most_ns >= median_ns.saturating_mul(ONCE_TIMES) && context.share(most_ns) >= ONCE_SHARE;
    let is_often = all_known && often_ns >= median_ns.saturating_mul(LEAST_TIMES);
    // One that takes many times as long as the other slow ones is a case of its own.
    let is_one = is_once && !(is_often && most_ns < often_ns.saturating_mul(LEAST_TIMES));
    if !is_often && !is_one {
        return None;
    }
    let count = spans.len() as u64;
    let times = if is_one { ONCE_TIMES } else { LEAST_TIMES };
    spans.truncate((spans.len() / ONE_OF).min(MOST_SLOW));
    spans.retain(|span| length(span) >= median_ns.saturating_mul(times));
    Some(Slow {
        name,
        count,
        median_ns,
        high_ns: if is_one { most_ns } else { often_ns },
        is_one,
        slowest: spans,
    })
}

/// Adds what went on in a span.
fn add(context: &RuleContext<'_>, span: &UserSpan, causes: &mut Causes) {
    let pauses = context.log.store.account().pauses();
    let (start, end) = (span.start, span.end);
    causes.collections += pauses.still_in(start, end);
    let outside = |(from, to): (u64, u64)| {
        let (from, to) = (from.max(start), to.min(end));
        (to.saturating_sub(from)).saturating_sub(if from < to {
            pauses.still_in(from, to)
        } else {
            0
        })
    };
    let life = context
        .thread_of(span)
        .and_then(|thread| context.log.store.thread_lane(thread));
    let Some(life) = life else {
        causes.unknown += outside((start, end));
        return;
    };
    for (_, turn) in life.turns_over(Interval::new(Nanos(start), Nanos(end))) {
        let blocked = outside(turn.part(0));
        // Who gives way is ready at once.
        match turn.wait_reason() {
            None => causes.ready += blocked,
            Some(_) => causes.blocked += blocked,
        }
        causes.ready += outside(turn.part(1));
        causes.running += outside(turn.part(2));
    }
}

async fn look(context: &RuleContext<'_>, yielder: &dyn Yield) -> Outcome {
    let mut findings = Vec::new();
    let mut steps = Steps::new(yielder);
    for (name, spans) in by_family(context) {
        yielder.yield_if_due().await;
        let Some(slow) = slow(context, name, spans) else {
            continue;
        };
        let mut causes = Causes::default();
        for span in &slow.slowest {
            steps.step().await;
            add(context, span, &mut causes);
        }
        findings.push(finding(context, &slow, causes));
    }
    match findings.is_empty() {
        true => Outcome::Clear("of no spans of one name, a hundred and more, one of a hundred took five times as long as the one in the middle, or one 20 times as long and 5 % of the time".to_owned()),
        false => Outcome::Found(findings),
    }
}

fn finding(context: &RuleContext<'_>, slow: &Slow<'_>, causes: Causes) -> Finding {
    let length: u64 = slow.slowest.iter().map(|span| span.end - span.start).sum();
    let (worst_ns, what, help) = causes.worst();
    let share = worst_ns as f64 / length.max(1) as f64;
    let (median, high) = (Duration(slow.median_ns), Duration(slow.high_ns));
    let (median, high) = (format::duration(median), format::duration(high));
    let (name, share_text) = (slow.name, format::fraction(share));
    let title = match slow.is_one {
        true => format!(
            "Spans {name}: half take up to {median}, the slowest {high}; {share_text} of the time of the slow ones is {what}"
        ),
        false => format!(
            "Spans {name}: median {median}, 99th percentile {high}; {share_text} of the time of the slowest 1 % is {what}"
        ),
    };
    let mut finding = Finding::new(NAME, Axis::Latency, title);
    finding.subject = Some(slow.name.to_owned());
    let late_ns = slow.high_ns - slow.median_ns;
    finding.severity = Severity::of_latency(late_ns);
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Ns(late_ns);
    finding.share = context.share(late_ns);
    finding.meaning = "Whoever waits for one of these waits many times longer than usual.".into();
    finding.tries = vec![Try::code(help)];
    finding.distrust = "Spans of one name may be of different work, and those of one name that overlap count as one.".into();
    finding.numbers = vec![
        (
            match slow.is_one {
                true => "the slowest takes".into(),
                false => "one of 100 takes".into(),
            },
            Value::Ns(slow.high_ns),
        ),
        ("half take at most".into(), Value::Ns(slow.median_ns)),
        ("spans".into(), Value::Count(slow.count)),
        ("slow ones".into(), Value::Count(slow.slowest.len() as u64)),
        ("in collections".into(), Value::Ns(causes.collections)),
        ("waiting for a capability".into(), Value::Ns(causes.ready)),
        ("blocked".into(), Value::Ns(causes.blocked)),
        ("running".into(), Value::Ns(causes.running)),
    ];
    let evidence = slow.slowest.iter().map(|span| Evidence {
        range: Interval::new(Nanos(span.start), Nanos(span.end)),
        subjects: context
            .thread_of(span)
            .map(Subject::Thread)
            .into_iter()
            .collect(),
        amount: Value::Ns(span.end - span.start),
    });
    finding.seen_in(evidence)
}
