//! Parser for lists of strings printed by Haskell's `show`, the form of announced cost centre stacks.

/// Parses the output of Haskell's `show` for a list of strings.
pub(crate) fn haskell_strings(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim().strip_prefix('[')?.trim_start();
    let mut strings = Vec::new();
    if let Some(after) = rest.strip_prefix(']') {
        return after.is_empty().then_some(strings);
    }
    loop {
        let (string, after) = haskell_string(rest)?;
        strings.push(string);
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None => return (rest == "]").then_some(strings),
        }
    }
}

/// Parses one string literal; also returns the rest.
fn haskell_string(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?;
    let mut string = String::new();
    loop {
        let char = rest.chars().next()?;
        rest = &rest[char.len_utf8()..];
        match char {
            '"' => return Some((string, rest)),
            '\\' => {
                let (escaped, after) = haskell_escape(rest)?;
                string.extend(escaped);
                rest = after;
            }
            char => string.push(char),
        }
    }
}

/// ASCII control characters and the space by name, from code 0 (Haskell 2010 report, 2.6).
const CONTROL: &str = "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US SP";

/// Parses an escape after its backslash: a character, or nothing for `\&`.
fn haskell_escape(text: &str) -> Option<(Option<char>, &str)> {
    let first = text.chars().next()?;
    let simple = match first {
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{C}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{B}'),
        '\\' | '"' | '\'' => Some(first),
        _ => None,
    };
    if simple.is_some() {
        return Some((simple, &text[1..]));
    }
    if first == '&' {
        return Some((None, &text[1..]));
    }
    let number = |digits: &str, radix, after| {
        let code = u32::from_str_radix(digits, radix).ok()?;
        Some((Some(char::from_u32(code).unwrap_or('\u{FFFD}')), after))
    };
    let split = |text: &'_ str, radix| {
        text.find(|c: char| !c.is_digit(radix))
            .unwrap_or(text.len())
    };
    if first.is_ascii_digit() {
        let (digits, after) = text.split_at(split(text, 10));
        return number(digits, 10, after);
    }
    if let Some(hex) = text.strip_prefix(['x', 'X']) {
        return number(&hex[..split(hex, 16)], 16, &hex[split(hex, 16)..]);
    }
    let names = CONTROL.split(' ').zip(0..).chain([("DEL", 127)]);
    // The longest match wins, as `SO` is a prefix of `SOH`.
    let (name, code) = names
        .filter(|(name, _)| text.starts_with(name))
        .max_by_key(|(name, _)| name.len())?;
    Some((char::from_u32(code), &text[name.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haskell_escapes() {
        for (shown, meant) in [
            (r#"["a\nb","\t\"\\\'"]"#, vec!["a\nb", "\t\"\\'"]),
            (r#"["\955x","\8594","\x3bb;"]"#, vec!["λx", "→", "λ;"]),
            (r#"["\1234\&5"]"#, vec!["\u{4D2}5"]),
            (
                r#"["\SOH","\SO\&H","\SOx","\DEL"]"#,
                vec!["\u{1}", "\u{E}H", "\u{E}x", "\u{7F}"],
            ),
            (r#"[ "a" , "" ]"#, vec!["a", ""]),
            ("[]", vec![]),
        ] {
            let meant: Vec<String> = meant.into_iter().map(str::to_owned).collect();
            assert_eq!(haskell_strings(shown), Some(meant), "{shown}");
        }
        for broken in [
            "",
            "[",
            "]",
            "[\"",
            "[\"\\",
            "[\"a\"]x",
            "[]x",
            "\"a\"",
            "[\"\\99999999999\"]",
        ] {
            assert_eq!(haskell_strings(broken), None, "{broken}");
        }
    }
}
