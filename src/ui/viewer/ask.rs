//! What the timeline asks the worker: marks, names, facts, arrows. The newest
//! view asks; one question of each kind is in flight.

use super::{Asked, Viewer, ViewerEvent, ViewerRef};
use crate::automata::Span;
use crate::ids::{Nanos, ThreadId};
use crate::protocol::{Answer, Question};
use crate::scene::item::{Item, Marks, Names};
use crate::scene::timeline::TOP_PX;
use crate::timeline::details::DetailsQuery;
use crate::timeline::flow::FlowQuery;
use crate::timeline::query::TimelineQuery;
use crate::timeline::reply::MarkKind;
use crate::timeline::row::Row;
use crate::wire;

impl<Q: PartialEq + Clone, A> Asked<Q, A> {
    /// Whether this is to be asked now; then it counts as asked.
    fn begin(&mut self, query: &Q) -> bool {
        if self.in_flight || self.about.as_ref() == Some(query) {
            return false;
        }
        self.in_flight = true;
        self.about = Some(query.clone());
        true
    }
}

impl ViewerRef {
    /// Asks for the marks in view, unless they are there or an answer is on
    /// its way: then the next frame asks.
    pub(super) fn ask_marks(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let query = viewer.query();
            if query.rows.is_empty() || !viewer.timeline.begin(&query) {
                return;
            }
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        let asked = query.clone();
        client.ask(Question::Timeline(query), move |answer, columns| {
            {
                let mut viewer = this.0.borrow_mut();
                if viewer.generation != generation {
                    return;
                }
                viewer.timeline.in_flight = false;
                let reply = columns.as_ref().and_then(wire::timeline_reply);
                if let (Answer::Timeline, Some(reply)) = (answer, reply) {
                    viewer.marks = Marks {
                        view: Some(asked.view),
                        rows: asked.rows,
                        reply,
                    };
                }
            }
            this.ask_labels();
            // Something else may be under the pointer now.
            this.update(|viewer| {
                let mut events = viewer.select_awaited();
                events.extend(viewer.hover());
                events.push(ViewerEvent::Marks);
                ((), events)
            });
        });
    }

    /// Asks for the activity of the whole log.
    pub(super) fn ask_minimap(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let query = TimelineQuery {
                view: viewer.view.log(),
                width_px: viewer.view.width_px().clamp(1.0, 20_000.0) as u32,
                rows: vec![Row::Activity],
            };
            if query.view == super::NOTHING || !viewer.minimap.begin(&query) {
                return;
            }
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        let asked = query.clone();
        client.ask(Question::Timeline(query), move |_, columns| {
            let reply = columns.as_ref().and_then(wire::timeline_reply);
            this.update(|viewer| {
                if let Some(reply) = reply.filter(|_| viewer.generation == generation) {
                    viewer.minimap.in_flight = false;
                    viewer.overview = Marks {
                        view: Some(asked.view),
                        rows: asked.rows,
                        reply,
                    };
                }
                ((), Vec::new())
            });
        });
    }

    /// Asks for the labels of threads whose runs are wide enough to be named.
    fn ask_labels(&self) {
        let (client, unknown) = {
            let mut viewer = self.0.borrow_mut();
            let unknown = viewer.unknown_threads();
            if unknown.is_empty() {
                return;
            }
            viewer.labels.asked.extend(&unknown);
            (viewer.client.clone(), unknown)
        };
        let this = self.clone();
        client.ask(Question::Labels(unknown), move |answer, _| {
            if let Answer::Labels(labels) = answer {
                this.0.borrow_mut().labels.known.extend(labels);
                this.redraw();
            }
        });
    }

    /// Asks for what else is known of the item that is pointed at or selected.
    pub(super) fn ask_about_item(&self) {
        self.ask_message();
        self.ask_details();
        self.ask_flow();
    }

    /// Asks for the text of a message.
    fn ask_message(&self) {
        let (client, number) = {
            let mut viewer = self.0.borrow_mut();
            let Some(number) = viewer.unknown_message() else {
                return;
            };
            viewer.labels.asked_message = Some(number);
            (viewer.client.clone(), number)
        };
        let this = self.clone();
        client.ask(Question::Message(number), move |answer, _| {
            if let Answer::Message(Some(message)) = answer {
                this.update(|viewer| {
                    viewer.labels.messages.insert(number, message.text);
                    ((), viewer.described())
                });
            }
        });
    }

    fn ask_details(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let Some(query) = viewer.item().map(details_query) else {
                return;
            };
            if viewer.drag.is_some() || !viewer.details.begin(&query) {
                return;
            }
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        client.ask(Question::Details(query), move |answer, _| {
            this.update(|viewer| {
                if viewer.generation != generation {
                    return ((), Vec::new());
                }
                viewer.details.in_flight = false;
                viewer.details.answer = match answer {
                    Answer::Details(facts) => facts,
                    _ => Vec::new(),
                };
                ((), viewer.described())
            });
        });
    }

    fn ask_flow(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let thread = viewer.item().and_then(thread_of);
            let Some(thread) = thread else {
                viewer.flow.about = None;
                viewer.flow.answer.clear();
                return;
            };
            let query = FlowQuery {
                thread,
                view: viewer.view.span(),
            };
            if viewer.drag.is_some() || !viewer.flow.begin(&query) {
                return;
            }
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        client.ask(Question::Flow(query), move |answer, _| {
            this.update(|viewer| {
                if viewer.generation == generation {
                    viewer.flow.in_flight = false;
                    if let Answer::Flow(arrows) = answer {
                        viewer.flow.answer = arrows;
                    }
                }
                ((), Vec::new())
            });
        });
    }
}

/// What is asked about an item.
pub(super) fn details_query(item: &Item) -> DetailsQuery {
    DetailsQuery {
        row: item.row,
        span: item.span,
        many: item.kind != MarkKind::One,
    }
}

/// The thread that an item is about.
fn thread_of(item: &Item) -> Option<ThreadId> {
    match item.row {
        Row::Thread(thread) => Some(thread),
        Row::Cap(_) if item.kind == MarkKind::One => item.detail.map(ThreadId),
        _ => None,
    }
}

impl Viewer {
    /// What has to be asked for to paint this view: a little more than is in
    /// view, so that a drag does not uncover emptiness.
    pub(super) fn query(&self) -> TimelineQuery {
        let view = self.view.span();
        let margin = view.duration().0 / 4;
        let span = Span::new(
            Nanos(view.start.0.saturating_sub(margin)),
            Nanos(view.end.0.saturating_add(margin)),
        );
        let scale = span.duration().0 as f64 / self.view.ns_per_px();
        TimelineQuery {
            view: span,
            width_px: scale.clamp(1.0, 20_000.0) as u32,
            rows: self.rows_in_view(),
        }
    }

    fn rows_in_view(&self) -> Vec<Row> {
        let tracks = self.layout.tracks();
        let seen = self.layout.seen(self.scroll_px, self.size.1 - TOP_PX);
        seen.filter_map(|index| tracks.get(index)?.row()).collect()
    }

    fn unknown_message(&self) -> Option<u32> {
        let item = self.item()?;
        let number = item.detail.filter(|_| item.row == Row::Messages)?;
        let unknown =
            self.labels.asked_message != Some(number) && self.labels.message(number).is_none();
        unknown.then_some(number)
    }

    fn unknown_threads(&self) -> Vec<ThreadId> {
        let min_ns = self.view.ns_per_px() * 30.0;
        let reply = &self.marks.reply;
        let rows = &self.marks.rows;
        let mut unknown: Vec<ThreadId> = (0..reply.len())
            .filter(|&i| matches!(rows.get(reply.row[i] as usize), Some(Row::Cap(_))))
            .filter_map(|i| reply.mark(i))
            .filter(|mark| mark.kind == MarkKind::One && mark.end - mark.start >= min_ns)
            .filter_map(|mark| mark.detail.map(ThreadId))
            .filter(|thread| {
                !self.labels.asked.contains(thread) && !self.labels.known.contains_key(thread)
            })
            .take(500)
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// What the events about the item say now.
    pub(super) fn described(&self) -> Vec<ViewerEvent> {
        let mut events = vec![ViewerEvent::Described(self.description())];
        // The pointer may still be on what was clicked.
        let focus = &self.focus;
        if focus.pinned && (focus.hovered.is_none() || focus.hovered == focus.selected) {
            events.push(ViewerEvent::Pinned(self.description()));
        }
        events
    }
}
