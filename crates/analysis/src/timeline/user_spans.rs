//! Spans that a program announces by two messages or markers, `START name` and `STOP name`, or with other
//! prefixes.
//!
//! The rules are those of `ghc-events-analyze`: start and stop are matched by name, whatever thread or capability
//! writes them. Further starts of a name while it is open, nested or concurrent, are part of the same span, which
//! lasts from the first start to the last stop. A stop without a start is ignored. Collections are not cut out of
//! a span.
//!
//! A name may begin with a number, as in `START 7 bar`. `ghc-events-analyze` sorts by it; `hs-safescope` uses it
//! to distinguish calls of a function. Here, start and stop match if number and name are equal, and the row is
//! that of the name without the number, so that all calls of a function share a row. `START 7` is a name, not a
//! number without a name.
//!
//! GHC announces the passes of a compilation, from `GHC:started: Parser [Data.Map]` to `GHC:finished: Parser
//! [Data.Map]`. Each pass has a row, and the module takes the role of the number: with `-j`, a pass runs for
//! several modules at the same time.
//!
//! The automaton of a number of a name is [`user_span`](crate::automata::user_span). A *call* is from the first start
//! of a number to its last stop; concurrent calls differ in their numbers. A span of the row starts with the first open
//! number, and ends when no number is open. Rows are drawn, calls are counted and measured.

use serde::{Deserialize, Serialize};

use super::messages::Messages;
use crate::automata::user_span::{Announcement, OpenStarts, step};
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos};
use model::class::Class;
use model::sorting::CompactSort;
use model::span_lane::{SpanLane, TimelineSpan};

/// Maximum number of listed names: those with the most time.
pub(crate) const MAX_NAMES: usize = 200;
/// Maximum number of distinct names during the search.
const MAX_DISTINCT: usize = 1 << 18;

/// Code of a span that was open when the log ended.
pub const OPEN: u8 = 1;

/// Message prefixes that start and stop spans.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SpanPrefixes {
    /// Prefixes of messages that start a span.
    pub start: Vec<String>,
    /// Prefixes of messages that stop a span.
    pub stop: Vec<String>,
}

impl Default for SpanPrefixes {
    fn default() -> Self {
        Self {
            start: vec!["START".to_owned()],
            stop: vec!["STOP".to_owned(), "END".to_owned()],
        }
    }
}

/// Maximum number of prefixes in each list.
const MAX_PREFIXES: usize = 8;
/// Maximum length of a prefix in bytes.
const LONGEST_PREFIX: usize = 40;

/// Parsed message about a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanMessage<'a> {
    /// Whether it starts the span.
    pub start: bool,
    /// Number before the name, or module of a GHC pass; empty if there is none.
    pub number: &'a str,
    /// Name of the span, without the number.
    pub name: &'a str,
    /// Whether it is a GHC pass, which starts and stops on the same thread.
    pub is_pass: bool,
}

impl<'a> SpanMessage<'a> {
    /// Returns the module that a GHC pass compiles; empty if it has none, or is no pass.
    pub const fn module(&self) -> &'a str {
        if self.is_pass { self.number } else { "" }
    }
}

impl SpanPrefixes {
    /// Parses two comma-separated lists of prefixes. Prefixes that are too long are truncated; excess ones are
    /// dropped.
    pub fn of_lists(start: &str, stop: &str) -> Self {
        let words = |list: &str| {
            let mut words: Vec<String> = Vec::new();
            for word in list.split(',').map(str::trim) {
                let word = word[..word.floor_char_boundary(LONGEST_PREFIX)].trim_end();
                let new = !word.is_empty() && words.iter().all(|other| other != word);
                if new && words.len() < MAX_PREFIXES {
                    words.push(word.to_owned());
                }
            }
            words
        };
        Self {
            start: words(start),
            stop: words(stop),
        }
    }

    /// Parses a message; `None` if it is not about a span. A prefix that ends in a letter or digit must be
    /// followed by white space or a colon.
    pub fn parse<'a>(&self, text: &'a str) -> Option<SpanMessage<'a>> {
        if let Some(of_compiler) = text.strip_prefix("GHC:") {
            return parse_pass(of_compiler);
        }
        let after = |prefixes: &[String]| -> Option<&'a str> {
            prefixes.iter().find_map(|prefix| after(text, prefix))
        };
        let start = after(&self.start);
        let name = start.or_else(|| after(&self.stop))?.trim();
        let (number, name) = split_number(name);
        (!name.is_empty()).then_some(SpanMessage {
            start: start.is_some(),
            number,
            name,
            is_pass: false,
        })
    }
}

fn after<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(prefix).filter(|_| !prefix.is_empty())?;
    if !prefix.ends_with(char::is_alphanumeric) || rest.starts_with(char::is_whitespace) {
        return Some(rest);
    }
    rest.strip_prefix(':')
}

/// Parses the text after `GHC:` at the start or end of a pass: `started: Parser [Data.Map]`, `finished:
/// systool:as`.
fn parse_pass(text: &str) -> Option<SpanMessage<'_>> {
    let started = text.strip_prefix("started:");
    let pass = started.or_else(|| text.strip_prefix("finished:"))?.trim();
    let (name, number) = pass
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once(" ["))
        .unwrap_or((pass, ""));
    (!name.is_empty()).then_some(SpanMessage {
        start: started.is_some(),
        number,
        name,
        is_pass: true,
    })
}

/// Splits a number, with optional sign and decimal point, from the name after it.
fn split_number(name: &str) -> (&str, &str) {
    let is_number = |word: &str| {
        let digits = word.strip_prefix('-').unwrap_or(word);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let all = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        all(whole) && all(part)
    };
    match name.split_once(char::is_whitespace) {
        Some((word, rest)) if is_number(word) => (word, rest.trim_start()),
        _ => ("", name),
    }
}

/// A span with the messages that announce it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSpan {
    /// Start in nanoseconds.
    pub start: u64,
    /// End in nanoseconds.
    pub end: u64,
    /// Index of the message that started it.
    pub first: usize,
    /// Index of the message that ended it; `None` if the log ended before.
    pub last: Option<usize>,
    /// Number of start messages that are part of it.
    pub starts: u32,
}

/// State of a name during the search.
#[derive(Debug, Default)]
struct Name {
    text: Box<str>,
    /// Number of its numbers that are open.
    open_numbers: u32,
    /// Open span of the row; its end is that of its last call so far.
    open: Option<UserSpan>,
    spans: Vec<UserSpan>,
    /// Whether two of its numbers were open at once. Until then, its calls are the spans of the row.
    is_concurrent: bool,
    /// Calls of a concurrent name, in the order in which they end.
    calls: Vec<UserSpan>,
    total_ns: u64,
    unmatched_stops: u64,
}

impl Name {
    fn close(&mut self, end: u64, last: Option<usize>) {
        if let Some(open) = self.open.take() {
            let span = UserSpan { end, last, ..open };
            self.total_ns += end.saturating_sub(span.start);
            self.spans.push(span);
        }
    }
}

/// Statistics of the spans with one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanInfo {
    /// Name: the text after `START`, without a number.
    pub name: String,
    /// Number of spans.
    pub count: u64,
    /// Total duration in nanoseconds.
    pub total_ns: u64,
}

/// A listed name with its spans.
#[derive(Clone, Debug)]
pub struct ListedSpans {
    /// Name and statistics.
    pub info: SpanInfo,
    /// Number of stops without a start.
    pub unmatched_stops: u64,
    /// Spans of the row, in time order; they do not overlap.
    pub spans: Vec<UserSpan>,
    /// Calls in the order of their starts, if some are concurrent; else empty, as they are the spans of the row.
    concurrent_calls: Vec<UserSpan>,
    /// Spans as a lane. The detail of each is its number of starts, the code is 0 or [`OPEN`].
    pub lane: SpanLane,
}

impl ListedSpans {
    /// Returns the calls in the order of their starts: the spans of each number of the name, which may overlap.
    pub fn calls(&self) -> &[UserSpan] {
        match self.concurrent_calls.is_empty() {
            true => &self.spans,
            false => &self.concurrent_calls,
        }
    }
}

/// Timeline rows of spans of the program.
#[derive(Clone, Debug, Default)]
pub struct UserSpans {
    listed: Vec<ListedSpans>,
    /// Number of stops without a start, of any name.
    pub unmatched_stops: u64,
    /// Total number of names.
    pub names: usize,
}

impl UserSpans {
    /// Finds the spans that messages announce. `end_of` returns the end of open calls that began on a capability:
    /// that of its process.
    pub fn find(
        messages: &Messages,
        prefixes: &SpanPrefixes,
        end_of: impl Fn(Option<CapId>) -> Nanos,
    ) -> Self {
        let mut matcher = SpanMatcher::default();
        for number in 0..messages.len() {
            let (time, text) = (messages.time(number), messages.text(number));
            let text = String::from_utf8_lossy(text);
            if let Some(span_message) = prefixes.parse(&text) {
                matcher.message(span_message, time, number);
            }
        }
        matcher.finish(|call| end_of(messages.cap(call.first)))
    }

    /// Returns the listed names, in the order of their first starts.
    pub fn listed(&self) -> &[ListedSpans] {
        &self.listed
    }

    /// Returns a listed name by index.
    pub fn get(&self, number: u32) -> Option<&ListedSpans> {
        self.listed.get(number as usize)
    }
}

/// Open number of a name.
#[derive(Debug)]
struct OpenCall {
    state: OpenStarts,
    span: UserSpan,
}

#[derive(Debug, Default)]
struct SpanMatcher {
    places: SeededMap<Box<str>, usize>,
    names: Vec<Name>,
    /// Open numbers of each name.
    open_calls: SeededMap<(usize, Box<str>), OpenCall>,
    unmatched_stops: u64,
}

impl SpanMatcher {
    fn message(&mut self, span_message: SpanMessage<'_>, time: u64, number: usize) {
        if span_message.start {
            self.start(span_message, time, number);
        } else {
            self.stop(span_message, time, number);
        }
    }

    fn start(&mut self, span_message: SpanMessage<'_>, time: u64, number: usize) {
        let all = self.names.len();
        let place = match self.places.get(span_message.name) {
            Some(place) => *place,
            None if all < MAX_DISTINCT => {
                self.places.insert(span_message.name.into(), all);
                self.names.push(Name {
                    text: span_message.name.into(),
                    ..Name::default()
                });
                all
            }
            None => return,
        };
        let Some(name) = self.names.get_mut(place) else {
            return;
        };
        let span = UserSpan {
            start: time,
            end: time,
            first: number,
            last: None,
            starts: 0,
        };
        let open = name.open.get_or_insert(span);
        open.starts = open.starts.saturating_add(1);
        let key = (place, span_message.number.into());
        let call = self.open_calls.entry(key).or_insert_with(|| OpenCall {
            state: OpenStarts::default(),
            span,
        });
        call.span.starts = call.span.starts.saturating_add(1);
        let (next, yields) = step(call.state, true);
        call.state = next;
        if yields == Some(Announcement::Begins) {
            name.open_numbers = name.open_numbers.saturating_add(1);
            if name.open_numbers > 1 && !name.is_concurrent {
                name.is_concurrent = true;
                name.calls.clone_from(&name.spans);
            }
        }
    }

    fn stop(&mut self, span_message: SpanMessage<'_>, time: u64, number: usize) {
        let place = self.places.get(span_message.name).copied();
        let key = place.map(|place| (place, Box::from(span_message.number)));
        let name = place.and_then(|place| self.names.get_mut(place));
        let call = key.as_ref().and_then(|key| self.open_calls.get_mut(key));
        let state = call.as_ref().map(|call| call.state);
        let (next, yields) = step(state.unwrap_or_default(), false);
        if let Some(call) = call {
            call.state = next;
        }
        match yields {
            Some(Announcement::Stray) => {
                self.unmatched_stops += 1;
                if let Some(name) = name {
                    name.unmatched_stops += 1;
                }
            }
            Some(Announcement::Ends) => {
                let call = key.and_then(|key| self.open_calls.remove(&key));
                if let Some(name) = name {
                    let ended = |OpenCall { span, .. }: OpenCall| UserSpan {
                        end: time,
                        last: Some(number),
                        ..span
                    };
                    let call = call.filter(|_| name.is_concurrent);
                    name.calls.extend(call.map(ended));
                    name.open_numbers = name.open_numbers.saturating_sub(1);
                    if name.open_numbers == 0 {
                        name.close(time, Some(number));
                    } else if let Some(open) = &mut name.open {
                        open.end = time;
                    }
                }
            }
            Some(Announcement::Begins) | None => {}
        }
    }

    fn finish(mut self, end_of: impl Fn(&UserSpan) -> Nanos) -> UserSpans {
        for ((place, _), OpenCall { span, .. }) in self.open_calls {
            let Some(name) = self.names.get_mut(place) else {
                continue;
            };
            let end = end_of(&span).0.max(span.start);
            if let Some(open) = &mut name.open {
                open.end = open.end.max(end);
            }
            if name.is_concurrent {
                name.calls.push(UserSpan { end, ..span });
            }
        }
        for name in &mut self.names {
            if let Some(open) = name.open {
                name.close(open.end, None);
            }
        }
        let names = self.names.len();
        if names > MAX_NAMES {
            let mut totals: Vec<u64> = self.names.iter().map(|name| name.total_ns).collect();
            totals.sort_unstable();
            totals.reverse();
            let least = totals.get(MAX_NAMES - 1).copied().unwrap_or(0);
            // Of the names with exactly the minimum time, the first ones are kept.
            let above = totals.iter().take_while(|total| **total > least).count();
            let mut room = MAX_NAMES - above;
            self.names.retain(|name| {
                let fits = name.total_ns == least && room > 0;
                room -= usize::from(fits);
                fits || name.total_ns > least
            });
        }
        UserSpans {
            listed: self.names.into_iter().map(listed).collect(),
            unmatched_stops: self.unmatched_stops,
            names,
        }
    }
}

fn listed(mut name: Name) -> ListedSpans {
    name.calls
        .sort_small_by_key(|call| (call.start, call.first));
    let mut lane = SpanLane::default();
    for span in &name.spans {
        lane.push(TimelineSpan {
            start: span.start,
            end: span.end,
            detail: span.starts,
            class: Class::Other,
            code: if span.last.is_none() { OPEN } else { 0 },
        });
    }
    lane.sort_and_clip();
    ListedSpans {
        info: SpanInfo {
            name: name.text.into(),
            count: name.spans.len() as u64,
            total_ns: name.total_ns,
        },
        unmatched_stops: name.unmatched_stops,
        spans: name.spans,
        concurrent_calls: name.calls,
        lane,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::messages::MessageKind;
    use model::lane::Lane;

    fn spans(messages: &[(u64, &str)], end: u64) -> UserSpans {
        let mut all = Messages::default();
        for (time, text) in messages {
            all.push(Nanos(*time), None, MessageKind::Message, text.as_bytes());
        }
        UserSpans::find(&all, &SpanPrefixes::default(), |_| Nanos(end))
    }

    fn times(spans: &UserSpans) -> Vec<(String, Vec<(u64, u64)>)> {
        let of = |name: &ListedSpans| {
            let spans = name.spans.iter().map(|span| (span.start, span.end));
            (name.info.name.clone(), spans.collect())
        };
        spans.listed.iter().map(of).collect()
    }

    #[test]
    fn words_stand_between_commas() {
        let lists = |start, stop| {
            let SpanPrefixes { start, stop } = SpanPrefixes::of_lists(start, stop);
            (start.join("|"), stop.join("|"))
        };
        assert_eq!(
            lists("START", "STOP, END"),
            ("START".into(), "STOP|END".into())
        );
        assert_eq!(
            SpanPrefixes::of_lists(" START ,", ",STOP,END,STOP"),
            SpanPrefixes::default()
        );
        let long = "x".repeat(100);
        let (start, stop) = lists(&long, "1,2,3,4,5,6,7,8,9,10");
        assert_eq!(
            (start.len(), stop.as_str()),
            (LONGEST_PREFIX, "1|2|3|4|5|6|7|8")
        );
        assert_eq!(lists("", " , "), (String::new(), String::new()));
    }

    #[test]
    fn messages_are_taken_apart() {
        let prefixes = SpanPrefixes::default();
        let said = |start, number, name| {
            Some(SpanMessage {
                start,
                number,
                name,
                is_pass: false,
            })
        };
        let pass = |start, name, module| {
            let pass = said(start, module, name)?;
            Some(SpanMessage {
                is_pass: true,
                ..pass
            })
        };
        let cases = [
            ("START load", said(true, "", "load")),
            ("STOP load", said(false, "", "load")),
            ("END  load all ", said(false, "", "load all")),
            ("START 7 bar", said(true, "7", "bar")),
            ("START -1.5 bar baz", said(true, "-1.5", "bar baz")),
            ("START 7", said(true, "", "7")),
            ("START 7th bar", said(true, "", "7th bar")),
            ("START 1.2.3 bar", said(true, "", "1.2.3 bar")),
            ("START - bar", said(true, "", "- bar")),
            ("START:load", said(true, "", "load")),
            ("END:load", said(false, "", "load")),
            ("STOP: 7 bar", said(false, "7", "bar")),
            ("START:", None),
            ("STARTS:load", None),
            (
                "GHC:started: Parser [Data.Map]",
                pass(true, "Parser", "Data.Map"),
            ),
            (
                "GHC:finished: Parser [Data.Map]",
                pass(false, "Parser", "Data.Map"),
            ),
            ("GHC:finished: systool:as", pass(false, "systool:as", "")),
            ("GHC:started:", None),
            ("GHC:begins: Parser", None),
            ("STARTED load", None),
            ("START", None),
            ("START ", None),
            ("start load", None),
            ("ANN_TH 7 bar 3", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(prefixes.parse(text), expected, "{text}");
        }
        let own = SpanPrefixes {
            start: vec![">".to_owned(), String::new()],
            stop: vec!["<".to_owned()],
        };
        assert_eq!(own.parse(">load"), said(true, "", "load"));
        assert_eq!(own.parse("< 3 load"), said(false, "3", "load"));
        assert_eq!(own.parse("START load"), None);
    }

    #[test]
    fn nested_and_overlapping_starts_are_one_span() {
        let found = spans(
            &[
                (1, "START a"),
                (2, "START b"),
                (3, "START a"),
                (4, "STOP a"),
                (5, "STOP b"),
                (6, "STOP a"),
                (7, "STOP a"),
                (8, "START a"),
                (8, "END a"),
            ],
            20,
        );
        let expected = [("a", vec![(1, 6), (8, 8)]), ("b", vec![(2, 5)])];
        assert_eq!(
            times(&found),
            expected.map(|(name, spans)| (name.to_owned(), spans))
        );
        assert_eq!(
            (found.unmatched_stops, found.listed[0].unmatched_stops),
            (1, 1)
        );
        assert_eq!(found.listed[0].spans[0].starts, 2);
        assert_eq!(found.listed[0].info.total_ns, 5);
    }

    #[test]
    fn numbers_tell_starts_of_a_name_apart() {
        let found = spans(
            &[
                (1, "START 1 bar"),
                (2, "START 2 bar"),
                (3, "STOP 3 bar"),
                (4, "STOP 1 bar"),
                (5, "STOP 1 bar"),
                (6, "STOP 2 bar"),
            ],
            20,
        );
        assert_eq!(times(&found), [("bar".to_owned(), vec![(1, 6)])]);
        let calls = found.listed[0].calls().iter();
        let calls: Vec<(u64, u64)> = calls.map(|call| (call.start, call.end)).collect();
        assert_eq!(calls, [(1, 4), (2, 6)]);
        assert_eq!(found.unmatched_stops, 2);
    }

    #[test]
    fn passes_of_a_compiler_are_rows_whatever_modules_they_compile() {
        let found = spans(
            &[
                (1, "GHC:started: Parser [A]"),
                (2, "GHC:started: Parser [B]"),
                (3, "GHC:finished: Parser [A]"),
                (4, "GHC:started: systool:as"),
                (5, "GHC:finished: Parser [B]"),
                (6, "GHC:finished: systool:as"),
                (7, "GHC:started: Parser [C]"),
                (9, "GHC:finished: Parser [C]"),
            ],
            20,
        );
        let expected = [
            ("Parser", vec![(1, 5), (7, 9)]),
            ("systool:as", vec![(4, 6)]),
        ];
        let expected = expected.map(|(name, spans)| (name.to_owned(), spans));
        assert_eq!(times(&found), expected);
        assert_eq!(found.unmatched_stops, 0);
    }

    #[test]
    fn what_is_not_over_stays_open_to_the_end() {
        let found = spans(&[(3, "START a"), (4, "STOP b")], 20);
        assert_eq!(times(&found), [("a".to_owned(), vec![(3, 20)])]);
        assert_eq!(found.listed[0].spans[0].last, None);
        assert_eq!(
            found.listed[0].lane.get(0).map(|piece| piece.code),
            Some(OPEN)
        );
    }

    /// Calls that are not over end with the process that began them; a row ends with its last call.
    #[test]
    fn open_calls_end_with_their_process() {
        let found = |stop: Option<u64>| {
            let mut all = Messages::default();
            let mut tell = |time, cap, text: &str| {
                let cap = Some(CapId(cap));
                all.push(Nanos(time), cap, MessageKind::Message, text.as_bytes());
            };
            tell(1, 0, "START 1 a");
            tell(2, 1, "START 2 a");
            tell(3, 0, "START b");
            if let Some(stop) = stop {
                tell(stop, 1, "STOP 2 a");
            }
            let end_of = |cap: Option<CapId>| Nanos(if cap == Some(CapId(0)) { 5 } else { 9 });
            let found = UserSpans::find(&all, &SpanPrefixes::default(), end_of);
            let calls = found.listed.iter().flat_map(ListedSpans::calls);
            let calls: Vec<(u64, u64)> = calls.map(|call| (call.start, call.end)).collect();
            (times(&found), calls)
        };
        for (stop, end) in [(None, 9), (Some(8), 8), (Some(4), 4)] {
            let (rows, calls) = found(stop);
            let row = (1, end.max(5));
            assert_eq!(
                rows,
                [("a".to_owned(), vec![row]), ("b".to_owned(), vec![(3, 5)])]
            );
            assert_eq!(calls, [(1, 5), (2, end), (3, 5)]);
        }
    }

    #[test]
    fn the_names_with_the_most_time_are_listed_in_their_order() {
        let mut messages = Vec::new();
        for i in 0..300u64 {
            messages.push((i * 1000, format!("START n{i}")));
            // Even names take no time; all odd ones take the same time.
            messages.push((i * 1000 + i % 2 * 7, format!("STOP n{i}")));
        }
        let borrowed: Vec<(u64, &str)> = messages.iter().map(|(t, m)| (*t, m.as_str())).collect();
        let found = spans(&borrowed, 1_000_000);
        assert_eq!((found.listed.len(), found.names), (MAX_NAMES, 300));
        let odd = |listed: &&ListedSpans| listed.info.total_ns == 7;
        assert_eq!(found.listed.iter().filter(odd).count(), 150);
        assert!(
            found
                .listed
                .windows(2)
                .all(|pair| pair[0].spans[0].start < pair[1].spans[0].start)
        );
    }

    proptest! {
        /// For any messages, the spans of a row do not overlap, and cover exactly the times at which a simple
        /// count of starts is positive. The calls are the stretches at which the count of one number is.
        #[test]
        fn spans_cover_what_goes_on(said in prop::collection::vec((any::<bool>(), 0u8..3), 0..80)) {
            let messages: Vec<(u64, String)> = (0..).zip(&said).map(|(at, (start, number))| {
                (at, format!("{} {number} x", if *start { "START" } else { "STOP" }))
            }).collect();
            let borrowed: Vec<(u64, &str)> = messages.iter().map(|(t, m)| (*t, m.as_str())).collect();
            let found = spans(&borrowed, said.len() as u64);
            let mut counts = [0u64; 3];
            let mut stray = 0;
            let (mut starts, mut calls) = ([0u64; 3], Vec::new());
            for (at, &(start, number)) in (0u64..).zip(&said) {
                let count = &mut counts[usize::from(number)];
                if start {
                    if *count == 0 {
                        starts[usize::from(number)] = at;
                    }
                    *count += 1;
                } else if *count > 0 {
                    *count -= 1;
                    if *count == 0 {
                        calls.push((starts[usize::from(number)], at));
                    }
                } else {
                    stray += 1;
                }
                let goes_on = counts.iter().any(|count| *count > 0);
                let lanes = found.listed.iter();
                let shown = lanes.filter(|name| name.spans.iter().any(|s| s.start <= at && at < s.end)).count();
                prop_assert_eq!(shown, usize::from(goes_on), "at {}", at);
            }
            prop_assert_eq!(found.unmatched_stops, stray);
            let open = counts.iter().zip(starts).filter(|(count, _)| **count > 0);
            calls.extend(open.map(|(_, start)| (start, said.len() as u64)));
            calls.sort_unstable();
            let all = found.listed.iter().flat_map(ListedSpans::calls);
            let all: Vec<(u64, u64)> = all.map(|call| (call.start, call.end)).collect();
            prop_assert_eq!(all, calls);
            if let Some(name) = found.listed.first() {
                prop_assert!(name.spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
                prop_assert_eq!(name.lane.len(), name.spans.len());
            }
        }
    }
}
