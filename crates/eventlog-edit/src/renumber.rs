//! Renumbers entities in events, to keep those of several processes apart in one log.

use super::merge::BatchEvent;
use eventlog::conventions::Convention;
use eventlog::conventions::opentelemetry::Telemetry;
use eventlog::conventions::stack_profiler::{StackFrame, StackMessage};
use eventlog::cursor::FieldKind;
use eventlog::event::{Event, EventType};
use eventlog::ids::CapId;
use eventlog::status::{StopCodes, StopStatus};

/// Offsets that are added to the numbers of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbering {
    /// Index of the process.
    place: u64,
    pub(super) caps: u16,
    threads: u32,
    pub(super) capsets: u32,
    cost_centres: u32,
    counters: u32,
    texts: u32,
    /// Whether numbered spans are foreign calls.
    pub(super) has_calls: bool,
}

/// Position of the process index in 64-bit numbers: no address has so many bits.
const PLACE_BIT: u32 = 48;

/// Maximum number of capabilities in a log: a larger number means "none", or is damage.
pub(super) const MAX_CAPS: u32 = 1024;
/// 32-bit numbers from here on mean "none": no counter reaches them.
pub(super) const NO_NUMBER: u32 = 1 << 31;

/// Changes the number at an offset.
fn add<const N: usize>(bytes: &mut [u8], at: usize, change: impl FnOnce([u8; N]) -> [u8; N]) {
    if let Some(field) = bytes
        .get_mut(at..)
        .and_then(|rest| rest.first_chunk_mut::<N>())
    {
        *field = change(*field);
    }
}

impl Numbering {
    /// Returns the new number of a capability.
    pub(super) fn new_cap(&self, cap: Option<CapId>) -> Option<CapId> {
        cap.map(|cap| CapId(cap.0.saturating_add(self.caps)))
    }

    /// Returns the numbering of the next process. `taken` are the sizes of this process's number ranges:
    /// capabilities, threads, capability sets, cost centres, counters, texts.
    pub(super) fn next_process(&self, taken: &[u64; 6]) -> Result<Self, &'static str> {
        let wide = |own: u32, taken: u64, what| {
            let sum = u64::from(own) + taken;
            u32::try_from(sum).map_err(|_| what)
        };
        let [caps, threads, capsets, cost_centres, counters, texts] = *taken;
        let caps = u64::from(self.caps) + caps;
        Ok(Self {
            place: self.place + 1,
            caps: u16::try_from(caps).map_err(|_| "capabilities")?,
            threads: wide(self.threads, threads, "threads")?,
            capsets: wide(self.capsets, capsets, "capability sets")?,
            cost_centres: wide(self.cost_centres, cost_centres, "cost centres")?,
            counters: wide(self.counters, counters, "counters")?,
            texts: wide(self.texts, texts, "texts")?,
            has_calls: false,
        })
    }

    /// Writes the payload of an event to `out`, with new numbers, and with stop codes in the numbering `codes`.
    pub(super) fn rewrite(
        &self,
        batch_event: &BatchEvent<'_>,
        codes: StopCodes,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        out.extend_from_slice(batch_event.payload);
        let same_codes = batch_event.header.stop_codes == codes;
        if !batch_event.header.knows(batch_event.id) || self.place == 0 && same_codes {
            return;
        }
        Event::locate(batch_event.id, batch_event.payload, |key, range, kind| {
            let at = range.start;
            match kind {
                FieldKind::Cap => self.cap(out, at),
                FieldKind::Capset => self.wide(out, at, self.capsets),
                FieldKind::Thread => self.wide(out, at, self.threads),
                FieldKind::CostCentre => self.wide(out, at, self.cost_centres),
                FieldKind::Task => self.long(out, at),
                FieldKind::CostCentres => {
                    for at in (at + 1..range.end).step_by(4) {
                        self.wide(out, at, self.cost_centres);
                    }
                }
                FieldKind::Plain if key == "status" => {
                    self.stop(out, at, batch_event.header.stop_codes, codes)
                }
                FieldKind::Plain => self.plain(key, out, at),
                FieldKind::TextToNul if batch_event.id == EventType::HEAP_PROF_SAMPLE_STRING => {
                    self.address(out, at);
                }
                FieldKind::Text if batch_event.id == EventType::USER_MSG => {
                    self.telemetry(out);
                    self.call(out);
                }
                FieldKind::Text if batch_event.id == EventType::USER_MARKER => self.call(out),
                FieldKind::Bytes => self.message(out),
                _ => {}
            }
        });
    }

    fn cap(&self, out: &mut [u8], at: usize) {
        add(out, at, |bytes| match u16::from_be_bytes(bytes) {
            cap if u32::from(cap) >= MAX_CAPS => bytes,
            cap => cap.saturating_add(self.caps).to_be_bytes(),
        });
    }

    fn wide(&self, out: &mut [u8], at: usize, more: u32) {
        add(out, at, |bytes| match u32::from_be_bytes(bytes) {
            number if number < NO_NUMBER => number.wrapping_add(more).to_be_bytes(),
            _ => bytes,
        });
    }

    fn high(&self, number: u64) -> u64 {
        number.wrapping_add(self.place << PLACE_BIT)
    }

    fn long(&self, out: &mut [u8], at: usize) {
        add(out, at, |bytes| {
            self.high(u64::from_be_bytes(bytes)).to_be_bytes()
        });
    }

    /// Changes a number whose meaning depends on its field name.
    fn plain(&self, key: &str, out: &mut [u8], at: usize) {
        match key {
            "n_caps" => self.cap(out, at),
            "profCap" => self.wide(out, at, u32::from(self.caps)),
            "thread_id" => self.wide(out, at, self.threads),
            "perfNum" => self.wide(out, at, self.counters),
            "sId" | "static_id" | "spark_id" | "name_id" => self.wide(out, at, self.texts),
            "itInfo" | "tickyCtrDefId" | "tickyCtrSampleId" => self.long(out, at),
            // 0 means that there is none.
            "tickyCtrInfoTbl" if out.get(at..at + 8).is_some_and(|bytes| bytes != [0; 8]) => {
                self.long(out, at);
            }
            _ => {}
        }
    }

    /// Changes a stop status; some contain the number of another thread.
    fn stop(&self, out: &mut [u8], at: usize, from: StopCodes, to: StopCodes) {
        let Some(code) = out.get(at..).and_then(|rest| rest.first_chunk()) else {
            return;
        };
        let status = StopStatus::from_code(from, u16::from_be_bytes(*code), None);
        if matches!(status, StopStatus::BlockedOnBlackHole(_)) {
            self.wide(out, at + 2, self.threads);
        }
        if from != to && !matches!(status, StopStatus::Other(_)) {
            add(out, at, |_| u16::from(status.code()).to_be_bytes());
        }
    }

    /// Changes a band label that is the address of an info table.
    fn address(&self, out: &mut Vec<u8>, at: usize) {
        let text = out.get(at..).unwrap_or_default();
        let text = text.strip_suffix(&[0]).unwrap_or(text);
        let digits = text
            .strip_prefix(b"0x")
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if let Some(address) = address {
            out.truncate(at);
            out.extend(format!("{:#x}\0", self.high(address)).into_bytes());
        }
    }

    /// Changes a text message of opentelemetry. Its fourth word is the number of a span or of an instrument; in a
    /// declaration, the number follows the instrument's kind.
    fn telemetry(&self, out: &mut Vec<u8>) {
        let Some(text) = std::str::from_utf8(out)
            .ok()
            .filter(|text| text.starts_with("ot2 "))
        else {
            return;
        };
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let (place, is_hexadecimal) = match (
            words.get(1).map(String::as_str),
            words.get(2).map(String::as_str),
        ) {
            (Some("metric"), Some("create")) => (4, true),
            (Some("metric"), Some("capture")) => (3, true),
            (Some("metric"), _) => return,
            _ => (3, false),
        };
        let Some(word) = words.get_mut(place) else {
            return;
        };
        let radix = if is_hexadecimal { 16 } else { 10 };
        let Ok(number) = u64::from_str_radix(word, radix) else {
            return;
        };
        let number = self.high(number);
        *word = if is_hexadecimal {
            format!("{number:016x}")
        } else {
            number.to_string()
        };
        *out = words.join(" ").into_bytes();
    }

    /// Changes a text message or marker about a foreign call in the convention of hs-safescope: the number is its
    /// second word, and the name follows. A program that annotates no calls may have spans with such names.
    fn call(&self, out: &mut Vec<u8>) {
        if self.place == 0 || !self.has_calls {
            return;
        }
        let mut words = out.splitn(3, |byte| *byte == b' ');
        let (Some(verb), Some(number), Some(rest)) = (words.next(), words.next(), words.next())
        else {
            return;
        };
        let verbs: [&[u8]; 6] = [b"START", b"STOP", b"END", b"ANN_SCC", b"ANN_CCS", b"ANN_TH"];
        let number = std::str::from_utf8(number).ok();
        let number = number.and_then(|number| number.parse::<i64>().ok());
        let Some(number) = number.filter(|_| verbs.contains(&verb)) else {
            return;
        };
        if rest.trim_ascii().is_empty() {
            return;
        }
        let number = number.wrapping_add_unsigned(self.high(0)).to_string();
        *out = [verb, number.as_bytes(), rest].join(&b' ');
    }

    /// Changes a binary message of opentelemetry or ghc-stack-profiler.
    fn message(&self, out: &mut [u8]) {
        const AFTER_KIND: usize = 4;
        match Convention::parse_bytes(out) {
            Some(Convention::Telemetry(said)) => {
                let declares = matches!(said, Telemetry::DeclareInstrument { .. });
                let at = AFTER_KIND + usize::from(declares);
                add(out, at, |bytes| {
                    self.high(u64::from_le_bytes(bytes)).to_le_bytes()
                });
            }
            Some(Convention::Stack(StackMessage::Define { .. })) => self.long(out, 2),
            Some(Convention::Stack(StackMessage::Location { function, .. })) => {
                self.long(out, 2);
                self.long(out, 18);
                if function.is_some() {
                    self.long(out, 26);
                }
            }
            Some(Convention::Stack(StackMessage::Stack { frames, .. })) => {
                let frames_at = out.len() - frames.byte_len();
                // A frame consists of its kind and one or two numbers.
                let has_two = frames.iter().map(|frame| {
                    matches!(
                        frame,
                        StackFrame::Annotation {
                            location: Some(_),
                            ..
                        }
                    )
                });
                let has_two: Vec<bool> = has_two.collect();
                self.wide(out, 2, u32::from(self.caps));
                // Of 64 bits, the last 32 are used; the number of frames follows them.
                self.wide(out, frames_at - 6, self.threads);
                let mut at = frames_at;
                for has_two in has_two {
                    self.long(out, at + 1);
                    if has_two {
                        self.long(out, at + 9);
                    }
                    at += if has_two { 17 } else { 9 };
                }
            }
            Some(Convention::Stack(StackMessage::Version(_))) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use eventlog::event::SizeClass;
    use eventlog::header::{Header, TypeDecl};
    use eventlog::ids::Nanos;

    /// The second process, after one with 4 capabilities, 100 threads, 2 sets and 10 cost centres.
    fn second() -> Numbering {
        let first = Numbering::default();
        let second = first.next_process(&[4, 100, 2, 10, 3, 5]);
        Numbering {
            has_calls: true,
            ..second.expect("few numbers")
        }
    }

    fn rewritten(id: EventType, payload: &[u8]) -> Vec<u8> {
        let types = EventType::ALL.iter().map(|&id| TypeDecl {
            id,
            size: (id.expected_class() == Some(SizeClass::Fixed))
                .then(|| id.min_payload_bytes().unwrap_or(0)),
            description: "fizzle".to_owned(),
            known: true,
        });
        let mut types: Vec<TypeDecl> = types.collect();
        types.push(TypeDecl {
            id: EventType::HACK_BUG_T9003,
            size: Some(0),
            description: String::new(),
            known: false,
        });
        let header = Arc::new(Header::try_from(types).expect("types"));
        let batch_event = BatchEvent {
            id,
            time: Nanos(1),
            cap: None,
            payload,
            header: &header,
        };
        let mut out = Vec::new();
        second().rewrite(&batch_event, StopCodes::Standard, &mut out);
        out
    }

    #[test]
    fn fields_of_every_kind() {
        let stop = [0, 0, 0, 7, 0, 8, 0, 0, 0, 9];
        let changed = rewritten(EventType::STOP_THREAD, &stop);
        assert_eq!(
            changed,
            [0, 0, 0, 107, 0, 8, 0, 0, 0, 109],
            "and who owns the black hole"
        );
        let stop = [0, 0, 0, 7, 0, 2, 0, 0, 0, 9];
        let changed = rewritten(EventType::STOP_THREAD, &stop);
        assert_eq!(changed, [0, 0, 0, 107, 0, 2, 0, 0, 0, 9], "a size stays");
        let changed = rewritten(EventType::MIGRATE_THREAD, &[0, 0, 0, 7, 0, 1]);
        assert_eq!(changed, [0, 0, 0, 107, 0, 5]);
        let changed = rewritten(EventType::CAPSET_ASSIGN_CAP, &[0, 0, 0, 1, 0xFF, 0xFF]);
        assert_eq!(
            changed,
            [0, 0, 0, 3, 0xFF, 0xFF],
            "no capability stays none"
        );
        let sample = [&[0, 0, 0, 1][..], &[0; 8], &[2, 0, 0, 0, 1, 0, 0, 0, 2]].concat();
        let changed = rewritten(EventType::PROF_SAMPLE_COST_CENTRE, &sample);
        let expected = [&[0, 0, 0, 5][..], &[0; 8], &[2, 0, 0, 0, 11, 0, 0, 0, 12]].concat();
        assert_eq!(changed, expected);
        let task = [&7_u64.to_be_bytes()[..], &[0, 1], &9_u64.to_be_bytes()].concat();
        let changed = rewritten(EventType::TASK_CREATE, &task);
        let expected = [&[0, 1, 0, 0, 0, 0, 0, 7, 0, 5][..], &9_u64.to_be_bytes()].concat();
        assert_eq!(changed, expected, "the kernel's number stays");
        let band = [&[0][..], &32_u64.to_be_bytes(), b"0x47f590\0"].concat();
        let changed = rewritten(EventType::HEAP_PROF_SAMPLE_STRING, &band);
        assert_eq!(changed[9..], *b"0x100000047f590\0");
        let changed = rewritten(EventType::INTERN_STRING, b"text\0\0\0\0\x01");
        assert_eq!(changed, b"text\0\0\0\0\x06");
    }

    #[test]
    fn messages_of_libraries() {
        let text = |text: &str| {
            let changed = rewritten(EventType::USER_MSG, text.as_bytes());
            String::from_utf8(changed).expect("UTF-8")
        };
        assert_eq!(
            text("ot2 begin span 7 a request"),
            "ot2 begin span 281474976710663 a request"
        );
        assert_eq!(
            text("ot2 metric capture 0a -5"),
            "ot2 metric capture 000100000000000a -5"
        );
        assert_eq!(
            text("ot2 metric Counter hits 5"),
            "ot2 metric Counter hits 5"
        );
        assert_eq!(text("begin span 7"), "begin span 7");
        assert_eq!(text("START 7 bar"), "START 281474976710663 bar");
        assert_eq!(text("END 7 a b "), "END 281474976710663 a b ");
        assert_eq!(text("ANN_TH 7 bar 4242"), "ANN_TH 281474976710663 bar 4242");
        for names in [
            "START 7",
            "STOP 7 ",
            "START bar",
            "START 7bar baz",
            "BEGIN 7 bar",
        ] {
            assert_eq!(text(names), names);
        }
        let marker = rewritten(EventType::USER_MARKER, b"STOP 7 bar");
        assert_eq!(marker, b"STOP 281474976710663 bar");
        let mut name = b"START 7 bar".to_vec();
        let without_calls = Numbering {
            has_calls: false,
            ..second()
        };
        without_calls.call(&mut name);
        assert_eq!(name, b"START 7 bar", "the name of a span");
        let span = [b"OT\x03\x02", &7_u64.to_le_bytes()[..]].concat();
        let changed = rewritten(EventType::USER_BINARY_MSG, &span);
        assert_eq!(
            changed,
            [b"OT\x03\x02", &[7, 0, 0, 0, 0, 0, 1, 0][..]].concat()
        );

        let frames = |high: u8| {
            let mut frames = vec![0, 3, 1];
            frames.extend([
                0, high, 0, 0, 0, 0x40, 0xFF, 0xF8, 2, 0, high, 0, 0, 0, 0, 0, 5, 3,
            ]);
            frames.extend([0, high, 0, 0, 0, 0, 0, 6, 0, high, 0, 0, 0, 0, 0, 9]);
            frames
        };
        for (before, after) in [
            (
                &[0, 0, 0, 2, 0, 0, 0, 12][..],
                &[0, 0, 0, 6, 0, 0, 0, 112][..],
            ),
            (
                &[0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 12],
                &[0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 112],
            ),
        ] {
            let stack = [&[0xFF, 0xCA][..], before, &frames(0)].concat();
            let changed = rewritten(EventType::USER_BINARY_MSG, &stack);
            assert_eq!(changed, [&[0xFF, 0xCA][..], after, &frames(1)].concat());
        }
        // The layout of ghc-stack-profiler 0.2.
        let numbered = |high: u8, number: u8| [0, high, 0, 0, 0, 0, 0, number];
        let location = |high| {
            let place = [0, 0, 0, 1, 0, 0, 0, 2];
            let texts = [numbered(high, 5), numbered(high, 7)].concat();
            [&[0xFF, 0xCD][..], &numbered(high, 9), &place, &texts].concat()
        };
        let changed = rewritten(EventType::USER_BINARY_MSG, &location(0));
        assert_eq!(changed, location(1));
        let stack = |cap, thread, high| {
            let begin = [0xFF, 0xCA, 0, 0, 0, cap, 0, 0, 0, thread, 0, 1, 3];
            [&begin[..], &numbered(high, 9)].concat()
        };
        let changed = rewritten(EventType::USER_BINARY_MSG, &stack(2, 12, 0));
        assert_eq!(changed, stack(6, 112, 1));
    }

    #[test]
    fn more_numbers_than_there_are() {
        let full = Numbering::default().next_process(&[0, u64::from(u32::MAX), 0, 0, 0, 0]);
        assert_eq!(
            full.expect("they fit").next_process(&[0, 1, 0, 0, 0, 0]),
            Err("threads")
        );
    }
}
