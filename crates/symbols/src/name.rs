//! The name of a symbol, taken apart.

use super::As;
use super::haskell::{SymbolKind, haskell_name, is_info_table};

/// What is known of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The unit of the package, of Haskell code, such as `containers-0.6.7`
    /// ([`Package::of_unit`] takes it apart); empty if the symbol does not tell.
    pub package: String,
    /// The module, of Haskell code; else empty.
    pub module: String,
    /// The function, or the constructor.
    pub label: String,
    /// File and line, if there is debug information.
    pub location: Option<String>,
    /// What the symbol is of it.
    pub kind: SymbolKind,
    /// The module that uses a constructor, if the program is built with
    /// `-fdistinct-constructor-tables`; else empty.
    pub used_in: String,
}

impl Name {
    /// Module and label, with a dot between them.
    #[must_use]
    pub fn qualified(&self) -> String {
        if self.module.is_empty() {
            self.label.clone()
        } else {
            format!("{}.{}", self.module, self.label)
        }
    }

    /// From a symbol as it stands in the file; `None` if it is not what it is
    /// looked up as. Only code of Haskell is named as GHC names it. In macOS all
    /// names begin with `_`: `underscore`.
    pub(crate) fn of(symbol: &str, underscore: bool, as_: As) -> Option<Self> {
        let symbol = match symbol.strip_prefix('_') {
            Some(rest) if underscore => rest,
            _ => symbol,
        };
        // `name@VERSION` is how a shared library is bound.
        let symbol = symbol.split('@').next().unwrap_or(symbol);
        let haskell = match as_ {
            As::Function => None,
            As::InfoTable if !is_info_table(symbol) => return None,
            As::InfoTable | As::Haskell => haskell_name(symbol),
        };
        Some(haskell.unwrap_or_else(|| Self {
            label: symbol.to_owned(),
            ..Self::default()
        }))
    }
}

/// A package, out of the name of its unit: `containers-0.7-inplace`,
/// `text-2.0.2-1f9b8cde`, `base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package<'a> {
    /// Such as `containers`.
    pub name: &'a str,
    /// Such as `0.6.7`, if the unit tells.
    pub version: Option<&'a str>,
}

impl<'a> Package<'a> {
    /// Takes the name of a unit apart. What follows the version, such as a
    /// hash, tells builds apart and says nothing.
    #[must_use]
    pub fn of_unit(unit: &'a str) -> Self {
        let is_version = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_digit())
                && part.chars().all(|c| c.is_ascii_digit() || c == '.')
        };
        for (dash, _) in unit.match_indices('-').filter(|(dash, _)| *dash > 0) {
            let version = unit[dash + 1..].split('-').next().unwrap_or_default();
            if is_version(version) {
                let name = &unit[..dash];
                let version = Some(version);
                return Self { name, version };
            }
        }
        Self {
            name: unit,
            version: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_are_left_as_they_are() {
        let label = |symbol, underscore, as_| {
            let name = Name::of(symbol, underscore, as_)?;
            Some(format!("{}|{}|{}", name.package, name.module, name.label))
        };
        for (symbol, underscore, as_, name) in [
            ("bar_c", false, As::Function, Some("||bar_c")),
            ("_bar_c", true, As::Function, Some("||bar_c")),
            ("_bar_c", false, As::Function, Some("||_bar_c")),
            ("read@GLIBC_2.2.5", false, As::Function, Some("||read")),
            (
                "Main_main_info",
                false,
                As::Function,
                Some("||Main_main_info"),
            ),
            (
                "Main_main_info",
                false,
                As::InfoTable,
                Some("main|Main|main"),
            ),
            ("Main_main_info", false, As::Haskell, Some("main|Main|main")),
            ("Main_main_slow", false, As::Haskell, Some("main|Main|main")),
            ("Main_main_slow", false, As::InfoTable, None),
            ("sd4f_info", false, As::InfoTable, Some("||sd4f_info")),
            ("bar_c", false, As::InfoTable, None),
            ("bar_c", false, As::Haskell, Some("||bar_c")),
        ] {
            let found = label(symbol, underscore, as_);
            assert_eq!(found.as_deref(), name, "{symbol} {as_:?}");
        }
    }

    #[test]
    fn units_are_taken_apart() {
        for (unit, name, version) in [
            ("base", "base", None),
            ("ghc-prim", "ghc-prim", None),
            ("containers-0.6.7", "containers", Some("0.6.7")),
            ("containers-0.7-inplace", "containers", Some("0.7")),
            ("text-2.0.2-1f9b8cde", "text", Some("2.0.2")),
            ("ghc-boot-th-9.10.3-inplace", "ghc-boot-th", Some("9.10.3")),
            ("my-app-1-inplace-my-exe-2", "my-app", Some("1")),
            ("-1", "-1", None),
            ("", "", None),
            ("a-", "a-", None),
        ] {
            assert_eq!(Package::of_unit(unit), Package { name, version }, "{unit}");
        }
    }
}
