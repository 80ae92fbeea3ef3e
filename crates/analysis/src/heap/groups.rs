//! Groups the bands of a heap profile by a common property.

use std::borrow::Cow;

use super::names::BandDescription;

/// Property by which bands are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Name of the band, see [`BandDescription::name`].
    Name,
    /// Package name, without version.
    Package,
    /// Module of the band, see [`BandDescription::module`].
    Module,
    /// Type constructor, without arguments: `[]`, `Map`.
    Type,
    /// Closure kind, such as thunks.
    Kind,
}

impl GroupBy {
    /// Returns the name of the group for bands without the property.
    ///
    /// It is shown like any other group, as it may be most of the heap.
    pub const fn unknown(self) -> &'static str {
        match self {
            Self::Name => "no name known",
            Self::Package => "no package known",
            Self::Module => "no module known",
            Self::Type => "no type known",
            Self::Kind => "no kind known",
        }
    }

    /// Returns the group of a band; `None` if the property is unknown.
    pub fn group_of(self, band: &BandDescription) -> Option<Cow<'_, str>> {
        match self {
            Self::Name => Some(Cow::Borrowed(&band.name)),
            Self::Package => band.package.as_deref().map(Cow::Borrowed),
            Self::Module => band.module.as_deref().map(Cow::Borrowed),
            Self::Type => type_constructor(band.type_.as_deref()?),
            Self::Kind => band.kind.map(|kind| Cow::Borrowed(kind.title())),
        }
    }
}

/// Returns the type constructor of a type in GHC's syntax: `[]` for `[(Int, Int)]`, `Map` for `Map String a`, `->`
/// for a function. `None` for a variable.
fn type_constructor(text: &str) -> Option<Cow<'_, str>> {
    let text = without_context(text).trim();
    if outside(text, "->") {
        return Some(Cow::Borrowed("->"));
    }
    let first = text.chars().next()?;
    match first {
        '[' => Some(Cow::Borrowed("[]")),
        '(' if text.starts_with("(#") => {
            let commas = ",".repeat(commas(text));
            Some(Cow::Owned(format!("(#{commas}#)")))
        }
        '(' => match commas(text) {
            0 if text == "()" => Some(Cow::Borrowed("()")),
            0 => type_constructor(text.strip_prefix('(')?.strip_suffix(')')?),
            commas => Some(Cow::Owned(format!("({})", ",".repeat(commas)))),
        },
        '*' | '_' => None,
        first if first.is_lowercase() => None,
        _ => text.split_whitespace().next().map(Cow::Borrowed),
    }
}

/// Strips `forall a.` and `Show a =>` from a type.
fn without_context(text: &str) -> &str {
    let bare = match text.strip_prefix("forall ") {
        Some(rest) => rest.split_once('.').map_or("", |(_, rest)| rest),
        None => text,
    };
    bare.split_once("=>").map_or(bare, |(_, rest)| rest)
}

/// Returns whether `wanted` occurs outside of brackets.
fn outside(text: &str, wanted: &str) -> bool {
    let mut depth = 0_u32;
    text.char_indices().any(|(at, char)| {
        depth = nested(depth, char);
        depth == 0 && text[at..].starts_with(wanted)
    })
}

/// Counts the commas in the outermost brackets, with which the text must begin.
fn commas(text: &str) -> usize {
    let mut depth = 0;
    let of_these = |char: &char| {
        depth = nested(depth, *char);
        depth == 1 && *char == ','
    };
    text.chars().filter(of_these).count()
}

const fn nested(depth: u32, char: char) -> u32 {
    match char {
        '(' | '[' => depth + 1,
        ')' | ']' => depth.saturating_sub(1),
        _ => depth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_put_together_by_their_constructor() {
        for (text, constructor) in [
            ("Int", Some("Int")),
            ("[Shape]", Some("[]")),
            ("[]", Some("[]")),
            ("Map String a_s3Z1", Some("Map")),
            ("[[Shape]] -> Double# -> Double", Some("->")),
            ("[Shape] %1 -> Shape", Some("->")),
            ("Maybe (Int -> Int)", Some("Maybe")),
            ("(Int, [(Int, Int)])", Some("(,)")),
            ("(Maybe Int)", Some("Maybe")),
            ("()", Some("()")),
            ("(# State# s, Int #)", Some("(#,#)")),
            ("forall a. [(String, a)]", Some("[]")),
            ("forall {a}. Ord a => Map Int a", Some("Map")),
            ("IO ()", Some("IO")),
            ("a_s3Z1", None),
            ("*", None),
            ("", None),
            ("(", None),
        ] {
            assert_eq!(type_constructor(text).as_deref(), constructor, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_type_constructor_or_none(text in "[a-zA-Z()\\[\\],#> =.*-]{0,30}") {
            let _ = type_constructor(&text);
        }
    }
}
