//! Parser for the output of `nm`: `0000000000410061 T bar_c`, with `-S` a size before the letter, with `-l` file
//! and line behind a tab, without a letter, or with the name first (`-P`: `bar_c T 410061 34`).

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use super::table::{Entry, Table};
use super::{Kind, Name, SymbolMatch, SymbolsError};
use eventlog::ids::Address;
use eventlog::system_words;

/// Maximum line length; C++ names are long.
const MAX_LINE: u64 = 1 << 16;

/// A defined symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Symbol<'a> {
    address: u64,
    /// Type letter; `None` if the list has no types.
    letter: Option<char>,
    name: &'a str,
    location: Option<&'a str>,
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    /// Empty, or the name of the listed file.
    Nothing,
    /// An undefined symbol.
    Undefined,
    Symbol(Symbol<'a>),
}

/// Parses a line; `None` if it is not written by `nm`.
fn line(text: &str) -> Option<Line<'_>> {
    let text = text.trim_end();
    let mut words = text.split_ascii_whitespace();
    let Some(first) = words.next() else {
        return Some(Line::Nothing);
    };
    if let ("U" | "w" | "v", Some(_), None) = (first, words.next(), words.next()) {
        return Some(Line::Undefined);
    }
    if text.ends_with(':') && !text.contains(' ') {
        return Some(Line::Nothing);
    }
    bsd_line(text)
        .or_else(|| posix_line(text))
        .map(Line::Symbol)
}

fn letter(word: &str) -> Option<char> {
    let mut chars = word.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic);
    letter.filter(|_| chars.next().is_none())
}

/// Parses an address of at least eight digits, as shorter words may be names.
fn full_address(word: &str) -> Option<u64> {
    (word.len() >= 8)
        .then(|| u64::from_str_radix(word, 16).ok())
        .flatten()
}

/// Splits off a word; names may contain spaces.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(' ').unwrap_or((text, ""))
}

fn bsd_line(text: &str) -> Option<Symbol<'_>> {
    let (first, rest) = word(text);
    let address = full_address(first)?;
    let (second, after) = word(rest);
    let rest = match full_address(second) {
        Some(_size) if !after.is_empty() => after,
        _ => rest,
    };
    let (kind, after) = word(rest);
    let (letter, name) = match letter(kind) {
        Some(letter) if !after.is_empty() => (Some(letter), after),
        _ => (None, rest.trim_start()),
    };
    let (name, location) = match name.split_once('\t') {
        Some((name, location)) => (name, Some(location)),
        None => (name, None),
    };
    (!name.is_empty()).then_some(Symbol {
        address,
        letter,
        name,
        location,
    })
}

fn posix_line(text: &str) -> Option<Symbol<'_>> {
    let mut words = text.split_ascii_whitespace();
    let name = words.next()?;
    let letter = words.next().and_then(letter)?;
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    Some(Symbol {
        address,
        letter: Some(letter),
        name,
        location: None,
    })
}

/// Whether a file that begins like this is a list of `nm`.
pub(super) fn looks_like(first_bytes: &[u8]) -> bool {
    let Some(text) = beginning(first_bytes) else {
        return false;
    };
    let mut found = 0;
    for text in text.lines().take(16) {
        match line(text) {
            None => return false,
            Some(Line::Nothing) => {}
            Some(Line::Undefined | Line::Symbol(_)) => found += 1,
        }
    }
    found > 0
}

/// Returns the complete lines at the start of a text; `None` if it is not a text.
fn beginning(bytes: &[u8]) -> Option<&str> {
    let whole = match bytes.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => bytes.get(..end)?,
        None => bytes,
    };
    std::str::from_utf8(whole)
        .ok()
        .filter(|text| !text.contains('\0'))
}

/// Concatenated names and locations of a list.
#[derive(Debug, Default)]
pub(super) struct NmText {
    text: String,
    /// Start of each name, and of its location, which follows.
    name_ranges: Vec<(u32, u32)>,
    /// Whether the list is of macOS, where C names begin with `_`.
    underscore: bool,
}

impl NmText {
    fn push(&mut self, symbol: &Symbol<'_>) -> Option<u32> {
        let number = u32::try_from(self.name_ranges.len()).ok()?;
        let begin = u32::try_from(self.text.len()).ok()?;
        let location = u32::try_from(self.text.len() + symbol.name.len()).ok()?;
        self.text.push_str(symbol.name);
        self.text.push_str(symbol.location.unwrap_or_default());
        self.name_ranges.push((begin, location));
        Some(number)
    }

    /// Returns a symbol as written in the list, and its location.
    fn get(&self, symbol: u32) -> (&str, &str) {
        let number = symbol as usize;
        let (begin, location) = self.name_ranges.get(number).copied().unwrap_or_default();
        let end = match self.name_ranges.get(number + 1) {
            Some((end, _)) => *end as usize,
            None => self.text.len(),
        };
        let part = |from, to| self.text.get(from..to).unwrap_or_default();
        (
            part(begin as usize, location as usize),
            part(location as usize, end),
        )
    }

    /// Returns the name of an address.
    pub(super) fn name(&self, found: &SymbolMatch) -> Option<(Address, Name)> {
        let (symbol, location) = self.get(found.symbol);
        let name = Name {
            location: (!location.is_empty()).then(|| location.to_owned()),
            ..Name::from_symbol(symbol, self.underscore, found.lookup)?
        };
        Some((found.address, name))
    }
}

/// Reads a list. Lines not written by `nm` are skipped.
pub(super) fn read(file: &mut (impl Read + Seek)) -> Result<(Table, NmText), SymbolsError> {
    let mut at = 0;
    let failed = |at, error: std::io::Error| SymbolsError::Read {
        at,
        why: system_words(&error),
    };
    file.seek(SeekFrom::Start(0))
        .map_err(|error| failed(0, error))?;
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut names = NmText::default();
    let mut entries = Vec::new();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let mut limited = (&mut reader).take(MAX_LINE);
        let read = limited
            .read_until(b'\n', &mut bytes)
            .map_err(|error| failed(at, error))?;
        if read == 0 {
            break;
        }
        at += read as u64;
        let text = String::from_utf8_lossy(&bytes);
        if let Some(Line::Symbol(symbol)) = line(&text) {
            names.underscore |= symbol.name == "__mh_execute_header";
            entries.extend(entry(&symbol, &mut names));
        }
    }
    if entries.is_empty() {
        return Err(SymbolsError::Broken {
            kind: Kind::Nm,
            at,
            why: "it has no symbol of code".to_owned(),
        });
    }
    Ok((Table::new(entries), names))
}

/// Returns the entry of a symbol; `None` if it is not code.
fn entry(symbol: &Symbol<'_>, names: &mut NmText) -> Option<Entry> {
    let rank = match symbol.letter {
        Some('T') => 0,
        Some('t' | 'W' | 'i') => 1,
        Some('w') | None => 2,
        Some(_) => return None,
    };
    if symbol.name.starts_with(['$', '.']) {
        return None;
    }
    Some(Entry {
        address: symbol.address,
        rank,
        symbol: names.push(symbol)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::LookupKind;
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let symbol = |letter, name, location| {
            Some(Line::Symbol(Symbol {
                address: 0x41_0061,
                letter,
                name,
                location,
            }))
        };
        for (text, meant) in [
            ("0000000000410061 T bar_c", symbol(Some('T'), "bar_c", None)),
            (
                "0000000000410061 0000000000000034 t bar_c\r",
                symbol(Some('t'), "bar_c", None),
            ),
            (
                "0000000000410061 T bar_c\t/demo/bar.c:20",
                symbol(Some('T'), "bar_c", Some("/demo/bar.c:20")),
            ),
            (
                "00410061 T draw(int, char const*)",
                symbol(Some('T'), "draw(int, char const*)", None),
            ),
            ("0000000000410061 bar_c", symbol(None, "bar_c", None)),
            ("bar_c T 410061 34", symbol(Some('T'), "bar_c", None)),
            (
                "                 U abort@GLIBC_2.2.5",
                Some(Line::Undefined),
            ),
            ("                 w __gmon_start__", Some(Line::Undefined)),
            ("program:", Some(Line::Nothing)),
            ("", Some(Line::Nothing)),
            ("0000000000410061", None),
            ("hello", None),
            ("hdrb", None),
            ("{\"notes\": []}", None),
        ] {
            assert_eq!(line(text), meant, "{text}");
        }
    }

    #[test]
    fn a_list_is_told_by_its_lines() {
        assert!(looks_like(
            b"\nprogram:\n0000000000410061 T bar_c\n00000000004"
        ));
        assert!(looks_like(b"0000000000410061 T bar_c"));
        for bytes in [
            &b""[..],
            b"\n\n",
            b"hdrb\0\0\0\x01",
            b"\x1f\x8b\x08",
            b"main;f 12\nmain;g 3\n",
            b"0000000000410061 T bar_c\nhello\n",
        ] {
            assert!(!looks_like(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn a_list_of_macos_has_underscores() {
        let list = "0000000100000000 T __mh_execute_header\n0000000100003f50 T _bar_c\n";
        let (table, names) = read(&mut std::io::Cursor::new(list)).expect("a list");
        let found = SymbolMatch {
            address: Address(1),
            in_file: 0x1_0000_3F50,
            symbol: table.symbol(table.entry(0x1_0000_3F50).expect("a symbol")),
            lookup: LookupKind::Function,
        };
        let (_, name) = names.name(&found).expect("a name");
        assert_eq!(name.label, "bar_c");
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read(text in "[0-9a-fTtU \t\n_:λ]{0,200}") {
            let _ = looks_like(text.as_bytes());
            let _ = read(&mut std::io::Cursor::new(text));
        }
    }
}
