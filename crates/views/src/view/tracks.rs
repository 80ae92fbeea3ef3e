//! Encoding of the tracks in links: hidden, folded, pinned and moved tracks, and their order.

use std::collections::BTreeSet;

use crate::timeline::arrange::{Move, TrackView};
use analysis::timeline::thread_lane::ThreadOrder;
use analysis::timeline::user_spans::SpanPrefixes;
use session::link_text::{cut, escape, unescape};
use session::tracks::name::TrackName;

/// Maximum number of tracks in one list of a link.
pub(crate) const MAX_TRACKS: usize = 64;

/// Thread orders with their names in links; the default order has none.
const ORDERS: [(&str, ThreadOrder); 3] = [
    ("first", ThreadOrder::FirstRun),
    ("id", ThreadOrder::Id),
    ("label", ThreadOrder::Label),
];

/// Returns the link keys with their values; `None` for default values.
pub fn write(view: &TrackView) -> [(&'static str, Option<String>); 10] {
    let order = ORDERS.iter().find(|(_, order)| *order == view.threads);
    [
        ("q", Some(escape(cut(&view.filter)))),
        ("hide", Some(names(&view.hidden))),
        ("fold", Some(names(&view.folded))),
        ("open", Some(names(&view.opened))),
        ("pin", Some(names(&view.pinned))),
        ("move", Some(moves(&view.moved))),
        ("sel", Some(names(&view.selected))),
        ("to", order.map(|(name, _)| (*name).to_owned())),
        ("tg", view.by_label.then(|| "1".to_owned())),
        ("sp", write_prefixes(&view.prefixes)),
    ]
    .map(|(key, value)| (key, value.filter(|value| !value.is_empty())))
}

/// Parses one key; `None` if it is unknown or its value is not understood.
pub fn read(view: &mut TrackView, key: &str, raw: &str) -> Option<()> {
    match key {
        "q" => view.filter = cut(&unescape(raw)?).to_owned(),
        "hide" => view.hidden = set(raw),
        "fold" => view.folded = set(raw),
        "open" => view.opened = set(raw),
        "pin" => view.pinned = list(raw),
        "move" => {
            view.moved = raw
                .split(',')
                .filter_map(one_move)
                .take(MAX_TRACKS)
                .collect()
        }
        "sel" => view.selected = set(raw),
        "to" => view.threads = ORDERS.iter().find(|(name, _)| *name == raw)?.1,
        "tg" => view.by_label = raw == "1",
        "sp" => view.prefixes = read_prefixes(raw).unwrap_or_else(|| view.prefixes.clone()),
        _ => return None,
    }
    Some(())
}

/// Formats prefixes as `START,START!STOP,STOP`: the words that begin spans, and those that end them.
fn write_prefixes(prefixes: &SpanPrefixes) -> Option<String> {
    let words = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|word| escape(word)).collect();
        words.join(",")
    };
    let other = *prefixes != SpanPrefixes::default();
    other.then(|| format!("{}!{}", words(&prefixes.start), words(&prefixes.stop)))
}

fn read_prefixes(raw: &str) -> Option<SpanPrefixes> {
    let words = |raw: &str| -> String {
        let words: Vec<String> = raw.split(',').filter_map(unescape).collect();
        words.join(",")
    };
    let (start, stop) = raw.split_once('!')?;
    Some(SpanPrefixes::of_lists(&words(start), &words(stop)))
}

fn names<'a>(tracks: impl IntoIterator<Item = &'a TrackName>) -> String {
    let names = tracks.into_iter().take(MAX_TRACKS);
    let names: Vec<String> = names.map(|track| escape(track.as_str())).collect();
    names.join(",")
}

fn name(raw: &str) -> Option<TrackName> {
    TrackName::new(unescape(raw)?)
}

fn set(raw: &str) -> BTreeSet<TrackName> {
    raw.split(',').filter_map(name).take(MAX_TRACKS).collect()
}

/// Parses track names in order, without duplicates.
fn list(raw: &str) -> Vec<TrackName> {
    let mut list = Vec::new();
    for name in raw.split(',').filter_map(name) {
        if list.len() < MAX_TRACKS && !list.contains(&name) {
            list.push(name);
        }
    }
    list
}

/// Formats moves: `cap3!cap0` places capability 3 after capability 0, `cap3!` places it first.
fn moves(moved: &[Move]) -> String {
    let one = |one: &Move| {
        let after = one.after.as_ref().map_or("", TrackName::as_str);
        format!("{}!{}", escape(one.name.as_str()), escape(after))
    };
    let moves: Vec<String> = moved.iter().take(MAX_TRACKS).map(one).collect();
    moves.join(",")
}

fn one_move(raw: &str) -> Option<Move> {
    let (moved, after) = raw.split_once('!')?;
    Some(Move {
        name: name(moved)?,
        after: name(after),
    })
}
