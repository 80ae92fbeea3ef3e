//! Data sets of older versions stay readable and writable.

use std::fs;

use super::{add, copy, files, fixtures, log, tables};
use crate::compaction::compact;
use crate::tables::TABLES;
use crate::{Choices, Dataset, Status};
use export::rows::schema;

#[test]
fn a_data_set_of_version_1_goes_on() {
    let fixture = fixtures().join("dataset-v1");
    let folder = tempfile::tempdir().expect("a folder");
    copy(&fixture, folder.path());
    for file in files(&fixture) {
        if file.extension().is_some_and(|end| end == "parquet") {
            let table = file.iter().next().expect("a folder").to_string_lossy();
            let table = TABLES
                .iter()
                .find(|own| own.name == table)
                .expect("a table");
            let own = schema(table.columns());
            for batch in super::batches(&fixture.join(&file)) {
                // Columns stay where they are, with their types.
                let old = batch.schema();
                assert_eq!(old.fields()[..], own.fields()[..old.fields().len()]);
            }
        }
    }
    let before = tables(folder.path());
    assert_eq!(before["runs"].len(), 2);
    let dataset = Dataset::create(folder.path(), &Choices::default()).expect("a data set");
    assert_eq!(dataset.partition(), ["app", "ghc"]);
    let entries = dataset.manifest().entries().expect("entries");
    assert!(
        entries
            .iter()
            .all(|entry| entry.status == Status::Ok && entry.schema_version == 1)
    );
    let old = log("ghc-9.6.6/sparks-N2-ls");
    let added = add(&dataset, &[old, log("ghc-9.6.6/fib-forkio-N2-l")]);
    assert_eq!((added.present, added.added), (1, 1));
    compact(&dataset, 256 << 20, &mut |_| {}).expect("compacted");
    let after = tables(folder.path());
    for (table, rows) in before {
        // Rows have all columns now.
        assert!(after[&table].len() >= rows.len(), "{table}");
    }
    assert_eq!(after["runs"].len(), 3);
}

#[test]
fn other_keys_texts_and_newer_versions_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let create = |partition: Option<&[&str]>, texts| {
        let choices = Choices {
            partition: partition.map(super::keys),
            texts,
            without: None,
        };
        let dataset = Dataset::create(folder.path(), &choices);
        dataset.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(create(Some(&["app", "day"]), None), Ok(()));
    assert_eq!(create(None, None), Ok(()));
    let why = create(Some(&["app"]), None).expect_err("other keys");
    assert!(
        why.contains("is partitioned by app,day, not by app"),
        "{why}"
    );
    let why = create(None, Some(crate::Texts::Omit)).expect_err("other texts");
    assert!(why.contains("made with --texts keep"), "{why}");
    let path = folder.path().join("dataset.json");
    let text = fs::read_to_string(&path).expect("a text");
    let newer = text.replace("\"schema_version\": 1", "\"schema_version\": 99");
    fs::write(&path, newer).expect("a file");
    let why = create(None, None).expect_err("newer");
    assert!(why.contains("use a newer eventscope"), "{why}");
    fs::write(&path, "{").expect("a file");
    assert!(create(None, None).expect_err("damaged").contains("damaged"));

    let other = tempfile::tempdir().expect("a folder");
    fs::write(other.path().join("letter.txt"), "").expect("a file");
    let why = Dataset::create(other.path(), &Choices::default()).expect_err("not empty");
    assert!(why.to_string().contains("letter.txt"), "{why}");
    let why =
        Dataset::create("s3://bucket/x".as_ref(), &Choices::default()).expect_err("an address");
    assert!(why.to_string().contains("aws s3 sync"), "{why}");
}
