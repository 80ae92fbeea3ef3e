//! What the flame graph keeps in the view.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `fk` | where its stacks come from, see [`Source`] | `waiting` |
//! | `fo` | order, see [`FlameOrder`] | `left` |
//! | `fs` | tracks | `cap0` |
//! | `fm` | by samples, not by time | `samples` |
//! | `fx` | steps, see [`Step`] | `idle,focus:Main.f` |
//! | `ff` | frame whose callers and callees are shown | `Main.f` |
//! | `fc` | time to compare with | `0m500` |
//! | `fd` | of the heap: compares the censuses at both ends | `200m700` |
//! | `fa` | of the heap: without the area over time | `0` |
//! | `fq` | text searched for | `parse` |

use super::panel::{PanelSettings, Piece};
use analysis::flamegraph::sources;
use model::profile::source::Source;
use model::profile::weights::Measure;
use model::time::Interval;
use session::flame::step::Step;
use session::link_text::{
    MAX_TEXT, cut, escape, escape_text, read_range, unescape, unless, write_range,
};
use session::tracks::name::TrackName;

/// How the frames of a flame graph are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FlameOrder {
    /// `time`: as they happened.
    #[default]
    Time,
    /// `left`: equal stacks merged, the heaviest on the left.
    LeftHeavy,
    /// `sandwich`: a table of all frames, callers and callees of one.
    Sandwich,
}

impl FlameOrder {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Time, Self::LeftHeavy, Self::Sandwich];

    /// Its name in links, which never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::LeftHeavy => "left",
            Self::Sandwich => "sandwich",
        }
    }

    /// The order of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }
}

/// Whether stacks of the other of two logs stand beside those of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TwoLogs {
    /// They do not.
    #[default]
    Apart,
    /// Compares the measured amounts.
    Amounts,
    /// Compares shares of each log's total.
    Shares,
}

impl TwoLogs {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Apart, Self::Amounts, Self::Shares];

    /// Its name in links, which never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Amounts => "amounts",
            Self::Shares => "shares",
        }
    }
}

/// How the flame graph is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameView {
    /// Where its stacks come from; without one, the first that the log has.
    pub source: Option<Source>,
    /// Which tracks: `all`, `caps`, `threads` (the foreign calls of OS
    /// threads), or one of them.
    pub tracks: TrackName,
    /// The order of its frames.
    pub order: FlameOrder,
    /// By what boxes are as wide as they are.
    pub measure: Measure,
    /// What was done to the stacks.
    pub steps: Vec<Step>,
    /// The frame whose callers and callees are shown; none if empty.
    pub frame: String,
    /// The time that the selected range is compared with.
    pub before: Option<Interval>,
    /// Of what is alive, in place of that: the census at the begin of this
    /// stretch is compared with the one at its end.
    pub moments: Option<Interval>,
    /// In place of both: whether the other of two logs is compared with.
    pub two: TwoLogs,
    /// Of what is alive: whether the bytes of a box are shown over time.
    pub area: bool,
    /// What is searched for; nothing if empty.
    pub search: String,
}

impl Default for FlameView {
    fn default() -> Self {
        Self {
            source: None,
            tracks: TrackName::all(),
            order: FlameOrder::default(),
            measure: Measure::default(),
            steps: Vec::new(),
            frame: String::new(),
            before: None,
            moments: None,
            two: TwoLogs::default(),
            area: true,
            search: String::new(),
        }
    }
}

/// The most steps that are kept.
pub const MAX_STEPS: usize = 32;
/// The longest text of a step, in bytes.
const MAX_STEP: usize = MAX_TEXT;

/// Its keys.
const KEYS: [&str; 11] = [
    "fk", "fo", "fs", "fm", "fx", "ff", "fc", "fd", "fl", "fa", "fq",
];

impl PanelSettings for FlameView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        let steps = self.steps.iter().take(MAX_STEPS).map(Step::text);
        let steps: Vec<String> = steps
            .filter(|text| text.len() <= MAX_STEP)
            .map(|text| escape(&text))
            .collect();
        let order = unless(self.order, FlameOrder::default());
        let all = TrackName::all();
        let tracks = unless(&self.tracks, &all);
        let values = [
            self.source
                .map(|source| sources::of(source).name().to_owned()),
            order.map(|order| order.name().to_owned()),
            tracks.map(|tracks| escape(tracks.as_str())),
            (self.measure == Measure::Count).then(|| "samples".to_owned()),
            (!steps.is_empty()).then(|| steps.join(",")),
            escape_text(&self.frame),
            self.before.and_then(write_range),
            self.moments.and_then(write_range),
            unless(self.two, TwoLogs::default()).map(|two| two.name().to_owned()),
            (!self.area).then(|| "0".to_owned()),
            escape_text(&self.search),
        ];
        KEYS.into_iter().zip(values).collect()
    }

    fn read(&mut self, key: &str, raw: &str) -> Piece {
        if !KEYS.contains(&key) {
            return Piece::Foreign;
        }
        self.take(key, raw).map_or(Piece::Newer, |()| Piece::Taken)
    }
}

impl FlameView {
    /// Takes over one of its keys; `None` if it cannot be understood.
    fn take(&mut self, key: &str, raw: &str) -> Option<()> {
        match key {
            "fk" => self.source = Some(sources::named(raw)?),
            "fo" => self.order = FlameOrder::named(raw)?,
            "fs" => self.tracks = TrackName::new(unescape(raw)?)?,
            "fm" if raw == "samples" => self.measure = Measure::Count,
            "fx" => {
                let steps = raw.split(',').filter_map(unescape);
                self.steps = steps
                    .filter(|text| text.len() <= MAX_STEP)
                    .filter_map(|text| Step::parse(&text))
                    .take(MAX_STEPS)
                    .collect();
            }
            "ff" => self.frame = cut(&unescape(raw)?).to_owned(),
            "fc" => self.before = Some(read_range(&unescape(raw)?)?),
            "fd" => self.moments = Some(read_range(&unescape(raw)?)?),
            "fl" => self.two = TwoLogs::ALL.into_iter().find(|two| two.name() == raw)?,
            "fa" if raw == "0" => self.area = false,
            "fq" => self.search = cut(&unescape(raw)?).to_owned(),
            _ => return None,
        }
        Some(())
    }
}
