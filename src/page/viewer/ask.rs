//! Queries of the timeline to the worker: marks, names, facts and arrows. At most one query of each kind is
//! in flight, always for the latest view.

use super::{Viewer, ViewerRef};
use session::queries::LabelsQuery;
use session::query::Query;
use views::control::Control;

/// State of one kind of query; at most one is in flight.
pub(super) struct QueryState<Q> {
    in_flight: bool,
    last_query: Option<Q>,
    /// Number of rows that the last answer left for later.
    remaining: usize,
    /// Whether to send the same query again for those rows.
    must_repeat: bool,
}

impl<Q> Default for QueryState<Q> {
    fn default() -> Self {
        Self {
            in_flight: false,
            last_query: None,
            remaining: usize::MAX,
            must_repeat: false,
        }
    }
}

impl<Q: PartialEq + Clone> QueryState<Q> {
    /// Returns whether to send the query now; if so, records it as sent.
    fn begin(&mut self, query: &Q) -> bool {
        let is_same = self.last_query.as_ref() == Some(query);
        if self.in_flight || (is_same && !self.must_repeat) {
            return false;
        }
        self.in_flight = true;
        self.must_repeat = false;
        if !is_same {
            self.remaining = usize::MAX;
        }
        self.last_query = Some(query.clone());
        true
    }

    /// Records that the answer has arrived.
    fn end(&mut self) {
        self.in_flight = false;
    }

    /// Forgets the last query, so that it is sent again: its answer may have changed.
    pub(super) fn forget(&mut self) {
        self.last_query = None;
    }

    /// Records the number of rows that the last answer left for later. The query is repeated as long as that
    /// number falls: memory may not suffice for all rows at once.
    fn note_remaining(&mut self, remaining: usize) {
        self.must_repeat = remaining > 0 && remaining < self.remaining;
        self.remaining = remaining;
    }
}

impl ViewerRef {
    /// Sends a query of the controller, unless it is answered already. While an answer is pending, nothing is
    /// asked; the next frame retries.
    fn ask<Q: Query + Clone + PartialEq>(
        &self,
        state: fn(&mut Viewer) -> &mut QueryState<Q>,
        query: Option<Q>,
        then: impl FnOnce(&Self, Q, Q::Answer) + 'static,
    ) {
        let client = {
            let mut viewer = self.0.borrow_mut();
            let query = query.as_ref();
            if !query.is_some_and(|query| state(&mut viewer).begin(query)) {
                return;
            }
            viewer.client.clone()
        };
        let Some(query) = query else { return };
        let this = self.clone();
        client.ask(query.clone(), move |answer| {
            state(&mut this.0.borrow_mut()).end();
            if let Ok(answer) = answer {
                then(&this, query, answer);
            }
        });
    }

    /// Requests the marks in view.
    pub(super) fn ask_marks(&self) {
        let query = self.read(Control::marks_query);
        let query = Some(query).filter(|query| !query.rows.is_empty());
        self.ask(
            |viewer| &mut viewer.timeline,
            query,
            |this, query, reply| {
                this.0
                    .borrow_mut()
                    .timeline
                    .note_remaining(reply.pending_rows.len());
                this.act(|control| control.receive_marks(query, reply));
                this.ask_labels();
            },
        );
    }

    /// Requests the activity of the whole log.
    pub(super) fn ask_minimap(&self) {
        let query = self.read(Control::minimap_query);
        self.ask(
            |viewer| &mut viewer.minimap,
            query,
            |this, query, reply| {
                this.edit(|control| control.receive_minimap(query, reply));
            },
        );
    }

    /// Requests the labels of threads whose runs are wide enough for a name.
    fn ask_labels(&self) {
        let (client, unknown) = {
            let mut viewer = self.0.borrow_mut();
            let unknown = viewer.control.labels_query();
            if unknown.is_empty() {
                return;
            }
            (viewer.client.clone(), unknown)
        };
        let this = self.clone();
        client.ask(LabelsQuery(unknown), move |labels| {
            if let Ok(labels) = labels {
                this.0.borrow_mut().control.receive_labels(labels);
                this.redraw();
            }
        });
    }

    /// Requests details and arrows for the item that is pointed at or selected.
    pub(super) fn ask_about_item(&self) {
        let details = self.read(Control::details_query);
        self.ask(
            |viewer| &mut viewer.details,
            details,
            |this, query, facts| this.act(|control| control.receive_details(query, facts)),
        );
        let flow = self.0.borrow_mut().control.flow_query();
        if flow.is_none() {
            self.0.borrow_mut().flow.forget();
        }
        self.ask(
            |viewer| &mut viewer.flow,
            flow,
            |this, _, arrows| {
                this.edit(|control| control.receive_flow(arrows));
            },
        );
    }
}
