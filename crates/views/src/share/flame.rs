//! The flame graph in a link.

use super::{MAX_TEXT, TrackName, cut, escape, read_range, unescape, unless, write_range};
use crate::flame::query::Measure;
use crate::flame::step::Step;
use model::profile::source::Source;
use model::time::Span;

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
    pub before: Option<Span>,
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
            search: String::new(),
        }
    }
}

/// The most steps that are kept.
pub const MAX_STEPS: usize = 32;
/// The longest text of a step, in bytes.
const MAX_STEP: usize = MAX_TEXT;

/// The keys that say something, with their values.
pub(super) fn write(view: &FlameView) -> [(&'static str, Option<String>); 8] {
    let text = |text: &str| (!text.is_empty()).then(|| escape(cut(text)));
    let steps = view.steps.iter().take(MAX_STEPS).map(Step::text);
    let steps: Vec<String> = steps
        .filter(|text| text.len() <= MAX_STEP)
        .map(|text| escape(&text))
        .collect();
    let order = unless(view.order, FlameOrder::default());
    [
        ("fk", view.source.map(|source| source.name().to_owned())),
        ("fo", order.map(|order| order.name().to_owned())),
        (
            "fs",
            unless(&view.tracks, &TrackName::all()).map(|tracks| escape(tracks.as_str())),
        ),
        (
            "fm",
            (view.measure == Measure::Count).then(|| "samples".to_owned()),
        ),
        ("fx", (!steps.is_empty()).then(|| steps.join(","))),
        ("ff", text(&view.frame)),
        ("fc", view.before.and_then(write_range)),
        ("fq", text(&view.search)),
    ]
}

/// Takes over one of these keys; `None` if it is none or cannot be understood.
pub(super) fn read(view: &mut FlameView, key: &str, raw: &str) -> Option<()> {
    match key {
        "fk" => view.source = Some(Source::named(raw)?),
        "fo" => view.order = FlameOrder::named(raw)?,
        "fs" => view.tracks = TrackName::new(unescape(raw)?)?,
        "fm" if raw == "samples" => view.measure = Measure::Count,
        "fx" => {
            let steps = raw.split(',').filter_map(unescape);
            view.steps = steps
                .filter(|text| text.len() <= MAX_STEP)
                .filter_map(|text| Step::parse(&text))
                .take(MAX_STEPS)
                .collect();
        }
        "ff" => view.frame = cut(&unescape(raw)?).to_owned(),
        "fc" => view.before = Some(read_range(&unescape(raw)?)?),
        "fq" => view.search = cut(&unescape(raw)?).to_owned(),
        _ => return None,
    }
    Some(())
}
