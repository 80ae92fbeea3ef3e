//! Parquet, CSV and JSON Lines have the same rows, exports are reproducible byte by byte, and failures leave no
//! half-written files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::format::OutputKind;
use crate::formats::{FORMATS, find_format};
use crate::log::{Log, RecordCallback};
use crate::tables::TABLES;
use arrow_array::RecordBatch;
use arrow_csv::ReaderBuilder;
use arrow_json::LineDelimitedWriter;
use arrow_json::writer::{LineDelimited, WriterBuilder};
use arrow_schema::SchemaRef;
use eventlog::source::read_log;
use eventlog::{EventType, LogError};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use session::cells::{Formulas, guard_formula};
use session::read_session;
use tempfile::TempDir;
use views::fingerprint::fingerprint;

/// Logs with threads and collections, damage, heap profiles, samples, and without events.
const LOGS: [&str; 7] = [
    "ghc-9.6.6/fib-forkio-N2-l",
    "ghc-9.6.6/cut-mid-event",
    "ghc-9.6.6/cut-no-events",
    "ghc-9.6.6/heap-N2-hT-l-au",
    "ghc-9.10.3/prof-heap-N1-hc-l-au",
    "ghc-9.6.6/prof-ffi-safe-N1-p-l",
    "ghc-9.0.2/binmsg-N1-l-au",
];

fn bytes(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/../../tests/fixtures/logs/{name}.eventlog",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::read(path).expect("a log")
}

/// Exports a log below a folder.
fn export(bytes: &[u8], format: &str, folder: &Path) {
    export_with(bytes, format, folder, Formulas::AsIs);
}

fn export_with(bytes: &[u8], format: &str, folder: &Path, formulas: Formulas) {
    let session = read_session(&mut { bytes }).expect("a log");
    let read_again = |take: &mut RecordCallback<'_>| -> Result<(), LogError> {
        read_log(&mut { bytes }, &mut |record: &eventlog::Record<'_>| {
            take(record)
        })
        .map(drop)
    };
    let log = Log {
        name: "a.eventlog",
        inputs: &[],
        fingerprint: fingerprint(bytes.len() as u64, &[bytes]),
        session: &session,
        range: None,
        clock_origin_ns: None,
        formulas,
        original: None,
        reread: &read_again,
    };
    let format = find_format(format).expect("a format");
    let OutputKind::Tables(write) = format.output else {
        panic!("{} has no tables", format.name);
    };
    write(&log, folder).expect("it is written");
}

/// All files below a folder by relative path, with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("a path below").to_owned();
                found.insert(name, fs::read(path).expect("a file"));
            }
        }
    }
    found
}

fn table_of(path: &Path) -> String {
    let first = path.iter().next().expect("a folder");
    first.to_string_lossy().into_owned()
}

#[test]
fn what_is_written_twice_is_the_same() {
    for log in LOGS {
        let bytes = bytes(log);
        for format in ["parquet", "csv", "jsonl"] {
            let [once, again] = [(); 2].map(|()| TempDir::new().expect("a folder"));
            export(&bytes, format, once.path());
            export(&bytes, format, again.path());
            // Export again over the existing files.
            export(&bytes, format, again.path());
            let (once, again) = (files(once.path()), files(again.path()));
            assert_eq!(once.len(), TABLES.len());
            assert!(once == again, "{log} as {format}");
            let names: Vec<String> = once.keys().map(|path| table_of(path)).collect();
            for table in TABLES {
                assert!(names.iter().any(|name| name == table.name));
            }
        }
    }
}

fn batches(parquet: &[u8]) -> (SchemaRef, Vec<RecordBatch>) {
    let mut file = tempfile::tempfile().expect("a file");
    std::io::Write::write_all(&mut file, parquet).expect("it is written");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let schema = reader.schema().clone();
    let batches = reader.build().expect("Parquet");
    (schema, batches.map(|batch| batch.expect("rows")).collect())
}

fn lines(batches: &[RecordBatch]) -> String {
    let writer = WriterBuilder::new().with_explicit_nulls(true);
    let mut writer: LineDelimitedWriter<Vec<u8>> = writer.build::<_, LineDelimited>(Vec::new());
    for batch in batches {
        writer.write(batch).expect("it is written");
    }
    writer.finish().expect("it is written");
    String::from_utf8(writer.into_inner()).expect("UTF-8")
}

#[test]
fn every_format_has_the_same_rows() {
    let mut rows = BTreeMap::<String, usize>::new();
    for log in LOGS {
        let bytes = bytes(log);
        let exported = ["parquet", "csv", "jsonl"].map(|format| {
            let folder = TempDir::new().expect("a folder");
            export(&bytes, format, folder.path());
            files(folder.path())
        });
        let [parquet, csv, jsonl] = &exported;
        for (path, bytes) in parquet {
            let table = table_of(path);
            let (schema, batches) = batches(bytes);
            let json = String::from_utf8_lossy(&jsonl[&path.with_extension("jsonl")]);
            let expected = lines(&batches);
            assert!(expected == json, "{log}: {table} as JSON lines");
            *rows.entry(table.clone()).or_default() += expected.lines().count();
            let csv = csv[&path.with_extension("csv")].as_slice();
            let reader = ReaderBuilder::new(schema).with_header(true).build(csv);
            let read: Vec<RecordBatch> = reader
                .expect("CSV")
                .map(|batch| batch.expect("rows"))
                .collect();
            // CSV does not distinguish empty texts from nulls.
            let expected = expected.replace(":\"\"", ":null");
            assert!(
                expected == lines(&read).replace(":\"\"", ":null"),
                "{log}: {table} as CSV"
            );
        }
    }
    for table in TABLES {
        assert!(rows[table.name] > 0, "{} has rows", table.name);
    }
}

/// A log of a program whose messages a spreadsheet would evaluate.
fn log_of_formulas(texts: &[&str]) -> Vec<u8> {
    let types = [EventType::USER_MSG, EventType::LOG_MSG];
    let mut log = b"hdrbhetb".to_vec();
    for id in types {
        log.extend(b"etb\0");
        log.extend(id.0.to_be_bytes());
        log.extend(0xFFFF_u16.to_be_bytes());
        log.extend([0; 8]);
        log.extend(b"ete\0");
    }
    log.extend(b"hetehdredatb");
    for (time, text) in (1000_u64..).zip(texts) {
        log.extend(EventType::USER_MSG.0.to_be_bytes());
        log.extend(time.to_be_bytes());
        log.extend((text.len() as u16).to_be_bytes());
        log.extend(text.as_bytes());
    }
    log.extend([0xFF, 0xFF]);
    log
}

#[test]
fn no_cell_of_csv_is_a_formula_unless_that_is_wanted() {
    let texts = [
        "=1+1",
        " =1+1",
        "@SUM(1)",
        "\u{200b}=1",
        "\u{feff}+1",
        "\u{ad}-1",
        "a=1",
    ];
    let log = log_of_formulas(&texts);
    let events = |formulas: Formulas| {
        let folder = TempDir::new().expect("a folder");
        export_with(&log, "csv", folder.path(), formulas);
        let mut files = files(&folder.path().join("events"));
        let (_, csv) = files.pop_first().expect("a table");
        String::from_utf8(csv).expect("UTF-8")
    };
    let (guarded, raw) = (events(Formulas::Neutralized), events(Formulas::AsIs));
    for text in texts {
        let cell = guard_formula(text, Formulas::Neutralized);
        assert_eq!(cell.starts_with('\''), text != "a=1", "{text}");
        assert!(guarded.contains(&format!(",{cell}")), "{text}: {guarded}");
        assert!(raw.contains(&format!(",{text}")), "{text}: {raw}");
    }
    assert!(!raw.contains('\''), "{raw}");
}

#[test]
fn row_groups_are_small_and_columns_have_their_types() {
    let folder = TempDir::new().expect("a folder");
    export(&bytes(LOGS[0]), "parquet", folder.path());
    for table in TABLES {
        let files = files(&folder.path().join(table.name));
        let (path, _) = files.first_key_value().expect("a file");
        let file = fs::File::open(folder.path().join(table.name).join(path)).expect("a file");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let metadata = reader.metadata();
        let columns = metadata.file_metadata().schema_descr().columns();
        let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
        let expected = std::iter::once("run").chain(table.columns.iter().map(|column| column.name));
        assert_eq!(names, expected.collect::<Vec<_>>());
        assert!(
            metadata
                .row_groups()
                .iter()
                .all(|group| group.num_rows() <= 128 << 10)
        );
    }
}

#[test]
fn names_are_told_apart() {
    let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FORMATS.len());
    for table in TABLES {
        let mut columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        columns.push("run");
        columns.sort_unstable();
        columns.dedup();
        assert_eq!(columns.len(), table.columns.len() + 1, "{}", table.name);
        assert!(table.columns.iter().all(|column| !column.help.is_empty()));
    }
}
