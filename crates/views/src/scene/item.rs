//! The marks of the timeline, and the items that they stand for.

use analysis::timeline::row::Row;
use eventlog::ids::{Nanos, ThreadId};
use model::class::Class;
use model::marks::{GraphPoint, MarkKind, MarkView, TimelineReply};
use model::profile::frames::Frame;
use model::time::Span;

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
    pub code: model::class::StopCode,
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
    /// The name of spans of the program, by the number of their row.
    fn span(&self, number: u32) -> Option<&str> {
        let _ = number;
        None
    }
    /// The foreign function of a call, by its number in the marks.
    fn foreign_function(&self, number: u32) -> Option<&Frame> {
        let _ = number;
        None
    }
    /// The function of a profile sample, by its number in the marks.
    fn sampled_function(&self, number: u32) -> Option<&Frame> {
        let _ = number;
        None
    }
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

    /// The items of a row, as they are painted one over the other.
    pub fn items(&self, row: Row) -> impl Iterator<Item = Item> + '_ {
        self.of(row)
            .map(move |(mark, span)| Item::new(row, &mark, span))
    }

    /// The points of a row's graph, with their times.
    pub fn points(&self, row: Row) -> impl Iterator<Item = (GraphPoint, Span)> {
        let start = self.view.map_or(0, |view| view.start.0);
        let number = self.rows.iter().position(|&asked| asked == row);
        let points = number.map(|number| self.reply.graph.row_points(number));
        points.into_iter().flatten().map(move |point| {
            let absolute = |relative: f64| Nanos((start as f64 + relative).max(0.0) as u64);
            (point, Span::new(absolute(point.start), absolute(point.end)))
        })
    }

    /// What a row's graph shows at a time: a point of each series that has
    /// one, and the stretch of time that the shortest of them stands for.
    #[must_use]
    pub fn graph_at(&self, row: Row, time: Nanos) -> Option<(Vec<GraphPoint>, Span)> {
        let there = |(_, span): &(GraphPoint, Span)| span.start <= time && time < span.end;
        let (points, spans): (Vec<_>, Vec<_>) = self.points(row).filter(there).unzip();
        let shortest = spans.into_iter().min_by_key(Span::duration)?;
        Some((points, shortest))
    }

    /// The mark of `row` at a time; nearby marks count if they are narrow.
    #[must_use]
    pub fn hit(&self, row: Row, time: Nanos, slack: Nanos) -> Option<Item> {
        if row.is_graph() {
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
