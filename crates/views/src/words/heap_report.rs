//! Texts about the scope of textual heap profiles (`.hp`).

/// Message shown when such a file is opened.
pub const ABOUT: &str = "This is a heap profile in text (.hp). It tells what holds the heap, and nothing of threads, capabilities and collections; its times are the CPU time that the program itself took. An eventlog tells all of it: run the program with -l beside the flag of the heap profile.";

/// Explains why a panel about `what` is empty.
#[must_use]
pub fn nothing_of(what: &str) -> String {
    format!(
        "A heap profile in text (.hp) tells nothing of {what}. An eventlog does: run the program with +RTS -l beside the flag of the heap profile."
    )
}
