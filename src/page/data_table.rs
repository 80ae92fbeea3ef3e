//! Small table, rendered and exported from the same values.

use yew::prelude::*;

use super::export_rows::{ExportButtons, RowSource};
use super::term::{Term, heading};
use scene::format;
use session::cells::{Cell, rows_text};

/// Column of a small table.
#[derive(Clone, PartialEq)]
pub(super) struct TableColumn {
    /// Name in exported files, with the unit; none for a column that is only drawn.
    exported: Option<String>,
    /// Heading cell.
    shown: Html,
}

impl TableColumn {
    /// Column with an explanation of its name.
    pub(super) fn explained(
        name: &'static str,
        help: &'static str,
        exported: impl Into<String>,
    ) -> Self {
        Self::new(exported, heading(name, help))
    }

    /// Columns with explanations of their names: name, name in files and explanation of each.
    pub(super) fn all_explained(columns: &[[&'static str; 3]]) -> Vec<Self> {
        let columns = columns.iter();
        columns
            .map(|&[name, exported, help]| Self::explained(name, help, exported))
            .collect()
    }

    /// Column whose name needs no explanation.
    pub(super) fn plain(name: &'static str, exported: impl Into<String>) -> Self {
        Self::new(exported, html! { <th scope="col">{ name }</th> })
    }

    /// Column with any heading cell.
    pub(super) fn new(exported: impl Into<String>, shown: Html) -> Self {
        Self {
            exported: Some(exported.into()),
            shown,
        }
    }

    /// Column that is not exported: its values are those of other columns.
    pub(super) const fn drawn(shown: Html) -> Self {
        Self {
            exported: None,
            shown,
        }
    }
}

/// Cell of a small table.
#[derive(Clone, PartialEq)]
pub(super) struct TableCell {
    value: Cell<'static>,
    shown: Html,
}

impl TableCell {
    /// Cell with any value and any cell element.
    pub(super) fn new(value: impl Into<Cell<'static>>, shown: Html) -> Self {
        let value = value.into();
        Self { value, shown }
    }

    /// Cell without a value to export.
    pub(super) const fn drawn(shown: Html) -> Self {
        Self {
            value: Cell::Absent,
            shown,
        }
    }

    /// Heading of a row, which is also its value.
    pub(super) fn heading(text: impl ToString) -> Self {
        let text = text.to_string();
        Self::new(text.clone(), html! { <th scope="row">{ text }</th> })
    }

    /// Heading of a row with an explanation.
    pub(super) fn explained(name: &'static str, help: &'static str) -> Self {
        Self::new(name, html! { <th scope="row"><Term {name} {help} /></th> })
    }

    /// Text without an exact value.
    pub(super) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(text.clone(), html! { <td>{ text }</td> })
    }

    /// Number, shown as this text.
    pub(super) fn number(value: impl Into<Cell<'static>>, text: String) -> Self {
        Self::new(value, html! { <td class="number">{ text }</td> })
    }

    /// Number of items.
    pub(super) fn count(count: u64) -> Self {
        Self::number(count, format::count(count))
    }
}

/// Row of a small table.
#[derive(Clone, PartialEq)]
pub(super) struct TableRow {
    /// Class of the row element.
    pub(super) class: &'static str,
    /// One cell for each column, or an element that spans several and empty ones after it.
    pub(super) cells: Vec<TableCell>,
}

impl TableRow {
    /// Row of a heading and further cells.
    pub(super) fn new(heading: TableCell, others: impl IntoIterator<Item = TableCell>) -> Self {
        Self {
            class: "",
            cells: std::iter::once(heading).chain(others).collect(),
        }
    }

    fn render(&self) -> Html {
        let cells = self.cells.iter().map(|cell| cell.shown.clone());
        html! { <tr class={self.class}>{ for cells }</tr> }
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct DataTableProps {
    /// Base name of saved files.
    pub(super) name: &'static str,
    /// Classes of the table element.
    #[prop_or("plain-table")]
    pub(super) class: &'static str,
    /// Caption element.
    #[prop_or_default]
    pub(super) caption: Html,
    /// Accessible name of the box in which a wide table scrolls.
    #[prop_or_default]
    pub(super) box_label: Option<&'static str>,
    pub(super) columns: Vec<TableColumn>,
    pub(super) rows: Vec<TableRow>,
    /// Rows below the others: sums.
    #[prop_or_default]
    pub(super) foot: Vec<TableRow>,
}

impl DataTableProps {
    /// Returns the names of the exported columns, and the exported rows.
    fn exported(&self) -> (Vec<String>, Vec<Vec<Cell<'static>>>) {
        let names = self
            .columns
            .iter()
            .filter_map(|column| column.exported.clone());
        let row = |row: &TableRow| {
            let cells = row.cells.iter().zip(&self.columns);
            let cells = cells.filter(|(_, column)| column.exported.is_some());
            cells.map(|(cell, _)| cell.value.clone()).collect()
        };
        let rows = self.rows.iter().chain(&self.foot).map(row);
        (names.collect(), rows.collect())
    }
}

/// Table with export buttons below it.
#[component]
pub(super) fn DataTable(props: &DataTableProps) -> Html {
    let exported = use_memo(props.exported(), |(names, rows)| {
        let (names, rows) = (names.clone(), rows.clone());
        RowSource::local(move |_, how| rows_text(how, &names, rows.iter(), true))
    });
    let table = html! {
        <table class={props.class}>
            { props.caption.clone() }
            <thead><tr>{ for props.columns.iter().map(|column| column.shown.clone()) }</tr></thead>
            <tbody>{ for props.rows.iter().map(TableRow::render) }</tbody>
            if !props.foot.is_empty() { <tfoot>{ for props.foot.iter().map(TableRow::render) }</tfoot> }
        </table>
    };
    html! {
        <div class="table-out">
            if let Some(label) = props.box_label {
                <div class="table-box" tabindex="0" role="group" aria-label={label}>{ table }</div>
            } else {
                { table }
            }
            <p><ExportButtons name={props.name} rows={(*exported).clone()} /></p>
        </div>
    }
}
