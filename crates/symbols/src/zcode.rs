//! Symbols of GHC: `base_GHCziBase_map_info` is `map` of `GHC.Base` of `base`.
//!
//! Package, module and name are z-encoded (`GHC.Utils.Encoding` of the
//! compiler) and stand with `_` between them, which the encoding writes `zu`;
//! then comes what the symbol is of the function. The program's own package
//! `main` is left out.

use super::Name;

/// What follows the name in a symbol (`pprFlavor` in `GHC.Cmm.CLabel`).
const SUFFIXES: [&str; 14] = [
    "_con_info",
    "_static_info",
    "_info",
    "_con_entry",
    "_static_entry",
    "_entry",
    "_closure",
    "_slow",
    "_fast",
    "_ret",
    "_dflt",
    "_alt",
    "_srt",
    "_bytes",
];

/// Takes a symbol of GHC apart; `None` if it is none.
pub(super) fn haskell_name(symbol: &str) -> Option<Name> {
    let rest = SUFFIXES
        .iter()
        .find_map(|suffix| symbol.strip_suffix(suffix))?;
    if let Some(label) = rest.strip_prefix("stg_") {
        return Some(Name {
            package: "rts".to_owned(),
            label: format!("stg_{label}"),
            ..Name::default()
        });
    }
    let parts: Vec<String> = rest.split('_').map(decode).collect::<Option<_>>()?;
    let (package, module, labels) = match parts.as_slice() {
        [module, labels @ ..] if is_module(module) && !labels.is_empty() => ("", module, labels),
        [package, module, labels @ ..] if is_module(module) && !labels.is_empty() => {
            (package.as_str(), module, labels)
        }
        _ => return None,
    };
    // Internal functions have a number of the compilation behind their name.
    let label = labels.first().filter(|label| !label.is_empty())?;
    Some(Name {
        package: package.to_owned(),
        module: module.clone(),
        label: label.clone(),
        location: None,
    })
}

/// Whether it is a module's name: words that begin with capitals.
fn is_module(name: &str) -> bool {
    let word = |word: &str| {
        let word = word.strip_prefix(':').unwrap_or(word);
        word.chars().next().is_some_and(char::is_uppercase)
    };
    name.split('.').all(word)
}

/// Decodes what is z-encoded; `None` if it is not.
fn decode(text: &str) -> Option<String> {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        if char != 'z' && char != 'Z' {
            decoded.push(char);
            continue;
        }
        let (meant, after) = escape(char, rest)?;
        decoded.push_str(&meant);
        rest = after;
    }
    Some(decoded)
}

/// Reads an escape after its `z` or `Z`.
fn escape(first: char, rest: &str) -> Option<(String, &str)> {
    let second = rest.chars().next()?;
    let after = &rest[second.len_utf8()..];
    if second.is_ascii_digit() {
        return if first == 'z' {
            unicode(rest)
        } else {
            tuple(rest)
        };
    }
    let meant = match (first, second) {
        ('Z', 'L') => '(',
        ('Z', 'R') => ')',
        ('Z', 'M') => '[',
        ('Z', 'N') => ']',
        ('Z', 'C') => ':',
        ('Z', 'Z') => 'Z',
        ('z', 'z') => 'z',
        ('z', 'a') => '&',
        ('z', 'b') => '|',
        ('z', 'c') => '^',
        ('z', 'd') => '$',
        ('z', 'e') => '=',
        ('z', 'g') => '>',
        ('z', 'h') => '#',
        ('z', 'i') => '.',
        ('z', 'l') => '<',
        ('z', 'm') => '-',
        ('z', 'n') => '!',
        ('z', 'o') => '+',
        ('z', 'p') => '\'',
        ('z', 'q') => '\\',
        ('z', 'r') => '/',
        ('z', 's') => '*',
        ('z', 't') => '~',
        ('z', 'u') => '_',
        ('z', 'v') => '%',
        _ => return None,
    };
    Some((meant.to_string(), after))
}

/// A character by its number: hexadecimal, beginning with a digit, then `U`.
fn unicode(rest: &str) -> Option<(String, &str)> {
    let (digits, after) = rest.split_once('U')?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?.to_string(), after))
}

/// The names of tuples: `Z3T` is `(,,)`, `Z3H` is `(#,,#)`; 0 and 1 have no
/// commas.
fn tuple(rest: &str) -> Option<(String, &str)> {
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    let size: usize = rest[..end].parse().ok()?;
    // No compiler knows tuples of more than 64.
    let commas = ",".repeat(size.min(64).saturating_sub(1));
    let mut kind = rest[end..].chars();
    let first = kind.next()?;
    let after = kind.as_str();
    match first {
        'T' => Some((format!("({commas})"), after)),
        'H' if size == 1 => Some(("(# #)".to_owned(), after)),
        'H' => Some((format!("(#{commas}#)"), after)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haskell_symbols_are_taken_apart() {
        for (symbol, package, module, label) in [
            ("base_GHCziBase_map_info", "base", "GHC.Base", "map"),
            ("Main_main_info", "", "Main", "main"),
            ("ZCMain_main_closure", "", ":Main", "main"),
            ("Main_zdwfib_info", "", "Main", "$wfib"),
            ("Main_zdwfib_r1Ab_info", "", "Main", "$wfib"),
            ("Main_barzucnt_info", "", "Main", "bar_cnt"),
            (
                "containerszm0zi6zi5zi1_DataziMapziInternal_insert_info",
                "containers-0.6.5.1",
                "Data.Map.Internal",
                "insert",
            ),
            (
                "ghczmprim_GHCziTypes_ZC_con_info",
                "ghc-prim",
                "GHC.Types",
                ":",
            ),
            (
                "ghczmprim_GHCziTuple_Z3T_con_info",
                "ghc-prim",
                "GHC.Tuple",
                "(,,)",
            ),
            ("base_GHCziBase_zgzgze_info", "base", "GHC.Base", ">>="),
            ("Main_z3bbU_info", "", "Main", "λ"),
            ("stg_upd_frame_info", "rts", "", "stg_upd_frame"),
        ] {
            let name = Name {
                package: package.into(),
                module: module.into(),
                label: label.into(),
                location: None,
            };
            assert_eq!(haskell_name(symbol), Some(name), "{symbol}");
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
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_decoded_or_not(text in "[zZ0-9a-zA-Z_λ]{0,40}(_info)?") {
            let _ = haskell_name(&text);
        }
    }
}
