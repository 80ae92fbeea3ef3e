//! Symbols of GHC: `base_GHCziBase_map_info` is `map` of `GHC.Base` of `base`.
//!
//! Package, module and name are z-encoded and separated by `_`, which the encoding writes as `zu`; a suffix marks
//! the part of the closure that the symbol belongs to. The program's own package `main` is omitted.

use super::Name;
use super::zcode::decode;

/// Part of a closure that a symbol belongs to (`pprFlavor` in `GHC.Cmm.CLabel`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Not a symbol of GHC.
    #[default]
    Other,
    /// The info table of a constructor's values.
    Constructor,
    /// The info table of a function, a thunk or a stack frame.
    InfoTable,
    /// The code of a function: its entry points.
    Code,
    /// A static closure.
    Closure,
    /// Data that the code refers to: tables for the collector, literals.
    Data,
}

/// Suffixes of symbols. On macOS, `_dsp` follows where an info table begins.
const SUFFIXES: [(&str, SymbolKind); 14] = [
    ("_con_info", SymbolKind::Constructor),
    ("_static_info", SymbolKind::Constructor),
    ("_info", SymbolKind::InfoTable),
    ("_con_entry", SymbolKind::Code),
    ("_static_entry", SymbolKind::Code),
    ("_entry", SymbolKind::Code),
    ("_closure", SymbolKind::Closure),
    ("_slow", SymbolKind::Code),
    ("_fast", SymbolKind::Code),
    ("_ret", SymbolKind::Code),
    ("_dflt", SymbolKind::Code),
    ("_alt", SymbolKind::Code),
    ("_srt", SymbolKind::Data),
    ("_bytes", SymbolKind::Data),
];

/// Whether a symbol may belong to an info table.
pub(super) fn is_info_table(symbol: &str) -> bool {
    let symbol = symbol.strip_suffix("_dsp").unwrap_or(symbol);
    symbol.ends_with("_info")
}

/// Parses a symbol of GHC; `None` if it is not one.
pub(super) fn haskell_name(symbol: &str) -> Option<Name> {
    let symbol = symbol.strip_suffix("_dsp").unwrap_or(symbol);
    let of = |(suffix, kind): &(&str, SymbolKind)| Some((symbol.strip_suffix(*suffix)?, *kind));
    let (rest, kind) = SUFFIXES.iter().find_map(of)?;
    if rest.starts_with("stg_") {
        return Some(Name {
            package: "rts".to_owned(),
            label: rest.to_owned(),
            kind,
            ..Name::default()
        });
    }
    let parts: Vec<String> = rest.split('_').map(decode).collect::<Option<_>>()?;
    let (package, module, labels) = match parts.as_slice() {
        [module, labels @ ..] if is_module(module) && !labels.is_empty() => {
            ("main", module, labels)
        }
        [package, module, labels @ ..] if is_module(module) && !labels.is_empty() => {
            (package.as_str(), module, labels)
        }
        _ => return None,
    };
    // The name of an internal function is followed by a number of the compilation; that of a constructor, with
    // `-fdistinct-constructor-tables`, by the module that uses it.
    let label = labels.first().filter(|label| !label.is_empty())?;
    let used_in = match labels {
        [_, module, _] if kind == SymbolKind::Constructor && is_module(module) => module.clone(),
        _ => String::new(),
    };
    Some(Name {
        package: package.to_owned(),
        module: module.clone(),
        label: label.clone(),
        location: None,
        kind,
        used_in,
    })
}

/// Whether a text is a module name: capitalized words.
fn is_module(name: &str) -> bool {
    let word = |word: &str| {
        let word = word.strip_prefix(':').unwrap_or(word);
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase)
            && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '\'')
    };
    name.split('.').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haskell_symbols_are_taken_apart() {
        use SymbolKind::{Closure, Code, Constructor, InfoTable};
        for (symbol, package, module, label, kind) in [
            (
                "base_GHCziBase_map_info",
                "base",
                "GHC.Base",
                "map",
                InfoTable,
            ),
            ("Main_main_info", "main", "Main", "main", InfoTable),
            ("ZCMain_main_closure", "main", ":Main", "main", Closure),
            ("Main_zdwfib_info", "main", "Main", "$wfib", InfoTable),
            ("Main_zdwfib_r1Ab_info", "main", "Main", "$wfib", InfoTable),
            ("Main_zdwfib_slow", "main", "Main", "$wfib", Code),
            (
                "Main_barzucnt_info_dsp",
                "main",
                "Main",
                "bar_cnt",
                InfoTable,
            ),
            (
                "containerszm0zi6zi5zi1_DataziMapziInternal_insert_info",
                "containers-0.6.5.1",
                "Data.Map.Internal",
                "insert",
                InfoTable,
            ),
            (
                "Cabalzm3zminplace_Distribution_x_closure",
                "Cabal-3-inplace",
                "Distribution",
                "x",
                Closure,
            ),
            (
                "ghczmprim_GHCziTypes_ZC_con_info",
                "ghc-prim",
                "GHC.Types",
                ":",
                Constructor,
            ),
            (
                "ghczmprim_GHCziTuple_Z3T_con_info",
                "ghc-prim",
                "GHC.Tuple",
                "(,,)",
                Constructor,
            ),
            (
                "base_GHCziBase_zgzgze_info",
                "base",
                "GHC.Base",
                ">>=",
                InfoTable,
            ),
            ("Main_z3bbU_info", "main", "Main", "λ", InfoTable),
            ("stg_upd_frame_info", "rts", "", "stg_upd_frame", InfoTable),
            ("stg_ARR_WORDS_info", "rts", "", "stg_ARR_WORDS", InfoTable),
        ] {
            let name = Name {
                package: package.into(),
                module: module.into(),
                label: label.into(),
                kind,
                ..Name::default()
            };
            assert_eq!(haskell_name(symbol), Some(name), "{symbol}");
        }
    }

    #[test]
    fn constructors_tell_where_they_are_used() {
        for (symbol, label, used_in) in [
            ("ghczmprim_GHCziTypes_ZC_Main_10_con_info", ":", "Main"),
            ("Main_Rect_GeoziShape_0_con_info", "Rect", "Geo.Shape"),
            ("Main_Rect_con_info", "Rect", ""),
        ] {
            let name = haskell_name(symbol).expect("a symbol of GHC");
            assert_eq!((&*name.label, &*name.used_in), (label, used_in), "{symbol}");
        }
    }

    #[test]
    fn other_symbols_are_left_alone() {
        for symbol in [
            "bar_c",
            "main",
            "",
            "_info",
            "get_user_info",
            "r1Qj_info",
            "z",
            "Z9_info",
            "Main_",
            "Z2λ_info",
        ] {
            assert_eq!(haskell_name(symbol), None, "{symbol}");
        }
        assert!(is_info_table("sd4f_info"));
        assert!(!is_info_table("sd4f_entry"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken_apart_or_not(text in "[zZ0-9a-zA-Z_λ]{0,40}(_info)?(_dsp)?") {
            let _ = haskell_name(&text);
        }
    }
}
