//! The name of a symbol, taken apart.

use super::zcode;

/// What is known of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The package, of Haskell code; empty if the symbol does not tell.
    pub package: String,
    /// The module, of Haskell code; else empty.
    pub module: String,
    /// The function.
    pub label: String,
    /// File and line, if there is debug information.
    pub location: Option<String>,
}

impl Name {
    /// From a symbol as it stands in the file. In macOS the names of C begin
    /// with `_`; only `haskell` code is named as GHC names it.
    #[must_use]
    pub(crate) fn from_symbol(symbol: &str, underscore: bool, haskell: bool) -> Self {
        let symbol = match symbol.strip_prefix('_') {
            Some(rest) if underscore => rest,
            _ => symbol,
        };
        // `name@VERSION` is how a shared library is bound.
        let symbol = symbol.split('@').next().unwrap_or(symbol);
        let name = zcode::haskell_name(symbol).filter(|_| haskell);
        name.unwrap_or_else(|| Self {
            label: symbol.to_owned(),
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_are_left_as_they_are() {
        let label = |symbol, underscore, haskell| {
            let name = Name::from_symbol(symbol, underscore, haskell);
            format!("{}|{}|{}", name.package, name.module, name.label)
        };
        assert_eq!(label("bar_c", false, false), "||bar_c");
        assert_eq!(label("_bar_c", true, false), "||bar_c");
        assert_eq!(label("_bar_c", false, false), "||_bar_c");
        assert_eq!(label("read@GLIBC_2.2.5", false, false), "||read");
        assert_eq!(label("Main_main_info", false, false), "||Main_main_info");
        assert_eq!(label("Main_main_info", false, true), "|Main|main");
        assert_eq!(label("bar_c", false, true), "||bar_c");
    }
}
