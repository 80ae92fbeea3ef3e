//! Adding one log.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, RecordBatch, new_null_array};
use chrono::Utc;
use serde::{Deserialize, Serialize};

use crate::claim::{LogClaim, Patience};
use crate::log_input::{InputError, LogInput, hash_text};
use crate::table_file::TableFile;
use crate::tables::{self, Origin, Table};
use crate::writer::for_each;
use crate::{Dataset, Entry, Error, Rules, SCHEMA_VERSION, Status, TableEntry, Texts, files};
use eventlog::{LogReader, Record, system_words};
use export::format;
use export::log::{Log, RecordCallback};
use export::rows::{self, Encode, Rows};
use session::cells::Formulas;
use session::queries::DigestQuery;
use session::{MemoryBudget, Session};
use views::words::diagnostics::line;

/// Maximum number of messages about the damage of a log in the manifest.
const MAX_MESSAGES: usize = 20;

/// What became of a log that was to be added.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All of it is in the tables now.
    Added,
    /// What can be read of it is in the tables now; the first messages about its damage.
    Damaged(Vec<String>),
    /// A log with the same bytes was in the data set already.
    Present,
    /// It cannot be read: what, where, what to try.
    Failed(String),
}

/// How logs are added.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) rules: &'a Rules,
    /// For each log.
    pub(crate) memory: MemoryBudget,
    /// For each log.
    pub(crate) threads: NonZeroUsize,
    /// Wall-clock time of time 0 of logs that do not have it, in nanoseconds since 1970.
    pub(crate) clock_origin_ns: Option<u64>,
}

impl Job<'_> {
    /// Returns whether a log can be read and is in the data set already.
    pub(crate) fn is_present(&self, path: &Path) -> Result<bool, Error> {
        match LogInput::open(path) {
            Ok(input) => self.dataset.manifest().is_added(&input.run()),
            Err(_) => Ok(false),
        }
    }

    /// Waits until no other process is adding a log.
    pub(crate) fn wait(&self, path: &Path) -> Result<(), Error> {
        let run = LogInput::open(path).map_or_else(|_| unread(path), |input| input.run());
        if let Some(mut claim) = LogClaim::take(self.dataset, &run, Patience::Endless)? {
            claim.remove_leftovers()?;
            claim.release()?;
        }
        Ok(())
    }

    /// Records that a process ended while it was adding a log, and removes what it left.
    pub(crate) fn record_crash(&self, path: &Path, why: String) -> Result<Outcome, Error> {
        let input = LogInput::open(path).ok();
        let run = input.as_ref().map_or_else(|| unread(path), LogInput::run);
        let mut claim = LogClaim::take(self.dataset, &run, Patience::None)?;
        if let Some(claim) = &mut claim {
            claim.remove_leftovers()?;
        }
        self.fail(self.entry(path, run, input.as_ref()), claim, why)
    }

    /// Adds a log, unless it is there already. Without patience, returns `None` if another process is adding it.
    pub(crate) fn add(&self, path: &Path, patience: Patience) -> Result<Option<Outcome>, Error> {
        let input = match LogInput::open(path) {
            Ok(input) => input,
            Err(error) => {
                let run = unread(path);
                let why = format!(
                    "{}. Check that the file is there and may be read, then run the same command again.",
                    system_words(&error)
                );
                return self.fail(self.entry(path, run, None), None, why).map(Some);
            }
        };
        let run = input.run();
        let manifest = self.dataset.manifest();
        if manifest.is_added(&run)? {
            return Ok(Some(Outcome::Present));
        }
        let Some(mut claim) = LogClaim::take(self.dataset, &run, patience)? else {
            return Ok(None);
        };
        // Another process may have added it before this one had the claim.
        if manifest.is_added(&run)? {
            claim.release()?;
            return Ok(Some(Outcome::Present));
        }
        claim.remove_leftovers()?;
        let mut entry = self.entry(path, run, Some(&input));
        if let Some(why) = self.write(path, &input, &mut claim, &mut entry)? {
            return self.fail(entry, Some(claim), why).map(Some);
        }
        manifest.put(&entry)?;
        claim.release()?;
        // The file at this path could not be read at an earlier attempt.
        manifest.remove(&unread(path))?;
        Ok(Some(match entry.status {
            Status::Damaged => Outcome::Damaged(entry.messages),
            Status::Ok | Status::Failed => Outcome::Added,
        }))
    }

    /// Creates the entry of a log that is not in the tables yet.
    fn entry(&self, path: &Path, run: String, input: Option<&LogInput>) -> Entry {
        let file = path.file_name().unwrap_or(path.as_os_str());
        Entry {
            run,
            sha256: input.map(|input| input.sha256().to_owned()),
            bytes: input.map(LogInput::len),
            file: file.to_string_lossy().into_owned(),
            path: absolute(path),
            partition: BTreeMap::new(),
            partition_path: String::new(),
            status: Status::Failed,
            messages: Vec::new(),
            tables: BTreeMap::new(),
            schema_version: SCHEMA_VERSION,
            eventscope: env!("CARGO_PKG_VERSION").to_owned(),
            added: Utc::now().format("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// Records that a log cannot be read.
    fn fail(
        &self,
        mut entry: Entry,
        claim: Option<LogClaim<'_>>,
        why: String,
    ) -> Result<Outcome, Error> {
        let claim = match claim {
            Some(claim) => Some(claim),
            None => LogClaim::take(self.dataset, &entry.run, Patience::None)?,
        };
        entry.messages = vec![why.clone()];
        if let Some(claim) = claim {
            self.dataset.manifest().put(&entry)?;
            claim.release()?;
        }
        Ok(Outcome::Failed(why))
    }

    /// Analyzes a log and writes its tables; returns why it cannot be read.
    fn write(
        &self,
        path: &Path,
        input: &LogInput,
        claim: &mut LogClaim<'_>,
        entry: &mut Entry,
    ) -> Result<Option<String>, Error> {
        let original = match input.analyze(self.threads, self.memory) {
            Ok(session) => session,
            Err(error) => return Ok(Some(error.to_string())),
        };
        let clock = original.clock_origin_ns().or(self.clock_origin_ns);
        let keys = self.dataset.partition();
        let values = self.rules.values(keys, path, &original, clock);
        entry.partition_path = self.dataset.partition_path(&values);
        entry.partition = keys.iter().cloned().zip(values).collect();
        entry.messages = messages(original.reader());
        entry.status = match is_damaged(original.reader()) {
            true => Status::Damaged,
            false => Status::Ok,
        };
        claim.record(&entry.partition_path)?;
        let written = match self.dataset.texts() {
            Texts::Keep => {
                let analyzed = Analyzed {
                    input,
                    session: &original,
                    original: None,
                };
                self.write_tables(analyzed, clock, claim, entry)?
            }
            Texts::Replace | Texts::Omit => {
                drop(original);
                self.write_replaced(input, clock, claim, entry)?
            }
        };
        match written {
            Ok(tables) => {
                entry.tables = tables;
                Ok(None)
            }
            Err(why) => {
                // Of a log that failed, there are no files.
                claim.remove_leftovers()?;
                entry.partition_path.clear();
                entry.status = Status::Failed;
                Ok(Some(why))
            }
        }
    }

    /// Writes the tables of a log with its texts replaced; returns why the log cannot be read.
    fn write_replaced(
        &self,
        input: &LogInput,
        clock_origin_ns: Option<u64>,
        claim: &LogClaim<'_>,
        entry: &Entry,
    ) -> Result<Written, Error> {
        let replaced = input.anonymized(self.memory);
        let replaced = replaced.and_then(|(input, reader)| {
            let session = input.analyze(self.threads, self.memory)?;
            Ok((input, session, reader))
        });
        match replaced {
            Ok((input, session, reader)) => {
                let analyzed = Analyzed {
                    input: &input,
                    session: &session,
                    original: Some(&reader),
                };
                self.write_tables(analyzed, clock_origin_ns, claim, entry)
            }
            Err(InputError::Log(error)) => Ok(Err(error.to_string())),
            Err(error @ InputError::Temporary(_)) => Err(Error::Refused(error.to_string())),
        }
    }

    /// Writes all tables, which appear together at the end; returns why the log cannot be read.
    fn write_tables(
        &self,
        analyzed: Analyzed<'_>,
        clock_origin_ns: Option<u64>,
        claim: &LogClaim<'_>,
        entry: &Entry,
    ) -> Result<Written, Error> {
        let Analyzed {
            input,
            session,
            original,
        } = analyzed;
        let read_again = |take: &mut RecordCallback<'_>| {
            let mut sink = |record: &Record<'_>| take(record);
            input.read_again(session, &mut sink)
        };
        let log = Log {
            name: &entry.file,
            inputs: &[],
            fingerprint: input.fingerprint(),
            session,
            range: session.recording().clip_to_cut(None),
            clock_origin_ns,
            formulas: Formulas::AsIs,
            original,
            reread: &read_again,
        };
        let digest = session.ask(&DigestQuery(None)).unwrap_or_default();
        let origin = Origin {
            path: &entry.path,
            sha256: input.sha256(),
            digest: &digest,
        };
        let is_omitted = self.dataset.texts() == Texts::Omit;
        let written = Mutex::new(BTreeMap::new());
        // The largest tables are at the end.
        let order: Vec<&'static Table> = self.dataset.tables().rev().collect();
        let filled = for_each(self.threads, &order, |table| {
            let path = claim.file_path(table.name, &entry.partition_path);
            let sink = Sink::new(table, &path, is_omitted);
            let size = Arc::clone(&sink.size);
            let rows = Rows::new(table.columns(), &entry.run, Box::new(sink), path.clone());
            tables::fill(table, &log, origin, rows)?;
            let size = *size.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((rows, bytes)) = size {
                let file = path.strip_prefix(self.dataset.folder()).unwrap_or(&path);
                let file = file.to_string_lossy().replace('\\', "/");
                let table_entry = TableEntry { file, rows, bytes };
                let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
                written.insert(table.name.to_owned(), table_entry);
            }
            Ok(())
        });
        match filled {
            Ok(()) => {}
            Err(format::Error::Log(error)) => return Ok(Err(error.to_string())),
            Err(format::Error::File(path, error)) => return Err(Error::File(path, error)),
            Err(error) => return Err(Error::Refused(error.to_string())),
        }
        let written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
        let tables = self.dataset.tables();
        for table in tables.filter(|table| written.contains_key(table.name)) {
            let path = claim.file_path(table.name, &entry.partition_path);
            fs::rename(files::unfinished(&path), &path).map_err(Error::about(&path))?;
        }
        Ok(Ok(written))
    }
}

/// Tables with rows of a log, or why it cannot be read.
type Written = Result<BTreeMap<String, TableEntry>, String>;

/// A log that was analyzed.
#[derive(Clone, Copy)]
struct Analyzed<'a> {
    input: &'a LogInput,
    session: &'a Session,
    /// Reader of the log itself, if `input` is a copy with its texts replaced.
    original: Option<&'a LogReader>,
}

/// Identifies a file that cannot be read.
fn unread(path: &Path) -> String {
    format!("unread-{}", &hash_text(&absolute(path))[..16])
}

fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path);
    let path = absolute.as_deref().unwrap_or(path);
    path.to_string_lossy().into_owned()
}

fn is_damaged(reader: &LogReader) -> bool {
    reader.damage().loses_data() || reader.inflate_error().is_some()
}

/// Returns messages about the damage of a log, with byte offsets.
fn messages(reader: &LogReader) -> Vec<String> {
    let damage = reader.damage();
    let kept = damage.kept.iter().take(MAX_MESSAGES);
    let mut messages: Vec<String> = kept.map(|damage| line(&damage.into())).collect();
    let more = damage.count().saturating_sub(messages.len() as u64);
    if more > 0 {
        messages.push(format!(
            "{more} more damaged places, {} bytes lost in total",
            damage.lost_bytes
        ));
    }
    messages.extend(reader.inflate_error().map(|error| error.to_string()));
    messages
}

/// File of a table under its hidden name, which is created with the first rows.
struct Sink {
    table: &'static Table,
    path: PathBuf,
    /// Indices of the columns that stay empty.
    omitted: Vec<usize>,
    file: Option<TableFile>,
    /// Rows and bytes, once the file is finished.
    size: Arc<Mutex<Option<(u64, u64)>>>,
}

impl Sink {
    fn new(table: &'static Table, path: &Path, is_omitted: bool) -> Self {
        let columns = table.column_names().enumerate();
        let omitted = columns.filter(|(_, name)| is_omitted && table.texts.contains(name));
        Self {
            table,
            path: files::unfinished(path),
            omitted: omitted.map(|(index, _)| index).collect(),
            file: None,
            size: Arc::default(),
        }
    }

    fn file(&mut self) -> io::Result<&mut TableFile> {
        match &mut self.file {
            Some(file) => Ok(file),
            file @ None => {
                if let Some(folder) = self.path.parent() {
                    fs::create_dir_all(folder)?;
                }
                Ok(file.insert(TableFile::create(self.table, File::create(&self.path)?)?))
            }
        }
    }
}

impl Encode for Sink {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        if self.omitted.is_empty() {
            return self.file()?.add(batch);
        }
        let mut columns = batch.columns().to_vec();
        for &index in &self.omitted {
            columns[index] = new_null_array(columns[index].data_type(), batch.num_rows());
        }
        let batch = RecordBatch::try_new(batch.schema(), columns).map_err(rows::failed)?;
        self.file()?.add(&batch)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        if let Some(file) = self.file {
            let rows = file.rows();
            let bytes = file.finish()?;
            *self.size.lock().unwrap_or_else(PoisonError::into_inner) = Some((rows, bytes));
        }
        Ok(())
    }
}
