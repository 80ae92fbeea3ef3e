//! State of the log that is open or being opened.

use std::rc::Rc;

use super::files::LogFile;
use super::ptr_eq::PtrEq;
use super::viewer::ViewerRef;
use analysis::account::report::CapTimes;
use analysis::flamegraph::source_info::SourceInfo;
use analysis::timeline::thread_lane::ThreadListRow;
use eventlog::Progress;
use eventlog::hash::SeededMap;
use eventlog::ids::CapId;
use protocol::LogUpdate;
use scene::format;
use session::alignment::Anchor;
use session::tracks::TrackListInput;
use session::{MemoryUse, Overview};
use views::fingerprint::Fingerprint;
use views::notes::Notes;
use views::page_error::Code;

/// Progress of opening a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// No log is open.
    #[default]
    Nothing,
    /// A log is being read; intermediate results are shown as they arrive.
    Loading,
    /// The log is read.
    Open,
}

/// Effect of an update message on the state.
pub(super) enum UpdateEffect {
    /// None: the message is outdated.
    Nothing,
    /// Reading has progressed; `is_more` if there are newer results to show.
    Progress { is_more: bool },
    /// The log is read.
    Loaded,
    /// The part added to the log is read.
    Grown,
    /// The added part cannot be shown; `hit_memory_limit` if memory is the reason.
    NotGrown { hit_memory_limit: bool },
    /// Only part of the log was read, because of the memory limit.
    MemoryLimit,
    /// A replacement worker has read the log again; queries asked in the meantime were not answered.
    Reloaded,
    /// The available tracks have changed.
    Contents,
    /// The log cannot be read, with the reason.
    Failed(Code, String),
}

/// Log that is open or being opened.
#[derive(Debug, Default)]
pub(super) struct OpenLog {
    pub(super) stage: Stage,
    pub(super) name: String,
    pub(super) fingerprint: Option<Fingerprint>,
    /// File of the log, if it is available.
    pub(super) file: Option<LogFile>,
    /// Modification time of the file that the user was last notified of, in milliseconds since 1970.
    pub(super) notified_ms: f64,
    pub(super) overview: PtrEq<Overview>,
    /// Newer results that are not shown yet, while the log is being read.
    pub(super) pending_overview: Option<Box<Overview>>,
    /// Sources that flame graphs can show.
    pub(super) flame_sources: Rc<Vec<SourceInfo>>,
    pub(super) progress: Progress,
    /// Number of events read.
    pub(super) events: u64,
    /// Duration of loading; `None` after the log has grown.
    pub(super) elapsed_ms: Option<f64>,
    /// Memory use after reading.
    pub(super) memory: MemoryUse,
    pub(super) threads: Vec<ThreadListRow>,
    pub(super) threads_in_all: u64,
    /// Pinned threads that are not in `threads`.
    pub(super) pinned_threads: Vec<ThreadListRow>,
    /// Time by state for each capability, for the notes next to their names.
    pub(super) times: Vec<(CapId, CapTimes)>,
    /// Points for aligning the log with another one.
    pub(super) anchors: Vec<Anchor>,
    /// Whether the heap panel was already opened automatically, or must not be.
    pub(super) heap_panel_settled: bool,
    /// Saved notes of a log that is opened again with its notes, until it is read.
    pub(super) saved_notes: Option<Rc<Notes>>,
    /// Incremented with every opened log, to detect outdated messages.
    pub(super) generation: u32,
}

impl OpenLog {
    /// Returns whether the log is read.
    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Returns whether the log is being read.
    pub(super) fn is_loading(&self) -> bool {
        self.stage == Stage::Loading
    }

    /// Returns whether a log is open or being opened.
    pub(super) fn has_log(&self) -> bool {
        self.stage != Stage::Nothing
    }

    /// Returns the state for opening another file.
    pub(super) fn next(&self, file: &LogFile) -> Self {
        Self {
            stage: Stage::Loading,
            name: file.file.name(),
            fingerprint: file.fingerprint,
            file: Some(file.clone()),
            ..self.cleared()
        }
    }

    /// Returns the state without a log.
    pub(super) fn cleared(&self) -> Self {
        Self {
            generation: self.generation + 1,
            ..Self::default()
        }
    }

    /// Applies an update message from the worker.
    pub(super) fn apply_update(&mut self, update: LogUpdate) -> UpdateEffect {
        match update {
            LogUpdate::Loading {
                progress,
                events,
                overview,
            } if self.is_loading() => {
                self.progress = progress;
                self.events = events;
                let is_more = overview.is_some();
                self.pending_overview = overview.or(self.pending_overview.take());
                UpdateEffect::Progress { is_more }
            }
            LogUpdate::Loaded {
                overview,
                elapsed_ms,
                memory,
            } if self.has_log() => {
                self.receive(*overview, memory);
                self.elapsed_ms = Some(elapsed_ms);
                if self.is_open() {
                    return UpdateEffect::Reloaded;
                }
                self.stage = Stage::Open;
                UpdateEffect::Loaded
            }
            LogUpdate::Grown { overview, memory } if self.is_open() => {
                self.receive(*overview, memory);
                // The previous duration covers only the first load.
                self.elapsed_ms = None;
                UpdateEffect::Grown
            }
            LogUpdate::NotGrown { hit_memory_limit } if self.is_open() => {
                UpdateEffect::NotGrown { hit_memory_limit }
            }
            LogUpdate::MemoryLimit { overview, memory } if self.is_loading() => {
                self.receive(*overview, memory);
                self.stage = Stage::Open;
                UpdateEffect::MemoryLimit
            }
            LogUpdate::LogContents(contents, flame_sources) if self.is_open() => {
                let changed = |overview: &mut Overview| overview.contents = *contents;
                self.overview = self.overview.changed(changed);
                self.flame_sources = Rc::new(flame_sources);
                UpdateEffect::Contents
            }
            LogUpdate::Failed { code, message } if self.is_loading() => {
                self.stage = Stage::Nothing;
                UpdateEffect::Failed(code, message)
            }
            _ => UpdateEffect::Nothing,
        }
    }

    /// Stores results that are shown at once.
    fn receive(&mut self, overview: Overview, memory: MemoryUse) {
        self.flame_sources = Rc::new(overview.flame_sources.clone());
        self.memory = memory;
        self.show_overview(overview);
    }

    /// Shows the results so far.
    pub(super) fn show_overview(&mut self, overview: Overview) {
        self.overview = PtrEq::new(overview);
    }

    /// Passes the results to a timeline.
    pub(super) fn show_in(&self, viewer: &ViewerRef) {
        let Some(span) = self.overview.span else {
            return;
        };
        let labels = self.threads.iter();
        let labels = labels.filter_map(|row| Some((row.id, row.label.clone()?)));
        viewer.set_log(span, self.overview.shared(), labels.collect());
    }

    /// Returns the modification time of the file, in milliseconds since 1970.
    pub(super) fn modified_ms(&self) -> f64 {
        let file = self.file.as_ref();
        file.map_or(0.0, |file| file.file.last_modified())
    }

    /// Returns how much of the log is read, in percent.
    pub(super) fn percent(&self) -> u64 {
        let Progress { done, total, .. } = self.progress;
        done.saturating_mul(100) / total.max(1)
    }

    /// Returns the data from which tracks are built; `caps` are the capabilities with their notes.
    pub(super) fn track_inputs<'a>(&'a self, caps: &'a [(CapId, String)]) -> TrackListInput<'a> {
        TrackListInput {
            caps,
            contents: &self.overview.contents,
            threads: &self.threads,
            pinned_threads: &self.pinned_threads,
            threads_in_all: self.threads_in_all,
        }
    }

    /// Returns the capabilities, each with the share of its time that it ran; "unknown" if most of its time is
    /// unknown.
    pub(super) fn caps(&self) -> Vec<(CapId, String)> {
        let times: SeededMap<CapId, CapTimes> = self.times.iter().copied().collect();
        let note = |cap: CapId| {
            let times = times.get(&cap)?;
            let known = times.known_ns();
            if known < times.unknown_ns {
                return Some("unknown".to_owned());
            }
            (known > 0).then(|| format::percent_short(times.running_ns, known))
        };
        let caps = self.overview.caps.iter();
        caps.map(|life| (life.cap, note(life.cap).unwrap_or_default()))
            .collect()
    }
}
