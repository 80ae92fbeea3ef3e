//! Tables for people.

use std::iter;

/// Rows of cells; the first has the names of the columns.
pub(in super::super) type Rows = Vec<Vec<String>>;

/// On which side of a cell its spaces stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Appends a cell of at least this many characters. Names in a log may be longer than the
/// widths that `format!` takes, which are 16 bits.
fn push_padded(text: &mut String, cell: &str, width: usize, spaces: Side) {
    let missing = width.saturating_sub(cell.chars().count());
    let spaces_before = if spaces == Side::Left { missing } else { 0 };
    text.extend(iter::repeat_n(' ', spaces_before));
    text.push_str(cell);
    text.extend(iter::repeat_n(' ', missing - spaces_before));
}

/// Rows in columns with two spaces between them; `side` is that of a column.
fn aligned(rows: &[Vec<String>], side: impl Fn(usize) -> Side) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        push_line(&mut text, row, &widths, &side);
    }
    text
}

/// Appends a row in columns that are so wide.
fn push_line(text: &mut String, row: &[String], widths: &[usize], side: impl Fn(usize) -> Side) {
    let begin = text.len();
    for (column, (cell, &width)) in row.iter().zip(widths).enumerate() {
        if column > 0 {
            text.push_str("  ");
        }
        push_padded(text, cell, width, side(column));
    }
    let row_bytes = text[begin..].trim_end_matches(' ').len();
    text.truncate(begin + row_bytes);
    text.push('\n');
}

/// Where the spaces stand if the first column has texts and all others have numbers.
const fn text_first(column: usize) -> Side {
    match column {
        0 => Side::Right,
        _ => Side::Left,
    }
}

/// A line of a table like that of [`in_columns`], in columns that are so wide.
pub(in super::super) fn in_widths(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    push_line(&mut text, row, widths, text_first);
    text
}

/// A table in columns: texts in the first, numbers to the right in all others.
pub(in super::super) fn in_columns(rows: &[Vec<String>]) -> String {
    aligned(rows, text_first)
}

/// A table in columns: texts in the last, numbers to the right in all others.
pub(in super::super) fn in_columns_before_text(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    aligned(rows, |column| match column + 1 == columns {
        true => Side::Right,
        false => Side::Left,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let rows: Rows = vec![row(&["", "before"]), row(&["time", "1"]), row(&["a", ""])];
        assert_eq!(in_columns(&rows), "      before\ntime       1\na\n");
        let rows: Rows = vec![row(&["n", "é"]), row(&["10", "name"])];
        assert_eq!(in_columns_before_text(&rows), " n  é\n10  name\n");
    }

    #[test]
    fn cells_may_be_longer_than_widths_of_format() {
        let long = "x".repeat(1 << 17);
        let rows = vec![
            vec![long.clone(), long.clone()],
            vec!["a".to_owned(), "b".to_owned()],
        ];
        assert!(
            in_columns(&rows)
                .lines()
                .all(|line| line.len() == 2 * long.len() + 2)
        );
        assert!(in_columns_before_text(&rows).starts_with(&long));
    }
}
