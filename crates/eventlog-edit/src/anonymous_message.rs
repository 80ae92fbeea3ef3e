//! Anonymizes messages of the program; those that follow a convention still do.

use super::anonymous::{Anonymizer, Kind, is_address};
use eventlog::conventions::Convention;
use eventlog::conventions::opentelemetry::{Instrument, Telemetry};
use eventlog::conventions::stack_profiler::StackMessage;

/// Rewrites a text message.
pub(super) fn text(names: &mut Anonymizer, kind: Kind, text: &[u8], out: &mut Vec<u8>) {
    if let Some(Convention::Telemetry(said)) = Convention::parse_text(text) {
        return telemetry(names, &said, out);
    }
    let text = String::from_utf8_lossy(text);
    if let Some((word, rest)) = split_span_word(&text) {
        out.extend_from_slice(word.as_bytes());
        let pass = rest.strip_suffix(']').filter(|_| word.starts_with("GHC:"));
        let Some((pass, module)) = pass.and_then(|pass| pass.rsplit_once(" [")) else {
            return span(names, rest.trim(), out);
        };
        names.name("span", pass.as_bytes(), out);
        out.extend_from_slice(b" [");
        names.name("module", module.as_bytes(), out);
        return out.push(b']');
    }
    // White space that no analysis distinguishes would make two names of one.
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
    let rest = rest.trim();
    match word {
        "START" | "STOP" | "END" => {
            begin(out, word);
            span(names, rest, out);
        }
        "ANN_SCC" | "ANN_CCS" => {
            let (call, stack) = rest.find('[').map_or((rest, ""), |at| rest.split_at(at));
            begin(out, word);
            span(names, call.trim_end(), out);
            strings(names, stack, out);
        }
        "ANN_TH" => {
            let (call, thread) = rest.rsplit_once(' ').unwrap_or((rest, ""));
            begin(out, word);
            span(names, call, out);
            out.push(b' ');
            number_or_name(names, thread, out);
        }
        "ANN_CALL_TO" | "ANN_CALL_RET" => {
            begin(out, word);
            for (place, word) in rest.split(' ').enumerate() {
                if place > 0 {
                    out.push(b' ');
                }
                number_or_name(names, word, out);
            }
        }
        _ => names.name(kind, text.as_bytes(), out),
    }
}

/// Splits off the prefix of a span message that ends in a colon.
fn split_span_word(text: &str) -> Option<(&str, &str)> {
    let words = ["START:", "STOP:", "END:", "GHC:started: ", "GHC:finished: "];
    let word = words.into_iter().find(|word| text.starts_with(word))?;
    Some(text.split_at(word.len()))
}

fn begin(out: &mut Vec<u8>, word: &str) {
    out.extend_from_slice(word.as_bytes());
    out.push(b' ');
}

/// Returns whether a word is an address, or a number that is too short to be a secret.
fn is_number(word: &str) -> bool {
    const MAX_LEN: usize = 20;
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    word.len() <= MAX_LEN && are_digits(whole) && are_digits(part) || is_address(word)
}

fn number_or_name(names: &mut Anonymizer, word: &str, out: &mut Vec<u8>) {
    if is_number(word) {
        out.extend_from_slice(word.as_bytes());
    } else {
        names.name("name", word.as_bytes(), out);
    }
}

/// Rewrites the description of a span: an optional call number, then the name.
fn span(names: &mut Anonymizer, text: &str, out: &mut Vec<u8>) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if is_number(first) && !rest.is_empty() {
        begin(out, first);
        names.name("span", rest.trim_start().as_bytes(), out);
    } else {
        names.name("span", text.as_bytes(), out);
    }
}

/// Rewrites a list of strings in Haskell syntax; an empty input stays empty.
fn strings(names: &mut Anonymizer, list: &str, out: &mut Vec<u8>) {
    if list.is_empty() {
        return;
    }
    out.extend_from_slice(b" [");
    let mut rest = list;
    let mut first = true;
    while let Some((_, after)) = rest.split_once('"') {
        let mut escaped = false;
        let end = after.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.unwrap_or(after.len());
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        out.push(b'"');
        names.name("cost-centre", &after.as_bytes()[..end], out);
        out.push(b'"');
        rest = after.get(end + 1..).unwrap_or_default();
    }
    out.push(b']');
}

/// Rewrites a text message of opentelemetry, keeping its own words for instrument kinds.
fn telemetry(names: &mut Anonymizer, said: &Telemetry<'_>, out: &mut Vec<u8>) {
    let instrument = |names: &mut Anonymizer, kind: &Instrument<'_>, out: &mut Vec<u8>| {
        let word = kind.name();
        match (1..=6).find(|&number| Instrument::Number(number).name() == word) {
            Some(_) => out.extend_from_slice(word.as_bytes()),
            None => names.name("instrument", word.as_bytes(), out),
        }
    };
    let say = |out: &mut Vec<u8>, text: String| out.extend_from_slice(text.as_bytes());
    match *said {
        Telemetry::BeginSpan { span, name } => {
            say(out, format!("ot2 begin span {span} "));
            names.name("span", name.0, out);
        }
        Telemetry::EndSpan { span } => say(out, format!("ot2 end span {span}")),
        Telemetry::SetTag { span, key, value } => {
            say(out, format!("ot2 set tag {span} "));
            names.name("key", key.0, out);
            out.push(b' ');
            names.name("value", value.0, out);
        }
        Telemetry::AddEvent { span, name, value } => {
            say(out, format!("ot2 add event {span} "));
            names.name("key", name.0, out);
            out.push(b' ');
            names.name("value", value.0, out);
        }
        Telemetry::SetParent {
            span,
            trace,
            parent,
        } => {
            say(
                out,
                format!("ot2 set parent {span} {trace:016x} {parent:016x}"),
            );
        }
        Telemetry::SetTrace { span, trace } => {
            say(out, format!("ot2 set traceid {span} {trace:016x}"))
        }
        Telemetry::SetSpanId { span, id } => say(out, format!("ot2 set spanid {span} {id:016x}")),
        Telemetry::DeclareInstrument { kind, id, name } => {
            say(out, "ot2 metric create ".to_owned());
            instrument(names, &kind, out);
            say(out, format!(" {id:016x} "));
            names.name("instrument", name.0, out);
        }
        Telemetry::Measure { instrument, value } => {
            say(out, format!("ot2 metric capture {instrument:016x} {value}"));
        }
        Telemetry::MeasureByName { kind, name, value } => {
            say(out, "ot2 metric ".to_owned());
            instrument(names, &kind, out);
            out.push(b' ');
            names.name("instrument", name.0, out);
            say(out, format!(" {value}"));
        }
    }
}

/// Rewrites a binary message.
pub(super) fn binary(names: &mut Anonymizer, payload: &[u8], out: &mut Vec<u8>) {
    match Convention::parse_bytes(payload) {
        Some(Convention::Telemetry(said)) => binary_telemetry(names, &said, payload, out),
        Some(Convention::Stack(StackMessage::Define { text, .. })) => {
            out.extend_from_slice(&payload[..10]);
            let mut name = Vec::new();
            names.name("text", text.0, &mut name);
            out.extend((name.len() as u16).to_be_bytes());
            out.extend(name);
        }
        // Stacks, locations and versions are numbers.
        Some(Convention::Stack(_)) => out.extend_from_slice(payload),
        None => names.name("binary-message", payload, out),
    }
}

fn binary_telemetry(
    names: &mut Anonymizer,
    said: &Telemetry<'_>,
    payload: &[u8],
    out: &mut Vec<u8>,
) {
    /// Size of the prefix with a span: three bytes of magic and version, one for the kind, eight for the span.
    const SPAN: usize = 12;
    /// One more byte, for the kind of the instrument.
    const INSTRUMENT: usize = 13;
    match *said {
        Telemetry::BeginSpan { name, .. } => {
            out.extend_from_slice(&payload[..SPAN]);
            names.name("span", name.0, out);
        }
        Telemetry::SetTag { key, value, .. }
        | Telemetry::AddEvent {
            name: key, value, ..
        } => {
            out.extend_from_slice(&payload[..SPAN]);
            let [mut key_name, mut value_name] = [Vec::new(), Vec::new()];
            names.name("key", key.0, &mut key_name);
            names.name("value", value.0, &mut value_name);
            out.extend((key_name.len() as u32).to_le_bytes());
            out.extend((value_name.len() as u32).to_le_bytes());
            out.extend(key_name);
            out.extend(value_name);
        }
        Telemetry::DeclareInstrument { name, .. } => {
            out.extend_from_slice(&payload[..INSTRUMENT]);
            names.name("instrument", name.0, out);
        }
        // The others contain no text.
        _ => out.extend_from_slice(payload),
    }
}
