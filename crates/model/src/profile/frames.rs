//! The functions that samples fall into, each kept once.

use serde::{Deserialize, Serialize};

use crate::place::place32;
use eventlog::hash::SeededMap;
use eventlog::ids::{Address, CostCentreId};
use symbols::Name;

/// A frame of a profile: an index into its [`Frames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FrameId(pub u32);

impl FrameId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a frame stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FrameKind {
    /// A cost centre of the program or of a library.
    CostCentre,
    /// A cost centre of the runtime itself: `IDLE`, `GC`, `SYSTEM`, `MAIN`,
    /// `OVERHEAD_of`, `DONT_CARE`, `PINNED` (`rts/Profiling.c`).
    BuiltIn,
    /// A foreign function that was called.
    ForeignCall,
    /// A cost centre that the log names by number but never declares.
    Unknown,
    /// A function inside foreign code.
    Foreign,
    /// A function of the program or of a library, found on the stack.
    Haskell,
    /// A span that the program announced.
    Span,
    /// A thread.
    Thread,
    /// What a thread waited for.
    Waiting,
    /// A module, in place of its functions.
    Module,
}

/// One function, or what the log has in place of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The cost centre's label or the foreign function's name.
    pub label: String,
    /// The module that declares it; empty for foreign calls.
    pub module: String,
    /// The package of the module; empty where the log does not tell. Cost
    /// centres and info table provenance do not; names of symbols do.
    pub package: String,
    /// The source location as the compiler wrote it, such as `A.hs:(3,1)-(7,20)`.
    pub location: Option<String>,
    /// What it is.
    pub kind: FrameKind,
    /// Its address, where the log has nothing else: the executable's symbols
    /// may name it.
    pub address: Option<u64>,
}

/// The source location of the runtime's own cost centres.
const BUILT_IN: &str = "<built-in>";

impl Frame {
    /// A frame of which no more is known than what it is.
    #[must_use]
    pub fn of_kind(kind: FrameKind, label: &str) -> Self {
        Self {
            label: label.to_owned(),
            module: String::new(),
            package: String::new(),
            location: None,
            kind,
            address: None,
        }
    }

    /// A cost centre as `HeapProfCostCentre` declares it. The runtime's own
    /// ones are known by their location (or by a module of the same name where
    /// there is none), never by their number: that depends on the program.
    #[must_use]
    pub fn cost_centre(module: &str, label: &str, location: &str) -> Self {
        let built_in = location == BUILT_IN || (location.is_empty() && module == label);
        Self {
            module: module.to_owned(),
            location: Some(location.to_owned()).filter(|text| !text.is_empty() && !built_in),
            ..Self::of_kind(
                if built_in {
                    FrameKind::BuiltIn
                } else {
                    FrameKind::CostCentre
                },
                label,
            )
        }
    }

    /// A cost centre of the runtime.
    #[must_use]
    pub fn built_in(module: &str, label: &str) -> Self {
        Self::cost_centre(module, label, BUILT_IN)
    }

    /// A cost centre that the log does not declare.
    #[must_use]
    pub fn unknown(id: CostCentreId) -> Self {
        Self::of_kind(FrameKind::Unknown, &format!("cost centre {id}"))
    }

    /// A foreign function.
    #[must_use]
    pub fn foreign_call(name: &str) -> Self {
        Self::of_kind(FrameKind::ForeignCall, name)
    }

    /// A function inside foreign code of which only the address is known.
    #[must_use]
    pub fn foreign_function(address: Address) -> Self {
        Self {
            address: Some(address.0),
            ..Self::of_kind(FrameKind::Foreign, &address.to_string())
        }
    }

    /// A cost centre as `GHC.Stack.CCS.ccsToStrings` prints it:
    /// `Module.label (location)`. Module and label both may have dots in them;
    /// the module is taken to be the words that begin with a capital, but
    /// something is left for the label (`GHC.Types.CAF`).
    #[must_use]
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

    /// The cost centre as `GHC.Stack.CCS.ccsToStrings` prints it.
    #[must_use]
    pub fn printed(&self) -> String {
        let location = match (self.kind, &self.location) {
            (FrameKind::BuiltIn, _) => BUILT_IN,
            (_, location) => location.as_deref().unwrap_or_default(),
        };
        format!("{}.{} ({location})", self.module, self.label)
    }

    /// Module and label, with a dot between them.
    #[must_use]
    pub fn name(&self) -> String {
        if self.module.is_empty() {
            self.label.clone()
        } else {
            format!("{}.{}", self.module, self.label)
        }
    }

    /// Whether it means that the capability had nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.kind == FrameKind::BuiltIn && self.label == "IDLE"
    }
}

/// All frames of a profile.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    frames: Vec<Frame>,
    ids: SeededMap<Frame, FrameId>,
}

impl Frames {
    /// The id of `frame`, new or known.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        if let Some(&id) = self.ids.get(&frame) {
            return id;
        }
        let id = FrameId(place32(self.frames.len()));
        self.frames.push(frame.clone());
        self.ids.insert(frame, id);
        id
    }

    /// The frame with this id; `None` if it is another profile's.
    #[must_use]
    pub fn get(&self, id: FrameId) -> Option<&Frame> {
        self.frames.get(id.index())
    }

    /// All frames with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FrameId, &Frame)> {
        (0..).map(FrameId).zip(&self.frames)
    }

    /// Names the frames that have an address; the ids stay. What has a name
    /// already gets the new one, if there is one.
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

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there are none.
    #[must_use]
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
        // A program may have a module and a cost centre of one name.
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
