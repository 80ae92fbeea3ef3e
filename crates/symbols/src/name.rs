//! Parsed names of symbols.

use super::LookupKind;
use super::haskell::{SymbolKind, haskell_name, is_info_table};

/// Name of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Unit of the package for Haskell code, such as `containers-0.6.7` ([`Package::from_unit`] parses it); empty if
    /// unknown.
    pub package: String,
    /// Module for Haskell code; otherwise empty.
    pub module: String,
    /// Name of the function or constructor.
    pub label: String,
    /// File and line, if there is debug information.
    pub location: Option<String>,
    /// Part of the closure that the symbol belongs to.
    pub kind: SymbolKind,
    /// The module that uses a constructor, if the program is built with `-fdistinct-constructor-tables`; otherwise
    /// empty.
    pub used_in: String,
}

impl Name {
    /// Returns module and label, separated by a period.
    pub fn qualified(&self) -> String {
        if self.module.is_empty() {
            self.label.clone()
        } else {
            format!("{}.{}", self.module, self.label)
        }
    }

    /// Parses a symbol; `None` if it is not of the expected kind. Only Haskell code is named as in GHC. With
    /// `underscore`, a leading `_` is stripped, as all names have one on macOS.
    pub(crate) fn from_symbol(symbol: &str, underscore: bool, lookup: LookupKind) -> Option<Self> {
        let symbol = match symbol.strip_prefix('_') {
            Some(rest) if underscore => rest,
            _ => symbol,
        };
        // `name@VERSION` is a symbol of a shared library.
        let symbol = symbol.split('@').next().unwrap_or(symbol);
        let haskell = match lookup {
            LookupKind::Function => None,
            LookupKind::InfoTable if !is_info_table(symbol) => return None,
            LookupKind::InfoTable | LookupKind::Haskell => haskell_name(symbol),
        };
        Some(haskell.unwrap_or_else(|| Self {
            label: symbol.to_owned(),
            ..Self::default()
        }))
    }
}

/// A package, parsed from the name of its unit: `containers-0.7-inplace`, `text-2.0.2-1f9b8cde`, `base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package<'a> {
    /// Name such as `containers`.
    pub name: &'a str,
    /// Version such as `0.6.7`, if the unit has one.
    pub version: Option<&'a str>,
}

impl<'a> Package<'a> {
    /// Parses the name of a unit. Anything behind the version, such as a hash, only distinguishes builds and is
    /// ignored.
    pub fn from_unit(unit: &'a str) -> Self {
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
        let label = |symbol, underscore, lookup| {
            let name = Name::from_symbol(symbol, underscore, lookup)?;
            Some(format!("{}|{}|{}", name.package, name.module, name.label))
        };
        for (symbol, underscore, lookup, name) in [
            ("bar_c", false, LookupKind::Function, Some("||bar_c")),
            ("_bar_c", true, LookupKind::Function, Some("||bar_c")),
            ("_bar_c", false, LookupKind::Function, Some("||_bar_c")),
            (
                "read@GLIBC_2.2.5",
                false,
                LookupKind::Function,
                Some("||read"),
            ),
            (
                "Main_main_info",
                false,
                LookupKind::Function,
                Some("||Main_main_info"),
            ),
            (
                "Main_main_info",
                false,
                LookupKind::InfoTable,
                Some("main|Main|main"),
            ),
            (
                "Main_main_info",
                false,
                LookupKind::Haskell,
                Some("main|Main|main"),
            ),
            (
                "Main_main_slow",
                false,
                LookupKind::Haskell,
                Some("main|Main|main"),
            ),
            ("Main_main_slow", false, LookupKind::InfoTable, None),
            (
                "sd4f_info",
                false,
                LookupKind::InfoTable,
                Some("||sd4f_info"),
            ),
            ("bar_c", false, LookupKind::InfoTable, None),
            ("bar_c", false, LookupKind::Haskell, Some("||bar_c")),
        ] {
            let found = label(symbol, underscore, lookup);
            assert_eq!(found.as_deref(), name, "{symbol} {lookup:?}");
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
            assert_eq!(
                Package::from_unit(unit),
                Package { name, version },
                "{unit}"
            );
        }
    }
}
