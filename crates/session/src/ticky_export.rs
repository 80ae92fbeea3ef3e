//! Export of the ticky counter table. Files and the command line share one list of columns. Sizes are in bytes.

use crate::cells::{Cell, RowFormat, rows_text};
use analysis::ticky::{Definition, Info, TickyRow, TickyTable};

/// Function that extracts a cell from a row.
type Content = fn(&TickyTable, &TickyRow) -> Cell<'static>;

/// Column names with their content.
const COLUMNS: [(&str, Content); 21] = [
    ("id", |_, row| row.id.into()),
    ("name", |_, row| {
        text(row.definition.as_ref().map(|it| it.name.as_str()))
    }),
    ("kind", |_, row| {
        let kind = row.definition.as_ref().and_then(Definition::kind);
        kind.map(|kind| kind.shape.name()).into()
    }),
    ("module", |_, row| text(row.module())),
    ("parent", |_, row| {
        text(row.parent.as_ref().map(|it| it.name.as_str()))
    }),
    ("arity", |_, row| {
        let arity = row.definition.as_ref().map(|it| u64::from(it.arity));
        arity.into()
    }),
    ("arguments", |_, row| {
        text(row.definition.as_ref().map(|it| it.arguments.as_str()))
    }),
    ("free_variables", |_, row| {
        text(row.definition.as_ref().and_then(Definition::free_variables))
    }),
    ("info_table", |_, row| {
        row.definition.as_ref().and_then(|it| it.info_table).into()
    }),
    ("info", |_, row| info_cell(row, |info| &info.name)),
    ("type", |_, row| info_cell(row, |info| &info.type_)),
    ("place", |_, row| info_cell(row, |info| &info.place)),
    ("closure_bytes", |_, row| {
        let bytes = row.definition.as_ref().and_then(Definition::closure_bytes);
        bytes.into()
    }),
    ("entries", |_, row| row.counts.entries.into()),
    ("allocs_bytes", |_, row| row.counts.allocs_bytes.into()),
    ("allocs_share", |table, row| {
        table.share(row.counts.allocs_bytes).into()
    }),
    ("allocs_per_entry", |_, row| row.allocs_per_entry().into()),
    ("allocd_bytes", |table, row| {
        table.has_allocd.then_some(row.counts.allocd_bytes).into()
    }),
    ("allocd_share", |table, row| {
        let share = || table.share(row.counts.allocd_bytes);
        table.has_allocd.then(share).flatten().into()
    }),
    ("allocd_count", |table, row| {
        let count = row.allocd_count().filter(|_| table.has_allocd);
        count.into()
    }),
    ("entries_per_allocd", |table, row| {
        let entries = row.entries_per_allocd().filter(|_| table.has_allocd);
        entries.into()
    }),
];

/// Returns a text of the info table, unless it is empty.
fn info_cell(row: &TickyRow, of: fn(&Info) -> &str) -> Cell<'static> {
    let info_cell = row.info.as_ref().map(of);
    text(info_cell.filter(|info_cell| !info_cell.is_empty()))
}

fn text(text: Option<&str>) -> Cell<'static> {
    text.map(str::to_owned).into()
}

/// Returns the column names.
pub fn names() -> [&'static str; COLUMNS.len()] {
    COLUMNS.map(|(name, _)| name)
}

/// Returns the cells of a row, one per column.
pub fn cells(table: &TickyTable, row: &TickyRow) -> [Cell<'static>; COLUMNS.len()] {
    COLUMNS.map(|(_, content)| content(table, row))
}

/// Formats the rows with [`rows_text`]; a long table can be formatted in parts.
pub fn ticky_text(table: &TickyTable, how: RowFormat, is_first: bool) -> String {
    let rows = table.rows.iter().map(|row| cells(table, row));
    rows_text(how, &names(), rows, is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::ticky::{Counts, JsonDescription, Parent};

    #[test]
    fn a_row_is_a_line_of_cells() {
        let counted = TickyRow {
            id: 7,
            definition: Some(Definition {
                arity: 1,
                arguments: "i".to_owned(),
                name: "f{v r1} (M) (fun) in\tr2, x".to_owned(),
                info_table: None,
                described: JsonDescription::from_json(r#"{"subTy":"fun","fvs":"i"}"#),
            }),
            parent: Some(Parent {
                id: 8,
                name: "g".to_owned(),
            }),
            info: None,
            counts: Counts {
                entries: 4,
                allocs_bytes: 6,
                allocd_bytes: 33,
            },
        };
        let table = TickyTable {
            rows: vec![counted, TickyRow::default()],
            allocated_bytes: Some(48),
            has_allocd: true,
            ..TickyTable::default()
        };
        let rest = "i\t\t\t\t\t16\t4\t6\t0.125\t1.5\t33\t0.6875\t2\t2";
        let tabs = format!("7\tf{{v r1}} (M) (fun) in r2, x\tfunction\tM\tg\t1\ti\t{rest}\n");
        let none = format!("0{}0\t0\t0\t\t0\t0\t\t\n", "\t".repeat(13));
        assert_eq!(ticky_text(&table, RowFormat::Tsv, false), tabs + &none);
        let commas = ticky_text(&table, RowFormat::Csv, true);
        assert!(commas.starts_with("id,name,kind,"), "{commas}");
        assert!(
            commas.contains("\r\n7,\"f{v r1} (M) (fun) in\tr2, x\",function,M,g,1,i,i,,"),
            "{commas}"
        );
    }
}
