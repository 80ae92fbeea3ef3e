//! Digests of a fleet: finds the files, and reads many at once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Failure;
use super::fleet_dataset::{digest_table, read_table};
use super::similar_names::similar_names;
use eventlog::system_words;
use insight::fleet::{Fleet, FleetBuilder, NamePattern, RunDigest, path_labels};
use insight::metrics::matches_pattern;
use views::fleet::SkippedFile;

/// Request for a fleet.
pub(super) struct FleetInput<'a> {
    /// Digests, and folders with digests.
    pub(super) paths: &'a [PathBuf],
    /// Labels in file names.
    pub(super) name_pattern: Option<&'a NamePattern>,
    /// Labels of all runs.
    pub(super) labels: BTreeMap<String, String>,
    /// Labels of the runs that are kept.
    pub(super) only: Vec<(String, String)>,
    /// Numbers that come first.
    pub(super) numbers: &'a [String],
}

/// Fleet with remarks on its files.
pub(super) struct FleetFiles {
    pub(super) fleet: Fleet,
    pub(super) skipped: Vec<SkippedFile>,
    pub(super) notes: Vec<String>,
    /// Files that were read, which no output may replace.
    pub(super) files: Vec<PathBuf>,
    /// Number of digests in them.
    pub(super) digests: u64,
}

/// Number of files that are read before their numbers are added: what is in memory at once.
const BATCH: usize = 256;
/// Maximum size of a digest: larger files are something else.
const MAX_BYTES: u64 = 64 << 20;

/// Reads all digests.
pub(super) fn read_fleet(input: &FleetInput<'_>) -> Result<FleetFiles, Failure> {
    let mut files = Vec::new();
    for path in input.paths {
        if path.is_dir() {
            digests_below(path, &mut files).map_err(|error| Failure::File(path.clone(), error))?;
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    files.dedup();
    let mut builder = FleetBuilder::new(input.numbers.to_vec(), input.only.clone());
    let (mut skipped, mut unmatched, mut digests) = (Vec::new(), 0_u64, 0);
    // While a data set is compacted, a run can be in two files.
    let mut known: HashSet<String> = HashSet::new();
    for batch in files.chunks(BATCH) {
        for (file, run) in read_batch(batch, input.numbers) {
            if run.id.as_ref().is_some_and(|id| !known.insert(id.clone())) {
                continue;
            }
            let digest = match run.digest {
                Ok(digest) => digest,
                Err(why) => {
                    let path = run.path;
                    skipped.push(SkippedFile { path, why });
                    continue;
                }
            };
            digests += 1;
            let (labels, is_matched) = labels(input, (&file.to_string_lossy(), &run.path));
            unmatched += u64::from(!is_matched);
            if builder.add(&run.path, labels, digest)
                && let Some(log) = run.log
            {
                builder.set_log(log);
            }
        }
    }
    let mut notes = Vec::new();
    if unmatched > 0 {
        let files = model::format::pluralize(unmatched, "name");
        notes.push(format!(
            "{files} did not match the name pattern: these runs lack its labels"
        ));
    }
    let fleet = builder.finish();
    check_numbers(input.numbers, &fleet, &files)?;
    Ok(FleetFiles {
        fleet,
        skipped,
        notes,
        files,
        digests,
    })
}

/// Number of files in which names similar to an unknown one are searched.
const SEARCHED: usize = 8;

/// Fails if no run has one of the numbers that were asked for.
fn check_numbers(numbers: &[String], fleet: &Fleet, files: &[PathBuf]) -> Result<(), Failure> {
    // A number may be among those that were left out because there are too many.
    if fleet.runs.is_empty() || fleet.left_out > 0 {
        return Ok(());
    }
    let is_known = |pattern: &str| {
        let mut known = fleet.numbers.iter();
        known.any(|number| matches_pattern(pattern, &number.name))
    };
    let Some(unknown) = numbers.iter().find(|pattern| !is_known(pattern)) else {
        return Ok(());
    };
    let runs = files.iter().take(SEARCHED).flat_map(|file| read_file(file));
    let digests = runs.filter_map(|run| run.digest.ok());
    let rows = digests.flat_map(|digest| digest.rows);
    let mut known: BTreeSet<String> = rows.map(|row| row.key.full_name()).collect();
    known.extend(fleet.numbers.iter().map(|number| number.name.clone()));
    let similar = similar_names(unknown, known.iter().map(String::as_str));
    Err(Failure::Usage(format!(
        "--number {unknown}: no run has such a number{similar}"
    )))
}

/// Returns the labels of a run in a file, and whether the name pattern matched.
fn labels(input: &FleetInput<'_>, (file, run): (&str, &str)) -> (BTreeMap<String, String>, bool) {
    let mut labels = path_labels(file);
    let by_name = input.name_pattern.map(|pattern| pattern.labels(run));
    let is_matched = !matches!(by_name, Some(None));
    labels.extend(by_name.flatten().unwrap_or_default());
    labels.extend(input.labels.clone());
    (labels, is_matched)
}

/// Collects the digests in a folder, or the tables with the digests of a data set.
fn digests_below(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    if let Some(table) = digest_table(folder) {
        return files_below(&table, &[".parquet"], into);
    }
    files_below(folder, &[".digest", ".json"], into)
}

/// Collects the files in a folder and the folders in it, without hidden and unfinished ones.
fn files_below(folder: &Path, ends: &[&str], into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            files_below(&path, ends, into)?;
        } else if ends.iter().any(|end| name.ends_with(end)) {
            into.push(path);
        }
    }
    Ok(())
}

/// Run in a file, whose digest may be unreadable.
pub(super) struct ReadRun {
    /// Identity of the log's content, if it is known.
    pub(super) id: Option<String>,
    /// Path of the digest; in a data set, that of the log.
    pub(super) path: String,
    /// Path of the log, if it is known.
    pub(super) log: Option<String>,
    pub(super) digest: Result<RunDigest, String>,
}

/// Reads files on all processors; the runs are in the order of the files.
fn read_batch<'a>(files: &'a [PathBuf], numbers: &[String]) -> Vec<(&'a Path, ReadRun)> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut read = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(index) else {
                return read;
            };
            let mut runs = read_file(file);
            for run in &mut runs {
                let digest = std::mem::replace(&mut run.digest, Err(String::new()));
                run.digest = digest.map(|digest| digest.reduced(numbers));
            }
            read.push((index, runs));
        }
    };
    let mut all: Vec<(usize, Vec<ReadRun>)> = thread::scope(|scope| {
        let workers = workers.min(files.len());
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let read = workers.into_iter().filter_map(|worker| worker.join().ok());
        read.flatten().collect()
    });
    all.sort_unstable_by_key(|(index, _)| *index);
    let runs = all.into_iter().flat_map(|(index, runs)| {
        let file = files[index].as_path();
        runs.into_iter().map(move |run| (file, run))
    });
    runs.collect()
}

fn read_file(file: &Path) -> Vec<ReadRun> {
    let path = file.to_string_lossy().into_owned();
    let run = |log, digest| ReadRun {
        id: None,
        path: path.clone(),
        log,
        digest,
    };
    if path.ends_with(".parquet") {
        return read_table(file).unwrap_or_else(|why| vec![run(None, Err(why))]);
    }
    let log = log_next_to(file).map(|log| log.to_string_lossy().into_owned());
    vec![run(log, read_digest(file))]
}

fn read_digest(file: &Path) -> Result<RunDigest, String> {
    let told = |error: &io::Error| system_words(error).to_string();
    let size = fs::metadata(file).map_err(|error| told(&error))?.len();
    if size > MAX_BYTES {
        return Err("too large for a digest".to_owned());
    }
    let bytes = fs::read(file).map_err(|error| told(&error))?;
    if bytes.first() != Some(&b'{') {
        return Err("not a digest; `eventscope digest LOG` makes one of a log".to_owned());
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("not a digest: {error}"))
}

/// Returns the log in the same folder with the same name, if there is one.
fn log_next_to(digest: &Path) -> Option<PathBuf> {
    let without = digest.with_extension("");
    let without = if without.extension().is_some_and(|end| end == "digest") {
        without.with_extension("")
    } else {
        without
    };
    let name = without.file_name()?.to_string_lossy().into_owned();
    let ends = [
        "",
        ".eventlog",
        ".eventlog.gz",
        ".eventlog.zst",
        ".gz",
        ".zst",
    ];
    let logs = ends
        .iter()
        .map(|end| without.with_file_name(format!("{name}{end}")));
    logs.into_iter().find(|log| log.is_file())
}
