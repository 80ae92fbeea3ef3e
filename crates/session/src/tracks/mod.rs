//! The tracks of the timeline. Each is one file here: its name in links, its
//! group and title, which of them a log has, what it shows of a view, how that
//! is painted, its words, its details and its part of the legend. One table here
//! lists them; nothing else names them all. What puts them together is the
//! timeline of the page, of which they know nothing.
//!
//! A track has one of four [`Shape`]s, for each of which there is a painter,
//! words and, for gauges, details that serve without a line of code.

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
mod lane;
pub mod legend;
mod link;
pub mod memory;
pub mod messages;
pub mod name;
pub mod nonmoving;
pub mod processes;
mod query;
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
mod waves;
pub mod words;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::tracks::group::Group;
use crate::tracks::item::{Item, Names, Shown};
use details::{DetailsQuery, Fact};
use eventlog::ids::{CapId, ThreadId};
use legend::{Explained, Section};
use model::class::Class;
use model::marks::{MarkKind, Payload, Writer};
use scene::gauge::{Gauge, Series};
use scene::painter::Painter;
use scene::strip::Strip;

pub use contents::{Contents, Known, Listed, Log};
pub use query::TimelineQuery;
pub use scope::scope_of;

/// In what form a track shows what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Spans that follow each other.
    Lane,
    /// Events without a length.
    Moments,
    /// Lines and areas over time.
    Gauge,
    /// Spans between the ticks of a timer, coloured by what it found.
    Samples,
}

/// A kind of track; a value is one track, known by what it is about.
pub trait TrackKind: Copy + Into<Row> + TryFrom<Row> {
    /// What it knows of a mark beyond its class and time.
    type Payload: Payload;

    /// The group that it stands in.
    const GROUP: Group;
    /// In what form it is.
    const SHAPE: Shape;
    /// The part of the legend that explains it.
    const SECTION: Section;
    /// How high it is, in pixels.
    const HEIGHT_PX: f64 = 22.0;

    /// Its name in links and settings, which never changes.
    fn link(self, contents: &Contents) -> String;
    /// The track of that name.
    fn parse(link: &str, contents: &Contents) -> Option<Self>;

    /// The tracks of this kind that a log has.
    fn of_log(log: &Log<'_>) -> Vec<Listed>;
    /// The tracks of this kind that the page shows: those that the log has,
    /// unless the page knows better.
    fn shown(known: &Known<'_>) -> Vec<Listed> {
        let tracks = known.contents.of_kind::<Self>();
        tracks.map(|(_, track)| track.clone()).collect()
    }

    /// The capability that it is about.
    fn cap(self) -> Option<CapId> {
        None
    }
    /// The thread that it is about.
    fn thread(self) -> Option<ThreadId> {
        None
    }
    /// The series of a gauge.
    fn gauge(self) -> Option<Gauge> {
        None
    }
    /// The series of which there are keys beside its name, by number: those of a
    /// gauge that has more than one.
    fn keys(self) -> &'static [Series] {
        let series = self.gauge().map_or(&[][..], |gauge| gauge.series);
        if series.len() > 1 { series } else { &[] }
    }
    /// What a series of a gauge is called, in a log of so many capabilities.
    fn series_name(self, series: u8, caps: usize) -> String {
        let _ = caps;
        let gauge = self.gauge();
        let found = gauge.and_then(|gauge| gauge.series.get(usize::from(series)));
        found.map_or_else(String::new, |series| series.name.to_owned())
    }

    /// What is said of a series of a gauge in place of its value.
    fn instead_of_value(self, series: u8) -> Option<&'static str> {
        let _ = series;
        None
    }

    /// What it shows of the view of the writer.
    fn answer(self, log: &Log<'_>, writer: &mut Writer);

    /// Paints the marks at hand into its strip.
    fn paint<N: Names>(self, shown: &Shown<'_, N>, strip: &Strip<'_>, painter: &mut dyn Painter) {
        let marks = shown.marks;
        match Self::SHAPE {
            Shape::Gauge => gauge::paint(self.into(), shown, strip, painter),
            Shape::Moments => strip.paint_ticks(marks.of(self), painter),
            Shape::Lane | Shape::Samples => {
                strip.paint_bars(marks.of(self), Class::Other, lane::by_duration, painter);
            }
        }
    }

    /// How it is called within a sentence.
    fn spoken(self, title: &str) -> String {
        title.to_owned()
    }
    /// What an item says at once: a name to stand out, and the rest. An empty
    /// name stands for the title of the track.
    fn describe(self, item: &Item, names: &impl Names) -> (String, String) {
        let _ = names;
        let text = match (Self::SHAPE, item.kind) {
            (Shape::Gauge, _) | (_, MarkKind::Moment | MarkKind::Column) => words::when(item),
            (_, MarkKind::Many) => lane::several(item, "spans"),
            (_, MarkKind::One) => format!("{} · {}", words::duration(item), words::when(item)),
        };
        (String::new(), text)
    }
    /// What else is known of an item.
    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<Fact> {
        match Self::SHAPE {
            Shape::Gauge => gauge::details(self, log, query),
            _ => Vec::new(),
        }
    }

    /// The thread that an item is about.
    fn thread_of(self, _: &Item) -> Option<ThreadId> {
        self.thread()
    }
    /// The capability on which an item is.
    fn cap_of(self, _: &Item) -> Option<CapId> {
        self.cap()
    }
    /// The number of the message that an item is, or of the first of several.
    fn message_of(self, _: &Item) -> Option<u32> {
        None
    }
    /// The class whose colour stands beside the words of an item.
    fn class_of(self, _: &Item) -> Option<Class> {
        None
    }

    /// What the legend says of its marks.
    fn legend() -> Vec<Explained>;
}

/// Makes the enum of all tracks from the table of their kinds, and hands each
/// question on to the kind.
macro_rules! tracks {
    ($($module:ident::$kind:ident,)*) => {
        /// One track of the timeline.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each is documented in its file")]
        pub enum Row {
            $($kind($module::$kind),)*
        }

        $(
            impl From<$module::$kind> for Row {
                fn from(track: $module::$kind) -> Self {
                    Self::$kind(track)
                }
            }

            impl TryFrom<Row> for $module::$kind {
                type Error = ();
                fn try_from(row: Row) -> Result<Self, ()> {
                    match row {
                        Row::$kind(track) => Ok(track),
                        _ => Err(()),
                    }
                }
            }
        )*

        impl fmt::Debug for Row {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$kind(track) => track.fmt(f),)*
                }
            }
        }

        /// Hands a question on to the kind of a track.
        macro_rules! ask {
            ($row:expr, $track:ident => $answer:expr) => {
                match $row {
                    $(Row::$kind($track) => $answer,)*
                }
            };
        }

        /// Hands a question on to all kinds, in the order of the table.
        macro_rules! ask_kinds {
            ($see:expr, $method:ident($argument:expr)) => {
                $($see(<$module::$kind as TrackKind>::$method($argument));)*
            };
        }

        impl Row {
            /// The track of that name in links and settings.
            #[must_use]
            pub fn parse(link: &str, contents: &Contents) -> Option<Self> {
                None$(.or_else(|| $module::$kind::parse(link, contents).map(Self::from)))*
            }

            /// What a part of the legend says of tracks.
            pub fn legend(section: Section) -> Vec<Explained> {
                let mut entries = Vec::new();
                $(
                    if $module::$kind::SECTION == section {
                        entries.extend($module::$kind::legend());
                    }
                )*
                entries
            }

            /// The names of all kinds.
            pub const KINDS: &[&str] = &[$(stringify!($kind)),*];

            /// The name of its kind, one of `KINDS`.
            #[must_use]
            pub const fn kind(self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($kind),)*
                }
            }

            const fn constants(self) -> (Group, Shape, f64) {
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

// The kinds of tracks, in the order in which they stand in their groups.
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

impl Row {
    /// The group that it stands in.
    #[must_use]
    pub const fn group(self) -> Group {
        self.constants().0
    }

    /// In what form it is.
    #[must_use]
    pub const fn shape(self) -> Shape {
        self.constants().1
    }

    /// How high it is, in pixels.
    #[must_use]
    pub const fn height_px(self) -> f64 {
        self.constants().2
    }

    /// Whether it is a graph: lines and areas instead of items.
    #[must_use]
    pub fn is_graph(self) -> bool {
        self.shape() == Shape::Gauge
    }

    /// Its name in links and settings, which never changes.
    #[must_use]
    pub fn link(self, contents: &Contents) -> String {
        ask!(self, track => track.link(contents))
    }

    /// All tracks that a log has, beside those of capabilities and threads.
    #[must_use]
    pub(crate) fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let mut all = Vec::new();
        ask_kinds!(|listed: Vec<Listed>| all.extend(listed), of_log(log));
        all
    }

    /// All tracks that the page shows.
    #[must_use]
    pub fn shown(known: &Known<'_>) -> Vec<Listed> {
        let mut all = Vec::new();
        ask_kinds!(|listed: Vec<Listed>| all.extend(listed), shown(known));
        all
    }

    /// The capability that it is about.
    #[must_use]
    pub fn cap(self) -> Option<CapId> {
        ask!(self, track => track.cap())
    }

    /// The thread that it is about.
    #[must_use]
    pub fn thread(self) -> Option<ThreadId> {
        ask!(self, track => track.thread())
    }

    /// The series of a gauge.
    #[must_use]
    pub fn gauge(self) -> Option<Gauge> {
        ask!(self, track => track.gauge())
    }

    /// The series of which there are keys beside its name, by number.
    #[must_use]
    pub fn keys(self) -> &'static [Series] {
        ask!(self, track => track.keys())
    }

    /// What a series of a gauge is called, in a log of so many capabilities.
    #[must_use]
    pub(crate) fn series_name(self, series: u8, caps: usize) -> String {
        ask!(self, track => track.series_name(series, caps))
    }

    /// What is said of a series of a gauge in place of its value.
    pub fn instead_of_value(self, series: u8) -> Option<&'static str> {
        ask!(self, track => track.instead_of_value(series))
    }

    /// Writes what it shows of the view of the writer.
    pub fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        ask!(self, track => track.answer(log, writer));
    }

    /// Paints the marks at hand into its strip.
    pub fn paint<N: Names>(
        self,
        shown: &Shown<'_, N>,
        strip: &Strip<'_>,
        painter: &mut dyn Painter,
    ) {
        ask!(self, track => track.paint(shown, strip, painter));
    }

    /// How it is called within a sentence.
    #[must_use]
    pub fn spoken(self, title: &str) -> String {
        ask!(self, track => track.spoken(title))
    }

    /// What is known of an item of it beyond its mark.
    #[must_use]
    pub fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<Fact> {
        ask!(self, track => track.details(log, query))
    }
}

impl Item {
    /// What it says at once: a name to stand out, and the rest. An empty name
    /// stands for the title of the track.
    #[must_use]
    pub fn describe(&self, names: &impl Names) -> (String, String) {
        ask!(self.row, track => track.describe(self, names))
    }

    /// The thread that it is about.
    #[must_use]
    pub fn thread(&self) -> Option<ThreadId> {
        ask!(self.row, track => track.thread_of(self))
    }

    /// The capability on which it is.
    #[must_use]
    pub fn cap(&self) -> Option<CapId> {
        ask!(self.row, track => track.cap_of(self))
    }

    /// The number of the message that it is, or of the first of several.
    #[must_use]
    pub fn message(&self) -> Option<u32> {
        ask!(self.row, track => track.message_of(self))
    }

    /// The class whose colour stands beside its words.
    #[must_use]
    pub fn shown_class(&self) -> Option<Class> {
        ask!(self.row, track => track.class_of(self))
    }
}

#[cfg(test)]
mod tests;
