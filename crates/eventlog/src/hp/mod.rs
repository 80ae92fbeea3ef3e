//! Textual heap profiles: the `.hp` files that the runtime writes besides, or instead of, an eventlog, and that
//! `hp2ps` reads.
//!
//! ```text
//! JOB "prof-heap 40000 +RTS -hc -i0.01"
//! DATE "Fri Nov 20 09:49 2026"
//! SAMPLE_UNIT "seconds"
//! VALUE_UNIT "bytes"
//! BEGIN_SAMPLE 0.005061
//! (301)main.scale/main<TAB>16
//! END_SAMPLE 0.005061
//! MARK 0.005100
//! ```
//!
//! `Converter` converts such a file incrementally to an equivalent eventlog, so no other code needs to know the
//! format:
//!
//! | line | events |
//! |---|---|
//! | `JOB "…"` | program arguments; the `+RTS` flags determine period, breakdown and filters of the profile |
//! | `DATE "…"` | none, as it has no time zone; see [`Report::date`] |
//! | `BEGIN_SAMPLE t`, `END_SAMPLE t` | a census, unless it is the first or the last of the file and empty |
//! | label, tab, bytes | the bytes of a band |
//! | `(12)f/g/M.CAF` in a profile by cost centre stack | the bytes of a stack, with cost centres of these names |
//! | `MARK t` | a marker |
//!
//! The runtime writes an empty census at the start and the end of every file, so that graphs begin and end at
//! zero; these are omitted.
//!
//! Times differ from those of an eventlog: they are the CPU time of the program in seconds, without collections.
//! Only the last, empty census is dated by a clock that includes the work of a profiled runtime, and can be later
//! by a factor of up to ten; so the eventlog ends with the previous census. Sources: GHC's `rts/ProfHeap.c` and
//! `rts/RtsFlags.c`, `hp2ps`, and files of GHC 9.0 to 9.10.

mod job;
mod line;
mod stack;
#[cfg(test)]
mod tests;
mod write;

use serde::{Deserialize, Serialize};

use crate::ids::{ByteOffset, Nanos};
use crate::problem::{Damage, DamageKind, DamageList, LineFlaw, LogError};
use job::{Breakdown, Job, LabelTraits};
use line::{Line, Unit};
use stack::Stacks;
use write::{LogWriter, WriterState};

/// Number of bytes that identify such a file.
pub(crate) const MAGIC_BYTES: usize = 8;

/// Whether a file that begins with `bytes` is a textual heap profile.
pub(crate) fn is_heap_report(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    matches!(text, [b'J', b'O', b'B', b' ' | b'\t', ..])
}

/// Maximum line length; longer lines are skipped because they do not fit into an event.
pub const MAX_LINE_BYTES: usize = 60_000;

/// Metadata of a textual heap profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Start time of the program as written in the file: local time of the machine, such as `Fri Nov 20 09:49
    /// 2026`.
    pub date: Option<String>,
    /// Uncompressed size of the file in bytes.
    pub bytes: u64,
}

/// A census that is being read.
#[derive(Clone, Copy, Debug)]
struct Census {
    time: Nanos,
    /// Offset of its first line.
    at: u64,
    /// State of the output before the census, for rollback.
    rollback: WriterState,
    /// Whether its begin was written, which happens with the first band.
    begun: bool,
}

/// Converter from a textual heap profile to an eventlog.
#[derive(Debug)]
pub(crate) struct Converter {
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// Number of bytes of that line, buffered or not.
    line_bytes: u64,
    /// Number of bytes received.
    taken_bytes: u64,
    budget_bytes: u64,
    log: LogWriter,
    damage: DamageList,
    report: Report,
    job: Job,
    /// Properties of the labels, if the flags do not determine the breakdown.
    label_traits: LabelTraits,
    stacks: Stacks,
    /// Time unit, in nanoseconds.
    unit: Unit,
    /// Whether the start of the profile was written.
    begun: bool,
    census: Option<Census>,
    /// Number of censuses read, including empty ones.
    censuses_read: u64,
    /// Number of censuses written.
    censuses_written: u64,
    /// Time of an empty census, which is omitted if no other census follows.
    pending_empty_census: Option<Nanos>,
    last: Option<Nanos>,
}

impl Converter {
    /// Creates a converter; the eventlog may have at most `budget_bytes` bytes.
    pub(crate) fn new(budget_bytes: u64) -> Self {
        Self {
            line: Vec::new(),
            line_bytes: 0,
            taken_bytes: 0,
            budget_bytes,
            log: LogWriter::new(),
            damage: DamageList::default(),
            report: Report::default(),
            job: Job::default(),
            label_traits: LabelTraits::default(),
            stacks: Stacks::default(),
            unit: Unit::SECOND,
            begun: false,
            census: None,
            censuses_read: 0,
            censuses_written: 0,
            pending_empty_census: None,
            last: None,
        }
    }

    /// Returns the number of bytes received.
    pub(crate) const fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// Returns the damage found so far.
    pub(crate) const fn damage(&self) -> &DamageList {
        &self.damage
    }

    /// Supplies the next bytes of the file.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, tail) = bytes.split_at(end);
            self.taken_bytes += head.len() as u64 + 1;
            self.line_bytes += head.len() as u64 + 1;
            if self.line.is_empty() {
                self.process_line(head);
            } else {
                self.buffer_line(head);
                let mut line = std::mem::take(&mut self.line);
                self.process_line(&line);
                line.clear();
                self.line = line;
            }
            self.line_bytes = 0;
            bytes = &tail[1..];
        }
        self.taken_bytes += bytes.len() as u64;
        self.line_bytes += bytes.len() as u64;
        self.buffer_line(bytes);
    }

    /// Returns an error if the eventlog exceeds the budget.
    pub(crate) fn fits(&self) -> Result<(), LogError> {
        let need_bytes = self.log.len();
        if need_bytes <= self.budget_bytes {
            return Ok(());
        }
        Err(LogError::TooBig {
            need_bytes,
            budget_bytes: self.budget_bytes,
            advice:
                "Write an eventlog instead (+RTS -l): it is read in pieces and may have any size."
                    .to_owned(),
        })
    }

    /// Buffers the start of a line: at most one byte more than its maximum length.
    fn buffer_line(&mut self, bytes: &[u8]) {
        let room = (MAX_LINE_BYTES + 1).saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Ends the file. Returns the eventlog, the damage, and the metadata.
    pub(crate) fn finish(&mut self) -> (Vec<u8>, DamageList, Report) {
        let mut lost_bytes = 0;
        if self.line_bytes > 0 {
            lost_bytes = self.last_line();
        }
        self.begin_profile();
        if let Some(census) = self.census.take() {
            // An incomplete census would look as if less memory was used.
            self.log.roll_back(census.rollback);
            lost_bytes = self.taken_bytes - census.at;
        }
        if lost_bytes > 0 {
            self.push_damage(
                self.taken_bytes - lost_bytes,
                lost_bytes,
                DamageKind::ReportCut,
            );
        } else if self.pending_empty_census.is_none() {
            self.push_damage(self.taken_bytes, 0, DamageKind::NoEndMarker);
        }
        let breakdown = self.job.breakdown.or_else(|| self.label_traits.breakdown());
        self.report.bytes = self.taken_bytes;
        let log = self.log.finish(breakdown);
        (
            log,
            std::mem::take(&mut self.damage),
            std::mem::take(&mut self.report),
        )
    }

    /// Handles a line without a line feed, which is complete if no missing byte could change it. Returns the
    /// number of unused bytes.
    fn last_line(&mut self) -> u64 {
        let line = std::mem::take(&mut self.line);
        let text = trimmed(&line);
        match Line::parse(text, self.census.is_some(), self.unit) {
            // The time of an end line is redundant, but must have begun.
            Ok(Line::End) => {
                self.end_census();
                0
            }
            _ if text.is_empty() => 0,
            _ => self.line_bytes,
        }
    }

    fn process_line(&mut self, line: &[u8]) {
        if line.len() > MAX_LINE_BYTES {
            return self.report_flaw(LineFlaw::TooLong);
        }
        let line = match (self.line_at(), line.strip_prefix(b"\xEF\xBB\xBF")) {
            (0, Some(rest)) => rest,
            _ => line,
        };
        match Line::parse(trimmed(line), self.census.is_some(), self.unit) {
            Ok(line) => self.apply(line),
            Err(flaw) => self.report_flaw(flaw),
        }
    }

    fn apply(&mut self, line: Line<'_>) {
        match line {
            Line::Blank => {}
            Line::Job(text) if !self.begun => self.job = Job::parse(text),
            Line::Date(text) => {
                let date = String::from_utf8_lossy(text).into_owned();
                self.report.date.get_or_insert(date);
            }
            // A concatenated file is read as a continuation of the first.
            Line::Job(_) => self.report_flaw(LineFlaw::Unknown),
            Line::TimeUnit(unit) => match unit {
                Some(unit) => self.unit = unit,
                None => self.report_damage(DamageKind::ReportUnit),
            },
            Line::ValueUnit(known) => {
                if !known {
                    self.report_damage(DamageKind::ReportUnit);
                }
            }
            Line::Begin(time) => self.begin_census(time),
            Line::Band(label, bytes) => self.band(label, bytes),
            Line::End if self.census.is_some() => self.end_census(),
            Line::End => self.report_flaw(LineFlaw::Outside),
            Line::Mark(time) => {
                let time = self.clamp_time(time);
                self.begin_profile();
                self.log.marker(time);
            }
        }
    }

    /// Writes the head of the eventlog before the first census or mark.
    fn begin_profile(&mut self) {
        if !self.begun {
            self.begun = true;
            self.log.begin(&self.job);
        }
    }

    /// Returns the time, clamped to be no earlier than the last one.
    fn clamp_time(&mut self, time: Option<Nanos>) -> Nanos {
        let last = self.last.unwrap_or_default();
        let time = match time {
            None => {
                self.report_damage(DamageKind::ReportLine(LineFlaw::Number));
                last
            }
            Some(time) if time < last => {
                self.report_damage(DamageKind::ReportTime(time));
                last
            }
            Some(time) => time,
        };
        self.last = Some(time);
        time
    }

    fn begin_census(&mut self, time: Option<Nanos>) {
        if self.census.is_some() {
            self.report_damage(DamageKind::ReportLine(LineFlaw::Unended));
            self.end_census();
        }
        let time = self.clamp_time(time);
        self.begin_profile();
        if let Some(empty) = self.pending_empty_census.take() {
            self.write_begin(empty);
            self.log.census_end(empty, self.censuses_written);
        }
        self.census = Some(Census {
            time,
            at: self.line_at(),
            rollback: self.log.save(),
            begun: false,
        });
    }

    fn write_begin(&mut self, time: Nanos) {
        self.censuses_written += 1;
        self.log.census(time, self.censuses_written, &self.job);
    }

    fn band(&mut self, label: &[u8], bytes: u64) {
        let Some(census) = &mut self.census else {
            return self.report_flaw(LineFlaw::Outside);
        };
        let time = census.time;
        if !std::mem::replace(&mut census.begun, true) {
            self.write_begin(time);
        }
        if self.job.breakdown == Some(Breakdown::CostCentre) {
            let stack = self.stacks.resolve(label, |id, centre| {
                self.log.cost_centre(time, id, centre);
            });
            self.log.stack(time, bytes, stack);
        } else {
            if self.job.breakdown.is_none() {
                self.label_traits.observe(label);
            }
            self.log.band(time, bytes, label);
        }
    }

    fn end_census(&mut self) {
        let Some(Census { time, begun, .. }) = self.census.take() else {
            return;
        };
        if begun {
            self.log.census_end(time, self.censuses_written);
        } else if self.censuses_read > 0 {
            self.pending_empty_census = Some(time);
        }
        self.censuses_read += 1;
    }

    /// Returns the offset of the current line.
    const fn line_at(&self) -> u64 {
        self.taken_bytes - self.line_bytes
    }

    /// Reports damage of the current line, which is used nevertheless.
    fn report_damage(&mut self, kind: DamageKind) {
        self.push_damage(self.line_at(), 0, kind);
    }

    fn report_flaw(&mut self, flaw: LineFlaw) {
        self.push_damage(
            self.line_at(),
            self.line_bytes,
            DamageKind::ReportLine(flaw),
        );
    }

    fn push_damage(&mut self, at: u64, lost_bytes: u64, kind: DamageKind) {
        self.damage.push(Damage {
            at: ByteOffset(at),
            lost_bytes,
            kind,
            after: self.last,
            cap: None,
        });
    }
}

/// Strips the carriage return that some systems write.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
