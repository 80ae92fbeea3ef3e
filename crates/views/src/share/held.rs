//! What a link holds, in words, and the same link without names.
//!
//! Each key of a link is in one table, which says what its value is made of. So the page can
//! list what a link tells whoever gets it, and leave out all that is text of the log or of the
//! reader. What is not known to be none is left out too.

use super::{Link, decode, fields, notes};
use crate::fingerprint::Fingerprint;
use crate::view::panel::{Panel, find};
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use session::link_text::{read_range, unescape};

/// What the value of a key is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A fingerprint.
    Print,
    /// A stretch of time.
    Range,
    /// A number or a word of this program.
    Word,
    /// The name of a panel.
    Panel,
    /// A text of the log or of the reader.
    Text,
    /// Texts, parted by commas.
    Texts,
    /// A moment and a track.
    Item,
    /// Names of tracks, parted by commas.
    Tracks,
    /// Names of tracks in pairs, parted by commas.
    Moves,
    /// Words of this program, parted by commas, some followed by a colon and a text.
    Steps,
    /// Notes.
    Notes,
}

/// Every key but the version's: what it holds, and what that is made of.
const KEYS: &[(&str, &str, Form)] = &[
    ("f", "which log it is, by size and a hash", Form::Print),
    ("lb", "the log before, by size and a hash", Form::Print),
    ("la", "the log after, by size and a hash", Form::Print),
    ("n", "name of the log", Form::Text),
    ("url", "where the log is", Form::Text),
    ("t", "time in view", Form::Range),
    ("r", "selected range", Form::Range),
    ("e", "selected item", Form::Item),
    ("p", "open panel", Form::Panel),
    ("ph", "panel hidden", Form::Word),
    ("pm", "panel as large as the page", Form::Word),
    ("q", "filter of the tracks", Form::Text),
    ("hide", "hidden tracks", Form::Tracks),
    ("fold", "folded tracks", Form::Tracks),
    ("open", "unfolded tracks", Form::Tracks),
    ("pin", "pinned tracks", Form::Tracks),
    ("move", "moved tracks", Form::Moves),
    ("sel", "selected tracks", Form::Tracks),
    ("to", "order of threads", Form::Word),
    ("tg", "threads by label", Form::Word),
    ("sp", "words that begin and end spans", Form::Text),
    ("es", "search in events", Form::Text),
    ("et", "types of events", Form::Word),
    ("ec", "capability of events", Form::Word),
    ("eh", "thread of events", Form::Word),
    ("ts", "order of the table of threads", Form::Word),
    ("tq", "filter of the table of threads", Form::Text),
    ("ys", "order of the ticky counters", Form::Word),
    ("yq", "filter of the ticky counters", Form::Text),
    ("io", "open finding", Form::Steps),
    ("ip", "place of the finding", Form::Range),
    ("is", "subject of the finding", Form::Word),
    ("iw", "range of the finding", Form::Range),
    ("ca", "where two logs are aligned", Form::Text),
    ("cs", "order of the comparison", Form::Word),
    ("cq", "filter of the comparison", Form::Text),
    ("cw", "equal numbers shown", Form::Word),
    ("cc", "curve of the comparison", Form::Text),
    ("fk", "stacks of the flame graph", Form::Word),
    ("fo", "order of the flame graph", Form::Word),
    ("fs", "tracks of the flame graph", Form::Tracks),
    ("fm", "measure of the flame graph", Form::Word),
    ("fx", "steps of the flame graph", Form::Steps),
    ("ff", "function of the flame graph", Form::Text),
    ("fc", "range that is compared with", Form::Range),
    ("fd", "censuses of the flame graph", Form::Range),
    ("fl", "flame graphs of two logs", Form::Word),
    ("fa", "area over time", Form::Word),
    ("fq", "search in the flame graph", Form::Text),
    ("ht", "tab of the heap", Form::Word),
    ("hm", "chart of the heap", Form::Word),
    ("hw", "time of the chart of the heap", Form::Word),
    ("hl", "lines on one scale", Form::Word),
    ("hv", "drawn over the chart of the heap", Form::Word),
    ("hi", "messages over the chart", Form::Text),
    ("hx", "messages left out of the chart", Form::Text),
    ("hp", "heap profile", Form::Word),
    ("hg", "bands put together by", Form::Word),
    ("hn", "number of bands", Form::Word),
    ("ho", "order of bands", Form::Word),
    ("hq", "filter of bands", Form::Text),
    ("hh", "hidden bands", Form::Texts),
    ("ha", "only band", Form::Text),
    ("hk", "band that is followed", Form::Text),
    ("hs", "order of the table of bands", Form::Word),
    ("hc", "censuses that are compared", Form::Word),
    ("hd", "order of their bands", Form::Word),
    ("hr", "growth ranked by", Form::Word),
    ("k", "notes", Form::Notes),
];

/// Names of tracks and of groups of them, without the numbers behind them. Only spans of the
/// program have others: what they are called.
const TRACKS: [&str; 33] = [
    "activity",
    "all",
    "alloc",
    "bands",
    "blocks",
    "blocksnone",
    "calls",
    "callsunknown",
    "cap",
    "caps",
    "censuses",
    "converted",
    "created",
    "events",
    "gc",
    "heap",
    "memory",
    "messages",
    "nonmoving",
    "os",
    "parallelism",
    "perf",
    "pool",
    "program",
    "ready",
    "returned",
    "samples",
    "scheduling",
    "spans",
    "sparks",
    "task",
    "thread",
    "threads",
];

/// One thing that a link holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What it is.
    pub what: String,
    /// What the link says of it, in words.
    pub value: String,
    /// Whether that is text of the log or of the reader, as a whole or in part.
    pub is_text: bool,
}

/// The keys of a link that this program can write, in their order.
#[must_use]
pub fn keys(panels: &[Panel]) -> Vec<&'static str> {
    let fields = fields(&Link::default(), panels);
    let keys = fields.into_iter().map(|(key, _)| key);
    std::iter::once("v").chain(keys).collect()
}

/// What a key holds, as a list of what a link holds says it; `None` if it is in no table.
#[must_use]
pub fn what(key: &str) -> Option<&'static str> {
    entry(key).map(|(what, _)| what)
}

fn entry(key: &str) -> Option<(&'static str, Form)> {
    let entry = KEYS.iter().find(|(known, ..)| *known == key);
    entry.map(|(_, what, form)| (*what, *form))
}

/// All that a link holds, but for the version of its grammar. `panels` are those that there are.
#[must_use]
pub fn held(link: &Link, panels: &'static [Panel]) -> Vec<Held> {
    let known = fields(link, panels).into_iter();
    let known = known.filter_map(|(key, raw)| {
        let raw = raw?;
        // What is in no table is shown as it stands.
        let (what, form) = entry(key).unwrap_or((key, Form::Text));
        Some(Held {
            what: what.to_owned(),
            value: form.words(&raw, panels),
            is_text: form.without_text(&raw).as_deref() != Some(&*raw),
        })
    });
    let unknown = link.unknown.iter().map(|(key, value)| Held {
        what: format!("of a newer version: {key}"),
        value: format!("“{value}”"),
        is_text: true,
    });
    known.chain(unknown).collect()
}

/// The link without any text of the log or of the reader: names, notes, filters, searches, the
/// address of the log, and what a newer version put into it.
#[must_use]
pub fn without_texts(link: &Link, panels: &'static [Panel]) -> Link {
    let pieces = fields(link, panels).into_iter().filter_map(|(key, raw)| {
        let (_, form) = entry(key)?;
        Some(format!("{key}={}", form.without_text(&raw?)?))
    });
    let fragment: Vec<String> = pieces.collect();
    Link {
        version: link.version,
        ..decode(&fragment.join("&"), panels)
    }
}

/// Whether an escaped name of a track says nothing of the log but a number.
fn is_plain_track(raw: &str) -> bool {
    let word = raw.trim_end_matches(|sign: char| sign.is_ascii_digit());
    TRACKS.contains(&word)
}

/// The pieces of a list that are to be kept; `None` if these are none.
fn filtered(raw: &str, keep: impl Fn(&str) -> bool) -> Option<String> {
    let kept: Vec<&str> = raw.split(',').filter(|piece| keep(piece)).collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

impl Form {
    /// The value without text; `None` if nothing is left of it.
    fn without_text(self, raw: &str) -> Option<String> {
        match self {
            Self::Print | Self::Range | Self::Word | Self::Panel => Some(raw.to_owned()),
            Self::Text | Self::Texts | Self::Notes => None,
            Self::Item => {
                let (_, track) = raw.split_once('.')?;
                is_plain_track(track).then(|| raw.to_owned())
            }
            Self::Tracks => filtered(raw, is_plain_track),
            Self::Moves => filtered(raw, |pair| {
                let mut tracks = pair.split('!').filter(|track| !track.is_empty());
                tracks.all(is_plain_track)
            }),
            Self::Steps => filtered(raw, |step| {
                step.bytes()
                    .all(|byte| byte == b'-' || byte.is_ascii_alphabetic())
            }),
        }
    }

    /// What a link says by a value.
    fn words(self, raw: &str, panels: &'static [Panel]) -> String {
        let text = |raw: &str| unescape(raw).unwrap_or_default();
        let list = |raw: &str| -> Vec<String> { raw.split(',').map(text).collect() };
        match self {
            Self::Print => Fingerprint::parse(raw).map_or_else(
                || raw.to_owned(),
                |print| format!("{}, {raw}", format::bytes(print.len())),
            ),
            Self::Range => read_range(raw).map_or_else(|| raw.to_owned(), between),
            Self::Word => text(raw),
            Self::Panel => {
                find(panels, raw).map_or_else(|| raw.to_owned(), |it| it.title.to_owned())
            }
            Self::Text => format!("“{}”", text(raw)),
            Self::Texts => format!("“{}”", list(raw).join("”, “")),
            Self::Item => {
                let (time, track) = raw.split_once('.').unwrap_or_default();
                let time = Nanos(time.parse().unwrap_or_default());
                format!("{} at {}", text(track), format::time(time))
            }
            Self::Tracks | Self::Steps => list(raw).join(", "),
            Self::Moves => {
                let pair = |pair: &str| match pair.split_once('!') {
                    Some((track, "")) => format!("{} first", text(track)),
                    Some((track, after)) => format!("{} behind {}", text(track), text(after)),
                    None => text(pair),
                };
                raw.split(',').map(pair).collect::<Vec<_>>().join(", ")
            }
            Self::Notes => {
                let notes = notes::read_notes(raw);
                let note = notes.iter().map(|note| {
                    let span = note.span();
                    let at = if note.is_moment() {
                        format::time(span.start())
                    } else {
                        between(span)
                    };
                    format!("“{}” at {at}", note.name())
                });
                note.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn between(range: Interval) -> String {
    let [start, end] = [range.start(), range.end()].map(format::time);
    format!("{start} to {end}")
}
