//! Partition values of real logs.

use std::fs;
use std::path::PathBuf;

use super::{add_by, by, keys, log};
use crate::{Dataset, Rules};

/// Adds a log by rules; returns the path of its partition.
fn partition(wanted: &[&str], path: PathBuf, rules: &Rules) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path(), &by(&keys(wanted))).expect("a data set");
    assert_eq!(add_by(&dataset, &[path], rules).added, 1);
    let entries = dataset.manifest().entries().expect("entries");
    let runs = folder.path().join("runs").join(&entries[0].partition_path);
    assert!(runs.join(format!("{}.parquet", entries[0].run)).exists());
    entries[0].partition_path.clone()
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

#[test]
fn logs_say_where_they_belong() {
    let path = log("ghc-9.6.6/fib-forkio-N2-l");
    let by = ["app", "ghc", "host", "arguments"];
    let found = partition(&by, path, &Rules::default());
    assert!(
        found.starts_with("app=fib-forkio/ghc=9.6.6/host="),
        "{found}"
    );
    assert!(found.contains("arguments=+RTS -N2"), "{found}");
}

#[test]
fn sources_have_an_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let below = folder.path().join("zone=eu");
    fs::create_dir_all(&below).expect("a folder");
    let path = below.join("h1_shop-1.2.eventlog");
    fs::copy(log("ghc-9.6.6/fib-forkio-N2-l"), &path).expect("a copy");
    let by = ["app", "version", "host", "zone", "shell"];
    let pattern = ["{host}_{app}-{version}.eventlog".to_owned()];
    let set = [pair("host", "set here"), pair("shell", "a/b")];
    let rules = Rules::new(&set, &[], &pattern).expect("rules");
    assert_eq!(
        partition(&by, path.clone(), &rules),
        "app=shop/version=1.2/host=set here/zone=eu/shell=a%2Fb"
    );
    let variables = [pair("shell", "NO_SUCH_VARIABLE")];
    let rules = Rules::new(&[], &variables, &pattern).expect("rules");
    assert_eq!(
        partition(&by, path, &rules),
        "app=shop/version=1.2/host=h1/zone=eu/shell=__HIVE_DEFAULT_PARTITION__"
    );
}
