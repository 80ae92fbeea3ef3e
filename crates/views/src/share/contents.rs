//! Description of a link's contents in words, and removal of names from a link.
//!
//! A table classifies the value of every key. It lets the page list what a link reveals to its recipients, and
//! strip all text of the log or of the reader. Values that are not known to be free of text are stripped too.

use super::{Link, decode, fields, notes};
use crate::fingerprint::Fingerprint;
use crate::view::panel::{Panel, find};
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use session::link_text::{read_range, unescape};

/// Kind of value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    /// Fingerprint of a log.
    Print,
    /// Time range.
    Range,
    /// Number, or word defined by this program.
    Word,
    /// Name of a panel.
    Panel,
    /// Text of the log or of the reader.
    Text,
    /// Texts, separated by commas.
    Texts,
    /// Time and track.
    Item,
    /// Track names, separated by commas.
    Tracks,
    /// Pairs of track names, separated by commas.
    Moves,
    /// Words defined by this program, separated by commas; some are followed by a colon and a text.
    Steps,
    /// Notes, separated by commas.
    Notes,
}

/// Every key except the version's, with its description and the kind of its value.
const KEYS: &[(&str, &str, ValueKind)] = &[
    ("f", "log: size and hash", ValueKind::Print),
    ("lb", "log before: size and hash", ValueKind::Print),
    ("la", "log after: size and hash", ValueKind::Print),
    ("n", "name of the log", ValueKind::Text),
    ("url", "address of the log", ValueKind::Text),
    ("t", "time in view", ValueKind::Range),
    ("r", "selected range", ValueKind::Range),
    ("e", "selected item", ValueKind::Item),
    ("p", "open panel", ValueKind::Panel),
    ("ph", "panel hidden", ValueKind::Word),
    ("pm", "panel maximized", ValueKind::Word),
    ("q", "filter of the tracks", ValueKind::Text),
    ("hide", "hidden tracks", ValueKind::Tracks),
    ("fold", "folded tracks", ValueKind::Tracks),
    ("open", "unfolded tracks", ValueKind::Tracks),
    ("pin", "pinned tracks", ValueKind::Tracks),
    ("move", "moved tracks", ValueKind::Moves),
    ("sel", "selected tracks", ValueKind::Tracks),
    ("to", "order of threads", ValueKind::Word),
    ("tg", "threads by label", ValueKind::Word),
    ("sp", "prefixes of span messages", ValueKind::Text),
    ("es", "search in events", ValueKind::Text),
    ("et", "types of events", ValueKind::Word),
    ("ec", "capability of events", ValueKind::Word),
    ("eh", "thread of events", ValueKind::Word),
    ("ts", "order of the table of threads", ValueKind::Word),
    ("tq", "filter of the table of threads", ValueKind::Text),
    ("ys", "order of the ticky counters", ValueKind::Word),
    ("yq", "filter of the ticky counters", ValueKind::Text),
    ("io", "open finding", ValueKind::Steps),
    ("ip", "place of the finding", ValueKind::Range),
    ("is", "subject of the finding", ValueKind::Word),
    ("iw", "range of the finding", ValueKind::Range),
    ("ca", "alignment of two logs", ValueKind::Text),
    ("cs", "order of the comparison", ValueKind::Word),
    ("cq", "filter of the comparison", ValueKind::Text),
    ("cw", "equal numbers shown", ValueKind::Word),
    ("cc", "curve of the comparison", ValueKind::Text),
    ("fk", "stacks of the flame graph", ValueKind::Word),
    ("fo", "order of the flame graph", ValueKind::Word),
    ("fs", "tracks of the flame graph", ValueKind::Tracks),
    ("fm", "measure of the flame graph", ValueKind::Word),
    ("fx", "steps of the flame graph", ValueKind::Steps),
    ("ff", "function of the flame graph", ValueKind::Text),
    ("fc", "compared range", ValueKind::Range),
    ("fd", "censuses of the flame graph", ValueKind::Range),
    ("fl", "flame graphs of two logs", ValueKind::Word),
    ("fa", "area over time", ValueKind::Word),
    ("fq", "search in the flame graph", ValueKind::Text),
    ("ht", "tab of the heap", ValueKind::Word),
    ("hm", "chart of the heap", ValueKind::Word),
    ("hw", "time of the chart of the heap", ValueKind::Word),
    ("hl", "lines on one scale", ValueKind::Word),
    ("hv", "overlays of the heap chart", ValueKind::Word),
    ("hi", "messages over the chart", ValueKind::Text),
    ("hx", "messages left out of the chart", ValueKind::Text),
    ("hp", "heap profile", ValueKind::Word),
    ("hg", "grouping of bands", ValueKind::Word),
    ("hn", "number of bands", ValueKind::Word),
    ("ho", "order of bands", ValueKind::Word),
    ("hq", "filter of bands", ValueKind::Text),
    ("hh", "hidden bands", ValueKind::Texts),
    ("ha", "band shown alone", ValueKind::Text),
    ("hk", "highlighted band", ValueKind::Text),
    ("hs", "order of the table of bands", ValueKind::Word),
    ("hc", "compared censuses", ValueKind::Word),
    ("hd", "order of the compared bands", ValueKind::Word),
    ("hr", "growth ranked by", ValueKind::Word),
    ("k", "notes", ValueKind::Notes),
];

/// Names of tracks and groups, without trailing numbers. All other names contain text of the program, for example
/// those of spans.
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

/// Entry in the list of a link's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEntry {
    /// Description of the key.
    pub label: String,
    /// Value in words.
    pub value: String,
    /// Whether the value contains text of the log or of the reader.
    pub is_text: bool,
}

/// Returns the keys that this program can write, in order.
pub fn keys(panels: &[Panel]) -> Vec<&'static str> {
    let fields = fields(&Link::default(), panels);
    let keys = fields.into_iter().map(|(key, _)| key);
    std::iter::once("v").chain(keys).collect()
}

/// Returns the description of a key; `None` if it is not in the table.
pub fn key_description(key: &str) -> Option<&'static str> {
    entry(key).map(|(what, _)| what)
}

fn entry(key: &str) -> Option<(&'static str, ValueKind)> {
    let entry = KEYS.iter().find(|(known, ..)| *known == key);
    entry.map(|(_, what, kind)| (*what, *kind))
}

/// Lists the contents of a link, except the version of its grammar. `panels` is the panel table.
pub fn link_entries(link: &Link, panels: &'static [Panel]) -> Vec<LinkEntry> {
    let known = fields(link, panels).into_iter();
    let known = known.filter_map(|(key, raw)| {
        let raw = raw?;
        // A key that is not in the table is listed under its own name.
        let (what, kind) = entry(key).unwrap_or((key, ValueKind::Text));
        Some(LinkEntry {
            label: what.to_owned(),
            value: kind.describe(&raw, panels),
            is_text: kind.redact(&raw).as_deref() != Some(&*raw),
        })
    });
    let unknown = link.unknown.iter().map(|(key, value)| LinkEntry {
        label: format!("of a newer version: {key}"),
        value: format!("“{value}”"),
        is_text: true,
    });
    known.chain(unknown).collect()
}

/// Returns the link without any text of the log or of the reader: names, notes, filters, searches, the address of
/// the log, and unknown keys.
pub fn redacted(link: &Link, panels: &'static [Panel]) -> Link {
    let pieces = fields(link, panels).into_iter().filter_map(|(key, raw)| {
        let (_, kind) = entry(key)?;
        Some(format!("{key}={}", kind.redact(&raw?)?))
    });
    let fragment: Vec<String> = pieces.collect();
    Link {
        version: link.version,
        ..decode(&fragment.join("&"), panels)
    }
}

/// Returns whether an escaped track name contains nothing specific to the log except a number.
fn is_plain_track(raw: &str) -> bool {
    let word = raw.trim_end_matches(|sign: char| sign.is_ascii_digit());
    TRACKS.contains(&word)
}

/// Returns the accepted pieces of a list; `None` if there are none.
fn filtered(raw: &str, keep: impl Fn(&str) -> bool) -> Option<String> {
    let kept: Vec<&str> = raw.split(',').filter(|piece| keep(piece)).collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

impl ValueKind {
    /// Returns the value without text; `None` if nothing remains.
    fn redact(self, raw: &str) -> Option<String> {
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

    /// Describes a value in words.
    fn describe(self, raw: &str, panels: &'static [Panel]) -> String {
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
