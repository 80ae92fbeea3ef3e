//! Tables of a data set: those of `eventscope export`, and the digest of each log.

use std::fs::{self, File};
use std::path::Path;

use crate::table_file::TableFile;
use crate::{Error, files};
use export::log::Log;
use export::rows::{Rows, json_name};
use export::table;
use insight::Digest;
use session::cells::{Cell, Column};

/// A table of a data set.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name of its folder.
    pub name: &'static str,
    /// Columns, without the first one, `run`.
    columns: Columns,
    /// Column by which the rows of a log are sorted in a row group; `None` for the order of the exported table.
    pub(crate) time: Option<&'static str>,
    /// Columns that have nothing but texts of the program.
    pub(crate) texts: &'static [&'static str],
}

/// Where the rows come from.
#[derive(Clone, Copy, Debug)]
enum Columns {
    /// From the table of this name that every export has.
    Exported,
    Digests,
    Measurements,
}

/// All tables; `runs` is last, as its file appears last, and so a log appears in it when all else is there.
pub static TABLES: [Table; 13] = [
    Table::exported("numbers", None, &[]),
    Table::exported("findings", None, &[]),
    Table::exported("capabilities", Some("start_ns"), &["process"]),
    Table::exported("spans", Some("start_ns"), &[]),
    Table::exported("threads", Some("created_ns"), &["label"]),
    Table::exported("collections", Some("start_ns"), &[]),
    Table::exported("heap", Some("time_ns"), &["band", "name"]),
    Table::exported("samples", Some("start_ns"), &["function"]),
    Table::exported("stacks", None, &["function", "label", "module", "location"]),
    Table::exported("events", Some("time_ns"), &["text"]),
    Table {
        columns: Columns::Measurements,
        ..Table::exported("measurements", None, &["name"])
    },
    Table {
        columns: Columns::Digests,
        ..Table::exported("digests", None, &["digest"])
    },
    Table::exported("runs", None, &["program", "command_line"]),
];

/// Columns of `digests`.
const DIGESTS: &[Column] = &[
    Column::text("path", "The absolute path of the log when it was added"),
    Column::text("sha256", "SHA-256 of the bytes of the file"),
    Column::text("digest", "Output of `eventscope digest` for the log: JSON"),
];

/// Columns of `measurements`.
const MEASUREMENTS: &[Column] = &[
    Column::text(
        "subject",
        "Kind of thing that has the name: program, threads, spans, cost-centres or bands",
    ),
    Column::text(
        "name",
        "Metric, label of threads, or name of a span, cost centre or band",
    ),
    Column::text("part", "Statistic, such as p99; else empty"),
    Column::ratio("value", "Value"),
    Column::text("unit", "ns, bytes, count, share (1 is all) or per-second"),
    Column::text("better", "lower, higher or neutral"),
    Column::text(
        "class",
        "counted or timed: only times vary between equal runs",
    ),
    Column::flag(
        "is_total",
        "Whether it grows with the amount of work of the program",
    ),
];

impl Table {
    const fn exported(
        name: &'static str,
        time: Option<&'static str>,
        texts: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            columns: Columns::Exported,
            time,
            texts,
        }
    }

    /// Returns the table of the export; the tests find one for each.
    fn of_export(&self) -> Option<&'static table::Table> {
        let mut tables = export::tables::TABLES.into_iter();
        tables.find(|table| table.name == self.name)
    }

    /// Returns the description of a row.
    pub fn help(&self) -> &'static str {
        match self.columns {
            Columns::Exported => self.of_export().map_or("", |table| table.help),
            Columns::Digests => "One row per log: its path and its digest.",
            Columns::Measurements => {
                "The numbers of each log's digest: of the program, and of its threads, spans, cost centres and heap bands by name."
            }
        }
    }

    /// Returns the columns without the first one, `run`.
    pub fn columns(&self) -> &'static [Column] {
        match self.columns {
            Columns::Exported => self.of_export().map_or(&[], |table| table.columns),
            Columns::Digests => DIGESTS,
            Columns::Measurements => MEASUREMENTS,
        }
    }

    /// Returns the names of all columns.
    pub fn column_names(&self) -> impl Iterator<Item = &'static str> {
        let columns = self.columns().iter().map(|column| column.name);
        std::iter::once("run").chain(columns)
    }
}

/// Returns the table with a name.
pub(crate) fn named(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// What is known of a log besides its contents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) path: &'a str,
    pub(crate) sha256: &'a str,
    pub(crate) digest: &'a Digest,
}

/// Writes the rows of a log to a table.
pub(crate) fn fill(
    table: &Table,
    log: &Log<'_>,
    origin: Origin<'_>,
    mut rows: Rows,
) -> Result<(), export::format::Error> {
    match table.columns {
        Columns::Exported => match table.of_export() {
            Some(exported) => export::tables::fill(exported, log, rows),
            None => rows.finish(),
        },
        Columns::Digests => {
            let digest = serde_json::to_string(origin.digest).unwrap_or_default();
            rows.row(&[origin.path.into(), origin.sha256.into(), digest.into()])?;
            rows.finish()
        }
        Columns::Measurements => {
            for row in &origin.digest.rows {
                rows.row(&[
                    json_name(&row.key.group).into(),
                    row.key.name.as_str().into(),
                    Some(row.key.part.as_ref())
                        .filter(|part| !part.is_empty())
                        .into(),
                    Some(row.value).into(),
                    json_name(&row.unit).into(),
                    json_name(&row.direction).into(),
                    json_name(&row.class).into(),
                    Cell::Flag(row.is_total, "total"),
                ])?;
            }
            rows.finish()
        }
    }
}

/// Writes a file without rows, so that the table has all its columns even if no log has rows of it.
pub(crate) fn write_schema(table: &Table, path: &Path) -> Result<(), Error> {
    let hidden = files::unfinished(path);
    let write = || {
        TableFile::create(table, File::create(&hidden)?)?.finish()?;
        fs::rename(&hidden, path)
    };
    write().map_err(Error::about(path))
}
