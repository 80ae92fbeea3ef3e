//! The program's own markers as notes.

use yew::prelude::*;

use super::{Changer, merged_text};
use crate::client::LogClient;
use eventlog::EventType;
use model::time::Interval;
use session::event_list::{CountRows, EventRows, NoRows};
use session::events::filter::EventFilter;
use session::events::{EventList, EventRow};
use views::notes::{MAX_NOTES, Note};

/// What `traceMarker` writes.
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

/// Whether markers are being looked for, and what begins that. A list of
/// events has numbered rows only as far as they are counted, so that they are
/// counted first.
#[hook]
pub(super) fn use_markers(client: &LogClient, changer: Changer) -> (bool, Callback<()>) {
    let looking = use_state_eq(|| false);
    let begin = {
        let (client, looking) = (client.clone(), looking.setter());
        Callback::from(move |()| {
            looking.set(true);
            let (done, changer) = (looking.clone(), changer.clone());
            count(client.clone(), move |found| {
                done.set(false);
                take(found, &changer);
            });
        })
    };
    (*looking, begin)
}

/// The first markers, and how many there are at least.
type Found = Result<(Vec<EventRow>, u64), NoRows>;

/// Counts markers until there are more than notes can be, then asks for the
/// first.
fn count(client: LogClient, then: impl FnOnce(Found) + 'static) {
    client.clone().ask(CountRows(markers()), move |counted| {
        let rows = match counted {
            Ok(Ok(counted)) if counted.complete || counted.rows > MAX_NOTES as u64 => counted.rows,
            Ok(Ok(_)) => return count(client, then),
            Ok(Err(why)) => return then(Err(why)),
            Err(_) => return then(Err(NoRows::NotCounted)),
        };
        let first = EventRows {
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

/// Makes notes of markers.
fn take(found: Found, changer: &Changer) {
    let (found, rows) = match found {
        Ok((found, rows)) if !found.is_empty() => (found, rows),
        Ok(_) => return changer.say("The program wrote no markers (traceMarker, traceMarkerIO)."),
        Err(why) => return changer.say(format!("The markers were not read: {why}.")),
    };
    changer.change(|notes| {
        let merged = notes.merge(found.iter().map(note));
        let mut text = merged_text(merged, "from markers");
        if rows > found.len() as u64 {
            text += &format!(" There are more markers: only the first {MAX_NOTES} became notes.");
        }
        text
    });
}
