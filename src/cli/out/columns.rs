//! Aligned tables for human readers.

use std::iter;

/// Rows of cells; the first row has the column titles.
pub(in super::super) type Rows = Vec<Vec<String>>;

/// Begins a table with its column titles.
pub(in super::super) fn titled(titles: &[&str]) -> Rows {
    vec![titles.iter().map(|title| (*title).to_owned()).collect()]
}

/// Side of a cell on which padding is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Appends a cell padded to at least `width` characters. Widths in `format!` are limited to 16 bits, and names in
/// a log may be longer.
fn push_padded(text: &mut String, cell: &str, width: usize, spaces: Side) {
    let missing = width.saturating_sub(cell.chars().count());
    let spaces_before = if spaces == Side::Left { missing } else { 0 };
    text.extend(iter::repeat_n(' ', spaces_before));
    text.push_str(cell);
    text.extend(iter::repeat_n(' ', missing - spaces_before));
}

/// Formats rows as columns separated by two spaces; `side` gives the padding side of a column.
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

/// Appends a row with the given column widths, without trailing spaces.
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

/// Padding sides for a table whose first column has text and whose other columns have numbers.
const fn text_first(column: usize) -> Side {
    match column {
        0 => Side::Right,
        _ => Side::Left,
    }
}

/// Formats one row of a table like that of [`in_columns`], with given column widths.
pub(in super::super) fn in_widths(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    push_line(&mut text, row, widths, text_first);
    text
}

/// Formats a table: text in the first column, right-aligned numbers in all others.
pub(in super::super) fn in_columns(rows: &[Vec<String>]) -> String {
    aligned(rows, text_first)
}

/// Formats a table: text in the last column, right-aligned numbers in all others.
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
