//! The header: which event types a log may contain, and their sizes. It is the only authority for sizes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::event::{EventType, SizeClass};
use super::problem::LogError;
use super::record::PREFIX;
use super::recovery::LARGE_EVENT_BYTES;
use super::scan::is_undated;
use super::status::StopCodes;

/// First bytes of a header.
pub const MAGIC: &[u8; 4] = b"hdrb";
/// Type number that ends the data; no timestamp follows it.
pub const END_OF_DATA: u16 = 0xFFFF;
/// Event type that begins a block.
pub const BLOCK_MARKER: u16 = EventType::BLOCK_MARKER.0;
/// Maximum length of a header; GHC's has about 6 KiB, so a longer one is damage.
pub(crate) const MAX_HEADER_BYTES: usize = 16 << 20;

/// Declaration of one event type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeDecl {
    /// The type number of its events.
    pub id: EventType,
    /// Payload size in bytes; `None` if each event carries its length.
    pub size: Option<u16>,
    /// The runtime's description of the type.
    pub description: String,
    /// Whether its events are decoded. The description decides, because other runtimes use GHC's numbers for other
    /// events, as Mercury's does with 39 and 40.
    pub known: bool,
}

/// Payload size of an event type, according to the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadSize {
    /// The type is not in the header.
    Undeclared,
    /// A `u16` length precedes the payload.
    Variable,
    /// The size in bytes.
    Fixed(u16),
}

/// Parsed header. It is serialized as its type declarations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<TypeDecl>", into = "Vec<TypeDecl>")]
pub struct Header {
    /// The declared types, in the order of the header.
    pub types: Vec<TypeDecl>,
    /// Numbering of the stop codes in this log.
    pub stop_codes: StopCodes,
    /// Types with numbers below [`SMALL`], by number.
    slots: Vec<Slot>,
    /// Types with larger numbers, sorted. A file may hold any number of headers, and a table with up to 65,535
    /// entries for each would take far more memory than the file.
    large: Vec<(u16, Slot)>,
    /// Event sizes by type, below [`SMALL`], for types of a small fixed size, which nearly all events have. 1
    /// means that the type needs a closer look, 0 that it is not an event inside a block.
    quick: Box<[u16; SMALL]>,
    /// For large fixed-size types: the sizes that the event could have if one bit of its type is wrong and it is
    /// of a shorter fixed-size type.
    shorter: Vec<(u16, Vec<u16>)>,
}

/// The part of a declaration that reading events needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    size: PayloadSize,
    known: bool,
    /// Index into [`Header::types`].
    decl: u32,
}

impl Slot {
    const UNDECLARED: Self = Self {
        size: PayloadSize::Undeclared,
        known: false,
        decl: u32::MAX,
    };
}

/// Upper bound of the type numbers that GHC, Mercury and Eden use.
const SMALL: usize = 256;

/// Result of [`Header::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A header and its length in bytes; the first event follows.
    Header(Box<Header>, usize),
    /// The bytes end inside the header.
    NeedMore,
}

struct Scan<'a> {
    bytes: &'a [u8],
    pos: usize,
    base: u64,
}

/// Early exit of the parser: more bytes needed, or an error.
enum Stop {
    NeedMore,
    Bad(LogError),
}

impl<'a> Scan<'a> {
    fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    fn take_bytes(&mut self, len: usize) -> Result<&'a [u8], Stop> {
        let end = self.pos.checked_add(len).ok_or(Stop::NeedMore)?;
        let taken = self.bytes.get(self.pos..end).ok_or(Stop::NeedMore)?;
        self.pos = end;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, Stop> {
        self.take_bytes(2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }

    fn u32(&mut self) -> Result<u32, Stop> {
        self.take_bytes(4)
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn expect(&mut self, word: &'static [u8; 4], what: &'static str) -> Result<(), Stop> {
        let at = self.offset();
        if self.take_bytes(4)? == word {
            Ok(())
        } else {
            Err(Stop::Bad(LogError::HeaderDamaged { at, what }))
        }
    }

    /// Reads a length-prefixed string; the length is checked before it is used.
    fn string(&mut self) -> Result<&'a [u8], Stop> {
        let at = self.offset();
        let len = self.u32()? as usize;
        if len > MAX_HEADER_BYTES {
            let what = "a text is longer than 16 MiB";
            return Err(Stop::Bad(LogError::HeaderDamaged { at, what }));
        }
        self.take_bytes(len)
    }
}

impl TryFrom<Vec<TypeDecl>> for Header {
    type Error = &'static str;

    fn try_from(types: Vec<TypeDecl>) -> Result<Self, Self::Error> {
        Self::from_types(types, 0).map_err(|_| "no types of a log that can be read")
    }
}

impl From<Header> for Vec<TypeDecl> {
    fn from(header: Header) -> Self {
        header.types
    }
}

impl Header {
    /// Parses the header at the start of `bytes`. `base` is its offset in the file, for error messages.
    ///
    /// # Errors
    /// If this is not a header of a readable format.
    pub fn parse(bytes: &[u8], base: u64) -> Result<Parsed, LogError> {
        let mut scan = Scan {
            bytes,
            pos: 0,
            base,
        };
        match Self::scan(&mut scan) {
            Ok(header) => Ok(Parsed::Header(Box::new(header), scan.pos)),
            Err(Stop::Bad(error @ LogError::HeaderDamaged { .. })) => {
                Err(converted_as_text(bytes, base).unwrap_or(error))
            }
            Err(Stop::Bad(error)) => Err(error),
            Err(Stop::NeedMore) if bytes.len() >= MAX_HEADER_BYTES => {
                Err(LogError::HeaderDamaged {
                    at: base,
                    what: "it does not end within 16 MiB",
                })
            }
            Err(Stop::NeedMore) => Ok(Parsed::NeedMore),
        }
    }

    fn scan(scan: &mut Scan<'_>) -> Result<Self, Stop> {
        scan.expect(MAGIC, "“hdrb” was expected")?;
        scan.expect(b"hetb", "the type table's “hetb” was expected")?;
        let mut types = Vec::new();
        loop {
            let at = scan.offset();
            match scan.take_bytes(4)? {
                b"etb\0" => types.push(type_record(scan)?),
                b"hete" => break,
                _ => {
                    let what = "a type record's “etb” or the table's end “hete” was expected";
                    return Err(Stop::Bad(LogError::HeaderDamaged { at, what }));
                }
            }
        }
        scan.expect(b"hdre", "the header's end “hdre” was expected")?;
        scan.expect(b"datb", "the data's start “datb” was expected")?;
        Self::from_types(types, scan.base)
    }

    fn from_types(mut types: Vec<TypeDecl>, base: u64) -> Result<Self, Stop> {
        let size_of = |types: &[TypeDecl], id| {
            let decl = types.iter().find(|decl| decl.id == id);
            decl.map(|decl| decl.size)
        };
        let has_blocks = size_of(&types, EventType::BLOCK_MARKER).is_some();
        if !has_blocks && size_of(&types, EventType::RUN_THREAD) == Some(Some(10)) {
            return Err(Stop::Bad(LogError::Ancient(base + 8)));
        }
        // GHC 6.12 declares thread ids of 64 bits, but writes 32.
        if size_of(&types, EventType::CREATE_THREAD) == Some(Some(8)) {
            let fixed = types.iter_mut().filter(|decl| decl.size.is_some());
            for decl in fixed {
                decl.size = decl.id.min_payload_bytes().or(decl.size);
            }
        }
        let declares = |id| size_of(&types, id).is_some();
        // User markers came with 7.8.1. GHC 7.8.3 declares a type that is never written, to mark that the stop
        // codes are the standard ones again.
        let stop_codes = if declares(EventType::USER_MARKER) && !declares(EventType::HACK_BUG_T9003)
        {
            StopCodes::Ghc782
        } else {
            StopCodes::Standard
        };
        let mut by_id = BTreeMap::new();
        for (decl, index) in types.iter().zip(0..) {
            let slot = Slot {
                size: decl.size.map_or(PayloadSize::Variable, PayloadSize::Fixed),
                known: decl.known,
                decl: index,
            };
            by_id.insert(decl.id.0, slot);
        }
        let mut slots = Vec::new();
        let mut large = Vec::new();
        for (id, slot) in by_id {
            if usize::from(id) < SMALL {
                slots.resize(usize::from(id), Slot::UNDECLARED);
                slots.push(slot);
            } else {
                large.push((id, slot));
            }
        }
        // The last entry stands for all large numbers.
        let mut quick = Box::new([0; SMALL]);
        for ((id, slot), quick) in (0..).zip(&slots).zip(&mut quick[..SMALL - 1]) {
            *quick = match slot.size {
                _ if id == BLOCK_MARKER || is_undated(id) => 0,
                PayloadSize::Undeclared => 0,
                PayloadSize::Fixed(len) if len < LARGE_EVENT_BYTES => len + PREFIX as u16,
                PayloadSize::Fixed(_) | PayloadSize::Variable => 1,
            };
        }
        let fixed = |id: usize| match slots.get(id).map(|slot| slot.size) {
            Some(PayloadSize::Fixed(len)) => Some(len.saturating_add(PREFIX as u16)),
            _ => None,
        };
        let shorter = (0..slots.len()).filter_map(|id| {
            let end = fixed(id).filter(|&end| end >= LARGE_EVENT_BYTES + PREFIX as u16)?;
            let others = (0..u16::BITS).filter_map(|bit| fixed(id ^ 1 << bit));
            let mut ends: Vec<u16> = others.filter(|&other| other < end).collect();
            ends.sort_unstable();
            ends.dedup();
            Some((u16::try_from(id).ok()?, ends))
        });
        let shorter = shorter.collect();
        Ok(Self {
            shorter,
            types,
            stop_codes,
            quick,
            slots,
            large,
        })
    }

    #[inline]
    fn slot(&self, id: u16) -> Slot {
        match self.slots.get(usize::from(id)) {
            Some(slot) => *slot,
            None => self.large_slot(id),
        }
    }

    #[cold]
    fn large_slot(&self, id: u16) -> Slot {
        let found = self.large.binary_search_by_key(&id, |(id, _)| *id);
        found.map_or(Slot::UNDECLARED, |i| self.large[i].1)
    }

    /// Returns the payload size of a type.
    #[inline]
    pub fn size(&self, id: u16) -> PayloadSize {
        self.slot(id).size
    }

    /// Returns the size in bytes of an event with a small fixed size that can occur inside blocks. 1 means that
    /// the type needs a closer look, 0 that it is not an event there.
    #[inline]
    pub(crate) fn quick_size(&self, id: u16) -> usize {
        usize::from(self.quick[usize::from(id).min(SMALL - 1)])
    }

    /// Returns the possible sizes of an event of a large fixed size if one bit of its type is wrong.
    pub(crate) fn shorter_ends(&self, id: u16) -> &[u16] {
        let found = self.shorter.iter().find(|(large, _)| *large == id);
        found.map_or(&[], |(_, ends)| ends)
    }

    /// Whether events of this type are decoded.
    #[inline]
    pub fn knows(&self, id: EventType) -> bool {
        self.slot(id.0).known
    }

    /// Returns the declaration of a type; the last one if there are several.
    pub fn decl(&self, id: EventType) -> Option<&TypeDecl> {
        self.types.get(self.slot(id.0).decl as usize)
    }
}

fn type_record(scan: &mut Scan<'_>) -> Result<TypeDecl, Stop> {
    let record_at = scan.offset() - 4;
    let id = EventType(scan.u16()?);
    let size = scan.u16()?;
    // In the format of early 2009, the description's length is where the size is now, and the rest of that length
    // and the text are where the length is.
    let next = scan
        .bytes
        .get(scan.pos..)
        .and_then(|bytes| bytes.first_chunk());
    if let (0, Some([0, len, a, b])) = (size, next)
        && *len > 0
        && a.is_ascii_graphic()
        && b.is_ascii_graphic()
    {
        return Err(Stop::Bad(LogError::Ancient(record_at)));
    }
    let description = scan.string()?;
    scan.string()?;
    let at = scan.offset();
    if scan.take_bytes(4)? != b"ete\0" {
        let what = "a type record's end “ete” was expected";
        return Err(Stop::Bad(LogError::HeaderDamaged { at, what }));
    }
    let description = String::from_utf8_lossy(description).into_owned();
    let class = if size == 0xFFFF {
        SizeClass::Variable
    } else {
        SizeClass::Fixed
    };
    Ok(TypeDecl {
        id,
        size: (size != 0xFFFF).then_some(size),
        known: id.expected_class() == Some(class) && is_described_as(id, &description),
        description,
    })
}

/// For each type whose description shares no word with its name, a word of that description: in GHC, and in
/// Mercury's runtime where the event has the same meaning.
const ALTERNATIVE_WORDS: &[(EventType, &str)] = &[
    (EventType::THREAD_RUNNABLE, "queue"),
    (EventType::STARTUP, "capabilities"),
    (EventType::CAPSET_DELETE, "engine"),
    (EventType::CAPSET_ASSIGN_CAP, "engine"),
    (EventType::CAPSET_REMOVE_CAP, "engine"),
    (EventType::RTS_IDENTIFIER, "runtime"),
    (EventType::PROGRAM_ARGS, "arguments"),
    (EventType::IPE, "ipe"),
];

/// Words that occur in the descriptions of many types.
const COMMON_WORDS: [&str; 3] = ["Begin", "Start", "End"];

/// Whether a description fits a type; another runtime may use the number for another event. GHC versions differ in
/// their wording, but all share a word with the type's name, or its first four letters: "Synchronise
/// stop-the-world GC" is `GlobalSyncGC`. An empty description excludes nothing.
fn is_described_as(id: EventType, description: &str) -> bool {
    let name = id.name().unwrap_or_default();
    if description.is_empty() || description == name {
        return true;
    }
    let description = description.to_lowercase();
    let has = |word: &str| {
        let word = word.to_lowercase();
        let start = &word[..word.floor_char_boundary(4)];
        let mut words = description.split(|c: char| !c.is_alphanumeric());
        words.any(|other| other.starts_with(start))
    };
    let distinctive = words_of_name(name).filter(|word| !COMMON_WORDS.contains(word));
    let others = ALTERNATIVE_WORDS.iter().filter(|(other, _)| *other == id);
    distinctive.chain(others.map(|(_, word)| *word)).any(has)
}

/// Splits a name such as `HeapInfoGHC` into words.
fn words_of_name(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let is_capital = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
        let is_small = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
        let begins = |at: &usize| is_capital(*at) && (is_small(at - 1) || is_small(at + 1));
        let end = (1..bytes.len()).find(begins).unwrap_or(bytes.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// Returns the error for a broken header in which every line feed is next to a carriage return. Every GHC declares
/// event type 10, so an intact header contains a lone line feed.
pub(crate) fn converted_as_text(bytes: &[u8], base: u64) -> Option<LogError> {
    let bytes = &bytes[..bytes.len().min(4096)];
    let feed_at = |i: usize| bytes.get(i) == Some(&b'\n');
    let return_at = |i: usize| bytes.get(i) == Some(&b'\r');
    let mut first = None;
    for i in (0..bytes.len()).filter(|&i| feed_at(i)) {
        if !return_at(i + 1) && (i == 0 || !return_at(i - 1)) {
            return None;
        }
        first = first.or(Some(i));
    }
    first.map(|i| LogError::TextConverted(base + i as u64))
}

/// Returns a sentence about what a file that is not an eventlog looks like; empty if unknown.
pub fn looks_like(bytes: &[u8]) -> String {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let found = if starts(b"PK\x03\x04") {
        "It is a zip archive: unpack it first."
    } else if starts(b"\x7FELF") || starts(b"MZ") || starts(b"\xCF\xFA\xED\xFE") {
        "It is a program, not its log."
    } else if starts(b"BZh") || starts(b"\xFD7zXZ") {
        "Its compression is not supported (gzip and zstd are): unpack it first."
    } else if starts(b"{") || starts(b"[") {
        "It looks like JSON."
    } else if !bytes.is_empty()
        && bytes
            .iter()
            .take(512)
            .all(|b| matches!(b, 9..=13 | 32..=126 | 128..))
    {
        "It looks like a text file."
    } else if bytes.iter().all(|&b| b == 0) {
        "It contains only zero bytes."
    } else {
        ""
    };
    found.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        let words = |name| words_of_name(name).collect::<Vec<_>>();
        assert_eq!(words("HeapInfoGHC"), ["Heap", "Info", "GHC"]);
        assert_eq!(words("GCIdle"), ["GC", "Idle"]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn descriptions_decide_what_a_number_means() {
        let cases = [
            (
                EventType::CONC_MARK_BEGIN,
                "Begin concurrent mark phase",
                true,
            ),
            (EventType::CONC_MARK_BEGIN, "Pre-run thread counters", false),
            (EventType::CONC_SYNC_BEGIN, "Begin task clock", false),
            (
                EventType::GC_GLOBAL_SYNC,
                "Synchronise stop-the-world GC",
                true,
            ),
            (EventType::SPARK_FIZZLE, "About to call main/2", false),
            (EventType::RUN_THREAD, "", true),
        ];
        for (id, description, known) in cases {
            assert_eq!(
                is_described_as(id, description),
                known,
                "{id:?} {description}"
            );
        }
        for &id in EventType::ALL {
            assert!(is_described_as(id, id.name().unwrap_or_default()), "{id:?}");
        }
    }

    /// The runtimes that wrote the test logs agree with the table, except for two of Mercury's types.
    #[test]
    fn all_types_of_real_logs_are_known() {
        let mut unknown = Vec::new();
        for log in crate::tests::logs::all() {
            let at = log
                .bytes
                .windows(8)
                .position(|window| window == b"hdrbhetb");
            let header = at.map(|at| Header::parse(&log.bytes[at..], 0));
            let Some(Ok(Parsed::Header(header, _))) = header else {
                continue;
            };
            let is_of_table = |decl: &&TypeDecl| decl.id.name().is_some() && !decl.known;
            let types = header.types.iter().filter(is_of_table);
            unknown.extend(types.map(|decl| (decl.id.0, decl.description.clone())));
        }
        unknown.sort_unstable();
        unknown.dedup();
        let mercury = [
            (39, "Register an id->string mapping".to_owned()),
            (40, "About to call main/2".to_owned()),
        ];
        assert!(unknown.iter().all(|of| mercury.contains(of)), "{unknown:?}");
    }
}
