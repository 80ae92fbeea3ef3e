//! Z-encoding, with which GHC writes any name using only the letters, digits and `_` that linkers accept
//! (`GHC.Utils.Encoding` of the compiler): `.` is `zi`, `:` is `ZC`, `(,,)` is `Z3T`, `λ` is `z3bbU`.

/// Decodes a z-encoded text; `None` if it is not valid.
pub(super) fn decode(text: &str) -> Option<String> {
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

/// Decodes an escape after its `z` or `Z`.
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

/// Decodes a code point: hexadecimal, beginning with a digit, then `U`.
fn unicode(rest: &str) -> Option<(String, &str)> {
    let (digits, after) = rest.split_once('U')?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?.to_string(), after))
}

/// Decodes the name of a tuple: `Z3T` is `(,,)`, `Z3H` is `(#,,#)`; sizes 0 and 1 have no commas.
fn tuple(rest: &str) -> Option<(String, &str)> {
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    let size: usize = rest[..end].parse().ok()?;
    // No compiler supports tuples of more than 64.
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
    use proptest::prelude::*;

    /// Encodes a text as the compiler does.
    fn encode(text: &str) -> String {
        let commas = |text: &str| text.chars().all(|c| c == ',').then_some(text.len());
        let tuple = |open: &str, close: &str| {
            let inner = text.strip_prefix(open)?.strip_suffix(close)?;
            commas(inner)
        };
        match text {
            "()" => return "Z0T".to_owned(),
            "(# #)" => return "Z1H".to_owned(),
            _ => {}
        }
        if let Some(commas) = tuple("(#", "#)") {
            return format!("Z{}H", commas + 1);
        }
        if let Some(commas) = tuple("(", ")") {
            return format!("Z{}T", commas + 1);
        }
        text.chars().map(encode_char).collect()
    }

    fn encode_char(char: char) -> String {
        let named = [
            ("()[]:Z", 'Z', "LRMNCZ"),
            ("z&|^$=>#.<-!+'\\/*~_%", 'z', "zabcdeghilmnopqrstuv"),
        ];
        for (chars, escape, letters) in named {
            if let Some(place) = chars.chars().position(|c| c == char) {
                let letter = letters.chars().nth(place).expect("as many");
                return [escape, letter].iter().collect();
            }
        }
        if char.is_ascii_alphanumeric() {
            return char.to_string();
        }
        let digits = format!("{:x}", u32::from(char));
        let zero = if digits.starts_with(|c: char| c.is_ascii_digit()) {
            ""
        } else {
            "0"
        };
        format!("z{zero}{digits}U")
    }

    #[test]
    fn names_are_decoded_as_the_compiler_encoded_them() {
        for (encoded, text) in [
            ("ghczmprim", "ghc-prim"),
            ("GHCziTypes", "GHC.Types"),
            ("ZC", ":"),
            ("ZMZN", "[]"),
            ("Z0T", "()"),
            ("Z3T", "(,,)"),
            ("Z1H", "(# #)"),
            ("Z2H", "(#,#)"),
            ("Dzh", "D#"),
            ("zgzgze", ">>="),
            ("z2cU", ","),
            ("z3bbU", "λ"),
            ("Handlezuzu", "Handle__"),
            ("containerszm0zi6zi7", "containers-0.6.7"),
        ] {
            assert_eq!(decode(encoded).as_deref(), Some(text), "{encoded}");
            assert_eq!(encode(text), encoded, "{text}");
        }
        for encoded in ["z", "Z", "zk", "ZA", "Z9", "z9", "z110000U", "Z2λ", "z1zU"] {
            assert_eq!(decode(encoded), None, "{encoded}");
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(text in "\\PC{0,20}|\\(,{0,62}\\)|\\(#,{1,62}#\\)") {
            prop_assert_eq!(decode(&encode(&text)), Some(text));
        }

        #[test]
        fn any_text_is_decoded_or_not(text in "[zZ0-9a-zA-Z_λ]{0,40}") {
            let _ = decode(&text);
        }
    }
}
