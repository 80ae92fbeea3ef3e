//! Parser for messages about foreign calls and C functions.

use super::haskell_strings::haskell_strings;
use super::{CallKey, CallProblem};
use eventlog::ids::{Address, OsThreadId};

/// A message about a foreign call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Key of the call.
    pub key: CallKey,
    /// Content of the message.
    pub kind: MessageKind,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// The call begins (`START`).
    Start,
    /// The call ends (`STOP` or `END`).
    Stop,
    /// Cost centre stack of the call, outermost first.
    Stack(Vec<String>),
    /// OS thread of the call.
    Thread(OsThreadId),
}

/// Returns whether a user message may be about a foreign call or a C function, judging by its prefix.
///
/// Rejects most messages with other prefixes that begin or end spans.
pub(crate) fn may_be_about_calls(text: &[u8]) -> bool {
    if text.starts_with(b"ANN_") {
        return true;
    }
    let verbs: [&[u8]; 3] = [b"START ", b"STOP ", b"END "];
    let rest = verbs.iter().find_map(|verb| text.strip_prefix(*verb));
    let number = rest.and_then(|rest| rest.first());
    number.is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+'))
}

/// Parses a user message; `None` if it is not about a foreign call.
///
/// # Errors
/// The problem with an annotation.
pub fn parse(text: &str) -> Option<Result<Message, CallProblem>> {
    let (verb, rest) = text.split_once(' ')?;
    let kind = match verb {
        "START" => MessageKind::Start,
        "STOP" | "END" => MessageKind::Stop,
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
    (!name.is_empty()).then_some(Ok(Message { key, kind }))
}

/// Parses `n name`; also returns the rest.
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
            kind: MessageKind::Stack(stack),
        }),
        None => Err(CallProblem::StackUnreadable(key)),
    }
}

fn parse_thread(rest: &str) -> Result<Message, CallProblem> {
    let (key, thread) = parse_key(rest)?;
    match os_thread(thread) {
        Some(thread) => Ok(Message {
            key,
            kind: MessageKind::Thread(thread),
        }),
        None => Err(CallProblem::ThreadMissing(key)),
    }
}

/// Parses the result of `gettid`, or a handle.
fn os_thread(text: &str) -> Option<OsThreadId> {
    let text = text.trim();
    let number = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    number.ok().map(OsThreadId)
}

/// Entry or return of a C function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionMessage {
    /// Code address of the function.
    pub function: Address,
    /// OS thread that runs it.
    pub thread: OsThreadId,
    /// True for a return, false for an entry.
    pub returns: bool,
}

/// Parses a user message; `None` if it is not about a C function. Does not allocate, as there may be millions.
///
/// # Errors
/// The problem with an annotation.
pub(crate) fn parse_function(text: &str) -> Option<Result<FunctionMessage, CallProblem>> {
    let rest = text.strip_prefix("ANN_CALL_")?;
    let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let returns = match verb {
        "TO" => false,
        "RET" => true,
        _ => return None,
    };
    let mut words = rest.split_ascii_whitespace();
    let function = words.next().and_then(address);
    // The call site is not used, but must be present.
    let site = words.next().and_then(address);
    let (Some(function), Some(_)) = (function, site) else {
        return Some(Err(CallProblem::AddressMissing));
    };
    Some(match words.next().and_then(os_thread) {
        Some(thread) => Ok(FunctionMessage {
            function,
            thread,
            returns,
        }),
        None => Err(CallProblem::FunctionThreadMissing(function)),
    })
}

/// Parses an address as printed by C's `%p`: hexadecimal, on Windows without `0x`; `(nil)` for null in glibc.
fn address(text: &str) -> Option<Address> {
    if text == "(nil)" {
        return Some(Address(0));
    }
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    u64::from_str_radix(digits, 16).ok().map(Address)
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

    #[test]
    fn messages_are_taken_apart() {
        let kind = |text: &str| match parse(text) {
            Some(Ok(message)) if message.key == key() => Some(message.kind),
            _ => None,
        };
        assert_eq!(kind("START 3 blur"), Some(MessageKind::Start));
        assert_eq!(kind("STOP 3 blur"), Some(MessageKind::Stop));
        assert_eq!(kind("END 3 blur"), Some(MessageKind::Stop));
        for (thread, number) in [("71", 71), ("0x7f00", 0x7F00)] {
            let text = format!("ANN_TH 3 blur {thread}");
            assert_eq!(kind(&text), Some(MessageKind::Thread(OsThreadId(number))));
        }
        for verb in ["ANN_SCC", "ANN_CCS"] {
            let stack = vec!["Main.main (M.hs:1:1-9)".to_owned(), "Main.\\".to_owned()];
            let text = format!("{verb} 3 blur [\"Main.main (M.hs:1:1-9)\",\"Main.\\\\\"]");
            assert_eq!(kind(&text), Some(MessageKind::Stack(stack)));
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
                kind: MessageKind::Start
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
    fn c_functions_are_told_with_their_thread() {
        let message = |function, thread, returns| FunctionMessage {
            function: Address(function),
            thread: OsThreadId(thread),
            returns,
        };
        for (text, meant) in [
            (
                "ANN_CALL_TO 0x410061 0x40ff00 14181",
                message(0x41_0061, 14181, false),
            ),
            (
                "ANN_CALL_RET 0x410061 (nil) 0x7f00",
                message(0x41_0061, 0x7F00, true),
            ),
            (
                "ANN_CALL_RET 0000000000410061 000000000040FF00 7",
                message(0x41_0061, 7, true),
            ),
            (
                "ANN_CALL_TO 0xffffffffffffffff 0x0 7",
                message(u64::MAX, 7, false),
            ),
        ] {
            assert_eq!(parse_function(text), Some(Ok(meant)), "{text}");
        }
        for text in ["ANN_CALL", "ANN_CALL_BACK 0x1 0x2 3", "START 1 f", ""] {
            assert_eq!(parse_function(text), None, "{text}");
        }
        let no_thread = CallProblem::FunctionThreadMissing(Address(1));
        for (text, what) in [
            ("ANN_CALL_TO", CallProblem::AddressMissing),
            ("ANN_CALL_TO 0x1", CallProblem::AddressMissing),
            ("ANN_CALL_TO main 0x1 7", CallProblem::AddressMissing),
            (
                "ANN_CALL_TO 0x1ffffffffffffffff 0x1 7",
                CallProblem::AddressMissing,
            ),
            ("ANN_CALL_RET 0x1 0x2", no_thread.clone()),
            ("ANN_CALL_RET 0x1 0x2 me", no_thread),
        ] {
            assert_eq!(parse_function(text), Some(Err(what)), "{text}");
        }
    }
}
