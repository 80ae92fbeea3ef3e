//! The scripts of `examples/fleet` run, and what its texts name exists. What needs GHC is not run here.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect(name)
}

/// Returns the texts in backquotes, and the targets of links.
fn names(markdown: &str) -> impl Iterator<Item = &str> {
    let quoted = markdown.split('`').skip(1).step_by(2);
    let links = markdown.split("](").skip(1);
    quoted.chain(links.filter_map(|rest| rest.split(')').next()))
}

#[test]
fn files_that_the_texts_name_exist() {
    let readme = read("README.md");
    let is_own = |name: &&str| {
        let extensions = [".hs", ".c", ".h", ".sh", ".sql", ".md"];
        !name.contains([' ', ':', '…']) && extensions.iter().any(|end| name.ends_with(end))
    };
    let named: Vec<&str> = names(&readme).filter(is_own).collect();
    assert!(named.contains(&"rotate.c") && named.contains(&"../../docs/fleet.md"));
    for name in named.iter().filter(|name| !name.starts_with("rts/")) {
        assert!(folder().join(name).exists(), "{name}");
    }
    for name in ["Service.hs", "rotate.c", "ship.sh", "questions.sql"] {
        assert!(read("run.sh").contains(name), "{name}");
    }
}

#[test]
fn scripts_are_shell_programs() {
    for name in ["run.sh", "ship.sh"] {
        let checked = Command::new("sh")
            .arg("-n")
            .arg(folder().join(name))
            .output();
        let checked = checked.expect("a shell");
        assert!(checked.status.success(), "{checked:?}");
    }
}

#[test]
fn finished_logs_are_shipped_and_no_others() {
    if Command::new("zstd").arg("--version").output().is_err() {
        eprintln!("skipped: zstd is not installed");
        return;
    }
    let temporary = tempfile::tempdir().expect("a folder");
    let [spool, store] = ["spool", "store"].map(|name| temporary.path().join(name));
    let version = spool.join("version=1.0");
    fs::create_dir_all(&version).expect("a folder");
    let finished = "20261127T031431Z-1-00000.eventlog";
    let unfinished = "20261127T031432Z-1-00001.eventlog.part";
    for name in [finished, unfinished] {
        fs::write(version.join(name), name).expect("a log");
    }
    let ship = |minutes: &str| {
        let mut command = Command::new("sh");
        command.arg(folder().join("ship.sh")).args([&spool, &store]);
        command
            .env("HOSTNAME", "web-1")
            .env("SHIP_PART_MINUTES", minutes);
        let shipped = command.output().expect("a shell");
        assert!(shipped.status.success(), "{shipped:?}");
    };
    let shipped = |name: &str| {
        let folder = store.join("day=2026-11-27/host=web-1/version=1.0");
        folder.join(format!("{name}.zst")).exists()
    };
    ship("60");
    assert!(shipped(finished));
    assert!(version.join(unfinished).exists() && !version.join(finished).exists());
    // Its process was killed.
    ship("0");
    assert!(shipped("20261127T031432Z-1-00001.eventlog"));
    assert_eq!(fs::read_dir(&version).expect("a folder").count(), 0);
}
