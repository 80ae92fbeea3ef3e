//! Encoding of a view as the fragment of a link (the part after `#`), which never contains the log itself.
//!
//! The format is human-readable: `v=1&t=12345m1500&p=flame`. Only differences from a fresh view are written, keys
//! appear in the order of this table (those of panels before `k`), and all numbers are integers.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `v` | version of this grammar; missing means 1 | `1` |
//! | `f` | fingerprint of the log, see [`Fingerprint`] | `9b831.4f0a91c2d7e3` |
//! | `lb`, `la` | fingerprint of the other log of a comparison: the one before, or after | `8x2.0a91c2d7e34f` |
//! | `n` | name of the log; omitted unless requested, as names can be confidential | `server.eventlog` |
//! | `url` | address of the log, for the page to fetch | `logs%2Frun.eventlog` |
//! | `t` | visible range: start, unit (`n`, `u`, `m`, `s`), duration | `12345m1500` |
//! | `r` | selected range, same form | `12600m40` |
//! | `e` | selected item: nanoseconds and track | `12601234567.cap3` |
//! | `p` | open panel, see [`Panel`] | `flame` |
//! | `ph` | `1` if the panel is hidden | `1` |
//! | `pm` | `1` if the panel is maximized and the timeline hidden | `1` |
//! | `q` | filter of the tracks | `worker` |
//! | `hide` | hidden tracks | `gc,thread12` |
//! | `fold` | folded groups of tracks | `threads` |
//! | `open` | unfolded groups that start folded | `sparks` |
//! | `pin` | pinned tracks, in order | `cap0,gc` |
//! | `move` | moved tracks, each with its new predecessor, or none to move to the front | `cap3!cap0,gc!` |
//! | `sel` | selected tracks, to which the range and the panels are limited | `cap0` |
//! | `to` | order of threads: `first` run, `id` or `label` | `id` |
//! | `tg` | `1` if threads are grouped by label | `1` |
//! | `sp` | prefixes of messages that begin spans, `!`, prefixes of those that end them | `BEGIN!DONE,END` |
//! | `k` | notes: an instant in nanoseconds or a range, `~` and a name | `7~start,12600m40~slow` |
//!
//! In addition, panels have their own keys, in the order of the panel table; see for example the
//! [events](crate::view::events), the [threads](crate::view::threads), the [flame graph](crate::view::flame) and
//! the [comparison](crate::view::compare).
//!
//! Decoding never fails. Pieces that cannot be understood are ignored; of duplicate keys the last valid one wins;
//! texts that are too long are truncated. Unknown keys, and unknown values where a newer version may define more,
//! are kept and written again.

pub mod address;
pub mod contents;
mod notes;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use crate::fingerprint::Fingerprint;
use crate::view::panel::{Panel, PanelName, ParseResult, find};
use crate::view::{PanelLayout, Selected, View, tracks};
use eventlog::ids::Nanos;
use session::alignment::Role;
use session::link_text::{
    MAX_TEXT, cut, escape, escape_text, number, read_range, unescape, unless, write_range,
};
use session::tracks::name::TrackName;

/// Maximum number of unknown keys kept.
pub(crate) const MAX_UNKNOWN: usize = 16;
/// Maximum length of an unknown key, in bytes.
pub(crate) const MAX_UNKNOWN_KEY: usize = 32;
/// Maximum length of a log's address, in bytes. Longer ones are dropped, because a truncated address would point
/// elsewhere.
pub(crate) const MAX_URL: usize = 2000;

/// Contents of a link. The default is a fresh view of any log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Version of the grammar that the link uses.
    pub version: Version,
    /// Fingerprint of the log.
    pub fingerprint: Option<Fingerprint>,
    /// Fingerprint and role of the other log of a comparison.
    pub other: Option<(Role, Fingerprint)>,
    /// Name of the log, for display only. Never empty.
    pub log_name: Option<String>,
    /// Address of the log, possibly relative to the page. Never empty.
    pub url: Option<String>,
    /// View of the log.
    pub view: View,
    /// Keys and values that this version does not understand.
    pub unknown: Unknown,
}

impl Link {
    /// Returns whether a newer version wrote the link, so that this one may not understand all of it.
    pub fn newer(&self) -> bool {
        self.version > Version::CURRENT
    }

    /// Returns whether a log is the second one of the comparison, so that the times and notes of the link are not its
    /// own.
    pub fn is_of_second(&self, log: Option<Fingerprint>) -> bool {
        let second = self.other.map(|(_, print)| print);
        second.is_some() && second == log && self.fingerprint != log
    }
}

/// Version of the link grammar, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32);

impl Version {
    /// Version that this program writes.
    pub(crate) const CURRENT: Self = Self(1);

    /// Creates a version; `None` for 0.
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

/// Unknown keys with their values, at most `MAX_UNKNOWN`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown(BTreeMap<String, String>);

impl Unknown {
    /// Returns the keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    fn insert(&mut self, key: &str, value: String) -> Option<()> {
        let room = self.0.len() < MAX_UNKNOWN || self.0.contains_key(key);
        let sound = (1..=MAX_UNKNOWN_KEY).contains(&key.len()) && value.len() <= MAX_TEXT;
        (room && sound).then(|| {
            self.0.insert(key.to_owned(), value);
        })
    }
}

/// Encodes a link as a fragment, without `#`; empty for a fresh view. Texts that are too long are truncated, and
/// ranges that end before they begin are left out. `panels` is the panel table.
pub fn encode(link: &Link, panels: &[Panel]) -> String {
    let fields: Vec<(&str, String)> = fields(link, panels)
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect();
    let unknown = link
        .unknown
        .iter()
        .filter(|(key, _)| fields.iter().all(|(known, _)| known != key))
        .map(|(key, value)| (escape(key), escape(value)));
    let mut out = format!("v={}", link.version.0);
    let fields = fields
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    let mut fresh = link.version == Version::CURRENT;
    for (key, value) in fields.chain(unknown) {
        let _ = write!(out, "&{key}={value}");
        fresh = false;
    }
    if fresh { String::new() } else { out }
}

/// Returns the known keys in order, with escaped values where they differ from a fresh view.
fn fields(link: &Link, panels: &[Panel]) -> Vec<(&'static str, Option<String>)> {
    let view = &link.view;
    let panel = unless(view.panel, PanelName::default());
    let other = |role| link.other.filter(|(is, _)| *is == role);
    let other = |role| other(role).map(|(_, print)| print.to_string());
    let has_all = |who| (view.room == who).then(|| "1".to_owned());
    let log = [
        ("f", link.fingerprint.map(|print| print.to_string())),
        ("lb", other(Role::Before)),
        ("la", other(Role::After)),
        ("n", link.log_name.as_deref().and_then(escape_text)),
        (
            "url",
            link.url.as_deref().filter(|url| is_url(url)).map(escape),
        ),
        ("t", view.visible.and_then(write_range)),
        ("r", view.selection.and_then(write_range)),
        ("e", view.selected.as_ref().map(write_selected)),
        ("p", panel.map(|panel| panel.0.to_owned())),
        ("ph", has_all(PanelLayout::Timeline)),
        ("pm", has_all(PanelLayout::Panel)),
    ];
    let panels = panels.iter();
    log.into_iter()
        .chain(tracks::write(&view.tracks))
        .chain(panels.flat_map(|panel| panel.write(&view.settings)))
        .chain([("k", notes::write_notes(&view.notes))])
        .collect()
}

/// Returns whether a text has a valid length for an address.
fn is_url(text: &str) -> bool {
    (1..=MAX_URL).contains(&text.len())
}

/// Decodes a fragment, with or without `#`; never fails. `panels` is the panel table.
pub fn decode(fragment: &str, panels: &'static [Panel]) -> Link {
    let mut link = Link::default();
    let pieces = fragment.strip_prefix('#').unwrap_or(fragment).split('&');
    for (key, value) in pieces.filter_map(|piece| piece.split_once('=')) {
        // `None` means that the piece is ignored.
        let _: Option<()> = read(&mut link, key, value, panels);
    }
    // An understood value supersedes an unknown one of the same key: only one of them can be written again.
    for (key, value) in fields(&link, panels) {
        if value.is_some() {
            link.unknown.0.remove(key);
        }
    }
    link
}

/// Applies one piece to the link; `None` if it is ignored.
fn read(link: &mut Link, key: &str, raw: &str, panels: &'static [Panel]) -> Option<()> {
    let key = unescape(key)?;
    let view = &mut link.view;
    if key == "k" {
        view.notes = Rc::new(notes::read_notes(raw));
        return Some(());
    }
    if tracks::read(&mut view.tracks, &key, raw).is_some() {
        return Some(());
    }
    for panel in panels {
        match panel.read(&mut view.settings, &key, raw) {
            ParseResult::UnknownKey => {}
            ParseResult::Applied => {
                // It supersedes an earlier unknown value of the same key.
                link.unknown.0.remove(&key);
                return Some(());
            }
            ParseResult::Unsupported => return link.unknown.insert(&key, unescape(raw)?),
            ParseResult::Invalid => return None,
        }
    }
    read_text(link, &key, unescape(raw)?, panels)
}

/// Applies one piece whose value is a single text.
fn read_text(link: &mut Link, key: &str, value: String, panels: &'static [Panel]) -> Option<()> {
    let view = &mut link.view;
    match key {
        "v" => link.version = Version::new(number(&value)?.try_into().ok()?)?,
        "f" => link.fingerprint = Some(Fingerprint::parse(&value)?),
        "lb" => link.other = Some((Role::Before, Fingerprint::parse(&value)?)),
        "la" => link.other = Some((Role::After, Fingerprint::parse(&value)?)),
        "n" => link.log_name = Some(cut(&value).to_owned()).filter(|name| !name.is_empty()),
        "url" => link.url = Some(value).filter(|url| is_url(url)),
        "t" => view.visible = Some(read_range(&value)?),
        "r" => view.selection = Some(read_range(&value)?),
        "e" => view.selected = Some(read_selected(&value)?),
        "ph" | "pm" => {
            let who = if key == "ph" {
                PanelLayout::Timeline
            } else {
                PanelLayout::Panel
            };
            view.room = if value == "1" {
                who
            } else {
                view.room.shown_with(who)
            };
        }
        "p" => {
            if let Some(panel) = find(panels, &value) {
                view.panel = panel.name;
                link.unknown.0.remove(key);
            } else if !value.is_empty() {
                // An unknown panel, perhaps of a newer version: keep its name, and open the default panel.
                link.unknown.insert(key, value)?;
                view.panel = PanelName::default();
            }
        }
        _ => link.unknown.insert(key, value)?,
    }
    Some(())
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

#[cfg(test)]
mod tests;
