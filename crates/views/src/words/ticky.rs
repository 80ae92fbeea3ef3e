//! Texts for ticky counters.

use analysis::ticky::{Flaw, Kind, Shape, SizeError, TickyRow};

/// Returns the meaning of a type letter of an argument or free variable (GHC's `showTypeCategory`); `None` for
/// letters that GHC does not write.
pub const fn letter_meaning(letter: char) -> Option<&'static str> {
    Some(match letter {
        '+' => "type class dictionary",
        '>' => "function",
        'C' => "Char",
        'I' => "Int",
        'F' => "Float",
        'D' => "Double",
        'W' => "Word",
        'c' => "unboxed Char",
        'i' => "unboxed Int",
        'f' => "unboxed Float",
        'd' => "unboxed Double",
        'w' => "unboxed Word",
        'T' => "tuple",
        't' => "unboxed tuple",
        'P' => "other primitive type",
        'p' => "other unboxed primitive type",
        'L' => "list",
        'E' => "enumeration",
        'S' => "type with one constructor",
        'M' => "type with several constructors",
        'e' | 's' | 'm' | 'l' => "unlifted type",
        '.' => "unknown type",
        '-' => "nothing of interest",
        _ => return None,
    })
}

/// Lists the meaning of several letters: `list, unboxed Int`.
pub fn letters_meaning(letters: &str) -> String {
    let mut words = String::new();
    for letter in letters.chars() {
        if !words.is_empty() {
            words.push_str(", ");
        }
        match letter_meaning(letter) {
            Some(word) => words.push_str(word),
            None => words.push(letter),
        }
    }
    words
}

/// Returns a short name for the kind of a counter.
pub const fn kind_name(kind: Kind) -> &'static str {
    match (kind.shape, kind.single_entry) {
        (Shape::Function, false) => "function",
        (Shape::Function, true) => "function, one-shot",
        (Shape::Thunk, false) => "thunk",
        (Shape::Thunk, true) => "thunk, one-shot",
        (Shape::Constructor, _) => "constructor",
        (Shape::LetNoEscape, _) => "let-no-escape",
        (Shape::Evaluated, _) => "evaluated",
    }
}

/// Explains the kind of a counter.
pub fn kind_explained(kind: Kind) -> String {
    let what = match kind.shape {
        Shape::Function => "A function. An entry is a call of it.",
        Shape::Thunk => {
            "A thunk: an unevaluated expression. An entry evaluates it; without an entry it was allocated in vain."
        }
        Shape::Constructor => "A site that allocates a constructor. It has no code to enter.",
        Shape::LetNoEscape => {
            "A local function on the stack that does not escape its enclosing function: it allocates no closure."
        }
        Shape::Evaluated => {
            "A site that inspects a value. An entry counts a case in which the value was already evaluated and not entered."
        }
    };
    let mut words = what.to_owned();
    if kind.single_entry {
        words.push_str(" It is entered at most once, so its value is not stored.");
    }
    if kind.standard {
        words.push_str(" It shares code of the runtime with all thunks of its form (a field of a record, an application), so its entries are not counted.");
    }
    words
}

/// Explains why the number of closures is only a bound.
pub const fn size_error(errs: SizeError) -> &'static str {
    match errs {
        SizeError::FieldsUnknown => {
            "upper bound: the log does not contain the fields of constructors, so two words are assumed for each"
        }
        SizeError::OneWordTooLarge => {
            "lower bound: closures of a function without arguments that take space are counted as one word too large"
        }
    }
}

/// Returns the error of a row's number of closures; `None` if it is exact or zero.
pub fn count_errs(row: &TickyRow) -> Option<SizeError> {
    let some = row.allocd_count().is_some_and(|count| count > 0);
    row.definition.as_ref()?.size_error().filter(|_| some)
}

/// Returns the sign before a number of closures that is only a bound.
pub const fn size_sign(errs: Option<SizeError>) -> &'static str {
    match errs {
        Some(SizeError::FieldsUnknown) => "≤ ",
        Some(SizeError::OneWordTooLarge) => "≥ ",
        None => "",
    }
}

/// Explains missing or wrong counters of a log.
pub const fn flaw_text(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::NoCounts => {
            "The log defines counters but contains no values: the runtime writes them every 0.1 s (-i), at the next collection. Some versions of GHC do not write them at the end of the program."
        }
        Flaw::EntriesHoldBytes => {
            "The GHC of this program added the bytes of closures to their entries (GHC 9.6 does, GHC 9.10 does not): entries of allocated closures are too high, and the bytes of closures are missing. The bytes allocated by code are correct."
        }
        Flaw::NoAllocd => {
            "No bytes of closures were counted: compile with -ticky-allocd too (and -ticky-dyn-thunk, for thunks and constructors)."
        }
    }
}

/// Commands that record a log with ticky counters.
pub const HOW_TO_RECORD: [&str; 2] = [
    "ghc -ticky -ticky-allocd -ticky-dyn-thunk -rtsopts -eventlog Main.hs",
    "./Main +RTS -lT",
];

/// Explanation of those commands and their flags.
pub const RECORDING_EXPLAINED: &str = "Requires GHC 9.2 or later. Compile every module to count with -ticky; -ticky-allocd counts the bytes of each kind of closure. Counters are written every 0.1 s (-i), at the next collection. A program built this way runs several times slower.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_one_by_one() {
        assert_eq!(letters_meaning("Li"), "list, unboxed Int");
        assert_eq!(letters_meaning("?+"), "?, type class dictionary");
        assert_eq!(letters_meaning(""), "");
    }
}
