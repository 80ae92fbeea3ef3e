//! What the timeline asks the worker: marks, names, facts, arrows. The newest
//! view asks; one question of each kind is in flight.

use super::{Viewer, ViewerRef};
use crate::protocol::{Answer, Question};
use crate::wire;
use views::scene::control::Control;

/// What was asked last; one question is in flight at a time.
pub(super) struct Asked<Q> {
    in_flight: bool,
    about: Option<Q>,
}

impl<Q> Default for Asked<Q> {
    fn default() -> Self {
        Self {
            in_flight: false,
            about: None,
        }
    }
}

impl<Q: PartialEq + Clone> Asked<Q> {
    /// Whether this is to be asked now; then it counts as asked.
    fn begin(&mut self, query: &Q) -> bool {
        if self.in_flight || self.about.as_ref() == Some(query) {
            return false;
        }
        self.in_flight = true;
        self.about = Some(query.clone());
        true
    }

    /// The answer has come.
    fn end(&mut self) {
        self.in_flight = false;
    }

    /// The same question is to be asked once more: it has another answer now.
    pub(super) fn forget(&mut self) {
        self.about = None;
    }
}

impl ViewerRef {
    /// Does what an answer asks for, unless the log is another one by now.
    fn answered(&self, generation: u32, what: impl FnOnce(&mut Viewer)) -> bool {
        let mut viewer = self.0.borrow_mut();
        let current = viewer.generation == generation;
        if current {
            what(&mut viewer);
        }
        current
    }

    /// Asks for the marks in view, unless they are there or an answer is on
    /// its way: then the next frame asks.
    pub(super) fn ask_marks(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let query = viewer.control.marks_query();
            if query.rows.is_empty() || !viewer.timeline.begin(&query) {
                return;
            }
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        let asked = query.clone();
        client.ask(Question::Timeline(query), move |answer, columns| {
            if !this.answered(generation, |viewer| viewer.timeline.end()) {
                return;
            }
            let reply = columns.as_ref().and_then(wire::timeline_reply);
            if let (Answer::Timeline, Some(reply)) = (answer, reply) {
                this.act(|control| control.marks_came(asked, reply));
                this.ask_labels();
            }
        });
    }

    /// Asks for the activity of the whole log.
    pub(super) fn ask_minimap(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let query = viewer.control.minimap_query();
            let Some(query) = query.filter(|query| viewer.minimap.begin(query)) else {
                return;
            };
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        let asked = query.clone();
        client.ask(Question::Timeline(query), move |_, columns| {
            if !this.answered(generation, |viewer| viewer.minimap.end()) {
                return;
            }
            if let Some(reply) = columns.as_ref().and_then(wire::timeline_reply) {
                this.act(|control| {
                    control.minimap_came(asked, reply);
                    None
                });
            }
        });
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
        client.ask(Question::Labels(unknown), move |answer, _| {
            if let Answer::Labels(labels) = answer {
                this.0.borrow_mut().control.labels_came(labels);
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
            let Some(number) = viewer.control.message_query() else {
                return;
            };
            (viewer.client.clone(), number)
        };
        let this = self.clone();
        client.ask(Question::Message(number), move |answer, _| {
            if let Answer::Message(Some(message)) = answer {
                this.act(|control| control.message_came(number, message.text));
            }
        });
    }

    fn ask_details(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let query = viewer.control.details_query();
            let Some(query) = query.filter(|query| viewer.details.begin(query)) else {
                return;
            };
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        let asked = query.clone();
        client.ask(Question::Details(query), move |answer, _| {
            if !this.answered(generation, |viewer| viewer.details.end()) {
                return;
            }
            let facts = match answer {
                Answer::Details(facts) => facts,
                _ => Vec::new(),
            };
            this.act(|control| control.details_came(asked, facts));
        });
    }

    fn ask_flow(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let query = viewer.control.flow_query();
            if query.is_none() {
                viewer.flow.forget();
            }
            let Some(query) = query.filter(|query| viewer.flow.begin(query)) else {
                return;
            };
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        client.ask(Question::Flow(query), move |answer, _| {
            if !this.answered(generation, |viewer| viewer.flow.end()) {
                return;
            }
            if let Answer::Flow(arrows) = answer {
                this.act(|control: &mut Control| {
                    control.flow_came(arrows);
                    None
                });
            }
        });
    }
}
