//! Frames of stacks: the interned functions of a profile.

use serde::{Deserialize, Serialize};

use crate::saturating::saturating_u32;
use eventlog::hash::SeededMap;
use eventlog::ids::{Address, CostCentreId};
use symbols::Name;

/// An interned frame: an index into [`Frames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FrameId(pub u32);

impl FrameId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of code or state that a frame stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FrameKind {
    /// A cost centre of the program or of a library.
    CostCentre,
    /// A cost centre of the runtime itself: `IDLE`, `GC`, `SYSTEM`, `MAIN`, `OVERHEAD_of`, `DONT_CARE`, `PINNED`
    /// (`rts/Profiling.c`).
    BuiltIn,
    /// A call of a foreign function from Haskell.
    ForeignCall,
    /// A cost centre that the log refers to by number but never declares.
    Unknown,
    /// A function within foreign code.
    Foreign,
    /// A function of the program or of a library, found on the Haskell stack.
    Haskell,
    /// A user span.
    Span,
    /// A Haskell thread.
    Thread,
    /// The reason of a thread's wait.
    Waiting,
    /// A module, which replaces its functions.
    Module,
}

/// A function, or another entity in its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Label of the cost centre, or name of the function.
    pub label: String,
    /// Declaring module; empty for foreign calls.
    pub module: String,
    /// Package of the module; empty if unknown. Symbol names contain it, cost centres and info table provenance
    /// do not.
    pub package: String,
    /// Source location as written by the compiler, such as `A.hs:(3,1)-(7,20)`.
    pub location: Option<String>,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Code address, if the log has nothing else; it can be named by the symbols of the executable.
    pub address: Option<u64>,
}

/// Source location of the runtime's own cost centres.
const BUILT_IN: &str = "<built-in>";

impl Frame {
    /// Creates a frame with only a kind and a label.
    pub fn with_kind(kind: FrameKind, label: &str) -> Self {
        Self {
            label: label.to_owned(),
            module: String::new(),
            package: String::new(),
            location: None,
            kind,
            address: None,
        }
    }

    /// Creates the frame of a cost centre declared by `HeapProfCostCentre`.
    ///
    /// Those of the runtime are recognized by their location (or, without one, by a module with the name of the
    /// label), not by number, which depends on the program.
    pub fn cost_centre(module: &str, label: &str, location: &str) -> Self {
        let built_in = location == BUILT_IN || (location.is_empty() && module == label);
        Self {
            module: module.to_owned(),
            location: Some(location.to_owned()).filter(|text| !text.is_empty() && !built_in),
            ..Self::with_kind(
                if built_in {
                    FrameKind::BuiltIn
                } else {
                    FrameKind::CostCentre
                },
                label,
            )
        }
    }

    /// Returns the name with the module; the runtime's own cost centres have only a label.
    pub fn display_name(&self) -> String {
        match self.kind {
            FrameKind::BuiltIn => self.label.clone(),
            _ => self.name(),
        }
    }

    /// Creates a cost centre of the runtime.
    pub fn built_in(module: &str, label: &str) -> Self {
        Self::cost_centre(module, label, BUILT_IN)
    }

    /// Creates a placeholder for a cost centre that the log does not declare.
    pub fn unknown(id: CostCentreId) -> Self {
        Self::with_kind(FrameKind::Unknown, &format!("cost centre {id}"))
    }

    /// Creates the frame of a call of a foreign function.
    pub fn foreign_call(name: &str) -> Self {
        Self::with_kind(FrameKind::ForeignCall, name)
    }

    /// Creates the frame of a function in foreign code, known only by its address.
    pub fn foreign_function(address: Address) -> Self {
        Self {
            address: Some(address.0),
            ..Self::with_kind(FrameKind::Foreign, &address.to_string())
        }
    }

    /// Parses a cost centre printed by `GHC.Stack.CCS.ccsToStrings`: `Module.label (location)`.
    ///
    /// Both module and label may contain dots. The longest prefix of capitalized words is the module, except that
    /// the label must not be empty (`GHC.Types.CAF`).
    pub fn from_printed(text: &str) -> Self {
        let (name, location) = match text.rsplit_once(" (") {
            Some((name, rest)) => (name, rest.strip_suffix(')').unwrap_or(rest)),
            None => (text, ""),
        };
        let is_capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
        let mut module_len = 0;
        for (dot, _) in name.match_indices('.') {
            let from = if module_len == 0 { 0 } else { module_len + 1 };
            if !name.get(from..dot).is_some_and(is_capital) {
                break;
            }
            module_len = dot;
        }
        let (module, label) = name.split_at(module_len);
        Self::cost_centre(module, label.strip_prefix('.').unwrap_or(label), location)
    }

    /// Formats the cost centre like `GHC.Stack.CCS.ccsToStrings`.
    pub fn printed(&self) -> String {
        let location = match (self.kind, &self.location) {
            (FrameKind::BuiltIn, _) => BUILT_IN,
            (_, location) => location.as_deref().unwrap_or_default(),
        };
        format!("{}.{} ({location})", self.module, self.label)
    }

    /// Returns `Module.label`, or the label alone without a module.
    pub fn name(&self) -> String {
        if self.module.is_empty() {
            self.label.clone()
        } else {
            format!("{}.{}", self.module, self.label)
        }
    }

    /// Returns whether the frame means that the capability was idle.
    pub fn is_idle(&self) -> bool {
        self.kind == FrameKind::BuiltIn && self.label == "IDLE"
    }
}

/// The interned frames of a profile.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    frames: Vec<Frame>,
    ids: SeededMap<Frame, FrameId>,
}

impl Frames {
    /// Interns a frame.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        if let Some(&id) = self.ids.get(&frame) {
            return id;
        }
        let id = FrameId(saturating_u32(self.frames.len()));
        self.frames.push(frame.clone());
        self.ids.insert(frame, id);
        id
    }

    /// Returns the frame with this id; `None` if the id is of another profile.
    pub fn get(&self, id: FrameId) -> Option<&Frame> {
        self.frames.get(id.index())
    }

    /// Iterates over all frames with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FrameId, &Frame)> {
        (0..).map(FrameId).zip(&self.frames)
    }

    /// Names the frames that have an address, keeping their ids. Frames that already have a name are renamed if
    /// `name` returns one.
    pub fn name_addresses<'a>(&mut self, name: impl Fn(Address) -> Option<&'a Name>) {
        for (id, frame) in (0..).map(FrameId).zip(&mut self.frames) {
            let Some(name) = frame.address.and_then(|address| name(Address(address))) else {
                continue;
            };
            self.ids.remove(frame);
            frame.label.clone_from(&name.label);
            frame.module.clone_from(&name.module);
            frame.package.clone_from(&name.package);
            if name.location.is_some() {
                frame.location.clone_from(&name.location);
            }
            self.ids.insert(frame.clone(), id);
        }
    }

    /// Returns the number of frames.
    pub const fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns whether there are no frames.
    pub const fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_cost_centres_are_known_by_their_location() {
        for (module, label) in [
            ("IDLE", "IDLE"),
            ("SYSTEM", "PINNED"),
            ("MAIN", "DONT_CARE"),
        ] {
            let frame = Frame::cost_centre(module, label, "<built-in>");
            assert_eq!(frame.kind, FrameKind::BuiltIn, "{label}");
            assert_eq!(frame.location, None);
        }
        assert!(Frame::built_in("IDLE", "IDLE").is_idle());
        // A user module may have a cost centre of the same name.
        let own = Frame::cost_centre("Parser", "Parser", "Parser.hs:1:1-9");
        assert_eq!(own.kind, FrameKind::CostCentre);
        let idle = Frame::cost_centre("Main", "IDLE", "Main.hs:1:1-9");
        assert!(!idle.is_idle());
    }

    #[test]
    fn printed_cost_centres_are_taken_apart() {
        for (text, module, label, location) in [
            (
                "Main.main (app/Main.hs:(48,1)-(49,8))",
                "Main",
                "main",
                Some("app/Main.hs:(48,1)-(49,8)"),
            ),
            (
                "Data.Map.go.loop (D.hs:1:1-2)",
                "Data.Map",
                "go.loop",
                Some("D.hs:1:1-2"),
            ),
            (
                "GHC.Types.CAF (<entire-module>)",
                "GHC.Types",
                "CAF",
                Some("<entire-module>"),
            ),
            (
                "Main.tokens.(...).\\ (P.hs:58:57-85)",
                "Main",
                "tokens.(...).\\",
                Some("P.hs:58:57-85"),
            ),
            ("MAIN.MAIN (<built-in>)", "MAIN", "MAIN", None),
            ("odd", "", "odd", None),
            ("", "", "", None),
            ("A. (", "A", "", None),
            (".x", "", "x", None),
        ] {
            let frame = Frame::from_printed(text);
            let found = (
                frame.module.as_str(),
                frame.label.as_str(),
                frame.location.as_deref(),
            );
            assert_eq!(found, (module, label, location), "{text}");
        }
    }

    #[test]
    fn printing_is_the_inverse_of_taking_apart() {
        for text in [
            "Main.f.g (M.hs:3:1-9)",
            "IDLE.IDLE (<built-in>)",
            "A.B.CAF (<entire-module>)",
        ] {
            assert_eq!(Frame::from_printed(text).printed(), text);
        }
    }

    #[test]
    fn a_frame_is_kept_once() {
        let mut frames = Frames::default();
        let first = frames.intern(Frame::foreign_call("blur"));
        let other = frames.intern(Frame::unknown(CostCentreId(7)));
        assert_eq!(frames.intern(Frame::foreign_call("blur")), first);
        assert_ne!(first, other);
        assert_eq!(frames.len(), 2);
        assert_eq!(
            frames.get(other).map(Frame::name).as_deref(),
            Some("cost centre 7")
        );
    }

    #[test]
    fn addresses_are_named_and_ids_stay() {
        let mut frames = Frames::default();
        let main = frames.intern(Frame::cost_centre("Main", "main", "M.hs:1:1"));
        let bar = frames.intern(Frame::foreign_function(Address(0x41_0061)));
        let other = frames.intern(Frame::foreign_function(Address(0x41_0099)));
        let name = Name {
            label: "bar_c".into(),
            location: Some("bar.c:3".into()),
            ..Name::default()
        };
        frames.name_addresses(|address| (address.0 == 0x41_0061).then_some(&name));
        let named = frames.get(bar).expect("a frame").clone();
        assert_eq!(
            (named.name(), named.address),
            ("bar_c".into(), Some(0x41_0061))
        );
        assert_eq!(named.location.as_deref(), Some("bar.c:3"));
        assert_eq!(frames.get(main).map(Frame::name), Some("Main.main".into()));
        assert_eq!(frames.get(other).map(Frame::name), Some("0x410099".into()));
        assert_eq!(frames.intern(named), bar);
        assert_eq!(frames.len(), 3);
    }
}
