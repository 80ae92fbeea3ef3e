//! Views for DuckDB and Spark: one for each table, and one for each question about a fleet.

use std::path::Path;

use crate::tables::{TABLES, Table};
use session::cells::CellKind;

/// Questions; `CREATE VIEW` becomes what each engine writes.
const QUESTIONS: &str = include_str!("questions.sql");

/// Returns the files with the views of a data set at `folder`, by name.
pub(crate) fn files(folder: &Path, keys: &[String]) -> [(&'static str, String); 2] {
    let folder = folder.to_string_lossy();
    // On Windows, canonical paths have a prefix that engines do not know.
    let folder = folder.strip_prefix(r"\\?\").unwrap_or(&folder);
    let folder = folder.replace('\\', "/").replace('\'', "''");
    let mut duckdb = format!(
        "-- Views of this data set for DuckDB: duckdb -init views.sql\n\
         -- Written by eventscope, again by each export and compaction; changes are lost.\n\n{}",
        duckdb_manifest(&folder)
    );
    let mut spark = format!(
        "-- Views of this data set for Spark SQL, as temporary views.\n\
         -- Written by eventscope, again by each export and compaction; changes are lost.\n\n{}",
        spark_manifest(&folder)
    );
    for table in &TABLES {
        duckdb.push_str(&duckdb_table(table, &folder, keys));
        spark.push_str(&spark_table(table, &folder, keys));
    }
    let questions = [logs(keys).as_str(), QUESTIONS].concat();
    duckdb.push_str(&questions.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"));
    spark.push_str(&questions.replace("CREATE VIEW", "CREATE OR REPLACE TEMPORARY VIEW"));
    [("views.sql", duckdb), ("views-spark.sql", spark)]
}

/// Columns of the manifest, with their types.
const MANIFEST: [(&str, &str); 11] = [
    ("run", "VARCHAR"),
    ("sha256", "VARCHAR"),
    ("bytes", "BIGINT"),
    ("file", "VARCHAR"),
    ("path", "VARCHAR"),
    ("partition_path", "VARCHAR"),
    ("status", "VARCHAR"),
    ("messages", "VARCHAR[]"),
    ("schema_version", "BIGINT"),
    ("eventscope", "VARCHAR"),
    ("added", "VARCHAR"),
];

fn duckdb_manifest(folder: &str) -> String {
    let columns = MANIFEST.map(|(name, kind)| format!("{name}: '{kind}'"));
    format!(
        "CREATE OR REPLACE VIEW manifest AS SELECT * FROM read_json('{folder}/manifest/*.json', columns = {{{}}});\n",
        columns.join(", ")
    )
}

fn spark_manifest(folder: &str) -> String {
    let columns = MANIFEST.map(|(name, kind)| match kind {
        "VARCHAR[]" => format!("{name} ARRAY<STRING>"),
        "VARCHAR" => format!("{name} STRING"),
        kind => format!("{name} {kind}"),
    });
    format!(
        "CREATE OR REPLACE TEMPORARY VIEW manifest ({}) USING json OPTIONS (path '{folder}/manifest', multiLine 'true', pathGlobFilter '*.json');\n",
        columns.join(", ")
    )
}

/// Values look like numbers at times, such as version 9.10, but are texts.
fn key_type(key: &str) -> &'static str {
    match key {
        "day" => "DATE",
        _ => "VARCHAR",
    }
}

fn duckdb_table(table: &Table, folder: &str, keys: &[String]) -> String {
    let types = keys.iter().map(|key| format!("{key}: {}", key_type(key)));
    let types: Vec<String> = types.collect();
    format!(
        "CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}/**/*.parquet', union_by_name = true, hive_partitioning = true, hive_types = {{{}}});\n",
        types.join(", "),
        name = table.name,
    )
}

fn spark_table(table: &Table, folder: &str, keys: &[String]) -> String {
    let kind = |kind: CellKind| match kind {
        CellKind::Text => "STRING",
        CellKind::Number => "BIGINT",
        CellKind::Ratio => "DOUBLE",
        CellKind::Flag => "BOOLEAN",
    };
    let columns = table.columns().iter();
    let columns = columns.map(|column| format!("`{}` {}", column.name, kind(column.kind)));
    let is_new = |key: &&String| !table.column_names().any(|name| name == key.as_str());
    let keys = keys.iter().filter(is_new).map(|key| match key_type(key) {
        "DATE" => format!("`{key}` DATE"),
        _ => format!("`{key}` STRING"),
    });
    let run = std::iter::once("`run` STRING".to_owned());
    let columns: Vec<String> = run.chain(columns).chain(keys).collect();
    format!(
        "CREATE OR REPLACE TEMPORARY VIEW {name} ({}) USING parquet OPTIONS (path '{folder}/{name}');\n",
        columns.join(", "),
        name = table.name,
    )
}

/// Returns the view of the logs, which has app, version, host and day also if the data set is partitioned otherwise.
fn logs(keys: &[String]) -> String {
    let column = |key: &str, otherwise: &str| match keys.iter().any(|known| known == key) {
        true => format!("runs.{key}"),
        false => format!("{otherwise} AS {key}"),
    };
    let columns = [
        column("app", "program"),
        column("version", "CAST(NULL AS VARCHAR(99))"),
        column("host", "CAST(NULL AS VARCHAR(99))"),
        column(
            "day",
            "DATE '1970-01-01' + CAST(floor((started_unix_ns + first_ns) / 86400000000000) AS INT)",
        ),
    ];
    let others = keys
        .iter()
        .filter(|key| !["app", "version", "host", "day", "ghc"].contains(&key.as_str()));
    let others: String = others.map(|key| format!(", runs.{key}")).collect();
    format!(
        "\n-- One row per log, with what tells it from others, and where it was when it was added.\n\
         CREATE VIEW logs AS\n\
         SELECT runs.run, {}{others}, runs.ghc, runs.file, path, started, started_unix_ns, duration_ns, damaged\n\
         FROM runs LEFT JOIN digests ON digests.run = runs.run;\n\n",
        columns.join(", ")
    )
}
