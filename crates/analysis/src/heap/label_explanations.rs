//! Explanations of heap profile labels other than closure types.
//!
//! They cover biography phases, eras, retainers, and cost centres of the runtime.

use super::closures::Explanation;

const fn words(what: &'static str, advice: &'static str) -> Explanation {
    Explanation { what, advice }
}

/// Explanation of eras.
pub(super) const ERA: Explanation = words(
    "What was allocated while the program was in this era (setUserEra, or one for each collection of the oldest generation with --automatic-era-increment).",
    "What stays of an early era long after it is kept for longer than that work took.",
);

/// Explains a biography phase (`-hb`).
pub(super) fn explain_biography(word: &str) -> Option<Explanation> {
    Some(match word {
        "LAG" => words(
            "Made, but not used yet.",
            "Make it later, or when it is needed.",
        ),
        "USE" => words(
            "Between its first use and its last.",
            "This is what the program needs.",
        ),
        "DRAG" => words(
            "Used for the last time, but still reachable.",
            "Let go of it: -hr tells what keeps it, -hc -hbdrag where it is made.",
        ),
        "VOID" => words(
            "Never used.",
            "Do not make it: it is often the unused part of a strict structure, or read in advance.",
        ),
        "INHERENT_USE" => words(
            "Always counted as used: threads, stacks, mutable variables, arrays of bytes, weak pointers.",
            "",
        ),
        _ => return None,
    })
}

/// Explains a cost centre of the runtime (`rts/Profiling.c`), retainer set member, or module of `-hm`.
pub(super) fn explain_centre(label: &str) -> Option<Explanation> {
    Some(match label {
        "MAIN" => words(
            "What was allocated outside of any cost centre, such as by libraries that are built without them.",
            "-fprof-late puts cost centres into all functions; libraries need profiling-detail for it.",
        ),
        "SYSTEM" => words(
            "What the runtime itself allocated, for instance for threads.",
            "",
        ),
        "PINNED" => words(
            "Memory that cannot be moved: buffers and ByteStrings. The runtime does not know who allocated it.",
            "Use ShortByteString or Text for small ones: they can be moved.",
        ),
        "OVERHEAD_of" => words("What profiling itself needs.", ""),
        "DONT_CARE" => words("Data that is there from the start, without cost.", ""),
        "CAF" => words(
            "Constants of a module, which are calculated once and kept for as long as code refers to them.",
            "Make a large one a function, or calculate it piece by piece.",
        ),
        "GC" => words("What the collector needs.", ""),
        "IDLE" => words("Nothing ran.", ""),
        _ => return None,
    })
}

/// Explains a retainer set (`-hr`).
pub(super) const fn explain_retainers(_: &str) -> Explanation {
    words(
        "What is kept by these and nothing else. A retainer is a thunk, thread, stack or mutable variable, shown with its cost centre; with more than -R of them (8) they are not told apart.",
        "Let go of it in the cost centres that are named, or force the thunks that they make.",
    )
}
