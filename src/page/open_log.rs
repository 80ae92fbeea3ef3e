//! The log that is open or being opened, as far as the page knows it.

use std::rc::Rc;

use super::files::LogFile;
use super::ptr_eq::PtrEq;
use super::viewer::ViewerRef;
use analysis::account::report::CapTimes;
use analysis::flamegraph::source_info::SourceInfo;
use analysis::timeline::thread_lane::ThreadRow;
use eventlog::Progress;
use eventlog::hash::SeededMap;
use eventlog::ids::CapId;
use protocol::News;
use scene::format;
use session::alignment::Anchor;
use session::tracks::Known;
use session::{MemoryUse, Overview};
use views::fingerprint::Fingerprint;
use views::trouble::Code;

/// How far the opening is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// No log is there.
    #[default]
    Nothing,
    /// A log is being read; it is shown as soon as something is known of it.
    Loading,
    /// It is read.
    Open,
}

/// What news change.
pub(super) enum Heard {
    /// Nothing: they are late.
    Nothing,
    /// It is read further; whether more can be shown of it.
    Progress { is_more: bool },
    /// It is read.
    Loaded,
    /// More of it is read.
    Grown,
    /// Nothing more of it can be shown; whether for want of memory.
    NotGrown { is_short: bool },
    /// It is read in part: there is no memory for more.
    Short,
    /// It is read once more, by another worker: what was asked meanwhile was not answered.
    Again,
    /// There are other tracks.
    Contents,
    /// It cannot be read, and why.
    Failed(Code, String),
}

/// The log that is open or being opened.
#[derive(Debug, Default)]
pub(super) struct OpenLog {
    pub(super) stage: Stage,
    pub(super) name: String,
    pub(super) fingerprint: Option<Fingerprint>,
    /// Its file, while it is there.
    pub(super) file: Option<LogFile>,
    /// Of which change of its file the reader was told, in milliseconds since 1970.
    pub(super) told_ms: f64,
    pub(super) overview: PtrEq<Overview>,
    /// What is known since, while it is being read.
    pub(super) next_overview: Option<Box<Overview>>,
    /// What flame graphs can be about.
    pub(super) flame_sources: Rc<Vec<SourceInfo>>,
    pub(super) progress: Progress,
    /// How many events are read.
    pub(super) events: u64,
    /// How long the reading took.
    pub(super) elapsed_ms: Option<f64>,
    /// How much memory it took.
    pub(super) memory: MemoryUse,
    pub(super) threads: Vec<ThreadRow>,
    pub(super) threads_in_all: u64,
    /// Pinned threads that are not among the listed ones.
    pub(super) pinned_threads: Vec<ThreadRow>,
    /// Where the time of the capabilities went, for the notes beside them.
    pub(super) times: Vec<(CapId, CapTimes)>,
    /// Where it may be aligned with another log.
    pub(super) anchors: Vec<Anchor>,
    /// Whether the panel of the heap was opened, if the log has a profile of it.
    pub(super) heap_offered: bool,
    /// Goes up with every opened log, so that late news are known.
    pub(super) generation: u32,
}

impl OpenLog {
    /// Whether it is read.
    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Whether it is being read.
    pub(super) fn is_loading(&self) -> bool {
        self.stage == Stage::Loading
    }

    /// Whether there is any.
    pub(super) fn is_there(&self) -> bool {
        self.stage != Stage::Nothing
    }

    /// The next one, which is being opened.
    pub(super) fn next(&self, file: &LogFile) -> Self {
        Self {
            stage: Stage::Loading,
            name: file.file.name(),
            fingerprint: file.fingerprint,
            file: Some(file.clone()),
            ..self.none()
        }
    }

    /// None any more.
    pub(super) fn none(&self) -> Self {
        Self {
            generation: self.generation + 1,
            ..Self::default()
        }
    }

    /// Takes over what the worker says.
    pub(super) fn hear(&mut self, news: News) -> Heard {
        match news {
            News::Loading {
                progress,
                events,
                overview,
            } if self.is_loading() => {
                self.progress = progress;
                self.events = events;
                let is_more = overview.is_some();
                self.next_overview = overview.or(self.next_overview.take());
                Heard::Progress { is_more }
            }
            News::Loaded {
                overview,
                elapsed_ms,
                memory,
            } if self.is_there() => {
                self.flame_sources = Rc::new(overview.flame_sources.clone());
                self.overview = PtrEq::new(*overview);
                self.elapsed_ms = Some(elapsed_ms);
                self.memory = memory;
                if self.is_open() {
                    return Heard::Again;
                }
                self.stage = Stage::Open;
                Heard::Loaded
            }
            News::Grown { overview, memory } if self.is_open() => {
                self.flame_sources = Rc::new(overview.flame_sources.clone());
                self.overview = PtrEq::new(*overview);
                self.memory = memory;
                // That was of what there was at first.
                self.elapsed_ms = None;
                Heard::Grown
            }
            News::NotGrown { is_short } if self.is_open() => Heard::NotGrown { is_short },
            News::Short { overview, memory } if self.is_loading() => {
                self.flame_sources = Rc::new(overview.flame_sources.clone());
                self.overview = PtrEq::new(*overview);
                self.memory = memory;
                self.stage = Stage::Open;
                Heard::Short
            }
            News::Contents(contents, flame_sources) if self.is_open() => {
                let changed = |overview: &mut Overview| overview.contents = *contents;
                self.overview = self.overview.changed(changed);
                self.flame_sources = Rc::new(flame_sources);
                Heard::Contents
            }
            News::Failed { code, message } if self.is_loading() => {
                self.stage = Stage::Nothing;
                Heard::Failed(code, message)
            }
            _ => Heard::Nothing,
        }
    }

    /// Shows it as far as it is read.
    pub(super) fn show(&mut self, overview: Overview) {
        self.overview = PtrEq::new(overview);
    }

    /// Gives a timeline what is known of it.
    pub(super) fn give(&self, viewer: &ViewerRef) {
        let Some(span) = self.overview.span else {
            return;
        };
        let labels = self.threads.iter();
        let labels = labels.filter_map(|row| Some((row.id, row.label.clone()?)));
        viewer.set_log(span, self.overview.shared(), labels.collect());
    }

    /// When its file was changed last, in milliseconds since 1970.
    pub(super) fn modified_ms(&self) -> f64 {
        let file = self.file.as_ref();
        file.map_or(0.0, |file| file.file.last_modified())
    }

    /// How much of it is read, in percent.
    pub(super) fn percent(&self) -> u64 {
        let Progress { done, total, .. } = self.progress;
        done.saturating_mul(100) / total.max(1)
    }

    /// What is known of the tracks; `caps` are the capabilities with their notes.
    pub(super) fn known<'a>(&'a self, caps: &'a [(CapId, String)]) -> Known<'a> {
        Known {
            caps,
            contents: &self.overview.contents,
            threads: &self.threads,
            pinned_threads: &self.pinned_threads,
            threads_in_all: self.threads_in_all,
        }
    }

    /// The capabilities, each with the share of its time that it ran; without, if
    /// most of that time is unknown.
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
