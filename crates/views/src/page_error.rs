//! Errors shown by the page, each with a permanent code, a sentence and advice; and error reports that contain
//! nothing of a log.
//!
//! `docs/errors.md` is generated from this table by `UPDATE_DOCS=1 cargo test -p views errors_page`.

use std::fmt::{self, Write as _};

use eventlog::LogError;
use serde::{Deserialize, Serialize};

/// Defines the error codes with their numbers, sentences and advice.
macro_rules! codes {
    ($($name:ident $number:literal $sentence:literal $advice:literal;)*) => {
        /// Error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Code { $(#[doc = $sentence] $name,)* }

        impl Code {
            /// All codes, by number.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the number, which never changes and is never reused.
            pub const fn number(self) -> u16 {
                match self { $(Self::$name => $number,)* }
            }

            /// Returns the description in one sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* }
            }

            /// Returns what to do.
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

codes! {
    Empty 101 "The file is empty." "The program may still be running, or was killed before it wrote its first block: try `+RTS --eventlog-flush-interval=1`.";
    NotALog 102 "The file is not an eventlog." "Run the program with `+RTS -l` and open the `.eventlog` file that it writes.";
    HeaderCut 103 "The file ends inside its header." "It was cut off while it was written or copied: copy it again.";
    HeaderDamaged 104 "The header of the file is damaged." "Copy the file again in binary mode, or make a new log.";
    TextConverted 105 "The file was converted as text." "Copy it in binary mode (ftp: `type binary`; git: `-text`), or make a new log.";
    Ancient 106 "The log was written by a GHC before 6.12." "Build the program with a newer GHC.";
    Decompress 107 "The compressed data is damaged." "Compress the log again, or open it uncompressed.";
    CompressedTwice 108 "The log was compressed twice." "Uncompress it once before it is opened.";
    TooBig 109 "The log needs more memory than the limit." "Allow more with `?memory=` in the address, or log less.";
    NotRead 110 "The file could not be read." "It was probably moved, changed or deleted: open it again.";
    NoEvents 111 "The log has a header but no events." "The program may have been killed at once, or logged nothing: try `+RTS -l`.";
    Folder 112 "This is a folder." "Drop the .eventlog or .hp file inside it.";
    NoFile 113 "Not a file." "Drop an .eventlog or .hp file.";
    SampleNotFetched 201 "The sample could not be fetched." "Reload the page and try again.";
    ServedNotFetched 202 "The file could not be fetched." "Is eventscope view still running? A large file also needs browser disk space: drop it here to read it in place.";
    LinkedNotFetched 203 "The log in the link could not be fetched." "Ask the author of the link whether the log still exists, or drop it here.";
    NoAddress 204 "The link contains an invalid log address." "Copy the whole link, or drop the log here.";
    AddressProtocol 205 "The link contains a log address that is not a web address." "Only https: and http: are followed. Drop the log here.";
    AddressSecret 206 "The link contains a log address with a name or password." "Such addresses are not followed. Download the log and drop it here.";
    AddressUnencrypted 207 "The link contains an unencrypted log address (http:), but this page is encrypted." "Download the log and drop it here.";
    WindowBlocked 208 "The browser blocked the second page." "Allow this site to open windows, or download the log and drop it here.";
    HostSilent 211 "The host does not respond, or does not allow other sites to read the file; browsers do not report which." "The operator of the host can allow it with the header Access-Control-Allow-Origin. Or download the file and drop it on Eventscope.";
    HostRefuses 212 "The host does not have the file, or denies access." "Check the address. If the file needs a login, download it and drop it on Eventscope.";
    BrokenOff 213 "The download was interrupted." "Try again, or download it and drop it on Eventscope.";
    NobodyWaits 214 "The page that requested the file is closed." "Open the link again.";
    OutOfMemory 301 "The log reader stopped: it probably ran out of memory." "Close other tabs, or log less: `+RTS -l-a` turns all events off, `-lsg` keeps scheduler and GC events.";
    Defect 302 "The log reader stopped." "This is a bug in Eventscope: please report it with the details.";
    Updated 303 "The page was updated meanwhile." "Reload it.";
    ShortOfMemory 304 "Out of memory: only a part of the log was read." "The part that was read is shown. Allow more memory with `?memory=` in the address, close other tabs, or log less.";
    NotStarted 305 "The log reader could not be started." "The site does not respond, or has another build now: check the connection and reload the page.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ES-{}", self.number())
    }
}

impl From<&LogError> for Code {
    fn from(error: &LogError) -> Self {
        match error {
            LogError::Empty => Self::Empty,
            LogError::NotAnEventlog { .. } => Self::NotALog,
            LogError::HeaderCut(_) => Self::HeaderCut,
            LogError::HeaderDamaged { .. } => Self::HeaderDamaged,
            LogError::TextConverted(_) => Self::TextConverted,
            LogError::Ancient(_) => Self::Ancient,
            LogError::Decompress { .. } => Self::Decompress,
            LogError::CompressedTwice => Self::CompressedTwice,
            LogError::TooBig { .. } => Self::TooBig,
            _ => Self::NotRead,
        }
    }
}

/// Error as shown by the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageError {
    /// Error code.
    pub code: Code,
    /// Complete message, which may contain the name of the file.
    pub message: String,
    /// Source location in this program, if it panicked.
    pub location: Option<String>,
    /// Name of the file that cannot be opened, if the error is about one.
    pub file: Option<String>,
}

impl PageError {
    /// Creates an error with the text of the table.
    pub fn new(code: Code) -> Self {
        Self::with_message(
            code,
            format!("{} {}", code.sentence(), code.advice().replace('`', "")),
        )
    }

    /// Creates an error with an additional explanation by the browser.
    pub fn with_cause(code: Code, why: &str) -> Self {
        let sentence = code.sentence().trim_end_matches('.');
        let advice = code.advice().replace('`', "");
        Self::with_message(code, format!("{sentence}: {why}. {advice}"))
    }

    /// Creates an error with another text.
    pub fn with_message(code: Code, message: String) -> Self {
        Self {
            code,
            message,
            location: None,
            file: None,
        }
    }

    /// Returns the heading above the message.
    pub fn heading(&self) -> String {
        match (self.code.number() / 100, &self.file) {
            (1 | 2, Some(file)) => format!("Cannot open {file}."),
            (1 | 2, None) => "Cannot open the file.".to_owned(),
            _ => "Reading stopped.".to_owned(),
        }
    }

    /// Creates the error for a worker that stopped with `message` while the log `name` was open.
    pub fn worker_stopped(message: &str, name: &str) -> Self {
        let is_memory = ["memory", "alloc", "unreachable", "capacity"];
        let code = if is_memory.iter().any(|word| message.contains(word)) {
            Code::OutOfMemory
        } else if message.contains("updated meanwhile") {
            Code::Updated
        } else {
            Code::Defect
        };
        let advice = code.advice().replace('`', "");
        let guess = match code {
            Code::OutOfMemory => "It probably ran out of memory. ",
            _ => "",
        };
        let shown = format!(
            "The log reader stopped at “{name}”: {message}. {guess}{advice} A new one was started."
        );
        Self {
            location: panicked_at(message),
            file: None,
            ..Self::with_message(code, shown)
        }
    }
}

/// Extracts the source location from a panic message: a file of this program, line and column. The rest of the
/// message may contain text of the log.
fn panicked_at(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("panicked at ")?;
    let place = rest.split([' ', '\n']).next()?.trim_end_matches(':');
    let (file, _) = place.split_once(".rs:")?;
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-.".contains(&byte);
    file.bytes().all(is_path).then(|| place.to_owned())
}

/// Environment of an error: numbers, and the browser's identification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorContext {
    /// Version of the program.
    pub version: String,
    /// Identifier of the page's build.
    pub build: String,
    /// User agent of the browser.
    pub browser: String,
    /// Numbers with their labels; `None` if unknown.
    pub numbers: Vec<(&'static str, Option<u64>)>,
}

/// Formats an error report for the developers. It contains nothing of the log: no names or texts, only sizes and
/// counts.
pub fn report(error: &PageError, context: &ErrorContext) -> String {
    let code = error.code;
    let mut text = format!(
        "Eventscope report\ncode: {code}\nwhat: {}\nversion: {}\nbuild: {}\nbrowser: {}\n",
        code.sentence(),
        context.version,
        context.build,
        context.browser
    );
    if let Some(place) = &error.location {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "place: {place}");
    }
    for (what, number) in &context.numbers {
        let number = number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        let _ = writeln!(text, "{what}: {number}");
    }
    text
}

/// Returns the contents of `docs/errors.md`.
pub fn errors_page() -> String {
    let mut page = "# Error messages\n\n\
         Each message of the page has a stable code. *Copy report* copies the code, version, browser, sizes and \
         counts, but no data, names or texts of the log.\n\n\
         Generated from the table in `crates/views/src/page_error.rs`; `UPDATE_DOCS=1 cargo test -p views errors_page` updates it.\n\n\
         | code | what | what to do |\n|---|---|---|\n"
        .to_owned();
    for code in Code::ALL {
        let _ = writeln!(page, "| {code} | {} | {} |", code.sentence(), code.advice());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_project(file: &str) -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(file)
    }

    #[test]
    fn the_errors_page_is_up_to_date() {
        let file = in_project("docs/errors.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&file, errors_page()).expect("docs/ can be written");
        }
        let written = std::fs::read_to_string(file).unwrap_or_default();
        let is_same = written == errors_page();
        assert!(
            is_same,
            "UPDATE_DOCS=1 cargo test -p views errors_page writes docs/errors.md anew"
        );
    }

    #[test]
    fn codes_are_in_order_and_those_of_the_second_page_are_known() {
        let numbers: Vec<u16> = Code::ALL.iter().map(|code| code.number()).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next));
        let script = std::fs::read_to_string(in_project("www/fetch.js")).expect("www/fetch.js");
        let used = script
            .split("'ES-")
            .skip(1)
            .filter_map(|rest| rest.get(..3)?.parse().ok());
        let used: std::collections::BTreeSet<u16> = used.collect();
        assert_eq!(used.into_iter().collect::<Vec<_>>(), [211, 212, 213, 214]);
        assert!((211..=214).all(|number| numbers.contains(&number)));
    }

    #[test]
    fn every_word_of_a_report_is_known_before() {
        let message =
            "panicked at crates/views/src/a.rs:12:5:\nbyte index 5 is inside 'é' of `secret`";
        let error = PageError::worker_stopped(message, "secret.eventlog");
        assert!(error.message.contains("secret.eventlog"));
        let about = ErrorContext {
            version: "0.1".to_owned(),
            build: "abc".to_owned(),
            browser: "Mozilla/5.0".to_owned(),
            numbers: vec![("bytes", Some(7)), ("memory", None)],
        };
        assert_eq!(
            report(&error, &about),
            "Eventscope report\ncode: ES-302\nwhat: The log reader stopped.\nversion: 0.1\nbuild: abc\n\
             browser: Mozilla/5.0\nplace: crates/views/src/a.rs:12:5\nbytes: 7\nmemory: unknown\n"
        );
    }

    #[test]
    fn only_places_in_the_program_are_told() {
        let at = |message| panicked_at(message);
        assert_eq!(
            at("panicked at src/a.rs:1:2:\nsecret").as_deref(),
            Some("src/a.rs:1:2")
        );
        for other in [
            "Uncaught Error: secret",
            "panicked at secret\nfile.rs:1",
            "panicked at 'é'.rs:1:1",
        ] {
            assert_eq!(at(other), None, "{other}");
        }
        let code = |message| PageError::worker_stopped(message, "").code;
        assert_eq!(code("RuntimeError: unreachable"), Code::OutOfMemory);
        assert_eq!(code("made for the test"), Code::Defect);
        assert_eq!(
            code("The page was updated meanwhile: reload it."),
            Code::Updated
        );
    }
}
