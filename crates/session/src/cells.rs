//! Table cells for other programs: spreadsheets, scripts, JSON.

use std::borrow::Cow;

use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use model::sorting::CompactCollect;
use serde::{Deserialize, Serialize};

/// Content of one cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Integer; times are in nanoseconds, sizes in bytes.
    Number(u64),
    /// Fractional number, such as a share or a mean.
    Ratio(f64),
    /// Text, not yet quoted or escaped.
    Text(Cow<'a, str>),
    /// Boolean; in text it is this word if true, and empty if false.
    Flag(bool, &'static str),
    /// Value that the log does not have.
    Absent,
}

impl Cell<'_> {
    /// Returns the cell as text; empty if absent.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Number(number) => number.to_string().into(),
            Self::Ratio(ratio) => ratio.to_string().into(),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Flag(true, word) => Cow::Borrowed(word),
            Self::Flag(false, _) | Self::Absent => Cow::Borrowed(""),
        }
    }

    /// Returns the cell as JSON: a number, a string, `true`, `false` or `null`.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Ratio(ratio) => (*ratio).into(),
            Self::Text(text) => (**text).into(),
            Self::Flag(set, _) => (*set).into(),
            Self::Absent => serde_json::Value::Null,
        }
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<CapId> for Cell<'_> {
    fn from(cap: CapId) -> Self {
        Self::Number(cap.0.into())
    }
}

impl From<ThreadId> for Cell<'_> {
    fn from(thread: ThreadId) -> Self {
        Self::Number(thread.0.into())
    }
}

impl From<Nanos> for Cell<'_> {
    fn from(time: Nanos) -> Self {
        Self::Number(time.0)
    }
}

impl From<Duration> for Cell<'_> {
    fn from(length: Duration) -> Self {
        Self::Number(length.0)
    }
}

impl From<f64> for Cell<'_> {
    fn from(ratio: f64) -> Self {
        Self::Ratio(ratio)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(content: Option<T>) -> Self {
        content.map_or(Self::Absent, Into::into)
    }
}

/// Treatment of CSV texts that a spreadsheet would evaluate as formulas. The texts come from the program that
/// wrote the log, which is not trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// Prefixed with an apostrophe, so that spreadsheets read them as text.
    #[default]
    Neutralized,
    /// Written unchanged, for programs that do not evaluate formulas.
    AsIs,
}

impl Formulas {
    /// Returns the treatment, which is neutralizing unless texts are wanted `raw`.
    pub const fn new(raw: bool) -> Self {
        match raw {
            true => Self::AsIs,
            false => Self::Neutralized,
        }
    }
}

/// Appends a row of CSV with its line end.
pub fn push_csv_row(csv: &mut String, cells: &[Cell<'_>], formulas: Formulas) {
    for (place, cell) in cells.iter().enumerate() {
        csv.push_str(if place > 0 { "," } else { "" });
        push_csv(csv, cell, formulas);
    }
    csv.push_str("\r\n");
}

/// Appends a CSV cell (RFC 4180), quoted where necessary. Numbers are never prefixed.
fn push_csv(csv: &mut String, cell: &Cell<'_>, formulas: Formulas) {
    let text = match cell {
        Cell::Text(text) => guard_formula(text, formulas),
        _ => cell.text(),
    };
    if text.contains([',', '"', '\r', '\n']) {
        csv.push('"');
        csv.push_str(&text.replace('"', "\"\""));
        csv.push('"');
    } else {
        csv.push_str(&text);
    }
}

/// File format of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowFormat {
    /// Comma-separated (RFC 4180), with formulas neutralized.
    #[default]
    Csv,
    /// Tab-separated. Tabs and line ends inside a cell become spaces.
    Tsv,
    /// JSON array of objects with the column names as keys.
    Json,
}

impl RowFormat {
    /// Returns the text that terminates the table after its last row.
    pub const fn end(self) -> &'static str {
        match self {
            Self::Csv | Self::Tsv => "",
            Self::Json => "\n]\n",
        }
    }
}

/// Formats rows as text. A long table can be formatted in parts: the first part (`is_first`) has the header, and
/// [`RowFormat::end`] follows the last.
pub fn rows_text<'a>(
    how: RowFormat,
    names: &[impl AsRef<str>],
    rows: impl Iterator<Item = impl AsRef<[Cell<'a>]>>,
    is_first: bool,
) -> String {
    let mut out = String::new();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if is_first && how != RowFormat::Json {
        let heads: Vec<Cell<'_>> = names.iter().map(|name| (*name).into()).collect();
        push_row(&mut out, how, &heads);
    }
    for (place, cells) in rows.enumerate() {
        push(
            &mut out,
            how,
            &names,
            cells.as_ref(),
            is_first && place == 0,
        );
    }
    out
}

/// Type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// UTF-8 text.
    Text,
    /// Signed 64-bit integer; larger values saturate.
    Number,
    /// 64-bit floating-point number.
    Ratio,
    /// Boolean value.
    Flag,
}

/// A column. Its name includes the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, including the unit.
    pub name: &'static str,
    /// Type of the cells.
    pub kind: CellKind,
    /// Description for the documentation.
    pub help: &'static str,
}

impl Column {
    /// Creates a column of texts.
    pub const fn text(name: &'static str, help: &'static str) -> Self {
        Self::new(CellKind::Text, name, help)
    }

    /// Creates a column of whole numbers.
    pub const fn number(name: &'static str, help: &'static str) -> Self {
        Self::new(CellKind::Number, name, help)
    }

    /// Creates a column of floating-point numbers.
    pub const fn ratio(name: &'static str, help: &'static str) -> Self {
        Self::new(CellKind::Ratio, name, help)
    }

    /// Creates a column of truth values.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(CellKind::Flag, name, help)
    }

    const fn new(kind: CellKind, name: &'static str, help: &'static str) -> Self {
        Self { name, kind, help }
    }

    /// Adds the function that extracts the cell from a row.
    pub const fn value<Row>(self, content: Content<Row>) -> (Self, Content<Row>) {
        (self, content)
    }
}

/// Function that extracts a cell from a row.
pub type Content<Row> = for<'a> fn(&'a Row) -> Cell<'a>;

/// Columns of a table with their content.
#[derive(Debug)]
pub struct Columns<Row, const N: usize>(pub [(Column, Content<Row>); N]);

impl<Row, const N: usize> Columns<Row, N> {
    /// Returns the columns without their content.
    pub const fn heads(&self) -> [Column; N] {
        let mut heads = [Column::text("", ""); N];
        let mut column = 0;
        while column < N {
            heads[column] = self.0[column].0;
            column += 1;
        }
        heads
    }

    /// Returns the column names.
    pub fn names(&self) -> [&'static str; N] {
        self.0.map(|(column, _)| column.name)
    }

    /// Returns the cells of a row, one per column.
    pub fn cells<'a>(&self, row: &'a Row) -> [Cell<'a>; N] {
        self.0.map(|(_, content)| content(row))
    }

    /// Formats the rows with [`rows_text`]; a long table can be formatted in parts.
    pub fn text<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r Row>,
        how: RowFormat,
        is_first: bool,
    ) -> String
    where
        Row: 'r,
    {
        let cells = rows.into_iter().map(|row| self.cells(row));
        rows_text(how, &self.names(), cells, is_first)
    }
}

/// Appends a row; `begins` marks the first object of a JSON array.
fn push(out: &mut String, how: RowFormat, names: &[&str], cells: &[Cell<'_>], begins: bool) {
    if how != RowFormat::Json {
        return push_row(out, how, cells);
    }
    out.push_str(if begins { "[\n" } else { ",\n" });
    out.push_str(&row_object(names, cells).to_string());
}

/// Returns a row as a JSON object with the column names as keys.
pub fn row_object(names: &[impl AsRef<str>], cells: &[Cell<'_>]) -> serde_json::Value {
    let columns = names.iter().zip(cells);
    let object: serde_json::Map<_, _> = columns
        .map(|(name, cell)| (name.as_ref().to_owned(), cell.to_json()))
        .collect_small();
    object.into()
}

/// Appends a row of cells with its line end.
fn push_row(out: &mut String, how: RowFormat, cells: &[Cell<'_>]) {
    if how == RowFormat::Csv {
        return push_csv_row(out, cells, Formulas::Neutralized);
    }
    for (place, cell) in cells.iter().enumerate() {
        out.push_str(if place > 0 { "\t" } else { "" });
        out.push_str(&cell.text().replace(['\t', '\n', '\r'], " "));
    }
    out.push('\n');
}

/// Returns a text as a CSV cell before quoting: an apostrophe precedes texts that a spreadsheet would evaluate as
/// formulas, unless `formulas` keeps them.
pub fn guard_formula(text: &str, formulas: Formulas) -> Cow<'_, str> {
    match formulas {
        Formulas::Neutralized if begins_formula(text) => format!("'{text}").into(),
        Formulas::Neutralized | Formulas::AsIs => text.into(),
    }
}

/// Returns whether a spreadsheet may evaluate a text as a formula. The first character decides, but some
/// spreadsheets skip control characters, spaces and invisible characters before it.
fn begins_formula(text: &str) -> bool {
    let first = text.chars().next();
    // Nearly all texts: decided without the tables of Unicode.
    if first.is_none_or(|first| first.is_ascii_alphanumeric()) {
        return false;
    }
    let is_passed_over = |c: char| c.is_whitespace() || is_invisible(c);
    let first_shown = text.trim_start_matches(is_passed_over).chars().next();
    let signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    first_shown.is_some_and(|c| signs.contains(&c)) || first.is_some_and(char::is_control)
}

/// Returns whether a character is invisible: Unicode's `Default_Ignorable_Code_Point` and the category `Cf`
/// (format), except for the visible signs of some scripts.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(cell: &Cell<'_>, formulas: Formulas) -> String {
        let mut csv = String::new();
        push_csv(&mut csv, cell, formulas);
        csv
    }

    #[test]
    fn quotes_what_has_to_be_quoted() {
        let of = |text: &'static str| csv(&text.into(), Formulas::Neutralized);
        assert_eq!(of("plain"), "plain");
        assert_eq!(of(""), "");
        assert_eq!(of("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
    }

    #[test]
    fn formulas_are_texts_unless_they_are_wanted() {
        for text in [
            "=1+1",
            "+1",
            "-1",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            " =1+1",
            "\u{a0} +1",
            "\u{1b}[2J",
            "\u{200b}=1",
            "\u{feff}+1",
            "\u{ad}-1",
            " \u{2060}\u{200d} @SUM(1)",
            "\u{e0020}=1",
        ] {
            let cell = Cell::from(text);
            let safe = csv(&cell, Formulas::Neutralized);
            assert!(safe.trim_start_matches('"').starts_with('\''), "{safe}");
            assert!(!csv(&cell, Formulas::AsIs).contains('\''), "{text}");
        }
        assert_eq!(
            csv(&"=\"a\"".into(), Formulas::Neutralized),
            "\"'=\"\"a\"\"\""
        );
        assert_eq!(csv(&"1-1=0".into(), Formulas::Neutralized), "1-1=0");
    }

    #[test]
    fn numbers_stay_numbers() {
        assert_eq!(csv(&7_u64.into(), Formulas::Neutralized), "7");
        assert_eq!(csv(&None::<u64>.into(), Formulas::Neutralized), "");
    }

    #[test]
    fn parts_of_a_table_are_one_text() {
        let rows = || [["a\tb".into(), 1_u64.into()], ["=c".into(), Cell::Absent]].into_iter();
        let whole = |how: RowFormat| {
            let part = |from: usize, is_first| {
                rows_text(
                    how,
                    &["name", "number"],
                    rows().skip(from).take(1),
                    is_first,
                )
            };
            part(0, true) + &part(1, false) + how.end()
        };
        assert_eq!(whole(RowFormat::Tsv), "name\tnumber\na b\t1\n=c\t\n");
        assert_eq!(whole(RowFormat::Csv), "name,number\r\na\tb,1\r\n'=c,\r\n");
        let json: serde_json::Value = serde_json::from_str(&whole(RowFormat::Json)).unwrap();
        let expected =
            serde_json::json!([{"name": "a\tb", "number": 1}, {"name": "=c", "number": null}]);
        assert_eq!(json, expected);
    }
}
