//! The program's own markers as notes.

use std::rc::Rc;

use yew::prelude::*;

use super::{Changer, merged_text};
use crate::protocol::{Answer, Counted, EventQuery, Question};
use crate::ui::client::Client;
use model::time::Span;
use views::events::filter::EventFilter;
use views::events::{EventList, EventRow};
use views::notes::{MAX_NOTES, Note};

/// `UserMarker`, which `traceMarker` writes (`rts/include/rts/EventLogFormat.h`).
const USER_MARKER: u16 = 58;

fn markers() -> EventList {
    EventList {
        filter: EventFilter {
            types: vec![USER_MARKER],
            ..EventFilter::default()
        },
        ..EventList::default()
    }
}

fn note(row: &EventRow) -> Note {
    let name = row.text.strip_prefix("marker: ").unwrap_or(&row.text);
    Note::new(Span::new(row.time, row.time), name)
}

/// Whether markers are being looked for, and what begins that. A list of
/// events has numbered rows only as far as they are counted, so that they are
/// counted first.
#[hook]
pub(super) fn use_markers(
    client: &Client,
    counted: Option<Rc<Counted>>,
    changer: Changer,
) -> (bool, Callback<()>) {
    // What was known before: the answer is another one.
    let looking = use_state(|| None::<Option<Rc<Counted>>>);
    let begin = {
        let (client, counted, looking) = (client.clone(), counted.clone(), looking.setter());
        Callback::from(move |()| {
            looking.set(Some(counted.clone()));
            client.count(Some(markers()));
        })
    };
    let news = counted.filter(|now| {
        let before = looking.as_ref();
        before.is_some_and(|before| {
            before
                .as_ref()
                .is_none_or(|before| !Rc::ptr_eq(before, now))
        }) && now.list == markers()
            && (now.complete || now.rows > MAX_NOTES as u64)
    });
    {
        let (client, done) = (client.clone(), looking.setter());
        use_effect_with(news.map(|now| now.rows), move |rows| {
            if let Some(rows) = *rows {
                done.set(None);
                take(&client, rows, changer);
            }
        });
    }
    (looking.is_some(), begin)
}

/// Asks for the first markers and makes notes of them.
fn take(client: &Client, rows: u64, changer: Changer) {
    let question = EventQuery::Rows {
        list: markers(),
        first: 0,
        count: MAX_NOTES as u32,
    };
    client.ask(Question::Events(question), move |answer, _| {
        let found = match answer {
            Answer::EventRows(found) if !found.is_empty() => found,
            _ => return changer.say("The program wrote no markers (traceMarker, traceMarkerIO)."),
        };
        changer.change(|notes| {
            let merged = notes.merge(found.iter().map(note));
            let mut text = merged_text(merged, "from markers");
            if rows > found.len() as u64 {
                text += &format!(" There are more markers: only the first {MAX_NOTES} were taken.");
            }
            text
        });
    });
}
