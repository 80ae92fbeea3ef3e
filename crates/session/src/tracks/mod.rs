//! Timeline tracks. Each kind is one file here, which has its name in links, group, title, availability in a log,
//! data for a view, painting, descriptions, details and legend. The table in this file is the only complete list
//! of the kinds. The timeline of the page arranges the tracks; they do not depend on it.
//!
//! A track has one of four [`Shape`]s. Gauges have default painting, descriptions and details, lanes default bars.

pub mod activity;
pub mod bands;
pub mod blocks;
pub mod calls;
pub mod capability;
mod capability_paint;
pub mod censuses;
pub mod collections;
pub mod concurrency;
mod contents;
pub mod counter;
pub mod details;
pub mod gauge;
pub mod group;
pub mod instants;
pub mod item;
pub mod lane;
pub mod legend;
mod link;
pub mod memory;
pub mod messages;
mod moments;
pub mod name;
pub mod nonmoving;
pub mod processes;
mod query;
mod sample_data;
pub mod samples;
mod samples_paint;
mod scope;
pub mod sparks;
mod stacks;
pub mod task;
pub mod thread;
mod thread_details;
mod thread_paint;
pub mod user_span;
pub mod words;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use details::{DetailField, DetailsQuery};
use eventlog::ids::{CapId, ThreadId};
use legend::{LegendEntry, Section};
use model::class::Class;
use model::marks::{MarkView, MarkWriter, Payload};
use scene::gauge::{Gauge, Series};
use scene::painter::Painter;
use scene::strip::Bar;

pub use contents::{Log, LogContents, TrackEntry, TrackListInput};
pub use query::TimelineQuery;
pub use scope::scope_of;

/// Form in which a track displays its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Consecutive spans, drawn as bars.
    Lane,
    /// Instantaneous events, drawn as ticks.
    Moments,
    /// Lines and areas over time.
    Gauge,
    /// Spans between timer ticks, colored by the sampled function.
    Samples,
}

/// Kind of track. A value identifies one track.
pub trait TrackKind: Copy + Into<TrackId> + TryFrom<TrackId> {
    /// Data of a mark beyond its class and time.
    type Payload: Payload;

    /// Group that contains the track.
    const GROUP: TrackGroup;
    /// Form in which the track displays its data.
    const SHAPE: Shape;
    /// Section of the legend that explains the track.
    const SECTION: Section;
    /// Height of the track in pixels.
    const HEIGHT_PX: f64 = 22.0;
    /// Class whose color the bars of a lane have.
    const BAR_CLASS: Class = Class::Other;

    /// Returns the name in links and settings, which never changes.
    fn link(self, contents: &LogContents) -> String;
    /// Returns the track with that name.
    fn parse(link: &str, contents: &LogContents) -> Option<Self>;

    /// Returns the tracks of this kind that a log has.
    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry>;
    /// Returns the tracks of this kind that the page shows: by default, those that the log has.
    fn entries_to_show(known: &TrackListInput<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let tracks = known.contents.entries_of_kind::<Self>();
        tracks.map(|(_, track)| track.clone())
    }

    /// Returns the capability that the track is about.
    fn cap(self) -> Option<CapId> {
        None
    }
    /// Returns the thread that the track is about.
    fn thread(self) -> Option<ThreadId> {
        None
    }
    /// Returns the series, unit and scale of a gauge; `None` for other shapes.
    fn gauge(self) -> Option<Gauge> {
        None
    }
    /// Returns the series for which the track header shows a color key, by index: those of a gauge with more than
    /// one series.
    fn color_keys(self) -> &'static [Series] {
        let series = self.gauge().map_or(&[][..], |gauge| gauge.series);
        if series.len() > 1 { series } else { &[] }
    }
    /// Returns the name of a series, in a log of `caps` capabilities.
    fn series_name(self, series: u8, _caps: usize) -> String {
        let gauge = self.gauge();
        let found = gauge.and_then(|gauge| gauge.series.get(usize::from(series)));
        found.map_or_else(String::new, |series| series.name.to_owned())
    }

    /// Returns a text that replaces the value of a series.
    fn value_override(self, _series: u8) -> Option<&'static str> {
        None
    }

    /// Writes the marks for the writer's view.
    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter);

    /// Paints the available marks into a strip: by default, the [bars](Self::bar) of a lane, or the lines and areas
    /// of a gauge.
    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        if Self::SHAPE == Shape::Gauge {
            return gauge::paint(self.into(), shown, painter);
        }
        let marks = shown.marks.row_marks(self);
        let bar = |mark: &MarkView<'_>| Self::bar(mark, shown.names);
        shown.strip.paint_bars(marks, Self::BAR_CLASS, bar, painter);
    }
    /// Returns the appearance of a span in a lane: by default, a bar with its duration.
    fn bar(mark: &MarkView<'_>, _names: &dyn Names) -> Bar {
        lane::by_duration(mark)
    }

    /// Returns the name for use within a sentence.
    fn name_in_sentence(self, title: &str) -> String {
        title.to_owned()
    }
    /// Returns a short description of an item: an emphasized name, and the rest. An empty name stands for the
    /// title of the track.
    fn describe(self, item: &Item, _names: &dyn Names) -> (String, String) {
        (String::new(), words::when(item))
    }
    /// Returns further details of an item: by default, the values of a gauge.
    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        gauge::details(self, log, query)
    }

    /// Returns the thread that an item is about.
    fn thread_of(self, _: &Item) -> Option<ThreadId> {
        self.thread()
    }
    /// Returns the capability that an item is on.
    fn cap_of(self, _: &Item) -> Option<CapId> {
        self.cap()
    }
    /// Returns the number of an item's message, or of the first of several.
    fn message_of(self, _: &Item) -> Option<u32> {
        None
    }
    /// Returns the class whose color marks the description of an item.
    fn class_of(self, _: &Item) -> Option<Class> {
        None
    }

    /// Returns the legend entries.
    fn legend() -> Vec<LegendEntry>;
}

/// Generates the enum of all tracks from the table of kinds, with the dispatch to each kind.
macro_rules! tracks {
    ($($module:ident::$kind:ident,)*) => {
        /// One track of the timeline.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each is documented in its file")]
        pub enum TrackId {
            $($kind($module::$kind),)*
        }

        $(
            impl From<$module::$kind> for TrackId {
                fn from(track: $module::$kind) -> Self {
                    Self::$kind(track)
                }
            }

            impl TryFrom<TrackId> for $module::$kind {
                type Error = ();
                fn try_from(row: TrackId) -> Result<Self, ()> {
                    match row {
                        TrackId::$kind(track) => Ok(track),
                        _ => Err(()),
                    }
                }
            }
        )*

        impl fmt::Debug for TrackId {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$kind(track) => track.fmt(f),)*
                }
            }
        }

        /// Calls a method on the kind of a track.
        macro_rules! ask {
            ($row:expr, $track:ident => $answer:expr) => {
                match $row {
                    $(TrackId::$kind($track) => $answer,)*
                }
            };
        }

        impl TrackId {
            /// Returns the track with that name in links and settings.
            pub fn parse(link: &str, contents: &LogContents) -> Option<Self> {
                None$(.or_else(|| $module::$kind::parse(link, contents).map(Self::from)))*
            }

            /// Returns all tracks of a log other than those of capabilities and threads.
            pub(crate) fn entries_in_log(log: &Log<'_>) -> Vec<TrackEntry> {
                let mut all = Vec::new();
                $(all.extend($module::$kind::entries_in_log(log));)*
                all
            }

            /// Returns all tracks that the page shows.
            pub fn entries_to_show(known: &TrackListInput<'_>) -> Vec<TrackEntry> {
                let mut all = Vec::new();
                $(all.extend($module::$kind::entries_to_show(known));)*
                all
            }

            /// Returns the entries of all tracks in a section of the legend.
            pub fn legend(section: Section) -> Vec<LegendEntry> {
                let mut entries = Vec::new();
                $(
                    if $module::$kind::SECTION == section {
                        entries.extend($module::$kind::legend());
                    }
                )*
                entries
            }

            /// Names of all kinds.
            pub const KINDS: &[&str] = &[$(stringify!($kind)),*];

            /// Returns the name of the track's kind, one of `KINDS`.
            pub const fn kind(self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($kind),)*
                }
            }

            const fn constants(self) -> (TrackGroup, Shape, f64) {
                match self {
                    $(Self::$kind(_) => (
                        <$module::$kind as TrackKind>::GROUP,
                        <$module::$kind as TrackKind>::SHAPE,
                        <$module::$kind as TrackKind>::HEIGHT_PX,
                    ),)*
                }
            }
        }
    };
}

// All kinds of tracks, in the order within their groups.
tracks! {
    activity::Activity,
    collections::Collections,
    nonmoving::Nonmoving,
    bands::Bands,
    concurrency::Concurrency,
    messages::Messages,
    capability::Capability,
    samples::Samples,
    calls::ForeignCalls,
    instants::Instants,
    memory::Memory,
    censuses::Censuses,
    sparks::Sparks,
    user_span::UserSpan,
    thread::Thread,
    task::Task,
    counter::Counter,
    blocks::Blocks,
}

impl TrackId {
    /// Returns the group that contains the track.
    pub const fn group(self) -> TrackGroup {
        self.constants().0
    }

    /// Returns the form of display.
    pub const fn shape(self) -> Shape {
        self.constants().1
    }

    /// Returns the height in pixels.
    pub const fn height_px(self) -> f64 {
        self.constants().2
    }

    /// Returns whether the track is a gauge, which has lines and areas instead of items.
    pub fn is_graph(self) -> bool {
        self.shape() == Shape::Gauge
    }

    /// Returns the name in links and settings, which never changes.
    pub fn link(self, contents: &LogContents) -> String {
        ask!(self, track => track.link(contents))
    }

    /// Returns the capability that the track is about.
    pub fn cap(self) -> Option<CapId> {
        ask!(self, track => track.cap())
    }

    /// Returns the thread that the track is about.
    pub fn thread(self) -> Option<ThreadId> {
        ask!(self, track => track.thread())
    }

    /// Returns the series, unit and scale of a gauge; `None` for other shapes.
    pub fn gauge(self) -> Option<Gauge> {
        ask!(self, track => track.gauge())
    }

    /// Returns the series for which the track header shows a color key, by index.
    pub fn color_keys(self) -> &'static [Series] {
        ask!(self, track => track.color_keys())
    }

    /// Returns the name of a series, in a log of `caps` capabilities.
    pub(crate) fn series_name(self, series: u8, caps: usize) -> String {
        ask!(self, track => track.series_name(series, caps))
    }

    /// Returns a text that replaces the value of a series.
    pub fn value_override(self, series: u8) -> Option<&'static str> {
        ask!(self, track => track.value_override(series))
    }

    /// Writes the marks for the writer's view.
    pub fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        ask!(self, track => track.answer(log, writer));
    }

    /// Paints the available marks into a strip.
    pub fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        ask!(self, track => track.paint(shown, painter));
    }

    /// Returns the name for use within a sentence.
    pub fn name_in_sentence(self, title: &str) -> String {
        ask!(self, track => track.name_in_sentence(title))
    }

    /// Returns the details of an item beyond its mark.
    pub fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        ask!(self, track => track.details(log, query))
    }
}

impl Item {
    /// Returns a short description: an emphasized name, and the rest. An empty name stands for the title of the
    /// track.
    pub fn describe(&self, names: &dyn Names) -> (String, String) {
        ask!(self.row, track => track.describe(self, names))
    }

    /// Returns the thread that the item is about.
    pub fn thread(&self) -> Option<ThreadId> {
        ask!(self.row, track => track.thread_of(self))
    }

    /// Returns the capability that the item is on.
    pub fn cap(&self) -> Option<CapId> {
        ask!(self.row, track => track.cap_of(self))
    }

    /// Returns the number of the item's message, or of the first of several.
    pub fn message(&self) -> Option<u32> {
        ask!(self.row, track => track.message_of(self))
    }

    /// Returns the class whose color marks the description.
    pub fn shown_class(&self) -> Option<Class> {
        ask!(self.row, track => track.class_of(self))
    }
}

#[cfg(test)]
mod tests;
