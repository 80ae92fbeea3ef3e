//! The rows of a data set are those of `export`, with one schema for all logs.

use std::collections::BTreeSet;
use std::fs::{self, File};

use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use super::{add, by, files, hidden, keys, log, rows, some_logs, tables};
use crate::tables::{TABLES, Table};
use crate::{Choices, Dataset, SCHEMA_VERSION, Status, Texts};
use export::format::OutputKind;
use export::formats::find_format;
use export::log::{Log, RecordCallback};
use session::cells::Formulas;

#[test]
fn every_exported_table_is_in_data_sets() {
    for table in export::tables::TABLES {
        let own = TABLES.iter().find(|own| own.name == table.name);
        assert_eq!(own.map(Table::columns), Some(table.columns));
    }
    for table in &TABLES {
        assert!(!table.columns().is_empty() && !table.help().is_empty());
        let names: Vec<&str> = table.column_names().collect();
        for column in table.texts.iter().chain(&table.time) {
            assert!(names.contains(column), "{}: {column}", table.name);
        }
    }
    assert_eq!(TABLES.last().map(|table| table.name), Some("runs"));
}

/// Exports a log as `export --format parquet` does, with the run of the data set.
fn exported(path: &std::path::Path, folder: &std::path::Path) {
    let bytes = fs::read(path).expect("a log");
    let session = session::read_session(&mut { bytes.as_slice() }).expect("a log");
    let read_again = |take: &mut RecordCallback<'_>| {
        let mut sink = |record: &eventlog::Record<'_>| take(record);
        eventlog::source::read_log(&mut { bytes.as_slice() }, &mut sink).map(drop)
    };
    let name = path.file_name().expect("a name").to_string_lossy();
    let log = Log {
        name: &name,
        inputs: &[],
        fingerprint: views::fingerprint::fingerprint(0, &[]),
        session: &session,
        range: None,
        clock_origin_ns: None,
        formulas: Formulas::AsIs,
        original: None,
        reread: &read_again,
    };
    let Some(OutputKind::Tables(write)) = find_format("parquet").map(|format| format.output) else {
        panic!("no tables");
    };
    write(&log, folder).expect("written");
}

/// Rows without their run, sorted.
fn without_run(rows: Vec<String>) -> Vec<String> {
    let without = rows.into_iter().map(|row| {
        let mut row: serde_json::Map<String, Value> = serde_json::from_str(&row).expect("JSON");
        assert!(row.remove("run").is_some());
        Value::from(row).to_string()
    });
    let mut rows: Vec<String> = without.collect();
    rows.sort();
    rows
}

#[test]
fn rows_are_those_of_the_export() {
    for path in some_logs() {
        let [own, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let dataset = Dataset::create(own.path(), &Choices::default()).expect("a data set");
        assert_eq!(add(&dataset, std::slice::from_ref(&path)).added, 1);
        exported(&path, other.path());
        let own = tables(own.path());
        for (table, rows) in tables(other.path()) {
            let own = without_run(own[&table].clone());
            assert_eq!(own, without_run(rows), "{table} of {}", path.display());
        }
        let digest: Value = serde_json::from_str(&own["digests"][0]).expect("JSON");
        let digest = digest["digest"].as_str().expect("a text");
        let digest: insight::Digest = serde_json::from_str(digest).expect("a digest");
        assert_eq!(own["measurements"].len(), digest.rows.len());
    }
}

#[test]
fn logs_of_all_versions_have_one_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path(), &by(&keys(&["ghc"]))).expect("a data set");
    let all = super::fixtures().join("logs");
    let mut logs: Vec<_> = files(&all).into_iter().map(|file| all.join(file)).collect();
    logs.retain(|path| path.extension().is_some_and(|end| end == "eventlog"));
    let added = add(&dataset, &logs);
    assert!(added.added > 30, "{added:?}");
    let mut versions = BTreeSet::new();
    for file in files(folder.path()) {
        if file.extension().is_none_or(|end| end != "parquet") {
            continue;
        }
        let table = file.iter().next().expect("a folder").to_string_lossy();
        let table = TABLES
            .iter()
            .find(|own| own.name == table)
            .expect("a table");
        let open = File::open(folder.path().join(&file)).expect("a file");
        let reader = SerializedFileReader::new(open).expect("Parquet");
        let about = reader.metadata().file_metadata();
        let pairs = about.key_value_metadata();
        let schema = parquet_to_arrow_schema(about.schema_descr(), pairs).expect("a schema");
        assert_eq!(
            schema.fields(),
            export::rows::schema(table.columns()).fields()
        );
        let version = pairs.into_iter().flatten();
        let version = version.filter(|pair| pair.key == crate::table_file::VERSION_KEY);
        let version: Vec<_> = version.map(|pair| pair.value.clone()).collect();
        assert_eq!(version, [Some(SCHEMA_VERSION.to_string())]);
        versions.insert(file.iter().nth(1).expect("a partition").to_owned());
        check_row_groups(table, &reader);
    }
    assert!(versions.len() > 2, "{versions:?}");
}

/// Each row group has statistics, and its rows are sorted by run and time.
fn check_row_groups(table: &Table, reader: &SerializedFileReader<File>) {
    for group in reader.metadata().row_groups() {
        assert!(
            group
                .sorting_columns()
                .is_some_and(|columns| !columns.is_empty())
        );
        for column in group.columns() {
            let statistics = column.statistics();
            assert!(
                statistics.is_some(),
                "{} {}",
                table.name,
                column.column_path()
            );
        }
    }
}

#[test]
fn rows_of_a_log_are_sorted_by_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path(), &Choices::default()).expect("a data set");
    add(&dataset, &[log("ghc-9.6.6/fib-forkio-N2-l")]);
    let mut sorted = 0;
    for file in files(folder.path()) {
        let table = file.iter().next().expect("a folder").to_string_lossy();
        let table = TABLES.iter().find(|own| own.name == table);
        if let Some(time) = table.and_then(|table| table.time) {
            let rows = rows(&folder.path().join(&file));
            let times = rows.iter().map(|row| {
                let row: Value = serde_json::from_str(row).expect("JSON");
                row[time].as_i64()
            });
            let times: Vec<_> = times.collect();
            assert!(times.is_sorted(), "{}", file.display());
            sorted += times.len();
        }
    }
    assert!(sorted > 1000, "{sorted}");
}

#[test]
fn logs_are_added_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path(), &Choices::default()).expect("a data set");
    let copy = folder.path().join("manifest/copy.eventlog");
    fs::copy(log(LOG), &copy).expect("a copy");
    let logs = [log(LOG), copy, log(LOG)];
    let added = add(&dataset, &logs);
    assert_eq!((added.added, added.present), (1, 1));
    let before = tables(folder.path());
    let again = add(&dataset, &logs);
    assert_eq!((again.added, again.present), (0, 2));
    assert_eq!(tables(folder.path()), before);
    assert!(hidden(folder.path()).is_empty());
}

const LOG: &str = "ghc-9.6.6/fib-forkio-N2-l";

#[test]
fn bad_logs_are_recorded_and_passed_over() {
    let [folder, logs] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let dataset = Dataset::create(folder.path(), &Choices::default()).expect("a data set");
    let text = logs.path().join("text.eventlog");
    fs::write(&text, "no log").expect("a file");
    let missing = logs.path().join("missing.eventlog");
    let all = [
        text.clone(),
        missing.clone(),
        log(LOG),
        log("ghc-9.6.6/cut-mid-event"),
    ];
    let added = add(&dataset, &all);
    let counts = (added.added, added.damaged, added.failed);
    assert_eq!(counts, (2, 1, 2), "{added:?}");
    let entries = dataset.manifest().entries().expect("entries");
    let by_status = |status| entries.iter().filter(move |entry| entry.status == status);
    let failed: Vec<String> = by_status(Status::Failed)
        .map(|e| e.messages.join(" "))
        .collect();
    assert!(
        failed
            .iter()
            .any(|why| why.contains("This is not an eventlog")),
        "{failed:?}"
    );
    assert!(
        failed
            .iter()
            .any(|why| why.contains("Check that the file is there")),
        "{failed:?}"
    );
    let damaged: Vec<_> = by_status(Status::Damaged).collect();
    assert!(damaged[0].messages[0].contains("byte"), "{damaged:?}");
    assert_eq!(tables(folder.path())["runs"].len(), 2);

    // Once the file is there, nothing says that it could not be read.
    fs::copy(log(LOGS_OTHER), &missing).expect("a copy");
    assert_eq!(add(&dataset, &[missing]).added, 1);
    let entries = dataset.manifest().entries().expect("entries");
    assert_eq!(entries.len(), 4);
    assert!(entries.iter().all(|entry| !entry.run.starts_with("unread")));
}

const LOGS_OTHER: &str = "ghc-9.0.2/binmsg-N1-l-au";

#[test]
fn tables_are_left_out() {
    let create = |folder: &tempfile::TempDir, without: &[&str]| {
        let without = Some(keys(without));
        let choices = Choices {
            without,
            ..Choices::default()
        };
        Dataset::create(folder.path(), &choices)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = create(&folder, &["events", "spans"]).expect("a data set");
    assert_eq!(add(&dataset, &[log(LOG)]).added, 1);
    let found = tables(folder.path());
    // Views find their columns all the same.
    assert_eq!((found["events"].len(), found["spans"].len()), (0, 0));
    assert!(!found["threads"].is_empty() && !found["measurements"].is_empty());
    assert!(create(&folder, &["spans", "events"]).is_ok());
    let why = create(&folder, &[]).expect_err("other tables").to_string();
    assert!(why.contains("was made --without events,spans"), "{why}");
    for name in ["digests", "event"] {
        let other = tempfile::tempdir().expect("a folder");
        let why = create(&other, &[name]).expect_err("refused").to_string();
        assert!(why.contains("capabilities, spans"), "{why}");
    }
}

#[test]
fn texts_are_replaced_or_left_out() {
    let secrets = ["fib", "forkio", "main thread", "worker"];
    let rows = |texts: Texts| {
        let folder = tempfile::tempdir().expect("a folder");
        let partition = keys(&["ghc"]);
        let dataset = Dataset::create(
            folder.path(),
            &Choices {
                texts: Some(texts),
                ..by(&partition)
            },
        );
        add(&dataset.expect("a data set"), &[log(LOG)]);
        tables(folder.path())
    };
    let [kept, replaced, omitted] = [Texts::Keep, Texts::Replace, Texts::Omit].map(rows);
    let program = |rows: &[String]| -> Value {
        let row: Value = serde_json::from_str(&rows[0]).expect("JSON");
        row["program"].clone()
    };
    assert_eq!(program(&kept["runs"]), "fib-forkio");
    assert_eq!(program(&replaced["runs"]), "program-1");
    assert_eq!(program(&omitted["runs"]), Value::Null);
    for (table, rows) in &kept {
        // Threads are counted by label without numbers, and replaced labels differ in nothing else.
        if table == "measurements" {
            continue;
        }
        assert_eq!(rows.len(), replaced[table].len(), "{table}");
        assert_eq!(rows.len(), omitted[table].len(), "{table}");
    }
    for rows in [
        &replaced["events"],
        &replaced["threads"],
        &omitted["events"],
    ] {
        for secret in &secrets[..2] {
            assert!(rows.iter().all(|row| !row.contains(secret)), "{secret}");
        }
    }
    let has_text = |row: &String| !row.contains("\"text\":null");
    assert!(!omitted["events"].iter().any(has_text));
    assert!(kept["events"].iter().any(has_text));
}
