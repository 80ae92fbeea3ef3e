//! Foreign calls as programs announce them with user messages, in the
//! convention of `hs-safescope`. While a `safe` call runs, the runtime has
//! given the capability away and its samples show nothing of the call.
//!
//! | message | meaning |
//! |---|---|
//! | `START n name` | call `n` of `name` begins |
//! | `ANN_SCC n name ["M.f (loc)",…]`, also `ANN_CCS` | its cost-centre stack: the list of `ccsToStrings`, outermost first, without `MAIN`, printed by `show` |
//! | `ANN_TH n name tid` | the OS thread that performs it: what `gettid` says, or a handle (`0x…`) |
//! | `STOP n name`, also `END n name` | it is over |
//!
//! A `START` without a number is `ghc-events-analyze`'s, and no foreign call.
//!
//! | state | message | next | yields |
//! |---|---|---|---|
//! | `Idle` | start at t | `Calling(t)` | |
//! | `Idle` | stop | `Idle` | oddity: stop without start |
//! | `Idle` | stack, thread | `Idle` | oddity: annotation before start |
//! | `Calling(c)` | start | `Calling(c)` | oddity: start repeated |
//! | `Calling(c)` | stop at t | `Idle` | the call from c to t |
//! | `Calling(c)` | stack, where c has none | `Calling(c with it)` | |
//! | `Calling(c)` | thread, where c has none | `Calling(c with it)` | |
//! | `Calling(c)` | stack or thread, where c has one | `Calling(c)` | oddity: annotation repeated |

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stacks::{StackId, Stacks};
use crate::automata::Span;
use crate::ids::{Nanos, OsThreadId};

/// What tells calls apart: the counter of the program and the function's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallKey {
    /// The counter; programs keep it in a C `int`, so it may be negative.
    pub number: i64,
    /// The foreign function.
    pub name: String,
}

impl std::fmt::Display for CallKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "call {} of {}", self.number, self.name)
    }
}

/// Something about an announced call that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOddity {
    /// When: the time of the message.
    pub at: Nanos,
    /// What.
    pub what: CallProblem,
}

/// What is odd. It costs only the message itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallProblem {
    /// A call begins that goes on already.
    StartRepeated(CallKey),
    /// A call ends that had not begun.
    StopWithoutStart(CallKey),
    /// A stack or a thread is announced for a call that had not begun.
    AnnotationBeforeStart(CallKey),
    /// A stack or a thread is announced a second time.
    AnnotationRepeated(CallKey),
    /// An annotation in which the call's number is missing, or is none.
    NumberMissing,
    /// A thread annotation without a thread number.
    ThreadMissing(CallKey),
    /// A stack that is no printed list of strings.
    StackUnreadable(CallKey),
    /// A stack names a cost centre that the log does not declare. Said once
    /// for each such cost centre.
    UnknownCostCentre(String),
    /// A call was still going on when another began on its OS thread, and
    /// ended before that one: it is cut off where the other begins.
    Overlap(CallKey),
    /// More calls at once than are shown, on unknown threads.
    TooManyAtOnce(CallKey),
    /// So many more oddities, which are not kept.
    More(u64),
}

impl std::fmt::Display for CallProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::StartRepeated(key) => write!(f, "{key} starts twice"),
            Self::StopWithoutStart(key) => write!(f, "{key} stops, but had not started"),
            Self::AnnotationBeforeStart(key) => write!(f, "{key} is annotated before its start"),
            Self::AnnotationRepeated(key) => write!(f, "{key} has the same annotation twice"),
            Self::NumberMissing => f.write_str("an annotation has no call number"),
            Self::ThreadMissing(key) => write!(f, "the annotation of {key} has no thread number"),
            Self::StackUnreadable(key) => {
                write!(f, "the stack of {key} is no printed list of strings")
            }
            Self::UnknownCostCentre(name) => {
                write!(
                    f,
                    "an annotation names {name}, which the log does not declare"
                )
            }
            Self::Overlap(key) => {
                write!(
                    f,
                    "{key} overlaps with another on its OS thread and is cut off"
                )
            }
            Self::TooManyAtOnce(key) => {
                write!(f, "{key} is not shown: too many calls go on at once")
            }
            Self::More(count) => write!(f, "{count} more"),
        }
    }
}

/// What a message says about a call. A stack is one of [`Calls::stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `START`.
    Start,
    /// `STOP` or `END`.
    Stop,
    /// `ANN_SCC` or `ANN_CCS`.
    Stack(StackId),
    /// `ANN_TH`.
    Thread(OsThreadId),
}

/// A call that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calling {
    /// Since when.
    pub since: Nanos,
    /// From where, if that was announced.
    pub stack: Option<StackId>,
    /// On which OS thread, if that was announced.
    pub thread: Option<OsThreadId>,
}

/// The state of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It has not begun, or is over.
    #[default]
    Idle,
    /// It goes on.
    Calling(Calling),
}

/// What kind of oddity a step meets; the key is the caller's.
type OddityOf = fn(CallKey) -> CallProblem;

/// What a message leads to.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The state after it.
    pub next: State,
    /// The call that it ends, and when.
    pub yields: Option<(Calling, Span)>,
    /// What is odd about it.
    pub oddity: Option<OddityOf>,
}

impl Step {
    const fn to(next: State) -> Self {
        Self {
            next,
            yields: None,
            oddity: None,
        }
    }

    const fn odd(next: State, oddity: OddityOf) -> Self {
        Self {
            next,
            yields: None,
            oddity: Some(oddity),
        }
    }
}

/// The automaton.
#[must_use]
pub fn step(state: State, input: Input, at: Nanos) -> Step {
    let State::Calling(call) = state else {
        return match input {
            Input::Start => Step::to(State::Calling(Calling {
                since: at,
                stack: None,
                thread: None,
            })),
            Input::Stop => Step::odd(state, CallProblem::StopWithoutStart),
            Input::Stack(_) | Input::Thread(_) => {
                Step::odd(state, CallProblem::AnnotationBeforeStart)
            }
        };
    };
    match input {
        Input::Start => Step::odd(state, CallProblem::StartRepeated),
        Input::Stop => Step {
            next: State::Idle,
            yields: Some((call, Span::new(call.since, at.max(call.since)))),
            oddity: None,
        },
        Input::Stack(stack) if call.stack.is_none() => Step::to(State::Calling(Calling {
            stack: Some(stack),
            ..call
        })),
        Input::Thread(thread) if call.thread.is_none() => Step::to(State::Calling(Calling {
            thread: Some(thread),
            ..call
        })),
        Input::Stack(_) | Input::Thread(_) => Step::odd(state, CallProblem::AnnotationRepeated),
    }
}

/// A message of the convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Which call it is about.
    pub key: CallKey,
    /// What it says.
    pub says: Says,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// The call begins.
    Start,
    /// The call is over.
    Stop,
    /// Its stack, outermost first.
    Stack(Vec<String>),
    /// Its OS thread.
    Thread(OsThreadId),
}

/// Takes a user message apart; `None` if it is not about a foreign call.
///
/// # Errors
/// What is wrong with an annotation.
pub fn parse(text: &str) -> Option<Result<Message, CallProblem>> {
    let (verb, rest) = text.split_once(' ')?;
    let says = match verb {
        "START" => Says::Start,
        "STOP" | "END" => Says::Stop,
        "ANN_SCC" | "ANN_CCS" => return Some(parse_stack(rest)),
        "ANN_TH" => return Some(parse_thread(rest)),
        _ => return None,
    };
    let (number, name) = rest.split_once(' ')?;
    let name = name.trim();
    let number = number.parse().ok()?;
    let key = CallKey {
        number,
        name: name.to_owned(),
    };
    (!name.is_empty()).then_some(Ok(Message { key, says }))
}

/// `n name` and what follows.
fn parse_key(rest: &str) -> Result<(CallKey, &str), CallProblem> {
    let mut words = rest.splitn(3, ' ');
    let number = words.next().and_then(|word| word.parse().ok());
    let name = words.next().filter(|name| !name.is_empty());
    let (Some(number), Some(name)) = (number, name) else {
        return Err(CallProblem::NumberMissing);
    };
    let key = CallKey {
        number,
        name: name.to_owned(),
    };
    Ok((key, words.next().unwrap_or_default()))
}

fn parse_stack(rest: &str) -> Result<Message, CallProblem> {
    let (key, list) = parse_key(rest)?;
    match haskell_strings(list) {
        Some(stack) => Ok(Message {
            key,
            says: Says::Stack(stack),
        }),
        None => Err(CallProblem::StackUnreadable(key)),
    }
}

fn parse_thread(rest: &str) -> Result<Message, CallProblem> {
    let (key, thread) = parse_key(rest)?;
    let thread = thread.trim();
    let number = match thread.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => thread.parse(),
    };
    let says = number.map(|thread| Says::Thread(OsThreadId(thread)));
    match says {
        Ok(says) => Ok(Message { key, says }),
        Err(_) => Err(CallProblem::ThreadMissing(key)),
    }
}

/// Reads what Haskell's `show` makes of a list of strings.
#[must_use]
pub fn haskell_strings(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim().strip_prefix('[')?.trim_start();
    let mut strings = Vec::new();
    if let Some(after) = rest.strip_prefix(']') {
        return after.is_empty().then_some(strings);
    }
    loop {
        let (string, after) = haskell_string(rest)?;
        strings.push(string);
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None => return (rest == "]").then_some(strings),
        }
    }
}

/// Reads one string literal, and gives what follows it.
fn haskell_string(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?;
    let mut string = String::new();
    loop {
        let char = rest.chars().next()?;
        rest = &rest[char.len_utf8()..];
        match char {
            '"' => return Some((string, rest)),
            '\\' => {
                let (escaped, after) = haskell_escape(rest)?;
                string.extend(escaped);
                rest = after;
            }
            char => string.push(char),
        }
    }
}

/// The ASCII control characters by name (Haskell 2010 report, 2.6); `SO`
/// after `SOH`, of which it is a beginning.
const CONTROL: [(&str, u32); 34] = [
    ("NUL", 0),
    ("SOH", 1),
    ("STX", 2),
    ("ETX", 3),
    ("EOT", 4),
    ("ENQ", 5),
    ("ACK", 6),
    ("BEL", 7),
    ("BS", 8),
    ("HT", 9),
    ("LF", 10),
    ("VT", 11),
    ("FF", 12),
    ("CR", 13),
    ("SO", 14),
    ("SI", 15),
    ("DLE", 16),
    ("DC1", 17),
    ("DC2", 18),
    ("DC3", 19),
    ("DC4", 20),
    ("NAK", 21),
    ("SYN", 22),
    ("ETB", 23),
    ("CAN", 24),
    ("EM", 25),
    ("SUB", 26),
    ("ESC", 27),
    ("FS", 28),
    ("GS", 29),
    ("RS", 30),
    ("US", 31),
    ("SP", 32),
    ("DEL", 127),
];

/// Reads an escape after its backslash: a character, or nothing for `\&`.
fn haskell_escape(text: &str) -> Option<(Option<char>, &str)> {
    let first = text.chars().next()?;
    let simple = match first {
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{C}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{B}'),
        '\\' | '"' | '\'' => Some(first),
        _ => None,
    };
    if simple.is_some() {
        return Some((simple, &text[1..]));
    }
    if first == '&' {
        return Some((None, &text[1..]));
    }
    let number = |digits: &str, radix, after| {
        let code = u32::from_str_radix(digits, radix).ok()?;
        Some((Some(char::from_u32(code).unwrap_or('\u{FFFD}')), after))
    };
    let split = |text: &'_ str, radix| {
        text.find(|c: char| !c.is_digit(radix))
            .unwrap_or(text.len())
    };
    if first.is_ascii_digit() {
        let (digits, after) = text.split_at(split(text, 10));
        return number(digits, 10, after);
    }
    if let Some(hex) = text.strip_prefix(['x', 'X']) {
        return number(&hex[..split(hex, 16)], 16, &hex[split(hex, 16)..]);
    }
    let named = CONTROL.iter().filter(|(name, _)| text.starts_with(name));
    let (name, code) = named.max_by_key(|(name, _)| name.len())?;
    Some((char::from_u32(*code), &text[name.len()..]))
}

/// A call that is over, or that the end of the log cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which.
    pub key: CallKey,
    /// When.
    pub span: Span,
    /// From where, if that was announced; one of [`Calls::stacks`].
    pub stack: Option<StackId>,
    /// On which OS thread, if that was announced.
    pub thread: Option<OsThreadId>,
    /// Whether the log ends before the call does.
    pub open: bool,
}

/// The foreign calls of a log.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    going_on: BTreeMap<CallKey, State>,
    /// Cost centres as `ccsToStrings` prints them, by the number that
    /// [`stacks`](Self::stacks) has for them, each with its first time.
    pub names: Vec<(String, Nanos)>,
    name_ids: BTreeMap<String, u32>,
    /// The announced stacks.
    pub stacks: Stacks<u32>,
    /// Those that are over.
    pub over: Vec<Call>,
    /// What was odd.
    pub oddities: Oddities,
}

/// What was odd; a program that announces nothing right does not fill the
/// memory.
#[derive(Clone, Debug, Default)]
pub struct Oddities {
    kept: Vec<CallOddity>,
    more: u64,
}

impl Oddities {
    /// How many are kept.
    pub const KEPT: usize = 1000;

    /// Adds one.
    pub fn push(&mut self, at: Nanos, what: CallProblem) {
        if self.kept.len() < Self::KEPT {
            self.kept.push(CallOddity { at, what });
        } else {
            self.more += 1;
        }
    }

    /// All that are kept, by time; then how many are not.
    #[must_use]
    pub fn finish(mut self, end: Nanos) -> Vec<CallOddity> {
        self.kept.sort_by_key(|oddity| oddity.at);
        if self.more > 0 {
            let what = CallProblem::More(self.more);
            self.kept.push(CallOddity { at: end, what });
        }
        self.kept
    }
}

impl Calls {
    /// Takes the next user message.
    pub fn message(&mut self, text: &str, at: Nanos) {
        match parse(text) {
            None => {}
            Some(Ok(message)) => self.about_call(message, at),
            Some(Err(what)) => self.oddities.push(at, what),
        }
    }

    fn about_call(&mut self, message: Message, at: Nanos) {
        let Message { key, says } = message;
        let input = match says {
            Says::Start => Input::Start,
            Says::Stop => Input::Stop,
            Says::Thread(thread) => Input::Thread(thread),
            Says::Stack(names) => Input::Stack(self.stack(names, at)),
        };
        let state = self.going_on.remove(&key).unwrap_or_default();
        let step = step(state, input, at);
        if let Some(oddity) = step.oddity {
            self.oddities.push(at, oddity(key.clone()));
        }
        if let Some((call, span)) = step.yields {
            self.over.push(Call {
                key,
                span,
                stack: call.stack,
                thread: call.thread,
                open: false,
            });
        } else if step.next != State::Idle {
            self.going_on.insert(key, step.next);
        }
    }

    fn stack(&mut self, outermost_first: Vec<String>, at: Nanos) -> StackId {
        let ids: Vec<u32> = outermost_first
            .into_iter()
            .map(|name| self.name(name, at))
            .collect();
        self.stacks.intern(ids)
    }

    fn name(&mut self, name: String, at: Nanos) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let id = *self.name_ids.entry(name.clone()).or_insert(next);
        if id == next {
            self.names.push((name, at));
        }
        id
    }

    /// Ends what is still going on at `end`, the end of the log.
    pub fn finish(&mut self, end: Nanos) {
        for (key, state) in std::mem::take(&mut self.going_on) {
            let State::Calling(call) = state else {
                continue;
            };
            self.over.push(Call {
                key,
                span: Span::new(call.since, end.max(call.since)),
                stack: call.stack,
                thread: call.thread,
                open: true,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CallKey {
        CallKey {
            number: 3,
            name: "blur".into(),
        }
    }

    /// Every row of the table at the top of this file.
    #[test]
    fn table() {
        let (early, late) = (Nanos(3), Nanos(9));
        let (stack, thread) = (Input::Stack(StackId(4)), Input::Thread(OsThreadId(5)));
        let bare = Calling {
            since: early,
            stack: None,
            thread: None,
        };
        let with_stack = Calling {
            stack: Some(StackId(4)),
            ..bare
        };
        let with_thread = Calling {
            thread: Some(OsThreadId(5)),
            ..bare
        };
        let full = Calling {
            stack: Some(StackId(4)),
            ..with_thread
        };
        let (idle, calling) = (State::Idle, State::Calling);
        let new = Calling {
            since: late,
            ..bare
        };
        type Row = (State, Input, State, Option<Calling>, Option<OddityOf>);
        let rows: [Row; 13] = [
            (idle, Input::Start, calling(new), None, None),
            (
                idle,
                Input::Stop,
                idle,
                None,
                Some(CallProblem::StopWithoutStart),
            ),
            (
                idle,
                stack,
                idle,
                None,
                Some(CallProblem::AnnotationBeforeStart),
            ),
            (
                idle,
                thread,
                idle,
                None,
                Some(CallProblem::AnnotationBeforeStart),
            ),
            (
                calling(full),
                Input::Start,
                calling(full),
                None,
                Some(CallProblem::StartRepeated),
            ),
            (calling(bare), Input::Stop, idle, Some(bare), None),
            (calling(full), Input::Stop, idle, Some(full), None),
            (calling(bare), stack, calling(with_stack), None, None),
            (calling(with_thread), stack, calling(full), None, None),
            (calling(bare), thread, calling(with_thread), None, None),
            (calling(with_stack), thread, calling(full), None, None),
            (
                calling(full),
                stack,
                calling(full),
                None,
                Some(CallProblem::AnnotationRepeated),
            ),
            (
                calling(full),
                thread,
                calling(full),
                None,
                Some(CallProblem::AnnotationRepeated),
            ),
        ];
        for (state, input, next, yields, oddity) in rows {
            let step = step(state, input, late);
            let row = format!("{state:?} {input:?}");
            assert_eq!(step.next, next, "{row}");
            assert_eq!(
                step.yields,
                yields.map(|call| (call, Span::new(early, late))),
                "{row}"
            );
            assert_eq!(
                step.oddity.map(|of| of(key())),
                oddity.map(|of| of(key())),
                "{row}"
            );
        }
    }

    #[test]
    fn messages_are_taken_apart() {
        let says = |text: &str| match parse(text) {
            Some(Ok(message)) if message.key == key() => Some(message.says),
            _ => None,
        };
        assert_eq!(says("START 3 blur"), Some(Says::Start));
        assert_eq!(says("STOP 3 blur"), Some(Says::Stop));
        assert_eq!(says("END 3 blur"), Some(Says::Stop));
        for (thread, number) in [("71", 71), ("0x7f00", 0x7F00)] {
            let text = format!("ANN_TH 3 blur {thread}");
            assert_eq!(says(&text), Some(Says::Thread(OsThreadId(number))));
        }
        for verb in ["ANN_SCC", "ANN_CCS"] {
            let stack = vec!["Main.main (M.hs:1:1-9)".to_owned(), "Main.\\".to_owned()];
            let text = format!("{verb} 3 blur [\"Main.main (M.hs:1:1-9)\",\"Main.\\\\\"]");
            assert_eq!(says(&text), Some(Says::Stack(stack)));
        }
        let spaced = parse("START -1 solve the rest").and_then(Result::ok);
        let key = CallKey {
            number: -1,
            name: "solve the rest".into(),
        };
        assert_eq!(
            spaced,
            Some(Message {
                key,
                says: Says::Start
            })
        );
    }

    #[test]
    fn other_messages_are_none_of_ours() {
        for text in [
            "",
            "START",
            "START parse",
            "START solve phase",
            "START 3",
            "START 3 ",
            "STOP parse",
            "ANN_CALL_TO 0x410061 0x40ff00 7",
            "hello",
            "STARTING 3 blur",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn malformed_annotations_say_what_is_wrong() {
        for (text, what) in [
            ("ANN_SCC blur [\"a\"]", CallProblem::NumberMissing),
            ("ANN_TH 3", CallProblem::NumberMissing),
            ("ANN_TH 3 blur", CallProblem::ThreadMissing(key())),
            ("ANN_TH 3 blur x", CallProblem::ThreadMissing(key())),
            ("ANN_SCC 3 blur", CallProblem::StackUnreadable(key())),
            ("ANN_SCC 3 blur [\"a\"", CallProblem::StackUnreadable(key())),
            (
                "ANN_SCC 3 blur [\"a\",]",
                CallProblem::StackUnreadable(key()),
            ),
            (
                "ANN_SCC 3 blur [\"a\\q\"]",
                CallProblem::StackUnreadable(key()),
            ),
        ] {
            assert_eq!(parse(text), Some(Err(what)), "{text}");
        }
    }

    #[test]
    fn haskell_escapes() {
        for (shown, meant) in [
            (r#"["a\nb","\t\"\\\'"]"#, vec!["a\nb", "\t\"\\'"]),
            (r#"["\955x","\8594","\x3bb;"]"#, vec!["λx", "→", "λ;"]),
            (r#"["\1234\&5"]"#, vec!["\u{4D2}5"]),
            (
                r#"["\SOH","\SO\&H","\SOx","\DEL"]"#,
                vec!["\u{1}", "\u{E}H", "\u{E}x", "\u{7F}"],
            ),
            (r#"[ "a" , "" ]"#, vec!["a", ""]),
            ("[]", vec![]),
        ] {
            let meant: Vec<String> = meant.into_iter().map(str::to_owned).collect();
            assert_eq!(haskell_strings(shown), Some(meant), "{shown}");
        }
        for broken in [
            "",
            "[",
            "]",
            "[\"",
            "[\"\\",
            "[\"a\"]x",
            "[]x",
            "\"a\"",
            "[\"\\99999999999\"]",
        ] {
            assert_eq!(haskell_strings(broken), None, "{broken}");
        }
    }

    #[test]
    fn an_oddity_costs_only_itself() {
        let mut calls = Calls::default();
        for (at, text) in [
            "ANN_TH 1 f 7",
            "START 1 f",
            "START 1 f",
            "ANN_TH 1 f x",
            "ANN_TH 1 f 8",
            "STOP 2 f",
            "STOP 1 f",
            "START 3 g",
        ]
        .into_iter()
        .enumerate()
        {
            calls.message(text, Nanos(at as u64));
        }
        calls.finish(Nanos(50));
        let found: Vec<(i64, Span, Option<OsThreadId>, bool)> = calls
            .over
            .iter()
            .map(|call| (call.key.number, call.span, call.thread, call.open))
            .collect();
        let span = |start, end| Span::new(Nanos(start), Nanos(end));
        assert_eq!(
            found,
            [
                (1, span(1, 6), Some(OsThreadId(8)), false),
                (3, span(7, 50), None, true),
            ]
        );
        let oddities = calls.oddities.finish(Nanos(50));
        let at: Vec<u64> = oddities.iter().map(|oddity| oddity.at.0).collect();
        assert_eq!(at, [0, 2, 3, 5]);
    }

    #[test]
    fn oddities_do_not_fill_the_memory() {
        let mut calls = Calls::default();
        for at in 0..1500 {
            calls.message("STOP 1 f", Nanos(at));
        }
        let oddities = calls.oddities.finish(Nanos(2000));
        assert_eq!(oddities.len(), Oddities::KEPT + 1);
        assert_eq!(
            oddities
                .last()
                .map(|oddity| oddity.what.to_string())
                .as_deref(),
            Some("500 more")
        );
    }
}
