//! Escaping of text in XML and HTML.

/// Escapes the characters that XML and HTML reserve.
///
/// Control characters become spaces. Bidirectional control characters, line and paragraph separators and
/// noncharacters become U+FFFD, so that text of a log cannot change how the text around it is displayed.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let hostile = "</p><script a=\"b\" c='d'>&\u{1b}\u{202e}\u{ffff}";
        let kept = "&lt;/p&gt;&lt;script a=&quot;b&quot; c=&#39;d&#39;&gt;&amp; \u{fffd}\u{fffd}";
        assert_eq!(escape(hostile), kept);
        assert_eq!(escape("größer – 1 KiB"), "größer – 1 KiB");
    }
}
