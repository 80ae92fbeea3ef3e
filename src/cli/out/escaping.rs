//! Writer that escapes text, so that it cannot control a terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Escape syntax for characters that could control a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum EscapeStyle {
    /// `\u{1b}`, in plain text.
    Text,
    /// `\u001b`, in strings of a JSON document, where it denotes the same character.
    Json,
    /// `&#x202e;`, in XML; characters not allowed in XML become U+FFFD.
    Xml,
    /// No escapes, for binary formats.
    Exact,
}

/// Returns whether a character could mislead a terminal or its reader: control characters (C0, DEL, C1), line and
/// paragraph separators, and marks that change the text direction. Tabs and line feeds structure the output and
/// are allowed.
const fn must_escape(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}

impl EscapeStyle {
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

/// Escapes a message into one line, including its line breaks and tabs.
pub(in super::super) fn escape_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if must_escape(c) || matches!(c, '\t' | '\n') {
            EscapeStyle::Text.escape(c, &mut line);
        } else {
            line.push(c);
        }
    }
    line
}

/// Writer that escapes the text written through it; invalid UTF-8 becomes U+FFFD.
pub(super) struct EscapingWriter<W> {
    to: W,
    style: EscapeStyle,
    /// Undecided tail of the input: an incomplete character, or a carriage return, which may be half of a line
    /// break.
    pending: Vec<u8>,
}

impl<W: Write> EscapingWriter<W> {
    pub(super) const fn new(to: W, style: EscapeStyle) -> Self {
        Self {
            to,
            style,
            pending: Vec::new(),
        }
    }

    pub(super) const fn style(&self) -> EscapeStyle {
        self.style
    }

    /// Ends the current text and switches the escape style.
    pub(super) fn begin(&mut self, style: EscapeStyle) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let mut end = String::new();
        match pending.first() {
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
                    self.pending.extend_from_slice(rest);
                    rest = &[];
                }
            }
        }
        Ok(())
    }

    /// Writes a text; `last` if the input after it has not arrived yet.
    fn escaped(&mut self, text: &str, last: bool) -> io::Result<()> {
        let mut plain = 0;
        let mut escape = String::new();
        for (at, c) in text.char_indices().filter(|(_, c)| must_escape(*c)) {
            let follows = &text[at + c.len_utf8()..];
            if c == '\r' && follows.starts_with('\n') {
                continue;
            }
            self.to.write_all(&text.as_bytes()[plain..at])?;
            plain = at + c.len_utf8();
            if c == '\r' && follows.is_empty() && last {
                self.pending.push(b'\r');
                continue;
            }
            escape.clear();
            self.style.escape(c, &mut escape);
            self.to.write_all(escape.as_bytes())?;
        }
        self.to.write_all(&text.as_bytes()[plain..])
    }
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.style == EscapeStyle::Exact {
            return self.to.write(bytes);
        }
        if self.pending.is_empty() {
            self.bytes(bytes)?;
        } else {
            let mut all = std::mem::take(&mut self.pending);
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

    /// Returns the output for a text written in chunks of `piece` bytes.
    fn written(style: EscapeStyle, bytes: &[u8], piece: usize) -> String {
        let mut writer = EscapingWriter::new(Vec::new(), style);
        for piece in bytes.chunks(piece) {
            writer.write_all(piece).expect("memory");
        }
        writer.begin(style).expect("memory");
        String::from_utf8(writer.to.clone()).expect("UTF-8")
    }

    #[test]
    fn nothing_misleading_comes_out_whatever_the_pieces() {
        let text = "a\u{1b}[31m\u{7}\0b\u{9b}2J\u{202e}c\u{2067}d\u{7f}\u{2028}é 漢\t\r\ne\rf\n";
        let expected = "a\\u{1b}[31m\\u{7}\\u{0}b\\u{9b}2J\\u{202e}c\\u{2067}d\\u{7f}\\u{2028}é 漢\t\r\ne\\u{d}f\n";
        for piece in 1..text.len() + 1 {
            assert_eq!(
                written(EscapeStyle::Text, text.as_bytes(), piece),
                expected,
                "{piece}"
            );
        }
    }

    #[test]
    fn json_stays_exact() {
        let value = serde_json::json!({"text": "\u{1b}\u{9b}\u{202e}\u{7f}\r\n\t\"\\ é"});
        let text = value.to_string();
        let out = written(EscapeStyle::Json, text.as_bytes(), 3);
        assert!(!out.contains(must_escape), "{out}");
        let read: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(read, value);
    }

    #[test]
    fn xml_has_references() {
        let out = written(EscapeStyle::Xml, "\u{1b}\u{202e}é".as_bytes(), 2);
        assert_eq!(out, "\u{fffd}&#x202e;é");
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        for piece in 1..5 {
            let out = written(EscapeStyle::Text, b"a\xff\xe2\x80b\xc3", piece);
            assert_eq!(out, "a\u{fffd}\u{fffd}b\u{fffd}");
        }
        assert_eq!(
            written(EscapeStyle::Exact, "\u{1b}é".as_bytes(), 1),
            "\u{1b}é"
        );
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(escape_line("a\n\u{1b}b\tc"), "a\\u{a}\\u{1b}b\\u{9}c");
    }
}
