//! Export of the ticky counter table. Files and the command line share one list of columns. Sizes are in bytes.

use crate::cells::{Cell, Column, Columns};
use analysis::ticky::{Definition, Info, TickyRow};

/// Columns of the table.
pub const COLUMNS: Columns<TickyRow, 21> = Columns([
    Column::number("id", "Number of the counter: its address").value(|row| row.id.into()),
    Column::text("name", "Its name in the log")
        .value(|row| defined(row, |it| Some(it.name.as_str()))),
    Column::text("kind", "Kind of its code or closure")
        .value(|row| defined(row, |it| it.kind().map(|kind| kind.shape.name()))),
    Column::text("module", "Its module").value(|row| row.module().into()),
    Column::text("parent", "Short name of the enclosing definition").value(|row| {
        row.parent
            .as_ref()
            .map(|parent| parent.name.as_str())
            .into()
    }),
    Column::number("arity", "Number of arguments")
        .value(|row| row.definition.as_ref().map(|it| u64::from(it.arity)).into()),
    Column::text("arguments", "Kinds of the arguments, a letter for each")
        .value(|row| defined(row, |it| Some(it.arguments.as_str()))),
    Column::text("free_variables", "The same of the free variables")
        .value(|row| defined(row, Definition::free_variables)),
    Column::number("info_table", "Address of its info table")
        .value(|row| row.definition.as_ref().and_then(|it| it.info_table).into()),
    Column::text("info", "Name of its closures").value(|row| informed(row, |info| &info.name)),
    Column::text("type", "Their type").value(|row| informed(row, |info| &info.type_)),
    Column::text("place", "Place in the source").value(|row| informed(row, |info| &info.place)),
    Column::number("closure_bytes", "Size of one closure").value(|row| {
        row.definition
            .as_ref()
            .and_then(Definition::closure_bytes)
            .into()
    }),
    Column::number("entries", "Number of entries").value(|row| row.counts.entries.into()),
    Column::number("allocs_bytes", "Bytes allocated by its code")
        .value(|row| row.counts.allocs_bytes.into()),
    Column::ratio(
        "allocs_share",
        "Share of all bytes that the program allocated",
    )
    .value(|row| row.share(row.counts.allocs_bytes).into()),
    Column::ratio("allocs_per_entry", "Bytes per entry").value(|row| row.allocs_per_entry().into()),
    Column::number("allocd_bytes", "Bytes of its closures").value(|row| row.allocd_bytes().into()),
    Column::ratio(
        "allocd_share",
        "Share of all bytes that the program allocated",
    )
    .value(|row| row.allocd_bytes().and_then(|bytes| row.share(bytes)).into()),
    Column::number("allocd_count", "Number of its closures")
        .value(|row| row.allocd_bytes().and_then(|_| row.allocd_count()).into()),
    Column::ratio("entries_per_allocd", "Entries per closure").value(|row| {
        row.allocd_bytes()
            .and_then(|_| row.entries_per_allocd())
            .into()
    }),
]);

/// Returns a text of the definition.
fn defined(row: &TickyRow, of: fn(&Definition) -> Option<&str>) -> Cell<'_> {
    row.definition.as_ref().and_then(of).into()
}

/// Returns a text of the info table, unless it is empty.
fn informed(row: &TickyRow, of: fn(&Info) -> &str) -> Cell<'_> {
    let text = row.info.as_ref().map(of);
    text.filter(|text| !text.is_empty()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::RowFormat;
    use analysis::ticky::{Counts, JsonDescription, Parent};

    #[test]
    fn a_row_is_a_line_of_cells() {
        let nothing = TickyRow {
            whole_bytes: Some(48),
            has_allocd: true,
            ..TickyRow::default()
        };
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
            ..nothing
        };
        let rows = [counted, nothing];
        let rest = "i\t\t\t\t\t16\t4\t6\t0.125\t1.5\t33\t0.6875\t2\t2";
        let tabs = format!("7\tf{{v r1}} (M) (fun) in r2, x\tfunction\tM\tg\t1\ti\t{rest}\n");
        let none = format!("0{}0\t0\t0\t\t0\t0\t\t\n", "\t".repeat(13));
        assert_eq!(COLUMNS.text(&rows, RowFormat::Tsv, false), tabs + &none);
        let commas = COLUMNS.text(&rows, RowFormat::Csv, true);
        assert!(commas.starts_with("id,name,kind,"), "{commas}");
        assert!(
            commas.contains("\r\n7,\"f{v r1} (M) (fun) in\tr2, x\",function,M,g,1,i,i,,"),
            "{commas}"
        );
    }
}
