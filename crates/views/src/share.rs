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
//! | `lb`, `la` | fingerprint of the log that it is compared with: the one before, or after | `8x2.0a91c2d7e34f` |
//! | `n` | name of the log; off unless asked for, names tell secrets | `server.eventlog` |
//! | `url` | where the log is, for a page that is to fetch it | `logs%2Frun.eventlog` |
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
//! | `ph` | `1` if the panel is hidden | `1` |
//! | `pm` | `1` if the panel is maximised, and the timeline hidden | `1` |
//! | `k` | notes: a moment in nanoseconds or a range, `~` and a name | `7~start,12600m40~slow` |
//!
//! Beside these, panels have keys of their own, in the order of their table:
//! those of the [events](crate::view::events), the [threads](crate::view::threads),
//! the [flame graph](crate::view::flame) and the [comparison](crate::view::compare), for example.
//!
//! Reading never fails. A piece that cannot be understood is ignored and the
//! rest counts; of duplicates the last that can be understood wins; too long a
//! text is cut. Unknown keys, and unknown words where a newer version may have
//! more of them, are kept and written again.

pub mod held;
mod notes;
pub mod place;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use crate::fingerprint::Fingerprint;
use crate::view::panel::{Panel, PanelName, Piece, find};
use crate::view::{Room, Selected, View, tracks};
use eventlog::ids::Nanos;
use session::alignment::Role;
use session::link_text::{
    MAX_TEXT, cut, escape, escape_text, number, read_range, unescape, unless, write_range,
};
use session::tracks::name::TrackName;

/// How many unknown keys are kept.
pub(crate) const MAX_UNKNOWN: usize = 16;
/// The longest unknown key that is kept, in bytes.
pub(crate) const MAX_UNKNOWN_KEY: usize = 32;
/// The longest address of a log, in bytes: half of one leads elsewhere, so that a longer one is
/// left out.
pub(crate) const MAX_URL: usize = 2000;

/// What a link says. The default is a fresh view of any log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// The version of the grammar that it was written in.
    pub version: Version,
    /// The log that it is about.
    pub fingerprint: Option<Fingerprint>,
    /// The log that it is compared with, and what that is to it.
    pub other: Option<(Role, Fingerprint)>,
    /// What the log was called. Not empty; shown as text only.
    pub log_name: Option<String>,
    /// Where it is: an address, maybe relative to the page's. Not empty.
    pub url: Option<String>,
    /// What is shown of it.
    pub view: View,
    /// What this version does not know.
    pub unknown: Unknown,
}

impl Link {
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
    pub(crate) const CURRENT: Self = Self(1);

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
/// are cut, and a range that ends before it begins is left out. `panels` are
/// those that there are.
#[must_use]
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

/// The known keys in their order, with what differs from a fresh view, escaped.
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
        ("ph", has_all(Room::Timeline)),
        ("pm", has_all(Room::Panel)),
    ];
    let panels = panels.iter();
    log.into_iter()
        .chain(tracks::write(&view.tracks))
        .chain(panels.flat_map(|panel| panel.write(&view.settings)))
        .chain([("k", notes::write_notes(&view.notes))])
        .collect()
}

/// Whether a text may be the address of a log.
fn is_url(text: &str) -> bool {
    (1..=MAX_URL).contains(&text.len())
}

/// Reads a fragment, with or without its `#`. Never fails. `panels` are those
/// that there are.
#[must_use]
pub fn decode(fragment: &str, panels: &'static [Panel]) -> Link {
    let mut link = Link::default();
    let pieces = fragment.strip_prefix('#').unwrap_or(fragment).split('&');
    for (key, value) in pieces.filter_map(|piece| piece.split_once('=')) {
        // `None` means that the piece is ignored.
        let _: Option<()> = read(&mut link, key, value, panels);
    }
    // Of a key that comes twice, what is understood counts: only that could be written again.
    for (key, value) in fields(&link, panels) {
        if value.is_some() {
            link.unknown.0.remove(key);
        }
    }
    link
}

/// Takes one piece over into the link.
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
            Piece::Foreign => {}
            Piece::Taken => {
                // A word from the future before it counts no more.
                link.unknown.0.remove(&key);
                return Some(());
            }
            Piece::Newer => return link.unknown.keep(&key, unescape(raw)?),
            Piece::Damaged => return None,
        }
    }
    read_text(link, &key, unescape(raw)?, panels)
}

/// Takes over one piece whose value is a single text.
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
                Room::Timeline
            } else {
                Room::Panel
            };
            view.room = if value == "1" {
                who
            } else {
                view.room.beside(who)
            };
        }
        "p" => {
            if let Some(panel) = find(panels, &value) {
                view.panel = panel.name;
                link.unknown.0.remove(key);
            } else if !value.is_empty() {
                // A panel from the future is kept and counts as the usual one.
                link.unknown.keep(key, value)?;
                view.panel = PanelName::default();
            }
        }
        _ => link.unknown.keep(key, value)?,
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
