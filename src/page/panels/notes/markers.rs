//! Import of the program's own markers as notes.

use yew::prelude::*;

use super::{NotesEditor, merged_text};
use crate::client::LogClient;
use eventlog::EventType;
use model::time::Interval;
use session::event_list::{CountRowsQuery, EventRowsQuery, NoRows};
use session::events::filter::EventFilter;
use session::events::{EventList, EventRow};
use views::notes::{MAX_NOTES, Note};

/// Returns the list of events that `traceMarker` writes.
fn markers() -> EventList {
    EventList {
        filter: EventFilter {
            types: vec![EventType::USER_MARKER.0],
            ..EventFilter::default()
        },
        ..EventList::default()
    }
}

fn note(row: &EventRow) -> Note {
    let name = row.text.strip_prefix("marker: ").unwrap_or(&row.text);
    Note::new(Interval::new(row.time, row.time), name)
}

/// Returns whether an import is in progress, and a callback that starts one. Events are counted first because a list
/// has row numbers only as far as it was counted.
#[hook]
pub(super) fn use_markers(client: &LogClient, editor: NotesEditor) -> (bool, Callback<()>) {
    let looking = use_state_eq(|| false);
    let begin = {
        let (client, looking) = (client.clone(), looking.setter());
        Callback::from(move |()| {
            looking.set(true);
            let (done, editor) = (looking.clone(), editor.clone());
            count(client.clone(), move |found| {
                done.set(false);
                add_markers(found, &editor);
            });
        })
    };
    (*looking, begin)
}

/// The first markers, and a lower bound of their total number.
type MarkerRows = Result<(Vec<EventRow>, u64), NoRows>;

/// Counts markers up to the maximum number of notes, then requests the first ones.
fn count(client: LogClient, then: impl FnOnce(MarkerRows) + 'static) {
    client
        .clone()
        .ask(CountRowsQuery(markers()), move |counted| {
            let rows = match counted {
                Ok(Ok(counted)) if counted.complete || counted.rows > MAX_NOTES as u64 => {
                    counted.rows
                }
                Ok(Ok(_)) => return count(client, then),
                Ok(Err(why)) => return then(Err(why)),
                Err(_) => return then(Err(NoRows::NotCounted)),
            };
            let first = EventRowsQuery {
                list: markers(),
                first: 0,
                count: MAX_NOTES as u32,
            };
            client.ask(first, move |found| {
                let found = found.unwrap_or(Err(NoRows::NotCounted));
                then(found.map(|found| (found, rows)));
            });
        });
}

/// Converts markers to notes.
fn add_markers(found: MarkerRows, editor: &NotesEditor) {
    let (found, rows) = match found {
        Ok((found, rows)) if !found.is_empty() => (found, rows),
        Ok(_) => return editor.show_status("No markers in the log (traceMarker, traceMarkerIO)."),
        Err(why) => return editor.show_status(format!("The markers could not be read: {why}.")),
    };
    editor.change(|notes| {
        let merged = notes.merge(found.iter().map(note));
        let mut text = merged_text(merged, "from markers");
        if rows > found.len() as u64 {
            text += &format!(" Only the first {MAX_NOTES} markers became notes.");
        }
        text
    });
}
