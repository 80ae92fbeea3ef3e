//! What the timeline asks the worker: marks, names, facts, arrows. The newest
//! view asks; one question of each kind is in flight.

use super::{Viewer, ViewerRef};
use session::query::Query;
use session::questions::LabelsQuery;
use views::control::Control;

/// What was asked last; one question is in flight at a time.
pub(super) struct Asked<Q> {
    in_flight: bool,
    about: Option<Q>,
    /// How much of the last answer was left for later.
    left: usize,
    /// Whether the same is to be asked for that.
    again: bool,
}

impl<Q> Default for Asked<Q> {
    fn default() -> Self {
        Self {
            in_flight: false,
            about: None,
            left: usize::MAX,
            again: false,
        }
    }
}

impl<Q: PartialEq + Clone> Asked<Q> {
    /// Whether this is to be asked now; then it counts as asked.
    fn begin(&mut self, query: &Q) -> bool {
        let is_same = self.about.as_ref() == Some(query);
        if self.in_flight || (is_same && !self.again) {
            return false;
        }
        self.in_flight = true;
        self.again = false;
        if !is_same {
            self.left = usize::MAX;
        }
        self.about = Some(query.clone());
        true
    }

    /// The answer has come.
    fn end(&mut self) {
        self.in_flight = false;
    }

    /// Has the last question asked once more: it has another answer now.
    pub(super) fn forget(&mut self) {
        self.about = None;
    }

    /// Of the last answer so much was left for later. It is asked once more as long as
    /// that becomes less: there may be no memory for all of it at once.
    fn left(&mut self, left: usize) {
        self.again = left > 0 && left < self.left;
        self.left = left;
    }
}

impl ViewerRef {
    /// Asks what the controller wants to know, unless it is known or an answer
    /// is on its way: then the next frame asks.
    fn ask<Q: Query + Clone + PartialEq>(
        &self,
        asked: fn(&mut Viewer) -> &mut Asked<Q>,
        query: Option<Q>,
        then: impl FnOnce(&Self, Q, Q::Answer) + 'static,
    ) {
        let client = {
            let mut viewer = self.0.borrow_mut();
            let query = query.as_ref();
            if !query.is_some_and(|query| asked(&mut viewer).begin(query)) {
                return;
            }
            viewer.client.clone()
        };
        let Some(query) = query else { return };
        let this = self.clone();
        client.ask(query.clone(), move |answer| {
            asked(&mut this.0.borrow_mut()).end();
            if let Ok(answer) = answer {
                then(&this, query, answer);
            }
        });
    }

    /// Asks for the marks in view.
    pub(super) fn ask_marks(&self) {
        let query = self.read(Control::marks_query);
        let query = Some(query).filter(|query| !query.rows.is_empty());
        self.ask(
            |viewer| &mut viewer.timeline,
            query,
            |this, query, reply| {
                this.0.borrow_mut().timeline.left(reply.later.len());
                this.act(|control| control.marks_came(query, reply));
                this.ask_labels();
            },
        );
    }

    /// Asks for the activity of the whole log.
    pub(super) fn ask_minimap(&self) {
        let query = self.read(Control::minimap_query);
        self.ask(
            |viewer| &mut viewer.minimap,
            query,
            |this, query, reply| {
                this.act(|control| {
                    control.minimap_came(query, reply);
                    None
                });
            },
        );
    }

    /// Asks for the labels of threads whose runs are wide enough to be named.
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
                this.0.borrow_mut().control.labels_came(labels);
                this.redraw();
            }
        });
    }

    /// Asks for what else is known of the item that is pointed at or selected.
    pub(super) fn ask_about_item(&self) {
        let details = self.read(Control::details_query);
        self.ask(
            |viewer| &mut viewer.details,
            details,
            |this, query, facts| this.act(|control| control.details_came(query, facts)),
        );
        let flow = self.0.borrow_mut().control.flow_query();
        if flow.is_none() {
            self.0.borrow_mut().flow.forget();
        }
        self.ask(
            |viewer| &mut viewer.flow,
            flow,
            |this, _, arrows| {
                this.act(|control| {
                    control.flow_came(arrows);
                    None
                });
            },
        );
    }
}
