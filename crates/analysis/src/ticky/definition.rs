//! Definitions of ticky counters, and parsing of their names. The formats are those of GHC's `GHC.StgToCmm.Ticky`.

use serde::{Deserialize, Serialize};

/// Bytes per heap word. Not logged; 32-bit programs are not supported.
const WORD_BYTES: u64 = 8;

/// Contents of `TICKY_COUNTER_DEF`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Number of arguments, without those that have no representation.
    pub arity: u16,
    /// Kinds of the arguments, one letter each.
    pub arguments: String,
    /// Name, module, kind and parent, as written by GHC.
    pub name: String,
    /// Address of the info table; GHC 9.4 and later.
    pub info_table: Option<u64>,
    /// Parsed description; GHC 9.4 and later.
    pub described: Option<JsonDescription>,
}

/// Contents of the JSON description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonDescription {
    /// Kind of closure: `fun`, `thk_u`, `con`.
    pub closure: String,
    /// Kinds of the free variables, one letter each.
    pub free_variables: String,
}

impl JsonDescription {
    /// Parses the JSON of a definition; `None` if it is invalid.
    pub fn from_json(json: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Json {
            #[serde(rename = "subTy", default)]
            closure: String,
            #[serde(rename = "fvs", default)]
            free_variables: String,
        }
        let json: Json = serde_json::from_str(json).ok()?;
        Some(Self {
            closure: json.closure,
            free_variables: json.free_variables,
        })
    }
}

model::named_enum! {
    /// Kind of code or closure that a counter measures.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Shape {
        /// A function.
        Function: "function";
        /// A delayed computation.
        Thunk: "thunk";
        /// Allocation of a constructor.
        Constructor: "constructor";
        /// A local function on the stack.
        LetNoEscape: "let-no-escape";
        /// A place where a value was found evaluated, and not entered.
        Evaluated: "evaluated";
    }
    /// Returns the name for filters and exports.
    fn name;
}

/// Shape of a counter, with attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Kind {
    /// Basic kind.
    pub shape: Shape,
    /// Entered at most once, so the value is not stored.
    pub single_entry: bool,
    /// Thunk with code shared by all of its form: selector or application.
    pub standard: bool,
}

/// Parsed name of a counter: `go3{v s2Pt} (Main) (fun) in r2Pe`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label<'a> {
    /// Name in the program, or else given by the compiler: `go3`.
    pub short: &'a str,
    /// Unique number assigned by the compiler: `s2Pt`.
    pub unique: Option<&'a str>,
    /// Module name.
    pub module: Option<&'a str>,
    /// Text in the last parentheses: `fun`, `con: GHC.Types.I#`.
    kind: Option<&'a str>,
    /// Unique number of the enclosing definition: `r2Pe`.
    pub parent: Option<&'a str>,
}

impl<'a> Label<'a> {
    /// Parses a name, as far as it has this form.
    fn parse(name: &'a str) -> Self {
        let (base, rest) = name.split_once('{').unwrap_or_else(|| {
            let end = name.find(' ').unwrap_or(name.len());
            (&name[..end], &name[end..])
        });
        let (braces, rest) = rest.split_once('}').unwrap_or(("", rest));
        let (rest, parent) = match rest.rsplit_once(") in ") {
            Some((groups, parent)) => (&rest[..groups.len() + 1], Some(parent.trim())),
            None => (rest, None),
        };
        // Without a number in braces, the unique is at the end of the name: `sat_s2Py{v}`.
        let unique = braces.split_once(' ').map(|(_, unique)| unique.trim());
        let unique = unique.or_else(|| Some(base.rsplit_once('_')?.1));
        let groups = brackets(rest);
        let (module, kind, short) = match groups[..] {
            [module, kind] => (Some(module), Some(kind), base),
            // Exported names are prefixed with their module.
            [kind] if Kind::parse(kind).is_some() || base.contains('.') => {
                let (module, short) = qualified(base);
                (module, Some(kind), short)
            }
            [module] => (Some(module), None, base),
            _ => (None, None, base),
        };
        Self {
            short,
            unique,
            module,
            kind,
            parent,
        }
    }
}

/// Returns the texts in outermost parentheses.
fn brackets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_u32, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => {
                if depth == 0 {
                    from = at + 1;
                }
                depth += 1;
            }
            b')' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.push(&text[from..at]);
                }
            }
            _ => {}
        }
    }
    found
}

/// Splits `Data.Map.insert` into module and name; operators may contain dots.
fn qualified(name: &str) -> (Option<&str>, &str) {
    let mut end = 0;
    while let Some(dot) = name[end..].find('.') {
        let part = name[end..end + dot].trim_start_matches(':');
        let is_module = part.starts_with(char::is_uppercase)
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || "_'".contains(c))
            && end + dot + 1 < name.len();
        if !is_module {
            break;
        }
        end += dot + 1;
    }
    match end.checked_sub(1) {
        Some(dot) => (Some(&name[..dot]), &name[end..]),
        None => (None, name),
    }
}

impl Definition {
    /// Parses the name.
    pub fn label(&self) -> Label<'_> {
        Label::parse(&self.name)
    }

    /// Returns the kind, from the description or else the name.
    pub fn kind(&self) -> Option<Kind> {
        if self.arguments == "infer" {
            return Some(Shape::Evaluated.into());
        }
        let described = self.described.as_ref().map(|json| json.closure.as_str());
        described
            .and_then(Kind::parse)
            .or_else(|| Kind::parse(self.label().kind?))
    }

    /// Returns the constructor, for a counter of one: `GHC.Types.I#`.
    pub fn constructor(&self) -> Option<&str> {
        let named = self.label().kind?.strip_prefix("con:")?.trim_start();
        Some(named.split_once('{').map_or(named, |(name, _)| name))
    }

    /// Returns the kinds of the free variables, one letter each.
    pub fn free_variables(&self) -> Option<&str> {
        Some(&self.described.as_ref()?.free_variables)
    }

    /// Returns the size of one closure, computed as in eventlog2html; `None` before GHC 9.4.
    ///
    /// It consists of the free variables, and a header of two words, or one if the closure takes arguments.
    pub fn closure_bytes(&self) -> Option<u64> {
        let free = self.free_variables()?.chars().count() as u64;
        let header = if self.arity == 0 { 2 } else { 1 };
        Some((header + free) * WORD_BYTES)
    }

    /// Returns how [`closure_bytes`](Self::closure_bytes) may be wrong for this counter.
    pub fn size_error(&self) -> Option<SizeError> {
        match self.kind()?.shape {
            Shape::Constructor => Some(SizeError::FieldsUnknown),
            Shape::Function if self.arity == 0 => Some(SizeError::OneWordTooLarge),
            _ => None,
        }
    }
}

/// Known error of a computed closure size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeError {
    /// The fields of a constructor are unknown; with at least two words, the number of closures is an upper bound.
    FieldsUnknown,
    /// A function whose arguments have no representation (`State#`) counts as a thunk: too few closures.
    OneWordTooLarge,
}

impl Kind {
    /// Parses `thk_u`, `fun,se`, `con: GHC.Types.I#`, `LNE`.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split([',', '_', ':']);
        let shape = match words.next()?.trim() {
            "fun" => Shape::Function,
            "thk" => Shape::Thunk,
            "con" => Shape::Constructor,
            "LNE" | "lne" => Shape::LetNoEscape,
            _ => return None,
        };
        let mut kind = Self::from(shape);
        if shape != Shape::Constructor {
            for word in words {
                kind.single_entry |= word == "se";
                kind.standard |= word == "std";
            }
        }
        Some(kind)
    }
}

impl From<Shape> for Kind {
    fn from(shape: Shape) -> Self {
        Self {
            shape,
            single_entry: false,
            standard: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(name: &str) -> [Option<&str>; 4] {
        let label = Label::parse(name);
        [Some(label.short), label.module, label.unique, label.parent]
    }

    fn named(name: &str) -> Definition {
        Definition {
            name: name.to_owned(),
            ..Definition::default()
        }
    }

    #[test]
    fn a_name_is_taken_apart() {
        for (name, parts) in [
            (
                "Main.$wgo3{v r2Pb} (fun)",
                [Some("$wgo3"), Some("Main"), Some("r2Pb"), None],
            ),
            (
                ":Main.main{v 01D} (fun)",
                [Some("main"), Some(":Main"), Some("01D"), None],
            ),
            (
                "go3{v s2Pt} (Main) (fun) in r2Pe",
                [Some("go3"), Some("Main"), Some("s2Pt"), Some("r2Pe")],
            ),
            (
                "sat_s2Py{v} (A.B) (con: GHC.Tuple.(,){(w) d 76}) in s2Pt",
                [Some("sat_s2Py"), Some("A.B"), Some("s2Py"), Some("s2Pt")],
            ),
            (
                "Data.Set..>={v rX} (fun)",
                [Some(".>="), Some("Data.Set"), Some("rX"), None],
            ),
            (
                "x{v s1} (Main)  at f.hs:1 in y",
                [Some("x"), Some("Main"), Some("s1"), None],
            ),
            ("plain", [Some("plain"), None, None, None]),
            ("", [Some(""), None, None, None]),
            ("é{ü} (ö", [Some("é"), None, None, None]),
            ("a.b.", [Some("a.b."), None, None, None]),
        ] {
            assert_eq!(label(name), parts, "{name}");
        }
    }

    #[test]
    fn the_kind_is_told_by_the_description_or_the_name() {
        let shape = |name: &str| named(name).kind().map(|kind| kind.shape);
        assert_eq!(shape("a{v s1} (M) (fun)"), Some(Shape::Function));
        assert_eq!(shape("a{v s1} (M) (LNE) in r2"), Some(Shape::LetNoEscape));
        assert_eq!(
            shape("a{v s1} (M) (con: M.A_se) in r2"),
            Some(Shape::Constructor)
        );
        assert_eq!(shape("a"), None);
        assert_eq!(shape("a{v s1} (M) (new)"), None);
        let std = named("a{v s1} (M) (thk,se,std)").kind().expect("a thunk");
        assert!(std.single_entry && std.standard && std.shape == Shape::Thunk);
        let constructor = named("x{v s1} (M) (con: M.:+{d 1}) in r2");
        assert_eq!(constructor.constructor(), Some("M.:+"));
        let described = Definition {
            described: JsonDescription::from_json(r#"{"subTy":"thk_u","fvs":">ii"}"#),
            ..named("a (M) (fun)")
        };
        assert_eq!(described.kind(), Some(Shape::Thunk.into()));
        let tag = Definition {
            arguments: "infer".to_owned(),
            ..Definition::default()
        };
        assert_eq!(tag.kind(), Some(Shape::Evaluated.into()));
        assert_eq!(JsonDescription::from_json("{"), None);
    }

    #[test]
    fn a_closure_has_a_header_and_its_free_variables() {
        let size = |arity, json: &str| {
            let definition = Definition {
                arity,
                described: JsonDescription::from_json(json),
                ..Definition::default()
            };
            definition.closure_bytes()
        };
        assert_eq!(size(0, r#"{"fvs":">ii"}"#), Some(40));
        assert_eq!(size(1, r#"{"fvs":"i"}"#), Some(16));
        assert_eq!(size(2, "{}"), Some(8));
        assert_eq!(size(2, "none"), None);
    }
}
