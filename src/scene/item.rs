//! The marks of the timeline, and what is said of them.

use super::format;
use crate::automata::Span;
use crate::ids::{Nanos, ThreadId};
use crate::timeline::class::Class;
use crate::timeline::query::{MarkKind, MarkView, Row, TimelineReply};

/// A mark that the pointer is on or that is selected, in absolute time.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// In which row.
    pub row: Row,
    /// What it is.
    pub kind: MarkKind,
    /// Its class, or that of the longest of several.
    pub class: Class,
    /// Why a thread waits or stopped.
    pub code: crate::timeline::class::StopCode,
    /// See [`TimelineReply::detail`].
    pub detail: Option<u32>,
    /// See [`TimelineReply::other_wait_ns`].
    pub other_wait: Nanos,
    /// How many spans it stands for.
    pub count: u32,
    /// When.
    pub span: Span,
    /// The share of each class.
    pub shares: Vec<f32>,
}

/// Marks, with the view they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The time that was asked for.
    pub view: Option<Span>,
    /// The rows that were asked for.
    pub rows: Vec<Row>,
    /// The marks.
    pub reply: TimelineReply,
}

/// Names for threads, texts of messages.
pub trait Names {
    /// The label of a thread, if it has one and it is known here.
    fn label(&self, thread: ThreadId) -> Option<&str>;
    /// The text of a message by its number, if it is known here.
    fn message(&self, number: u32) -> Option<&str>;
}

impl Marks {
    /// The marks of a row, with their times.
    pub fn of(&self, row: Row) -> impl DoubleEndedIterator<Item = (MarkView<'_>, Span)> {
        let start = self.view.map_or(0, |view| view.start.0);
        let number = self.rows.iter().position(|&asked| asked == row);
        let range = number.map_or(0..0, |number| self.reply.row_marks(number));
        range.filter_map(move |i| {
            let mark = self.reply.mark(i)?;
            let absolute = |relative: f64| Nanos((start as f64 + relative).max(0.0) as u64);
            Some((mark, Span::new(absolute(mark.start), absolute(mark.end))))
        })
    }

    /// The mark of `row` at a time; nearby marks count if they are narrow.
    #[must_use]
    pub fn hit(&self, row: Row, time: Nanos, slack: Nanos) -> Option<Item> {
        if row == Row::Activity {
            return None;
        }
        let distance = |span: &Span| span.start.since(time).0.max(time.since(span.end).0);
        // Collections are painted over runs, so that the last one counts.
        let near = self
            .of(row)
            .rev()
            .filter(|(_, span)| distance(span) <= slack.0);
        let (mark, span) = near.min_by_key(|(_, span)| distance(span))?;
        Some(Item::new(row, &mark, span))
    }
}

impl Item {
    fn new(row: Row, mark: &MarkView<'_>, span: Span) -> Self {
        Self {
            row,
            kind: mark.kind,
            class: mark.class,
            code: mark.code,
            detail: mark.detail,
            other_wait: Nanos(mark.other_wait_ns.max(0.0) as u64),
            count: mark.count,
            span,
            shares: mark.shares.to_vec(),
        }
    }
}

/// How a thread is called: its label with its number, or its number.
pub fn thread_name(names: &impl Names, thread: ThreadId) -> String {
    match names.label(thread) {
        Some(label) => format!("{label} (thread {thread})"),
        None => format!("thread {thread}"),
    }
}

/// What is known of a mark, in words: a name to stand out, and the rest.
#[must_use]
pub fn describe(item: &Item, names: &impl Names) -> (String, String) {
    let when = format!(
        "{} – {}",
        format::time(item.span.start),
        format::time(item.span.end)
    );
    let duration = format::duration(item.span.duration());
    if item.kind == MarkKind::Many {
        let (subject, what) = match item.row {
            Row::Cap(cap) if item.class == Class::Gc => {
                (format!("Capability {cap}"), "collections")
            }
            Row::Cap(cap) if item.count == 1 => (format!("Capability {cap}"), "run of a thread"),
            Row::Cap(cap) => (format!("Capability {cap}"), "runs of threads"),
            Row::Thread(thread) if item.count == 1 => (thread_name(names, thread), "run"),
            Row::Thread(thread) => (thread_name(names, thread), "runs"),
            Row::Activity | Row::Messages => (String::new(), "spans"),
        };
        let shares: Vec<String> = Class::ALL
            .iter()
            .zip(&item.shares)
            .filter(|(_, share)| **share > 0.0)
            .map(|(class, share)| {
                format!("{} {}", format::fraction(f64::from(*share)), class.name())
            })
            .collect();
        let count = item.count;
        let text = format!(
            "{count} {what} in {duration}: {} · {when}",
            shares.join(", ")
        );
        return (subject, text);
    }
    match item.row {
        Row::Cap(cap) if item.class == Class::Gc => (
            format!("Capability {cap}"),
            format!("collected garbage for {duration} · {when}"),
        ),
        Row::Cap(cap) => {
            let thread = item.detail.map_or_else(
                || "a thread".to_owned(),
                |thread| thread_name(names, ThreadId(thread)),
            );
            let ended = match item.class {
                Class::Open => "it was still running when the log ended".to_owned(),
                _ => format!("then: {}", item.code.explanation(None)),
            };
            (
                thread,
                format!("ran for {duration} on capability {cap}, {ended} · {when}"),
            )
        }
        Row::Thread(thread) => {
            let name = thread_name(names, thread);
            let cap = item
                .detail
                .map(|cap| format!(" on capability {cap}"))
                .unwrap_or_default();
            match item.class {
                Class::Running => (name, format!("ran for {duration}{cap} · {when}")),
                Class::Open => (
                    name,
                    format!("ran for {duration}{cap}, until the log ended · {when}"),
                ),
                _ => (name, format!("{} · {when}", wait(item))),
            }
        }
        Row::Messages => {
            let text = item.detail.and_then(|number| names.message(number));
            let text = text.unwrap_or_default();
            let at = format::time(item.span.start);
            match (item.count, item.kind) {
                (1, MarkKind::Marker) => (text.to_owned(), format!("· marker at {at}")),
                (1, _) => (text.to_owned(), format!("· message at {at}")),
                (count, _) => (
                    format!("{count} messages"),
                    format!("from {at}; the first: {text}"),
                ),
            }
        }
        Row::Activity => (String::new(), when),
    }
}

/// A wait of a thread in words: what blocked it, and how long it then waited
/// for a capability.
fn wait(item: &Item) -> String {
    let why = item.code.explanation(item.detail.map(ThreadId));
    let duration = format::duration(item.span.duration());
    let other = format::duration(item.other_wait);
    match (item.class, item.other_wait) {
        (Class::Ready, Nanos(0)) => format!("waited {duration} for a capability: {why}"),
        (Class::Ready, _) => {
            format!("waited {duration} for a capability, after it was {why} for {other}")
        }
        (_, Nanos(0)) => format!("was {why} for {duration}"),
        _ => format!("was {why} for {duration}, then waited {other} for a capability"),
    }
}
