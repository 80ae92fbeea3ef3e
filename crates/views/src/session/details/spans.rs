//! The concurrent collector, tasks, spans of the program, blocks.

use crate::scene::format;
use crate::session::Session;
use analysis::timeline::block_lanes;
use analysis::timeline::details::{DetailsQuery, Fact, Lead};
use analysis::timeline::nonmoving::{Phase, Point};
use analysis::timeline::row::Row;
use analysis::timeline::tasks;
use eventlog::ids::{CapId, Nanos, TaskId};
use model::span_lane::{Piece, SpanLane};
use model::time::Span;

/// Of how many things that the concurrent collector tells the text is said.
const MOST_POINTS: usize = 40;

fn span_of(piece: &Piece) -> Span {
    Span::new(Nanos(piece.start), Nanos(piece.end))
}

/// How many spans begin in a stretch of time, how long they are together, and
/// the longest of them.
fn several(lane: &SpanLane, query: &DetailsQuery, what: &str) -> Vec<Fact> {
    let found = || lane.within(query.span);
    let Some(longest) = found().max_by_key(|piece| piece.end - piece.start) else {
        return Vec::new();
    };
    let total = found().map(|piece| piece.end - piece.start);
    let span = span_of(longest);
    vec![
        Fact::new(what, format::count(found().count() as u64)),
        Fact::new("together", format::duration(Nanos(total.sum()))),
        Fact::new("longest", format::duration(span.duration())).leading(
            Lead::Other,
            query.row,
            span,
        ),
    ]
}

impl Session {
    pub(super) fn nonmoving_details(&self, query: &DetailsQuery) -> Vec<Fact> {
        let nonmoving = &self.recording.tracks.nonmoving;
        let mut facts = Vec::new();
        for phase in Phase::ALL {
            let lane = nonmoving.lane(phase);
            if query.many {
                facts.extend(several(lane, query, phase.several()));
            } else if let Some(piece) = exactly(lane, query.span) {
                facts.push(Fact::new(
                    phase.name(),
                    format::duration(span_of(piece).duration()),
                ));
                if phase == Phase::Mark {
                    let marked = format::count(piece.detail.into());
                    facts.push(Fact::new("marked", format!("{marked} objects")));
                }
            }
        }
        let points = nonmoving.points(query.span);
        facts.extend(
            points
                .iter()
                .take(MOST_POINTS)
                .map(|(_, point)| told(point)),
        );
        if points.len() > MOST_POINTS {
            let more = format::count((points.len() - MOST_POINTS) as u64);
            facts.push(Fact::new("more", more));
        }
        facts
    }

    pub(super) fn task_details(&self, task: TaskId, query: &DetailsQuery) -> Vec<Fact> {
        let tasks = &self.recording.tracks.tasks;
        let Some(lane) = tasks.lane(task) else {
            return Vec::new();
        };
        let mut facts = vec![Fact::new("task", format!("{:#x}", task.0))];
        let os_thread = tasks.os_thread(task);
        facts.extend(os_thread.map(|thread| Fact::new("OS thread", thread.to_string())));
        if query.many {
            facts.extend(several(lane, query, "stays on capabilities"));
        } else if let Some(piece) = lane.within(query.span).next() {
            let span = span_of(piece);
            let cap = CapId(u16::try_from(piece.detail).unwrap_or(u16::MAX));
            let since = Fact::new("on", format!("capability {cap}"));
            facts.push(since.leading(Lead::Other, Row::Cap(cap), span));
            facts.push(Fact::new("since", format::time(span.start)));
            if piece.code == tasks::OPEN.0 {
                facts.push(Fact::new("until", "the log ended"));
            }
        }
        facts
    }

    pub(super) fn user_span_details(&self, number: u32, query: &DetailsQuery) -> Vec<Fact> {
        let Some(name) = self.recording.tracks.spans.get(number) else {
            return Vec::new();
        };
        let mut facts = vec![Fact::new("name", &name.info.name)];
        let from = query.span.start.0;
        let place = name.spans.partition_point(|span| span.start < from);
        if query.many {
            let to = query.span.end.0;
            let until = name.spans.partition_point(|span| span.start < to);
            let spans = name.spans.get(place..until).unwrap_or_default();
            let total = spans.iter().map(|span| span.end - span.start).sum();
            facts.push(Fact::new("spans", format::count(spans.len() as u64)));
            facts.push(Fact::new("together", format::duration(Nanos(total))));
        } else if let Some(span) = name.spans.get(place) {
            facts.extend(self.message_place("started", span.first));
            match span.last {
                Some(last) => facts.extend(self.message_place("stopped", last)),
                None => facts.push(Fact::new("stopped", "not before the log ended")),
            }
            if span.starts > 1 {
                let starts = format!("{} of this name at once or nested", span.starts);
                facts.push(Fact::new("starts", starts));
            }
        }
        let count = format::count(name.info.count);
        let total = format::duration(Nanos(name.info.total_ns));
        facts.push(Fact::new(
            "in all",
            format!("{count} times, {total} together"),
        ));
        if name.stray_stops > 0 {
            let strays = format::count(name.stray_stops);
            facts.push(Fact::new("stops without a start", strays));
        }
        facts
    }

    /// Where a message was written: its capability, and the thread that ran there.
    fn message_place(&self, label: &str, number: usize) -> Option<Fact> {
        let message = self.recording.messages.get(number)?;
        let at = Span::new(message.time, message.time);
        let Some(cap) = message.cap else {
            return Some(Fact::new(label, "on no capability"));
        };
        let store = &self.recording.store;
        let Some(thread) = store.running(cap, message.time, &mut 0) else {
            let fact = Fact::new(label, format!("on capability {cap}"));
            return Some(fact.leading(Lead::Other, Row::Cap(cap), at));
        };
        let name = match store.label_of(thread) {
            Some(name) => format!("{name} (thread {thread})"),
            None => format!("thread {thread}"),
        };
        let fact = Fact::new(label, format!("on capability {cap} by {name}"));
        Some(fact.leading(Lead::Other, Row::Thread(thread), at))
    }

    pub(super) fn block_details(&self, cap: Option<CapId>, query: &DetailsQuery) -> Vec<Fact> {
        let sections = &self.reader.index().sections;
        let mut blocks = sections.iter().flat_map(|section| &section.blocks);
        if query.many {
            let inside = blocks.filter(|block| {
                block.cap == cap
                    && query.span.start <= block.begin_time
                    && block.begin_time < query.span.end
            });
            let (mut count, mut bytes) = (0u64, 0u64);
            for block in inside {
                count += 1;
                bytes = bytes.saturating_add(block_lanes::size(block));
            }
            return vec![
                Fact::new("blocks", format::count(count)),
                Fact::new("together", format::bytes(bytes)),
            ];
        }
        // One that overlaps another is drawn from that one's end on.
        let found = blocks.find(|block| {
            block.cap == cap
                && block.begin_time <= query.span.start
                && block.end_time == query.span.end
        });
        let Some(block) = found else {
            return Vec::new();
        };
        let whose = cap.map_or("none".to_owned(), |cap| cap.to_string());
        let waited = format::duration(block.end_time.since(block.begin_time));
        vec![
            Fact::new("capability", whose),
            Fact::new("at byte", format::count(block.start.0)),
            Fact::new("size", format::bytes(block_lanes::size(block))),
            Fact::new("the oldest event waited", waited),
        ]
    }
}

/// The span that begins and ends just then.
fn exactly(lane: &SpanLane, span: Span) -> Option<&Piece> {
    lane.within(span).find(|piece| span_of(piece) == span)
}

fn told(point: &Point) -> Fact {
    match *point {
        Point::Flush(cap) => Fact::new(
            "remembered set",
            format!("capability {cap} handed over what it had remembered"),
        ),
        Point::Census {
            block_bytes,
            active,
            filled,
            live,
        } => {
            let [active, filled, live] = [active, filled, live].map(|n| format::count(n.into()));
            Fact::new(
                format!("blocks of {}", format::bytes(block_bytes.into())),
                format!("{live} live; segments: {active} active, {filled} full"),
            )
        }
        Point::Pruned { pruned, free } => {
            let [pruned, free] = [pruned, free].map(|n| format::count(n.into()));
            Fact::new("free segments", format!("{pruned} given back, {free} left"))
        }
    }
}
