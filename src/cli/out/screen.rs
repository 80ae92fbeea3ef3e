//! Writes text so that a terminal shows it and does not obey it.

use std::fmt::Write as _;
use std::io::{self, Write};

/// How a character is escaped that a terminal would obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Style {
    /// `\u{1b}`, in plain text.
    Text,
    /// `\u001b`, in the strings of a JSON document: it stands for the same character.
    Json,
    /// `&#x202e;`, in XML; characters that XML cannot hold become U+FFFD.
    Xml,
    /// Not at all: binary formats.
    Exact,
}

/// Whether a terminal, or whoever reads on it, could be misled by a character: control
/// characters (C0, DEL, C1), line and paragraph separators, and marks that change the direction
/// of text. Tabs and line feeds are the structure of what is printed.
const fn misleads(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}

impl Style {
    /// Appends the escape of a character.
    fn escape(self, c: char, into: &mut String) {
        let code = u32::from(c);
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Text => write!(into, "\\u{{{code:x}}}"),
            Self::Json => write!(into, "\\u{code:04x}"),
            Self::Xml if code < 0x20 => write!(into, "\u{fffd}"),
            Self::Xml => write!(into, "&#x{code:x};"),
            Self::Exact => write!(into, "{c}"),
        };
    }
}

/// A message in one line: line ends and tabs in it are escaped too.
pub(in super::super) fn escape_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if misleads(c) || matches!(c, '\t' | '\n') {
            Style::Text.escape(c, &mut line);
        } else {
            line.push(c);
        }
    }
    line
}

/// Escapes the text that is written through it. Bytes that are no UTF-8 become U+FFFD.
pub(super) struct Screen<W> {
    to: W,
    style: Style,
    /// The end of what was written, if only what follows says what it is: a part of a
    /// character, or a carriage return, which may be half of a line end.
    held: Vec<u8>,
}

impl<W: Write> Screen<W> {
    pub(super) const fn new(to: W, style: Style) -> Self {
        Self {
            to,
            style,
            held: Vec::new(),
        }
    }

    pub(super) const fn style(&self) -> Style {
        self.style
    }

    /// Ends a text, and escapes in another way from now on.
    pub(super) fn begin(&mut self, style: Style) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let mut end = String::new();
        match held.first() {
            None => {}
            Some(b'\r') => self.style.escape('\r', &mut end),
            Some(_) => end.push('\u{fffd}'),
        }
        self.style = style;
        self.to.write_all(end.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let harmless = |byte: &u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
        if bytes.iter().all(harmless) {
            return self.to.write_all(bytes);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let (text, invalid) = match std::str::from_utf8(rest) {
                Ok(text) => (text, None),
                Err(error) => {
                    let valid = &rest[..error.valid_up_to()];
                    let text = std::str::from_utf8(valid).unwrap_or_default();
                    (text, Some(error.error_len()))
                }
            };
            rest = &rest[text.len()..];
            self.escaped(text, rest.is_empty())?;
            match invalid {
                None => {}
                Some(Some(wrong)) => {
                    self.to.write_all("\u{fffd}".as_bytes())?;
                    rest = &rest[wrong..];
                }
                Some(None) => {
                    self.held.extend_from_slice(rest);
                    rest = &[];
                }
            }
        }
        Ok(())
    }

    /// Writes a text; `last` if nothing is known of what follows.
    fn escaped(&mut self, text: &str, last: bool) -> io::Result<()> {
        let mut plain = 0;
        let mut escape = String::new();
        for (at, c) in text.char_indices().filter(|(_, c)| misleads(*c)) {
            let follows = &text[at + c.len_utf8()..];
            if c == '\r' && follows.starts_with('\n') {
                continue;
            }
            self.to.write_all(&text.as_bytes()[plain..at])?;
            plain = at + c.len_utf8();
            if c == '\r' && follows.is_empty() && last {
                self.held.push(b'\r');
                continue;
            }
            escape.clear();
            self.style.escape(c, &mut escape);
            self.to.write_all(escape.as_bytes())?;
        }
        self.to.write_all(&text.as_bytes()[plain..])
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.style == Style::Exact {
            return self.to.write(bytes);
        }
        if self.held.is_empty() {
            self.bytes(bytes)?;
        } else {
            let mut all = std::mem::take(&mut self.held);
            all.extend_from_slice(bytes);
            self.bytes(&all)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out of a text written in pieces of so many bytes.
    fn written(style: Style, bytes: &[u8], piece: usize) -> String {
        let mut screen = Screen::new(Vec::new(), style);
        for piece in bytes.chunks(piece) {
            screen.write_all(piece).expect("memory");
        }
        screen.begin(style).expect("memory");
        String::from_utf8(screen.to.clone()).expect("UTF-8")
    }

    #[test]
    fn nothing_misleading_comes_out_whatever_the_pieces() {
        let text = "a\u{1b}[31m\u{7}\0b\u{9b}2J\u{202e}c\u{2067}d\u{7f}\u{2028}é 漢\t\r\ne\rf\n";
        let expected = "a\\u{1b}[31m\\u{7}\\u{0}b\\u{9b}2J\\u{202e}c\\u{2067}d\\u{7f}\\u{2028}é 漢\t\r\ne\\u{d}f\n";
        for piece in 1..text.len() + 1 {
            assert_eq!(
                written(Style::Text, text.as_bytes(), piece),
                expected,
                "{piece}"
            );
        }
    }

    #[test]
    fn json_stays_exact() {
        let value = serde_json::json!({"text": "\u{1b}\u{9b}\u{202e}\u{7f}\r\n\t\"\\ é"});
        let text = value.to_string();
        let out = written(Style::Json, text.as_bytes(), 3);
        assert!(!out.contains(misleads), "{out}");
        let read: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(read, value);
    }

    #[test]
    fn xml_has_references() {
        let out = written(Style::Xml, "\u{1b}\u{202e}é".as_bytes(), 2);
        assert_eq!(out, "\u{fffd}&#x202e;é");
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        for piece in 1..5 {
            let out = written(Style::Text, b"a\xff\xe2\x80b\xc3", piece);
            assert_eq!(out, "a\u{fffd}\u{fffd}b\u{fffd}");
        }
        assert_eq!(written(Style::Exact, "\u{1b}é".as_bytes(), 1), "\u{1b}é");
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(escape_line("a\n\u{1b}b\tc"), "a\\u{a}\\u{1b}b\\u{9}c");
    }
}
