//! Parser of source locations as compilers write them.

/// Start of a source location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLocation<'a> {
    /// File path as passed to the compiler.
    pub file: &'a str,
    /// Line number, from 1.
    pub line: u32,
    /// Column number, from 1.
    pub column: Option<u32>,
}

impl<'a> SourceLocation<'a> {
    /// Parses a location of GHC (the text of a span in `GHC.Types.SrcLoc`), such as `A.hs:(3,1)-(7,20)`,
    /// `A.hs:16:1-35` or `A.hs:16:1`, or a C location such as `a.c:16`. Returns `None` for other texts, such as
    /// `<entire-module>`.
    pub fn parse(text: &'a str) -> Option<Self> {
        Self::parse_lines(text)
            .or_else(|| Self::parse_line(text))
            .or_else(|| Self::parse_file(text))
    }

    fn new(file: &'a str, line: &str, column: Option<&str>) -> Option<Self> {
        let column = match column {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        };
        let line = line.parse().ok()?;
        (!file.is_empty()).then_some(Self { file, line, column })
    }

    /// Parses the form `FILE:(3,1)-(7,20)`.
    fn parse_lines(text: &'a str) -> Option<Self> {
        let (file, range) = text.rsplit_once(":(")?;
        let (start, _) = range.split_once(")-(")?;
        let (line, column) = start.split_once(',')?;
        Self::new(file, line, Some(column))
    }

    /// Parses `FILE:16:1-35` and `FILE:16:1`.
    fn parse_line(text: &'a str) -> Option<Self> {
        let (rest, columns) = text.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        let start = columns.split_once('-').map_or(columns, |(start, _)| start);
        Self::new(file, line, Some(start))
    }

    /// Parses the form `FILE:16`.
    fn parse_file(text: &'a str) -> Option<Self> {
        let (file, line) = text.rsplit_once(':')?;
        // After another number, this one would be a column.
        let before = file.rsplit_once(':').map_or("", |(_, before)| before);
        let is_column = !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
        (!is_column).then(|| Self::new(file, line, None))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_apart() {
        for (text, place) in [
            ("A.hs:(3,1)-(7,20)", Some(("A.hs", 3, Some(1)))),
            ("src/A/B.hs:16:1-35", Some(("src/A/B.hs", 16, Some(1)))),
            ("A.hs:16:7", Some(("A.hs", 16, Some(7)))),
            (r"C:\a\A.hs:16:7-9", Some((r"C:\a\A.hs", 16, Some(7)))),
            (r"C:\a\A.hs:(1,2)-(3,4)", Some((r"C:\a\A.hs", 1, Some(2)))),
            ("cbits/x.c:90", Some(("cbits/x.c", 90, None))),
            ("<entire-module>", None),
            ("<no location info>", None),
            ("A.hs", None),
            ("A.hs:", None),
            (":3", None),
            ("A.hs:99999999999:1", None),
            ("A.hs:(3)-(4)", None),
            ("", None),
        ] {
            let found =
                SourceLocation::parse(text).map(|place| (place.file, place.line, place.column));
            assert_eq!(found, place, "{text}");
        }
    }
}
