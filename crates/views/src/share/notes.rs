//! Encoding of notes in links: `12601234567~first peak`, `12600m40~slow`.

use crate::notes::{MAX_NOTES, Note, Notes};
use eventlog::ids::Nanos;
use model::time::Interval;
use session::link_text::{escape, number, read_range, unescape, write_range};

/// Formats notes: instants in nanoseconds, ranges like those of `t` and `r`.
pub(super) fn write_notes(notes: &Notes) -> Option<String> {
    let written: Vec<String> = notes
        .iter()
        .filter_map(|note| {
            let time = if note.is_moment() {
                note.span().start().0.to_string()
            } else {
                write_range(note.span())?
            };
            Some(format!("{time}~{}", escape(note.name())))
        })
        .collect();
    (!written.is_empty()).then(|| written.join(","))
}

pub(super) fn read_notes(raw: &str) -> Notes {
    let notes = raw.split(',').filter_map(read_note);
    notes.take(MAX_NOTES).collect()
}

fn read_note(raw: &str) -> Option<Note> {
    let (time, name) = raw.split_once('~')?;
    let span = match number(time) {
        Some(time) => Interval::new(Nanos(time), Nanos(time)),
        None => read_range(time)?,
    };
    Some(Note::new(span, &unescape(name)?))
}
