//! View state of the flame graph.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `fk` | source of the stacks, see [`Source`] | `waiting` |
//! | `fo` | order, see [`FlameOrder`] | `left` |
//! | `fs` | tracks | `cap0` |
//! | `fm` | `samples`: by samples, not by time | `samples` |
//! | `fx` | steps, see [`Transform`] | `idle,focus:Main.f` |
//! | `ff` | frame whose callers and callees are shown | `Main.f` |
//! | `fc` | time to compare with | `0m500` |
//! | `fd` | of the heap: compares the censuses at both ends | `200m700` |
//! | `fl` | comparison with the other of two logs, see [`TwoLogs`] | `shares` |
//! | `fa` | of the heap: `0` hides the area over time | `0` |
//! | `fq` | search text | `parse` |

use super::panel::{PanelSettings, ParseResult};
use analysis::flamegraph::sources;
use model::profile::source::Source;
use model::profile::weights::Measure;
use model::time::Interval;
use session::flame::transform::Transform;
use session::link_text::{
    MAX_TEXT, cut, escape, escape_text, read_range, unescape, unless, write_range,
};
use session::tracks::name::TrackName;

model::named_enum! {
    /// Arrangement of the frames of a flame graph.
    #[derive(Default, Hash)]
    pub enum FlameOrder: from_name {
        /// `time`: in chronological order.
        #[default]
        Time: "time";
        /// `left`: equal stacks merged, the heaviest on the left.
        LeftHeavy: "left";
        /// `sandwich`: a table of all frames, with the callers and callees of one.
        Sandwich: "sandwich";
    }
    /// Returns the name used in links, which never changes.
    fn name;
}

model::named_enum! {
    /// Comparison of the stacks of two open logs.
    #[derive(Default)]
    pub enum TwoLogs: from_name {
        /// No comparison.
        #[default]
        Apart: "apart";
        /// Compares the measured amounts.
        Amounts: "amounts";
        /// Compares shares of each log's total.
        Shares: "shares";
    }
    /// Returns the name used in links, which never changes.
    fn name;
}

/// Settings of the flame graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameView {
    /// Source of the stacks; `None` for the first one that the log has.
    pub source: Option<Source>,
    /// Tracks: `all`, `caps`, `threads` (the foreign calls of OS threads), or a single one.
    pub tracks: TrackName,
    /// Arrangement of the frames.
    pub order: FlameOrder,
    /// Quantity that determines the width of boxes.
    pub measure: Measure,
    /// Transformations of the stacks, in the order applied.
    pub steps: Vec<Transform>,
    /// Frame whose callers and callees are shown; empty for none.
    pub frame: String,
    /// Time range to compare the selected range with.
    pub before: Option<Interval>,
    /// For the live heap, instead of `before`: compares the census at the start of this range with the one at its
    /// end.
    pub moments: Option<Interval>,
    /// Comparison with the other of two logs; takes the place of `before` and `moments`.
    pub two: TwoLogs,
    /// For the live heap: whether the bytes of a box are also shown over time.
    pub area: bool,
    /// Search text; empty for no search.
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

/// Maximum number of steps in a link.
pub const MAX_STEPS: usize = 32;
/// Maximum length of a step's text, in bytes.
const MAX_STEP: usize = MAX_TEXT;

/// Link keys, in the order of the values that `write` returns.
const KEYS: [&str; 11] = [
    "fk", "fo", "fs", "fm", "fx", "ff", "fc", "fd", "fl", "fa", "fq",
];

impl PanelSettings for FlameView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        let steps = self.steps.iter().take(MAX_STEPS).map(Transform::text);
        let steps: Vec<String> = steps
            .filter(|text| text.len() <= MAX_STEP)
            .map(|text| escape(&text))
            .collect();
        let order = unless(self.order, FlameOrder::default());
        let all = TrackName::all();
        let tracks = unless(&self.tracks, &all);
        let values = [
            self.source
                .map(|source| sources::description(source).name.to_owned()),
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

    fn read(&mut self, key: &str, raw: &str) -> ParseResult {
        if !KEYS.contains(&key) {
            return ParseResult::UnknownKey;
        }
        self.parse_value(key, raw)
            .map_or(ParseResult::Unsupported, |()| ParseResult::Applied)
    }
}

impl FlameView {
    /// Parses one key; `None` if its value is not understood.
    fn parse_value(&mut self, key: &str, raw: &str) -> Option<()> {
        match key {
            "fk" => self.source = Some(sources::by_name(raw)?),
            "fo" => self.order = FlameOrder::from_name(raw)?,
            "fs" => self.tracks = TrackName::new(unescape(raw)?)?,
            "fm" if raw == "samples" => self.measure = Measure::Count,
            "fx" => {
                let steps = raw.split(',').filter_map(unescape);
                self.steps = steps
                    .filter(|text| text.len() <= MAX_STEP)
                    .filter_map(|text| Transform::parse(&text))
                    .take(MAX_STEPS)
                    .collect();
            }
            "ff" => self.frame = cut(&unescape(raw)?).to_owned(),
            "fc" => self.before = Some(read_range(&unescape(raw)?)?),
            "fd" => self.moments = Some(read_range(&unescape(raw)?)?),
            "fl" => self.two = TwoLogs::from_name(raw)?,
            "fa" if raw == "0" => self.area = false,
            "fq" => self.search = cut(&unescape(raw)?).to_owned(),
            _ => return None,
        }
        Some(())
    }
}
