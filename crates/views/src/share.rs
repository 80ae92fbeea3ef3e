//! The part of a link after `#`: what is shown of a log, never the log itself.
//!
//! It is written to be read: `v=1&t=12345m1500&p=flame`. Only what differs
//! from a fresh view is there, keys are in the order of this table, and all
//! numbers are integers.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `v` | version of this grammar; missing means 1 | `1` |
//! | `f` | fingerprint of the log, see [`Fingerprint`] | `9b831.4f0a91c2d7e3` |
//! | `n` | name of the log; off unless asked for, names tell secrets | `server.eventlog` |
//! | `t` | visible range: start, unit (`n`, `u`, `m`, `s`), duration | `12345m1500` |
//! | `r` | selected range, same form | `12600m40` |
//! | `e` | selected item: nanoseconds and track | `12601234567.cap3` |
//! | `p` | open panel, see [`Panel`] | `flame` |
//! | `q` | filter of the tracks | `worker` |
//! | `hide` | hidden tracks | `gc,thread12` |
//! | `fold` | folded groups of tracks | `threads` |
//! | `open` | groups shown although they start folded | `sparks` |
//! | `pin` | tracks that stay at the top, in this order | `cap0,gc` |
//! | `move` | tracks that were moved: behind which one, or to the front | `cap3!cap0,gc!` |
//! | `sel` | selected tracks, to which the range and the panels are limited | `cap0` |
//! | `to` | order of threads: `first` run, `id` or `label` | `id` |
//! | `tg` | `1` if threads with one label stand together | `1` |
//! | `sp` | what messages begin with that begin spans of the program, `!`, and that end them | `BEGIN!DONE,END` |
//! | `fk` | flame graph: where its stacks come from, see [`Source`](model::profile::source::Source) | `waiting` |
//! | `fo` | flame graph: order, see [`FlameOrder`] | `left` |
//! | `fs` | flame graph: tracks | `cap0` |
//! | `fm` | flame graph: by samples, not by time | `samples` |
//! | `fx` | flame graph: steps, see [`Step`](crate::flame::step::Step) | `idle,focus:Main.f` |
//! | `ff` | flame graph: frame whose callers and callees are shown | `Main.f` |
//! | `fc` | flame graph: time to compare with | `0m500` |
//! | `fq` | flame graph: text searched for | `parse` |
//! | `es` | events: text searched for | `timeout` |
//! | `et` | events: numbers of the types that are listed | `1.2.19` |
//! | `ec` | events: capability, or `none` | `3` |
//! | `eh` | events: thread | `12` |
//! | `ts` | table of threads: sorted by this, `.up` or `.down` if not in its usual direction | `ready`, `label.down` |
//! | `tq` | table of threads: filter | `worker` |
//! | `k` | notes: a moment in nanoseconds or a range, `~` and a name | `7~start,12600m40~slow` |
//!
//! Reading never fails. A piece that cannot be understood is ignored and the
//! rest counts; of duplicates the last that can be understood wins; too long a
//! text is cut. Unknown keys, and unknown words where a newer version may have
//! more of them, are kept and written again.

mod fingerprint;
mod flame;
mod notes;
mod tracks;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use crate::events::EventList;
use crate::events::filter::CapFilter;
use crate::notes::Notes;
use crate::scene::arrange::TrackView;
use analysis::timeline::thread_table::{ThreadColumn, ThreadView};
use eventlog::ids::{CapId, Nanos, OsThreadId, ThreadId};
use model::time::Span;

pub use fingerprint::{Fingerprint, fingerprint};
pub use flame::{FlameOrder, FlameView, MAX_STEPS};

/// The longest text that is kept of a name, a filter or a search, in bytes.
pub const MAX_TEXT: usize = 200;
/// The longest name of a track, in bytes; a longer one is no name.
pub const MAX_TRACK_NAME: usize = 64;
/// How many tracks one list holds.
pub const MAX_TRACKS: usize = 64;
/// How many types of events one list holds.
pub const MAX_TYPES: usize = 256;
/// How many unknown keys are kept.
pub const MAX_UNKNOWN: usize = 16;
/// The longest unknown key that is kept, in bytes.
pub const MAX_UNKNOWN_KEY: usize = 32;

/// What a link says about the view of a log. The default is the view of a log
/// that was just opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// The version of the grammar that it was written in.
    pub version: Version,
    /// Which log it is about.
    pub fingerprint: Option<Fingerprint>,
    /// What the log was called. Not empty; shown as text only.
    pub log_name: Option<String>,
    /// The stretch of time in view; the whole log if `None`.
    pub visible: Option<Span>,
    /// The selected stretch of time.
    pub selection: Option<Span>,
    /// The selected item.
    pub selected: Option<Selected>,
    /// The open panel.
    pub panel: Panel,
    /// Which tracks are shown, and how.
    pub tracks: TrackView,
    /// How the flame graph is shown.
    pub flame: FlameView,
    /// Which events are listed; their range is [`selection`](Self::selection).
    pub events: EventList,
    /// How the table of threads is shown.
    pub threads: ThreadView,
    /// What the reader noted.
    pub notes: Notes,
    /// What this version does not know.
    pub unknown: Unknown,
}

impl ViewState {
    /// Whether a newer version wrote it, so that this one may miss something.
    #[must_use]
    pub fn newer(&self) -> bool {
        self.version > Version::CURRENT
    }
}

/// A version of the grammar, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32);

impl Version {
    /// The one that this program writes.
    pub const CURRENT: Self = Self(1);

    /// That version; there is no version 0.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match number {
            0 => None,
            _ => Some(Self(number)),
        }
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::CURRENT
    }
}

/// An item, named by what it is and not by a number that another version of
/// the program might give to something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// When it begins.
    pub time: Nanos,
    /// The track that it is on.
    pub track: TrackName,
}

/// A panel below the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Panel {
    /// `summary`
    #[default]
    Summary,
    /// `events`
    Events,
    /// `threads`
    Threads,
    /// `gc`
    Collections,
    /// `sparks`
    Sparks,
    /// `flame`
    FlameGraph,
    /// `process`
    Process,
    /// `view`
    InView,
    /// `notes`
    Notes,
}

impl Panel {
    /// All of them, in the order of their tabs.
    pub const ALL: [Self; 9] = [
        Self::Summary,
        Self::Events,
        Self::Threads,
        Self::Collections,
        Self::Sparks,
        Self::FlameGraph,
        Self::Process,
        Self::InView,
        Self::Notes,
    ];

    /// Its name in links, which never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Events => "events",
            Self::Threads => "threads",
            Self::Collections => "gc",
            Self::Sparks => "sparks",
            Self::FlameGraph => "flame",
            Self::Process => "process",
            Self::InView => "view",
            Self::Notes => "notes",
        }
    }

    /// What its tab says.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::Events => "Events",
            Self::Threads => "Threads",
            Self::Collections => "Collections",
            Self::Sparks => "Sparks",
            Self::FlameGraph => "Flame graph",
            Self::Process => "Process",
            Self::InView => "In view",
            Self::Notes => "Notes",
        }
    }

    /// The panel of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|panel| panel.name() == name)
    }
}

/// The stable name of a track: `cap0`, `thread12`, `os1234`, `gc`, `activity`,
/// or `all` of them. Not empty, at most [`MAX_TRACK_NAME`] bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackName(String);

impl TrackName {
    /// That name, if it can be one.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Option<Self> {
        let name = name.into();
        (1..=MAX_TRACK_NAME)
            .contains(&name.len())
            .then_some(Self(name))
    }

    /// The same of any text that is not empty: what is too long is cut.
    #[must_use]
    pub fn cut(name: &str) -> Self {
        let end = name.floor_char_boundary(MAX_TRACK_NAME);
        Self(name.get(..end).unwrap_or_default().to_owned())
    }

    /// `cap0`: what a capability did.
    #[must_use]
    pub fn capability(id: CapId) -> Self {
        Self(format!("cap{id}"))
    }

    /// `thread12`: the states of a Haskell thread.
    #[must_use]
    pub fn thread(id: ThreadId) -> Self {
        Self(format!("thread{id}"))
    }

    /// `os1234`: an OS thread.
    #[must_use]
    pub fn os_thread(id: OsThreadId) -> Self {
        Self(format!("os{id}"))
    }

    /// `gc`: collections of the whole program.
    #[must_use]
    pub fn gc() -> Self {
        Self("gc".into())
    }

    /// `activity`: how many capabilities run.
    #[must_use]
    pub fn activity() -> Self {
        Self("activity".into())
    }

    /// `all`: every source at once.
    #[must_use]
    pub fn all() -> Self {
        Self("all".into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The capability, if it is one's.
    #[must_use]
    pub fn as_capability(&self) -> Option<CapId> {
        let id = number(self.0.strip_prefix("cap")?)?;
        Some(CapId(id.try_into().ok()?))
    }

    /// The Haskell thread, if it is one's.
    #[must_use]
    pub fn as_thread(&self) -> Option<ThreadId> {
        let id = number(self.0.strip_prefix("thread")?)?;
        Some(ThreadId(id.try_into().ok()?))
    }

    /// The OS thread, if it is one's.
    #[must_use]
    pub fn as_os_thread(&self) -> Option<OsThreadId> {
        number(self.0.strip_prefix("os")?).map(OsThreadId)
    }
}

impl fmt::Display for TrackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Keys that this version does not know, with their values; bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown(BTreeMap<String, String>);

impl Unknown {
    /// The keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    fn keep(&mut self, key: &str, value: String) -> Option<()> {
        let room = self.0.len() < MAX_UNKNOWN || self.0.contains_key(key);
        let sound = (1..=MAX_UNKNOWN_KEY).contains(&key.len()) && value.len() <= MAX_TEXT;
        (room && sound).then(|| {
            self.0.insert(key.to_owned(), value);
        })
    }
}

/// Writes the fragment, without `#`; empty for a fresh view. Too long texts
/// are cut, and a range that ends before it begins is left out.
#[must_use]
pub fn encode(state: &ViewState) -> String {
    let fields = fields(state);
    let unknown = state
        .unknown
        .iter()
        .filter(|(key, _)| fields.iter().all(|(known, _)| known != key))
        .map(|(key, value)| (escape(key), escape(value)));
    let mut out = format!("v={}", state.version.0);
    let fields = fields
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    let mut fresh = state.version == Version::CURRENT;
    for (key, value) in fields.chain(unknown) {
        let _ = write!(out, "&{key}={value}");
        fresh = false;
    }
    if fresh { String::new() } else { out }
}

/// The known keys that differ from a fresh view, values escaped.
fn fields(state: &ViewState) -> Vec<(&'static str, String)> {
    let text = |text: &str| (!text.is_empty()).then(|| escape(cut(text)));
    let log = [
        ("f", state.fingerprint.map(|print| print.to_string())),
        ("n", state.log_name.as_deref().and_then(text)),
        ("t", state.visible.and_then(write_range)),
        ("r", state.selection.and_then(write_range)),
        ("e", state.selected.as_ref().map(write_selected)),
        (
            "p",
            unless(state.panel, Panel::default()).map(|panel| panel.name().into()),
        ),
    ];
    let panels = [
        ("es", text(&state.events.search)),
        ("et", write_types(&state.events.filter.types)),
        ("ec", write_cap(state.events.filter.cap)),
        (
            "eh",
            state.events.filter.thread.map(|thread| thread.to_string()),
        ),
        ("ts", write_sort(&state.threads)),
        ("tq", text(&state.threads.filter)),
        ("k", notes::write_notes(&state.notes)),
    ];
    log.into_iter()
        .chain(tracks::write(&state.tracks))
        .chain(flame::write(&state.flame))
        .chain(panels)
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}

fn unless<T: PartialEq>(value: T, default: T) -> Option<T> {
    (value != default).then_some(value)
}

/// Reads a fragment, with or without its `#`. Never fails.
#[must_use]
pub fn decode(fragment: &str) -> ViewState {
    let mut state = ViewState::default();
    let pieces = fragment.strip_prefix('#').unwrap_or(fragment).split('&');
    for (key, value) in pieces.filter_map(|piece| piece.split_once('=')) {
        // `None` means that the piece is ignored.
        let _: Option<()> = read(&mut state, key, value);
    }
    state
}

/// Takes one piece over into the state.
fn read(state: &mut ViewState, key: &str, raw: &str) -> Option<()> {
    let key = unescape(key)?;
    match &*key {
        "k" => state.notes = notes::read_notes(raw),
        key if tracks::read(&mut state.tracks, key, raw).is_some() => {}
        key if flame::read(&mut state.flame, key, raw).is_some() => {
            // A word from the future before it counts no more.
            state.unknown.0.remove(key);
        }
        key => read_text(state, key, unescape(raw)?)?,
    }
    Some(())
}

/// Takes over one piece whose value is a single text.
fn read_text(state: &mut ViewState, key: &str, value: String) -> Option<()> {
    match key {
        "v" => state.version = Version::new(number(&value)?.try_into().ok()?)?,
        "f" => state.fingerprint = Some(Fingerprint::parse(&value)?),
        "n" => state.log_name = Some(cut(&value).to_owned()).filter(|name| !name.is_empty()),
        "t" => state.visible = Some(read_range(&value)?),
        "r" => state.selection = Some(read_range(&value)?),
        "e" => state.selected = Some(read_selected(&value)?),
        "p" => state.panel = read_word(&mut state.unknown, key, value, Panel::named)?,
        "es" => state.events.search = cut(&value).to_owned(),
        "et" => state.events.filter.types = read_types(&value)?,
        "ec" => state.events.filter.cap = read_cap(&value)?,
        "eh" => state.events.filter.thread = Some(ThreadId(number(&value)?.try_into().ok()?)),
        "ts" => {
            let sorted = read_word(&mut state.unknown, key, value, read_sort)?;
            (state.threads.sort, state.threads.descending) = (sorted.sort, sorted.descending);
        }
        "tq" => state.threads.filter = cut(&value).to_owned(),
        _ => state.unknown.keep(key, value)?,
    }
    Some(())
}

/// A column, and its direction if that is not the one it has at first.
fn write_sort(view: &ThreadView) -> Option<String> {
    let fresh = ThreadView::default();
    if (view.sort, view.descending) == (fresh.sort, fresh.descending) {
        return None;
    }
    let direction = match (view.sort.largest_first(), view.descending) {
        (true, false) => ".up",
        (false, true) => ".down",
        _ => "",
    };
    Some(format!("{}{direction}", view.sort.name()))
}

fn read_sort(text: &str) -> Option<ThreadView> {
    let (name, direction) = text.split_once('.').unwrap_or((text, ""));
    let mut view = ThreadView::sorted_by(ThreadColumn::named(name)?);
    match direction {
        "" => {}
        "up" => view.descending = false,
        "down" => view.descending = true,
        _ => return None,
    }
    Some(view)
}

/// One of some words; a word from the future is kept and counts as the default.
fn read_word<T: Default>(
    unknown: &mut Unknown,
    key: &str,
    word: String,
    named: fn(&str) -> Option<T>,
) -> Option<T> {
    if let Some(value) = named(&word) {
        unknown.0.remove(key);
        return Some(value);
    }
    let value = (!word.is_empty()).then(T::default)?;
    unknown.keep(key, word).map(|()| value)
}

/// The units of a range, coarsest first, with their length in nanoseconds.
const UNITS: [(char, u64); 4] = [
    ('s', 1_000_000_000),
    ('m', 1_000_000),
    ('u', 1_000),
    ('n', 1),
];

/// Writes a range in the coarsest unit that is exact.
fn write_range(range: Span) -> Option<String> {
    let (start, duration) = (range.start.0, range.end.0.checked_sub(range.start.0)?);
    let (unit, length) = UNITS
        .into_iter()
        .find(|(_, length)| start % length == 0 && duration % length == 0)?;
    Some(format!("{}{unit}{}", start / length, duration / length))
}

/// Reads a range; a missing start is 0.
fn read_range(text: &str) -> Option<Span> {
    let (at, length) = text.char_indices().find_map(|(at, c)| {
        let (_, length) = UNITS.into_iter().find(|(unit, _)| *unit == c)?;
        Some((at, length))
    })?;
    let start = if at == 0 { 0 } else { number(&text[..at])? };
    let start = start.checked_mul(length)?;
    let duration = number(&text[at + 1..])?.checked_mul(length)?;
    Some(Span::new(Nanos(start), Nanos(start.checked_add(duration)?)))
}

fn write_selected(selected: &Selected) -> String {
    format!("{}.{}", selected.time.0, escape(selected.track.as_str()))
}

fn read_selected(text: &str) -> Option<Selected> {
    let (time, track) = text.split_once('.')?;
    Some(Selected {
        time: Nanos(number(time)?),
        track: TrackName::new(track)?,
    })
}

fn write_types(types: &[u16]) -> Option<String> {
    let numbers: Vec<String> = types.iter().take(MAX_TYPES).map(u16::to_string).collect();
    (!numbers.is_empty()).then(|| numbers.join("."))
}

/// Numbers in order, each once.
fn read_types(text: &str) -> Option<Vec<u16>> {
    let numbers = text
        .split('.')
        .map(|text| number(text)?.try_into().ok())
        .collect::<Option<BTreeSet<u16>>>()?;
    Some(numbers.into_iter().take(MAX_TYPES).collect())
}

fn write_cap(cap: CapFilter) -> Option<String> {
    match cap {
        CapFilter::All => None,
        CapFilter::Without => Some("none".to_owned()),
        CapFilter::Only(cap) => Some(cap.to_string()),
    }
}

fn read_cap(text: &str) -> Option<CapFilter> {
    Some(match text {
        "none" => CapFilter::Without,
        number_text => CapFilter::Only(CapId(number(number_text)?.try_into().ok()?)),
    })
}

/// Decimal digits and nothing else (`str::parse` would take a sign).
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// The longest beginning that is at most [`MAX_TEXT`] bytes long.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// Escapes every byte but the unreserved ones of RFC 3986 (section 2.3), which
/// programs that make links of text leave alone.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Undoes [`escape`]; `None` for half an escape or bytes that are no text.
fn unescape(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut out = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.as_bytes().split_at_checked(2)?;
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        out.push((digit(0)? * 16 + digit(1)?) as u8);
        out.extend(rest);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests;
