//! A compaction changes no row, whenever it is interrupted, and exports go on beside it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{add, by, copy, files, hidden, keys, log, some_logs, tables};
use crate::compaction::{Step, compact, compact_until};
use crate::{Dataset, Error};

const SIZE: u64 = 256 << 20;

/// Small logs.
const FEW: [&str; 2] = ["ghc-9.6.6/cut-mid-event", "ghc-9.6.6/sparks-N2-ls"];

fn small() -> tempfile::TempDir {
    with_logs(&some_logs())
}

fn with_logs(logs: &[PathBuf]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path(), &by(&keys(&["day"]))).expect("a data set");
    add(&dataset, logs);
    folder
}

/// Returns the data set at a folder, whose manifest names files that exist and have its rows.
fn checked(folder: &Path) -> Dataset {
    let dataset = Dataset::open(folder).expect("a data set");
    let named = dataset.manifest().entries().expect("entries");
    let mut named: Vec<_> = named
        .into_iter()
        .flat_map(|entry| entry.tables.into_values())
        .map(|rows| folder.join(rows.file))
        .collect();
    named.sort();
    named.dedup();
    let mut there: Vec<_> = files(folder)
        .into_iter()
        .map(|file| folder.join(file))
        .collect();
    there.retain(|path| {
        let name = path.file_name().expect("a name").to_string_lossy();
        name.ends_with(".parquet") && name != "schema.parquet"
    });
    there.sort();
    assert_eq!(named, there);
    dataset
}

#[test]
fn small_files_become_large_ones() {
    let folder = small();
    let before = tables(folder.path());
    let count = files(folder.path()).len();
    let compacted = compact(&checked(folder.path()), SIZE, &mut |_| {}).expect("compacted");
    assert!(
        compacted.files_before > 3 * compacted.files_after,
        "{compacted:?}"
    );
    assert!(files(folder.path()).len() < count);
    assert_eq!(tables(folder.path()), before);
    assert!(hidden(folder.path()).is_empty());

    // There is nothing more to do, and nothing is added twice.
    let dataset = checked(folder.path());
    let again = compact(&dataset, SIZE, &mut |_| {}).expect("compacted");
    assert_eq!(again.files_before, 0);
    assert_eq!(add(&dataset, &some_logs()).added, 0);
    // New logs are merged with what was merged before.
    add(&dataset, &[log("ghc-9.6.6/sparks-N2-ls")]);
    let before = tables(folder.path());
    compact(&dataset, SIZE, &mut |_| {}).expect("compacted");
    checked(folder.path());
    assert_eq!(tables(folder.path()), before);
}

#[test]
fn rows_of_a_log_stay_together_and_files_end_between_logs() {
    let folder = small();
    // Every row group is larger: each log has a file of its own, or shares one.
    compact(&checked(folder.path()), 1 << 16, &mut |_| {}).expect("compacted");
    for file in files(folder.path()) {
        if file.extension().is_some_and(|end| end == "parquet") {
            let rows = super::rows(&folder.path().join(&file));
            let runs: Vec<String> = rows.iter().map(|row| run_of(row)).collect();
            assert!(runs.is_sorted(), "{}", file.display());
        }
    }
    checked(folder.path());
}

fn run_of(row: &str) -> String {
    let row: serde_json::Value = serde_json::from_str(row).expect("JSON");
    row["run"].as_str().expect("a run").to_owned()
}

#[test]
fn an_interrupted_compaction_is_finished_by_the_next_program() {
    let logs = FEW.map(log);
    let template = with_logs(&logs);
    let rows = tables(template.path());
    let mut steps = Vec::new();
    {
        let folder = tempfile::tempdir().expect("a folder");
        copy(template.path(), folder.path());
        let dataset = checked(folder.path());
        let mut note = |step| {
            steps.push(step);
            Ok(())
        };
        compact_until(&dataset, SIZE, &mut |_| {}, &mut note).expect("compacted");
    }
    let has = |is: fn(&Step) -> bool| steps.iter().any(is);
    assert!(
        has(|step| matches!(step, Step::Remove(1..)))
            && has(|step| matches!(step, Step::Entry(1..)))
    );
    for (stop, step) in steps.iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        copy(template.path(), folder.path());
        let dataset = checked(folder.path());
        let mut left = stop;
        let mut interrupt = |_| match left {
            0 => Err(Error::Refused("killed".to_owned())),
            _ => {
                left -= 1;
                Ok(())
            }
        };
        let killed = compact_until(&dataset, SIZE, &mut |_| {}, &mut interrupt);
        assert!(killed.is_err(), "{step:?}");
        match stop % 2 {
            // An export repairs it, and adds nothing twice.
            0 => assert_eq!(add(&dataset, &logs).added, 0),
            _ => drop(compact(&dataset, SIZE, &mut |_| {}).expect("compacted")),
        }
        checked(folder.path());
        assert_eq!(tables(folder.path()), rows, "{step:?}");
        // What is left over of a kill before the journal, the next compaction removes.
        compact(&dataset, SIZE, &mut |_| {}).expect("compacted");
        checked(folder.path());
        assert_eq!(tables(folder.path()), rows);
        assert!(
            hidden(folder.path()).is_empty(),
            "{:?}",
            hidden(folder.path())
        );
    }
}

#[test]
fn no_reader_sees_a_row_twice() {
    let folder = small();
    let rows = tables(folder.path());
    let mut seen = 0;
    let mut look = |_| {
        let now = tables(folder.path());
        for (table, rows) in &rows {
            let mut rest = rows.iter();
            // Both are sorted: what is there is a part of all.
            assert!(
                now.get(table)
                    .into_iter()
                    .flatten()
                    .all(|row| rest.any(|other| other == row))
            );
        }
        seen += 1;
        Ok(())
    };
    let dataset = Dataset::open(folder.path()).expect("a data set");
    compact_until(&dataset, SIZE, &mut |_| {}, &mut look).expect("compacted");
    assert!(seen > 10);
}

#[test]
fn two_compactions_do_not_run_at_once() {
    let folder = small();
    let dataset = checked(folder.path());
    let mut tried = 0;
    let mut second = |_| {
        let error = compact(&dataset, SIZE, &mut |_| {}).expect_err("locked");
        assert!(error.to_string().contains("another process"), "{error}");
        // Exports go on.
        if tried == 0 {
            assert_eq!(add(&dataset, &[log("ghc-9.6.6/sparks-N2-ls")]).added, 1);
        }
        tried += 1;
        Ok(())
    };
    compact_until(&dataset, SIZE, &mut |_| {}, &mut second).expect("compacted");
    checked(folder.path());
    let journal = folder.path().join(".compaction.journal");
    assert!(tried > 3 && !fs::exists(journal).expect("a folder"));
    assert_eq!(tables(folder.path())["runs"].len(), some_logs().len() + 1);
}
