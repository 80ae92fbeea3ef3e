//! File format of notes: JSON with a version and the fingerprint of the log.
//!
//! ```json
//! {
//!   "eventscope_notes": 1,
//!   "log": "9b831.4f0a91c2d7e3",
//!   "notes": [
//!     { "start_ns": 12600000000, "end_ns": 12640000000, "name": "slow request" }
//!   ]
//! }
//! ```
//!
//! A note without `end_ns` marks an instant. Reading is lenient: entries that cannot be read are reported with the
//! reason.

use serde::Serialize;
use serde_json::Value;

use super::{MAX_NOTES, Note, Notes};
use crate::fingerprint::Fingerprint;
use eventlog::ids::Nanos;
use model::time::Interval;

/// Format version that is written.
const VERSION: u64 = 1;
/// Maximum number of problems reported individually.
const MAX_PROBLEMS: usize = 5;

#[derive(Serialize)]
struct NotesDocument<'a> {
    eventscope_notes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
    notes: Vec<NoteDocument<'a>>,
}

#[derive(Serialize)]
struct NoteDocument<'a> {
    start_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_ns: Option<u64>,
    name: &'a str,
}

impl<'a> NoteDocument<'a> {
    fn new(note: &'a Note) -> Self {
        Self {
            start_ns: note.span.start().0,
            end_ns: (!note.is_moment()).then_some(note.span.end().0),
            name: &note.name,
        }
    }
}

/// Contents of a notes file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotesFile {
    /// Notes of the file.
    pub notes: Notes,
    /// Fingerprint of the log, if the file has a valid one.
    pub log: Option<Fingerprint>,
    /// Problems found while reading, as sentences.
    pub problems: Vec<String>,
}

/// Serializes notes.
pub fn write(notes: &Notes, log: Option<Fingerprint>) -> String {
    let file = NotesDocument {
        eventscope_notes: VERSION,
        log: log.map(|print| print.to_string()),
        notes: notes.iter().map(NoteDocument::new).collect(),
    };
    // Serialization of numbers and strings cannot fail.
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

/// Parses a notes file.
///
/// # Errors
/// Returns a sentence that explains why the text is not a notes file.
pub fn read(text: &str) -> Result<NotesFile, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("This is not a notes file: it is not JSON ({error})."))?;
    let no_notes = || "This is JSON, but not a notes file.".to_owned();
    let version = value.get("eventscope_notes").ok_or_else(no_notes)?;
    let entries = value
        .get("notes")
        .and_then(Value::as_array)
        .ok_or_else(no_notes)?;
    let mut file = NotesFile {
        log: value
            .get("log")
            .and_then(Value::as_str)
            .and_then(Fingerprint::parse),
        ..NotesFile::default()
    };
    if version.as_u64() != Some(VERSION) {
        file.problems.push(
            "The file was written by another version of this page: parts of it may be ignored."
                .to_owned(),
        );
    }
    let mut wrong = Vec::new();
    for (number, entry) in (1..).zip(entries.iter().take(MAX_NOTES)) {
        match read_note(entry) {
            Ok(note) => {
                file.notes.insert(note);
            }
            Err(why) => wrong.push(format!("Note {number} {why}.")),
        }
    }
    let untold = wrong.len().saturating_sub(MAX_PROBLEMS);
    file.problems.extend(wrong.into_iter().take(MAX_PROBLEMS));
    if untold > 0 {
        file.problems
            .push(format!("{untold} more notes could not be read."));
    }
    let too_many = entries.len().saturating_sub(MAX_NOTES);
    if too_many > 0 {
        file.problems.push(format!(
            "{too_many} notes were left out: at most {MAX_NOTES} are possible."
        ));
    }
    Ok(file)
}

fn read_note(entry: &Value) -> Result<Note, &'static str> {
    let time = |key| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(|time| Some(Nanos(time)))
            .ok_or("has a time that is not a number of nanoseconds"),
    };
    let start = time("start_ns")?.ok_or("has no start time (start_ns)")?;
    let end = time("end_ns")?.unwrap_or(start);
    if end < start {
        return Err("ends before it begins");
    }
    let name = match entry.get("name") {
        None | Some(Value::Null) => "",
        Some(name) => name.as_str().ok_or("has a name that is not a string")?,
    };
    Ok(Note::new(Interval::new(start, end), name))
}

#[cfg(test)]
mod tests {
    use proptest::option::of;
    use proptest::prelude::*;

    use super::super::tests::any_notes;
    use super::*;
    use crate::fingerprint::fingerprint;

    #[test]
    fn a_file_that_must_be_read_for_ever() {
        let text = r#"{
  "eventscope_notes": 1,
  "log": "9b831.4f0a91c2d7e3",
  "notes": [
    {
      "start_ns": 7,
      "name": ""
    },
    {
      "start_ns": 12600000000,
      "end_ns": 12640000000,
      "name": "slow \"request\" µ"
    }
  ]
}
"#;
        let file = read(text).expect("a file of notes");
        assert_eq!(file.problems, [""; 0]);
        assert_eq!(file.notes.len(), 2);
        assert_eq!(write(&file.notes, file.log), text);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let file = read(
            r#"{ "eventscope_notes": 2, "log": 3, "notes": [
                { "start_ns": 5 }, { "end_ns": 5 }, { "start_ns": -1 }, { "start_ns": 1.5 },
                { "start_ns": 5, "end_ns": 4 }, { "start_ns": 5, "name": [] }, 7, null,
                { "start_ns": 18446744073709551615, "end_ns": null, "name": null, "colour": "red" }
            ] }"#,
        )
        .expect("a file of notes");
        assert_eq!(file.notes.len(), 2);
        assert_eq!(file.log, None);
        insta::assert_snapshot!(file.problems.join("\n"), @r"
        The file was written by another version of this page: parts of it may be ignored.
        Note 2 has no start time (start_ns).
        Note 3 has a time that is not a number of nanoseconds.
        Note 4 has a time that is not a number of nanoseconds.
        Note 5 ends before it begins.
        Note 6 has a name that is not a string.
        2 more notes could not be read.
        ");
    }

    #[test]
    fn other_files_are_refused() {
        for text in [
            "",
            "{",
            "[]",
            "7",
            "{\"notes\":[]}",
            "{\"eventscope_notes\":1}",
        ] {
            let why = read(text).expect_err(text);
            assert!(why.ends_with('.'), "{why}");
        }
        let deep = "[".repeat(100_000);
        assert!(read(&deep).is_err());
    }

    #[test]
    fn too_many_are_left_out() {
        let notes = vec!["{\"start_ns\":1}"; 250].join(",");
        let file = read(&format!("{{\"eventscope_notes\":1,\"notes\":[{notes}]}}"));
        let file = file.expect("a file of notes");
        assert_eq!(file.notes.len(), MAX_NOTES);
        assert_eq!(
            file.problems,
            ["50 notes were left out: at most 200 are possible."]
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            notes in any_notes(),
            log in of(any::<u64>().prop_map(|len| fingerprint(len, &[]))),
        ) {
            let file = read(&write(&notes, log)).expect("a file of notes");
            prop_assert_eq!(file, NotesFile { notes, log, problems: Vec::new() });
        }

        #[test]
        fn anything_can_be_read(
            text in prop_oneof![
                any::<String>(),
                "\\{\"eventscope_notes\":[0-9]{1,3},\"notes\":\\[(\\{\"(start_ns|end_ns|name)\":[0-9\"e.-]{1,9}\\},?){0,4}\\]\\}",
            ],
        ) {
            if let Ok(file) = read(&text) {
                prop_assert!(file.notes.len() <= MAX_NOTES);
            }
        }
    }
}
