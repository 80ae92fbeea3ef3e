//! Texts about the scope of textual heap profiles (`.hp`).

/// Message shown when such a file is opened.
pub const ABOUT: &str = "This is a text heap profile (.hp). It contains no threads, capabilities or collections; its times are CPU times of the program. An eventlog contains everything: run the program with -l in addition to the flag of the heap profile.";

/// Explains why a panel about `what` is empty.
pub fn nothing_of(what: &str) -> String {
    format!(
        "A text heap profile (.hp) contains no {what}. For an eventlog, run the program with +RTS -l in addition to the flag of the heap profile."
    )
}
