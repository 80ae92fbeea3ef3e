//! The log that is open or being opened, as far as the page knows it.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::same::Same;
use analysis::account::report::CapTimes;
use analysis::flamegraph::source_info::SourceInfo;
use analysis::timeline::thread_lane::ThreadRow;
use eventlog::Progress;
use eventlog::ids::CapId;
use views::fingerprint::Fingerprint;
use views::scene::format;
use views::session::{MemoryUse, Overview};
use views::tracks::Known;

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

/// The log that is open or being opened.
#[derive(Debug, Default)]
pub(super) struct OpenLog {
    pub(super) stage: Stage,
    pub(super) name: String,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) overview: Same<Overview>,
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

    /// The next one; without a name, none.
    pub(super) fn next(&self, name: Option<String>) -> Self {
        Self {
            stage: name.as_ref().map_or(Stage::Nothing, |_| Stage::Loading),
            name: name.unwrap_or_default(),
            generation: self.generation + 1,
            ..Self::default()
        }
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
        let times: FxHashMap<CapId, CapTimes> = self.times.iter().copied().collect();
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
