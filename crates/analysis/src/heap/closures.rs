//! Explanations of the runtime's closure types, for users who find `ARR_WORDS` or `THUNK_2_0` in a profile.
//!
//! Based on `rts/include/rts/storage/ClosureTypes.h`, `Closures.h` and the comments on heap objects in the runtime
//! of GHC 9.10.

use serde::{Deserialize, Serialize};

use eventlog::closure_type::ClosureType;

model::named_enum! {
    /// Kind of closure, by which bands are grouped.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum ClosureKind {
        /// Values of data types.
        Constructor: "constructors", "constructor";
        /// Functions with their captured variables.
        Function: "functions", "function";
        /// Delayed computations, evaluated on first use.
        Thunk: "thunks", "thunk";
        /// Function or thunk; a symbol does not show which.
        FunctionOrThunk: "functions or thunks", "function or thunk";
        /// Functions applied to some or all of their arguments.
        Application: "applications", "application";
        /// Arrays, of bytes or of pointers.
        Array: "arrays", "array";
        /// `IORef`, `MVar`, `TVar` and their relatives.
        Mutable: "mutable variables", "mutable variable";
        /// Threads and their stacks.
        Stack: "threads and stacks", "thread or stack";
        /// Weak pointers and finalizers.
        Weak: "weak pointers", "weak pointer";
        /// Compact regions (`GHC.Compact`).
        Compact: "compact regions", "compact region";
        /// Internal data of the runtime.
        Runtime: "the runtime's own", "of the runtime";
    }
    /// Returns the plural name.
    fn title;
    /// Returns the singular name.
    fn singular;
}

/// Explanation of a closure type or label, with advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What it is, as a sentence.
    pub what: &'static str,
    /// What to do if it grows, as a sentence; may be empty.
    pub advice: &'static str,
}

/// Closure types with a common name prefix: prefix, kind, explanation, advice.
type Family = (&'static str, ClosureKind, &'static str, &'static str);

/// The first matching prefix applies.
const FAMILIES: &[Family] = &[
    (
        "CONSTR",
        ClosureKind::Constructor,
        "A value of a data type: a constructor with its fields.",
        "Strict and unpacked fields make values smaller; -hr tells what keeps them.",
    ),
    (
        "FUN",
        ClosureKind::Function,
        "A function with the variables that it uses from around it.",
        "Functions are kept in data structures, callbacks and unfinished monadic code: find what keeps them with -hr.",
    ),
    (
        "THUNK_SELECTOR",
        ClosureKind::Thunk,
        "One field of a value that is not calculated yet, such as “fst x”.",
        "The collector removes it once the value is calculated: force that value, with a bang or a strict field.",
    ),
    (
        "THUNK_STATIC",
        ClosureKind::Thunk,
        "A constant of a module (CAF) that is not calculated yet.",
        "",
    ),
    (
        "THUNK",
        ClosureKind::Thunk,
        "A calculation that is put off until someone asks for its result.",
        "If thunks grow, results are needed later or never: force them where they are made, with bangs, strict fields, foldl', modifyIORef' or Data.Map.Strict.",
    ),
    (
        "BCO",
        ClosureKind::Runtime,
        "Code that GHCi or Template Haskell interprets.",
        "Compile the module.",
    ),
    (
        "AP_STACK",
        ClosureKind::Application,
        "A calculation that an exception interrupted, with its piece of the stack, so that it can go on.",
        "Look for timeouts and killed threads whose results are still kept.",
    ),
    (
        "AP",
        ClosureKind::Application,
        "A call with all its arguments that is put off, made by interpreted code or the runtime.",
        "Force it where it is made, or compile the module.",
    ),
    (
        "PAP",
        ClosureKind::Application,
        "A function with some of its arguments, which waits for the rest.",
        "It keeps those arguments: give all of them at once, or keep only what is needed.",
    ),
    (
        "IND",
        ClosureKind::Runtime,
        "A pointer to a result: what is left of a thunk until a collection removes it.",
        "",
    ),
    (
        "BLOCKING_QUEUE",
        ClosureKind::Runtime,
        "Threads that wait for a thunk that another thread calculates.",
        "",
    ),
    (
        "BLACKHOLE",
        ClosureKind::Thunk,
        "A thunk that a thread is calculating, or whose result a collection has not yet put in its place.",
        "Few are usual; many that stay are large calculations that are under way.",
    ),
    (
        "MVAR",
        ClosureKind::Mutable,
        "An MVar: a place for one value, which threads hand to each other.",
        "If they grow, one is made for each request or thread, and something keeps it.",
    ),
    (
        "TVAR",
        ClosureKind::Mutable,
        "A TVar: a variable of software transactional memory.",
        "Write values that are calculated: modifyTVar', or a bang before writeTVar.",
    ),
    (
        "ARR_WORDS",
        ClosureKind::Array,
        "Plain bytes: what ByteString, Text, Integer, unboxed arrays and the buffers of files are made of.",
        "A small slice keeps the whole of a ByteString or Text: copy it. Also look for input that is read at once, or kept after it is parsed.",
    ),
    (
        "MUT_ARR_PTRS_FROZEN",
        ClosureKind::Array,
        "An array of values that does not change any more: Array, Vector.",
        "Unboxed arrays and vectors hold numbers in a fraction of the space.",
    ),
    (
        "MUT_ARR_PTRS",
        ClosureKind::Array,
        "An array of values that can change: IOArray, MVector, hash tables.",
        "Every collection looks through large ones that were written to: split them, or use unboxed ones.",
    ),
    (
        "SMALL_MUT_ARR_PTRS_FROZEN",
        ClosureKind::Array,
        "A small array of values that does not change any more: the nodes of HashMap, SmallArray.",
        "Look at what the keys and values of the maps are.",
    ),
    (
        "SMALL_MUT_ARR_PTRS",
        ClosureKind::Array,
        "A small array of values that can change: SmallMutableArray.",
        "",
    ),
    (
        "MUT_VAR",
        ClosureKind::Mutable,
        "An IORef or STRef: a variable.",
        "What it holds grows if it is changed lazily: use modifyIORef' and atomicModifyIORef'.",
    ),
    (
        "WEAK",
        ClosureKind::Weak,
        "A weak pointer, or a finalizer, such as ForeignPtr and files have.",
        "If they grow, what they are attached to is never let go: close files and free foreign memory early.",
    ),
    (
        "PRIM",
        ClosureKind::Runtime,
        "Something that the runtime keeps for itself, such as a StableName or a message between capabilities.",
        "",
    ),
    (
        "MUT_PRIM",
        ClosureKind::Runtime,
        "Something that the runtime keeps for itself and changes, such as the queues of TVars.",
        "",
    ),
    (
        "TSO",
        ClosureKind::Stack,
        "A Haskell thread, without its stack.",
        "If they grow, threads are made faster than they end, or wait for ever: see the panel Threads.",
    ),
    (
        "STACK",
        ClosureKind::Stack,
        "The stack of a Haskell thread, or a piece of it.",
        "A large one comes from deep recursion: foldr or mapM over something long, a sum of thunks. Many small ones are many threads.",
    ),
    (
        "TREC_CHUNK",
        ClosureKind::Runtime,
        "What a transaction (STM) has read and written so far.",
        "Make transactions smaller.",
    ),
    (
        "WHITEHOLE",
        ClosureKind::Runtime,
        "A closure that a thread holds for a moment.",
        "",
    ),
    (
        "COMPACT_NFDATA",
        ClosureKind::Compact,
        "A compact region (GHC.Compact): values that the collector keeps or frees as one.",
        "One reference to any of it keeps all of it.",
    ),
    (
        "CONTINUATION",
        ClosureKind::Stack,
        "A piece of a stack that a program took to go on with later (control0#), as libraries of effects do.",
        "",
    ),
    (
        "INVALID_OBJECT",
        ClosureKind::Runtime,
        "No closure: the heap is damaged.",
        "",
    ),
    (
        "",
        ClosureKind::Stack,
        "A frame of a stack.",
        "A frame is counted with its stack.",
    ),
];

/// Kind and explanation of a closure type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeWords {
    /// Closure kind, by which bands are grouped.
    pub kind: ClosureKind,
    /// What it is, and what to do if it grows.
    pub explanation: Explanation,
}

/// Returns the kind and explanation of a closure type.
pub fn type_words(closure_type: ClosureType) -> TypeWords {
    let name = closure_type.name();
    let family = FAMILIES.iter().find(|(begin, ..)| name.starts_with(begin));
    let &(_, kind, what, advice) = family.unwrap_or(&FAMILIES[0]);
    TypeWords {
        kind,
        explanation: Explanation { what, advice },
    }
}

/// Returns the numbers of pointers and of data words in a closure, if its type shows them: `THUNK_1_0`.
pub fn payload(closure_type: ClosureType) -> Option<(u8, u8)> {
    let (rest, words) = closure_type.name().rsplit_once('_')?;
    let (_, pointers) = rest.rsplit_once('_')?;
    Some((pointers.parse().ok()?, words.parse().ok()?))
}

/// Runtime names in `-hd` labels and symbols that are no closure types: name prefix, closure type.
const ALIASES: [(&str, &str); 17] = [
    ("MVAR_TSO_QUEUE", "PRIM"),
    ("MVAR", "MVAR_CLEAN"),
    ("TVAR_WATCH_QUEUE", "MUT_PRIM"),
    ("TVAR", "TVAR"),
    ("TREC_HEADER", "MUT_PRIM"),
    ("CAF_BLACKHOLE", "BLACKHOLE"),
    ("BLOCKING_QUEUE", "BLOCKING_QUEUE"),
    ("COMPACT_NFDATA", "COMPACT_NFDATA"),
    ("MUT_ARR_WORDS", "ARR_WORDS"),
    ("DEAD_WEAK", "WEAK"),
    ("STABLE_NAME", "PRIM"),
    ("MSG_", "PRIM"),
    ("AP_STACK_", "AP_STACK"),
    ("AP_", "AP"),
    ("sel_", "THUNK_SELECTOR"),
    ("ap_", "THUNK"),
    ("unpack_cstring", "THUNK"),
];

/// Returns the closure type for a runtime label of `-hT`, `-hd` or `-hy`.
pub fn by_label(label: &str) -> Option<ClosureType> {
    ClosureType::from_name(label).or_else(|| match label {
        "MVAR" | "TVAR" | "MVAR_TSO_QUEUE" | "STABLE_NAME" | "BLOCKING_QUEUE" => by_symbol(label),
        _ => None,
    })
}

/// Returns the closure type for a runtime symbol, given without `stg_`.
pub fn by_symbol(symbol: &str) -> Option<ClosureType> {
    ClosureType::from_name(symbol).or_else(|| {
        let alias = ALIASES.iter().find(|(begin, _)| symbol.starts_with(begin));
        alias.and_then(|(_, name)| ClosureType::from_name(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_explained() {
        for closure_type in ClosureType::all() {
            let TypeWords { kind, explanation } = type_words(closure_type);
            let name = closure_type.name();
            let is_frame = name.ends_with("_FRAME") || name.starts_with("RET_");
            assert_eq!(
                explanation.what == "A frame of a stack.",
                is_frame,
                "{name}"
            );
            assert!(!kind.title().is_empty());
            for sentence in [explanation.what, explanation.advice] {
                assert!(sentence.is_empty() || sentence.ends_with('.'), "{sentence}");
            }
        }
    }

    #[test]
    fn types_have_their_kinds() {
        for (name, kind, keeps) in [
            ("CONSTR_2_0", ClosureKind::Constructor, Some((2, 0))),
            ("FUN_STATIC", ClosureKind::Function, None),
            ("THUNK_1_0", ClosureKind::Thunk, Some((1, 0))),
            ("THUNK_SELECTOR", ClosureKind::Thunk, None),
            ("BLACKHOLE", ClosureKind::Thunk, None),
            ("AP", ClosureKind::Application, None),
            ("PAP", ClosureKind::Application, None),
            ("ARR_WORDS", ClosureKind::Array, None),
            ("SMALL_MUT_ARR_PTRS_DIRTY", ClosureKind::Array, None),
            ("MUT_VAR_CLEAN", ClosureKind::Mutable, None),
            ("TSO", ClosureKind::Stack, None),
            ("STOP_FRAME", ClosureKind::Stack, None),
            ("PRIM", ClosureKind::Runtime, None),
        ] {
            let closure_type = ClosureType::from_name(name).expect("a type");
            assert_eq!(type_words(closure_type).kind, kind, "{name}");
            assert_eq!(payload(closure_type), keeps, "{name}");
        }
    }

    #[test]
    fn what_the_runtime_calls_otherwise_is_known() {
        let name = |found: Option<ClosureType>| found.map(ClosureType::name);
        for (symbol, closure_type) in [
            ("ARR_WORDS", Some("ARR_WORDS")),
            ("TVAR_CLEAN", Some("TVAR")),
            ("MVAR_TSO_QUEUE", Some("PRIM")),
            ("sel_3_upd", Some("THUNK_SELECTOR")),
            ("ap_2_upd", Some("THUNK")),
            ("AP_NOUPD", Some("AP")),
            ("PROMPT_TAG", None),
        ] {
            assert_eq!(name(by_symbol(symbol)), closure_type, "{symbol}");
        }
        assert_eq!(name(by_label("MVAR")), Some("MVAR_CLEAN"));
        // Constructors of a program.
        assert_eq!(name(by_label("AP_Request")), None);
        assert_eq!(name(by_label("Just")), None);
    }
}
