//! Replaces the texts of a log, so that it can be shared: equal texts get equal names, such as `message-3`,
//! everywhere. Numbers, times and sizes are unchanged.
//!
//! Fixed words of the runtime are kept, because analyses need them: its built-in cost centres (`MAIN`, `GC`,
//! `IDLE`, …), closure types, biographical phases, labels of its I/O threads, its flags, the version of GHC, and
//! the words at the start of messages about spans (`START`, `STOP`, `END`), foreign calls (`ANN_…`) and
//! opentelemetry. Events of unknown types are dropped, because their contents are unknown.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::anonymous_message as message;
use eventlog::Record;
use eventlog::closure_type::ClosureType;
use eventlog::cursor::FieldKind;
use eventlog::event::{Event, EventType};
use eventlog::hash::SeededMap;
use eventlog::header::{Header, PayloadSize, TypeDecl};

/// Kind of a text, which is the prefix of its name.
pub(super) type Kind = &'static str;

/// The runtime's own cost centres, their modules, and their source locations.
const BUILT_IN: [&str; 11] = [
    "MAIN",
    "SYSTEM",
    "GC",
    "OVERHEAD_of",
    "DONT_CARE",
    "PINNED",
    "IDLE",
    "CAF",
    "<built-in>",
    "<entire-module>",
    "<no location info>",
];
/// Phases of a biographical profile.
const LIVES: [&str; 5] = ["INHERENT_USE", "LAG", "USE", "DRAG", "VOID"];
/// Delimiters of the runtime's flags.
const BRACKETS: [&[u8]; 3] = [b"+RTS", b"-RTS", b"--RTS"];
/// Flags of the runtime without an argument.
const FLAGS: [&str; 4] = [
    "--nonmoving-gc",
    "--copying-gc",
    "--numa",
    "--no-automatic-heap-samples",
];
/// Flags of the runtime with a number.
const NUMBER_FLAGS: [&str; 22] = [
    "A", "AL", "C", "F", "G", "H", "I", "K", "L", "M", "N", "O", "V", "c", "i", "k", "m", "n",
    "qb", "qg", "qi", "qn",
];
/// The ways in which a runtime can be built.
const WAYS: [&str; 9] = ["rts", "thr", "l", "p", "pm", "s", "v", "debug", "dyn"];
/// Kinds of ticky counters.
const COUNTERS: [&str; 12] = [
    "fun", "thk", "thk_u", "thk_se", "con", "lne", "fun,se", "thk,se", "upd", "infer", "entCntr",
    "std",
];
/// Name prefixes for the bands of a heap profile, by breakdown.
const BANDS: [Kind; 10] = [
    "band",
    "cost-centre",
    "module",
    "closure",
    "type",
    "retainer",
    "band",
    "closure",
    "table",
    "era",
];

/// Mapping from texts to names.
///
/// It stores a 64-bit hash of each text, but not the text.
#[derive(Debug, Default)]
pub struct Anonymizer {
    names: SeededMap<Kind, SeededMap<u64, u32>>,
    /// Breakdown by heap profile number.
    breakdowns: SeededMap<u8, u32>,
}

impl Anonymizer {
    /// Writes the payload of an event to `out`, with its texts replaced. Returns `false` if its texts cannot be
    /// identified.
    pub fn rewrite(&mut self, record: &Record<'_>, out: &mut Vec<u8>) -> bool {
        out.clear();
        let (id, payload) = (record.id, record.payload);
        if !record.header.knows(id) {
            return payload.is_empty();
        }
        if matches!(record.header.size(id.0), PayloadSize::Fixed(_)) {
            // Bytes behind the known fields may be anything.
            let mut end = 0;
            let is_whole = Event::locate(id, payload, |_, range, _| end = range.end);
            let known = payload.get(..end).filter(|_| is_whole);
            out.extend_from_slice(known.unwrap_or(payload));
            out.resize(payload.len(), 0);
            return true;
        }
        if id == EventType::USER_BINARY_MSG {
            message::binary(self, payload, out);
            return true;
        }
        if id == EventType::HEAP_PROF_BEGIN
            && let (Some(&profile), Some(breakdown)) = (payload.first(), payload.get(9..13))
        {
            let breakdown = breakdown
                .iter()
                .fold(0, |sum, &byte| sum << 8 | u32::from(byte));
            self.breakdowns.insert(profile, breakdown);
        }
        let breakdown = payload
            .first()
            .and_then(|profile| self.breakdowns.get(profile));
        let band = breakdown.and_then(|&kind| BANDS.get(kind as usize));
        let band = band.copied().unwrap_or(BANDS[0]);
        Event::locate(id, payload, |key, range, kind| {
            let bytes = &payload[range];
            match kind {
                FieldKind::Text => self.text(id, key, bytes, band, out),
                FieldKind::TextToNul if !bytes.is_empty() => {
                    let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                    self.text(id, key, text, band, out);
                    out.push(0);
                }
                FieldKind::Texts => self.texts(id, bytes, out),
                _ => out.extend_from_slice(bytes),
            }
        })
    }

    /// Returns the types that a header declares, with descriptions replaced: a known type gets its name.
    pub(super) fn declared_types(
        &mut self,
        header: &Header,
    ) -> Vec<(EventType, Option<u16>, String)> {
        let mut rename = |decl: &TypeDecl| match decl.id.name().filter(|_| decl.known) {
            Some(name) => name.to_owned(),
            None => {
                let mut name = Vec::new();
                self.name("unknown", decl.description.as_bytes(), &mut name);
                String::from_utf8_lossy(&name).into_owned()
            }
        };
        let types = header.types.iter();
        types
            .map(|decl| (decl.id, decl.size, rename(decl)))
            .collect()
    }

    /// Writes the name of a text; an empty text stays empty.
    pub(super) fn name(&mut self, kind: Kind, text: &[u8], out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let names = self.names.entry(kind).or_default();
        let next = u32::try_from(names.len()).unwrap_or(u32::MAX - 1) + 1;
        let number = *names.entry(hasher.finish()).or_insert(next);
        out.extend_from_slice(kind.as_bytes());
        out.push(b'-');
        out.extend_from_slice(number.to_string().as_bytes());
    }

    fn text(&mut self, id: EventType, key: &str, text: &[u8], band: Kind, out: &mut Vec<u8>) {
        let kind = match id {
            EventType::USER_MSG => return message::text(self, "message", text, out),
            EventType::USER_MARKER => return message::text(self, "marker", text, out),
            EventType::TICKY_COUNTER_DEF => return self.ticky(key, text, out),
            EventType::LOG_MSG => "runtime-message",
            EventType::THREAD_LABEL => "thread-label",
            EventType::RTS_IDENTIFIER => "runtime",
            EventType::VERSION => "version",
            EventType::PROGRAM_INVOCATION => "command-line",
            EventType::INTERN_STRING => "text",
            EventType::PERF_NAME => "counter",
            EventType::HEAP_PROF_BEGIN => "filter",
            EventType::HEAP_PROF_SAMPLE_STRING => band,
            EventType::HEAP_PROF_COST_CENTRE | EventType::IPE => match key {
                "heapProfLabel" => "cost-centre",
                "heapProfModule" | "itModule" => "module",
                "heapProfSrcLoc" | "itSrcLoc" => "source",
                "itTableName" => "table",
                "itTyDesc" => "type",
                "itClosureDesc" => "closure",
                _ => "name",
            },
            _ => "text",
        };
        if is_fixed(id, kind, text) {
            out.extend_from_slice(text);
        } else if let Some(of) = text.strip_prefix(b"CAF:") {
            out.extend_from_slice(b"CAF:");
            self.name(kind, of, out);
        } else {
            self.name(kind, text, out);
        }
    }

    /// Rewrites a command line or an environment.
    fn texts(&mut self, id: EventType, bytes: &[u8], out: &mut Vec<u8>) {
        let (list, end) = match bytes.strip_suffix(&[0]) {
            Some(list) => (list, &[0][..]),
            None => (bytes, &[][..]),
        };
        let mut is_for_runtime = false;
        for (place, text) in list.split(|&byte| byte == 0).enumerate() {
            if place > 0 {
                out.push(0);
            }
            if id == EventType::PROGRAM_ENV {
                let equals = memchr::memchr(b'=', text).unwrap_or(text.len());
                self.name("variable", &text[..equals], out);
                if let Some((_, value)) = text[equals..].split_first() {
                    out.push(b'=');
                    self.name("value", value, out);
                }
            } else if place == 0 {
                self.name("program", text, out);
            } else if BRACKETS.contains(&text) {
                is_for_runtime = text == b"+RTS";
                out.extend_from_slice(text);
            } else if is_for_runtime && is_flag(text) {
                out.extend_from_slice(text);
            } else {
                self.name("argument", text, out);
            }
        }
        out.extend_from_slice(end);
    }

    /// Rewrites the name, argument kinds or description of a ticky counter.
    fn ticky(&mut self, key: &str, text: &[u8], out: &mut Vec<u8>) {
        match key {
            "tickyCtrDefName" => {
                let text = String::from_utf8_lossy(text);
                let (name, groups) = text.split_once(" (").unwrap_or((&text, ""));
                self.name("ticky", name.as_bytes(), out);
                // `go3{v s2Pt} (Main) (fun) in r2Pe`
                for group in groups.split(" (").filter(|group| !group.is_empty()) {
                    let inner = group.split(')').next().unwrap_or_default();
                    out.extend_from_slice(b" (");
                    if COUNTERS.contains(&inner) {
                        out.extend_from_slice(inner.as_bytes());
                    } else if let Some(constructor) = inner.strip_prefix("con:") {
                        out.extend_from_slice(b"con: ");
                        self.name("constructor", constructor.trim().as_bytes(), out);
                    } else {
                        self.name("module", inner.as_bytes(), out);
                    }
                    out.push(b')');
                }
            }
            "tickyCtrJsonDesc" => out.extend_from_slice(description(text).as_bytes()),
            _ if is_kinds(text) => out.extend_from_slice(text),
            _ => self.name("kinds", text, out),
        }
    }
}

/// Reduces a ticky counter's description to its kind, and the number and kinds of its variables.
fn description(json: &[u8]) -> String {
    let json = String::from_utf8_lossy(json);
    let value = |key: &str| {
        let (_, rest) = json.split_once(&format!("\"{key}\""))?;
        let rest = rest.trim_start().strip_prefix(':')?.trim_start();
        let text = rest
            .strip_prefix('"')
            .and_then(|rest| rest.split('"').next());
        text.or_else(|| rest.split([',', '}']).next())
    };
    let mut kept = Vec::new();
    for key in ["type", "subTy", "fvs_c", "fvs", "args"] {
        match (key, value(key)) {
            ("type" | "subTy", Some(word)) if COUNTERS.contains(&word) => {
                kept.push(format!("\"{key}\":\"{word}\""));
            }
            ("fvs_c", Some(number)) if number.parse::<u32>().is_ok() => {
                kept.push(format!("\"{key}\":{number}"));
            }
            ("fvs" | "args", Some(kinds)) if is_kinds(kinds.as_bytes()) => {
                kept.push(format!("\"{key}\":\"{kinds}\""));
            }
            _ => {}
        }
    }
    if kept.is_empty() {
        return String::new();
    }
    format!("{{{}}}", kept.join(","))
}

/// Whether a text consists of argument kinds, one letter each: at most three, because more could be a word, or
/// only letters of the few common kinds.
fn is_kinds(text: &[u8]) -> bool {
    text == b"infer"
        || text.iter().all(|byte| b"!>+LMTSEiwdfcC.pP".contains(byte))
            && (text.len() <= 3 || text.iter().all(|byte| b"!>+LMi".contains(byte)))
}

/// Whether a text is a fixed word of the runtime.
fn is_fixed(id: EventType, kind: Kind, text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let is_number = |most_digits| {
        (1..=most_digits).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
    };
    match id {
        EventType::HEAP_PROF_COST_CENTRE => BUILT_IN.contains(&text),
        EventType::HEAP_PROF_SAMPLE_STRING => {
            let label = text.trim_start_matches(|c: char| "()".contains(c) || c.is_ascii_digit());
            kind == "era" && is_number(20)
                || is_address(text)
                || ClosureType::from_name(text).is_some()
                || LIVES.contains(&text)
                || BUILT_IN.contains(&label)
        }
        // The number of a closure type.
        EventType::IPE => kind == "closure" && is_number(3),
        EventType::THREAD_LABEL => {
            let cap = text.strip_prefix("IOManager on cap ");
            ["TimerManager", "IOManager", "main thread"].contains(&text)
                || cap.is_some_and(|cap| cap.parse::<u16>().is_ok())
        }
        EventType::RTS_IDENTIFIER => is_runtime(text),
        _ => false,
    }
}

/// Whether a text is an address in the format of C.
pub(super) fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x");
    digits.is_some_and(|digits| digits.len() <= 16 && u64::from_str_radix(digits, 16).is_ok())
}

/// Whether a text is GHC's description of a runtime: `GHC-9.10.3 rts_thr_l`.
fn is_runtime(text: &str) -> bool {
    let Some((version, ways)) = text
        .strip_prefix("GHC-")
        .and_then(|text| text.split_once(' '))
    else {
        return false;
    };
    version
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && ways.split('_').all(|way| WAYS.contains(&way))
}

/// Whether a text is a flag of the runtime without user-chosen parts, except small numbers.
fn is_flag(text: &[u8]) -> bool {
    const MAX_DIGITS: usize = 4;
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    if FLAGS.contains(&text) {
        return true;
    }
    let Some(flag) = text.strip_prefix('-') else {
        return false;
    };
    if let Some(classes) = flag.strip_prefix('l') {
        return classes.bytes().all(|byte| b"asgfpunTI-".contains(&byte));
    }
    let number = flag.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = &flag[..flag.len() - number.len()];
    if number.is_empty() {
        return (1..=2).contains(&letters.len());
    }
    let number = number
        .strip_suffix(['k', 'K', 'm', 'M', 'g', 'G'])
        .unwrap_or(number);
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_small = |digits: &str| {
        digits.len() <= MAX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    NUMBER_FLAGS.contains(&letters) && is_small(whole) && is_small(decimals)
}
