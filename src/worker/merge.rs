//! Merges several logs into one.
//!
//! Runs in a separate worker: it reads and writes without yielding, and is canceled by terminating the worker.
//! The new log is composed of blobs, which the browser may store on disk, so it takes no memory here.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, File, FilePropertyBag};

use super::blob_file::BlobFile;
use super::load::is_compressed;
use super::{Shared, now_ms, post, scope, spill};
use eventlog::source::{Source, read_log_by};
use eventlog::{Backing, LogReader};
use eventlog_edit::merge::{Facts, Feed, MergeCounts, Plan, Survey, merge};
use protocol::wire;
use protocol::{FromWorker, MergeOptions, MergeReport};

/// Size of blobs, which the browser can move to disk while more are added.
const PIECE_BYTES: usize = 8 << 20;
/// Interval of progress reports.
const REPORT_EVERY_MS: f64 = 100.0;
/// Limit for a compressed log inflated in memory, if there is no file for it.
const MAX_INFLATED_BYTES: u64 = 1 << 30;

/// Merges the files, and reports progress and the result.
pub(super) fn begin(shared: &Shared, options: MergeOptions, files: Vec<File>) {
    let shared = Rc::clone(shared);
    spawn_local(async move {
        let mut file = None;
        let merged = merge_files(&shared, &options, files)
            .await
            .map(|(new, report)| {
                file = Some(new);
                report
            });
        let envelope = wire::envelope(&FromWorker::Merged(merged));
        if let Some(file) = &file {
            wire::attach_file(&envelope, file);
        }
        // Handles and plain data can always be posted.
        let _ = scope().post_message(&envelope);
    });
}

async fn merge_files(
    shared: &Shared,
    options: &MergeOptions,
    files: Vec<File>,
) -> Result<(File, MergeReport), String> {
    let total: f64 = files.iter().map(|file| file.size()).sum();
    // Each file is read twice: for the survey and for copying.
    let progress = Rc::new(Progress::new(2.0 * total));
    let mut logs = Vec::new();
    for file in files {
        logs.push(Log::open(shared, file, &progress).await?);
    }
    let mut report = MergeReport::default();
    let mut facts = Vec::new();
    for log in &logs {
        facts.push(log.survey(options, &mut report)?);
    }
    let offsets: Vec<i128> = options
        .offsets_ns
        .iter()
        .map(|ns| i128::from(*ns))
        .collect();
    let plan = Plan::new(&facts, &options.align, &offsets).map_err(|error| error.to_string())?;
    report.processes = plan.processes() as u64;
    report
        .notes
        .extend(plan.aligned().iter().map(ToString::to_string));
    let feeds = logs.iter().map(Log::feed).collect::<Result<Vec<_>, _>>()?;
    let merged = merge(&plan, feeds, FilePieces::default()).map_err(|error| error.to_string())?;
    let (pieces, counts) = merged;
    report.notes.extend(left_out(&counts));
    let file = pieces.finish(&options.name).map_err(words)?;
    Ok((file, report))
}

fn words(error: JsValue) -> String {
    js_sys::Error::from(error).message().into()
}

/// Describes what the new log cannot represent.
fn left_out(counts: &MergeCounts) -> Vec<String> {
    let mut said = Vec::new();
    if counts.censuses > 0 {
        said.push(format!(
            "The heap profile of the second process was left out ({} events): a log has a place for that of one.",
            counts.censuses
        ));
    }
    said.extend(counts.note_on_intervals());
    let misfits: u64 = counts.misfits.values().sum();
    if misfits > 0 {
        said.push(format!(
            "{misfits} events were left out of types that the logs declare differently."
        ));
    }
    said
}

/// Progress of reading all files.
struct Progress {
    read_bytes: Cell<f64>,
    total_bytes: f64,
    reported_ms: Cell<f64>,
}

impl Progress {
    const fn new(total_bytes: f64) -> Self {
        Self {
            read_bytes: Cell::new(0.0),
            total_bytes,
            reported_ms: Cell::new(0.0),
        }
    }

    fn read(&self, bytes: usize) {
        let read_bytes = self.read_bytes.get() + bytes as f64;
        self.read_bytes.set(read_bytes);
        let now = now_ms();
        if now - self.reported_ms.get() > REPORT_EVERY_MS {
            self.reported_ms.set(now);
            let part = (read_bytes / self.total_bytes.max(1.0)).min(0.99);
            post(&FromWorker::Merging((100.0 * part) as u64));
        }
    }
}

/// A log to be merged.
struct Log {
    file: File,
    progress: Rc<Progress>,
    /// File that it is inflated to, if it is compressed and there is one.
    inflated: Option<Arc<dyn Backing>>,
}

impl Log {
    async fn open(shared: &Shared, file: File, progress: &Rc<Progress>) -> Result<Self, String> {
        let mut inflated = None;
        if is_compressed(&file).await {
            let place = spill::create(shared).await;
            inflated = place.map(|place| Arc::new(place) as Arc<dyn Backing>);
        }
        Ok(Self {
            file,
            progress: Rc::clone(progress),
            inflated,
        })
    }

    fn reader(&self) -> LogReader {
        let reader = LogReader::new(self.file.size() as u64);
        match &self.inflated {
            Some(place) => reader.with_inflate_backing(Arc::clone(place), u64::MAX),
            None => reader.with_inflate_limit(MAX_INFLATED_BYTES),
        }
    }

    fn source(&self) -> Result<FileBytes, String> {
        let file = BlobFile::new(&self.file).map_err(|error| self.failed(&error))?;
        Ok(FileBytes {
            file,
            len: self.file.size() as u64,
            progress: Rc::clone(&self.progress),
        })
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> String {
        format!("“{}” cannot be merged: {why}", self.file.name())
    }

    /// Surveys the log for the merge, and reports damage.
    fn survey(&self, options: &MergeOptions, report: &mut MergeReport) -> Result<Facts, String> {
        let mut survey = Survey::new(&self.file.name(), &options.align);
        let reader = read_log_by(self.reader(), &mut self.source()?, &mut survey);
        let reader = reader.map_err(|error| self.failed(&error))?;
        if reader.damage().loses_data() || reader.inflate_error().is_some() {
            let name = self.file.name();
            report.notes.push(format!(
                "“{name}” is damaged: what can be read of it is in the merged log."
            ));
        }
        let header = reader.header().map(|header| &**header);
        Ok(survey.finish(header))
    }

    fn feed(&self) -> Result<Feed<FileBytes>, String> {
        Ok(Feed::new(self.reader(), self.source()?))
    }
}

/// A file as a source of bytes that counts progress.
struct FileBytes {
    file: BlobFile,
    len: u64,
    progress: Rc<Progress>,
}

impl Source for FileBytes {
    fn byte_len(&self) -> u64 {
        self.len
    }

    fn read<'a>(&'a mut self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let wanted = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        if buffer.len() < wanted {
            buffer.resize(wanted, 0);
        }
        self.file.seek(SeekFrom::Start(range.start))?;
        let into = buffer.get_mut(..wanted).unwrap_or_default();
        let read = self.file.read(into)?;
        self.progress.read(read);
        Ok(buffer.get(..read).unwrap_or_default())
    }
}

/// The new log, as far as it is written.
#[derive(Default)]
struct FilePieces {
    done: Array,
    last: Vec<u8>,
}

impl FilePieces {
    /// Moves the written bytes into a blob.
    fn flush_piece(&mut self) -> Result<(), JsValue> {
        if !self.last.is_empty() {
            let bytes = Array::of1(&Uint8Array::from(self.last.as_slice()));
            let piece = Blob::new_with_u8_array_sequence(&bytes)?;
            self.done.push(&piece);
            self.last.clear();
        }
        Ok(())
    }

    fn finish(mut self, name: &str) -> Result<File, JsValue> {
        self.flush_piece()?;
        File::new_with_blob_sequence_and_options(&self.done, name, &FilePropertyBag::new())
    }
}

impl Write for FilePieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.last.extend_from_slice(bytes);
        if self.last.len() >= PIECE_BYTES {
            self.flush_piece()
                .map_err(|error| io::Error::other(words(error)))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
