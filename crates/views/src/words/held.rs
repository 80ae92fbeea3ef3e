//! Explanations of why a program holds more memory than is live: the meaning of each part, what to try at what
//! price, and when there is no reason to worry.

use std::borrow::Cow;

use analysis::heap::memory::{Collector, HeldMemory, MemoryFlags, MemoryMoment, MemoryPart};
use model::sorting::CompactSort;

use scene::format::{self, bytes, pluralize};

/// Parts below this share of the memory, in percent, only appear in the table.
const MIN_PERCENT: u64 = 5;
/// Minimum excess over the expected size to be reported, in percent of the expected size.
const EXCESS_PERCENT: u64 = 20;
/// Minimum excess to be reported, in bytes.
const MIN_EXCESS_BYTES: u64 = 32 << 20;
/// Amounts up to this size are not explained, whatever their share.
const MIN_BYTES: u64 = 256 << 10;
/// Minimum share of byte arrays in the live data to be explained, in percent.
const BYTE_ARRAYS_PERCENT: u64 = 40;

/// Suggestion with exact flags and its price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// Action: flags of `+RTS`, or a change of the program.
    pub what: Cow<'static, str>,
    /// Benefit and cost.
    pub price: &'static str,
}

/// Reason why memory is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Name of the part, with its size.
    pub title: String,
    /// Explanation in sentences.
    pub meaning: String,
    /// Suggestions; may be empty.
    pub tries: Vec<Try>,
    /// When there is no reason to worry.
    pub fine: &'static str,
}

impl Try {
    const fn new(what: &'static str, price: &'static str) -> Self {
        let what = Cow::Borrowed(what);
        Self { what, price }
    }
}

const COMPACT: Try = Try::new(
    "-c",
    "compacts live data instead of copying it: 1.2 times instead of 2; major collections take longer",
);
const NONMOVING: Try = Try::new(
    "--nonmoving-gc",
    "does not copy the old generation, so pauses are short; the program is slower, and free slots remain between objects",
);

/// Suggests slower growth of the old generation, unless its factor is 1.5 or less already.
fn grow_less(held: &HeldMemory) -> Option<Try> {
    let may = held.flags.old_generation_factor() > 1.5;
    may.then_some(Try::new(
        "-F1.5",
        "the old generation grows less between collections; it is collected more often",
    ))
}

/// Suggests returning memory sooner; `None` before GHC 9.2, or if the decay factor is 1 or less already.
fn return_sooner(held: &HeldMemory) -> Option<Try> {
    let may = held.returned.is_some() && held.flags.return_decay() > 1.0;
    may.then_some(Try::new(
        "-Fd1",
        "returns memory sooner when the program idles after a peak; the next peak has to request it again",
    ))
}

/// Summarizes a range in one sentence: the memory held, the live data, and whether the ratio is usual.
pub fn headline(held: &HeldMemory) -> Option<String> {
    let peak = held.peak?;
    let size = bytes(peak.held_bytes);
    let at = format::time(peak.at);
    let Some((live, factor)) = peak.live_bytes.zip(peak.copying_factor()) else {
        return Some(format!(
            "At most {size} were held, at {at}. The live data at that time is not in the log: only major collections measure it."
        ));
    };
    let live = bytes(live);
    let usual = expected(&held.flags, &peak).unwrap_or_default();
    let decimals = usize::from(factor < 10.0);
    Some(format!(
        "At most {size} were held, at {at}, for {live} of live data: {factor:.decimals$} times as much.{usual}"
    ))
}

/// Describes the usual size, and by how much it was exceeded.
fn expected(flags: &MemoryFlags, peak: &MemoryMoment) -> Option<String> {
    let expected = peak.expected_bytes?;
    let nursery = flags.nursery_bytes()?;
    let (copying, needs) = match flags.collector {
        Collector::Copying => ("A copying collector", "2"),
        Collector::Compacting => ("A compacting collector", "1.2"),
        Collector::Nonmoving => ("The nonmoving collector", "1.2"),
    };
    let factor = flags.old_generation_factor();
    let default = match flags.old_generation_factor {
        Some(_) => "",
        None => ", unless the program sets another",
    };
    let usual = format!(
        " {copying} usually needs ({needs} + F) times the live data, with F = {factor}{default}, and {} of {}: {}.",
        pluralize(peak.capabilities, "nursery"),
        bytes(nursery),
        bytes(expected),
    );
    let excess = peak.held_bytes.saturating_sub(expected);
    let least = expected.saturating_mul(EXCESS_PERCENT) / 100;
    let verdict = if excess > least.max(MIN_EXCESS_BYTES) {
        format!(" The memory held was {} more.", bytes(excess))
    } else {
        " This is normal.".to_owned()
    };
    Some(usual + &verdict)
}

/// Lists why more memory is held than is live: a reason for each part that matters at the peak or after the last
/// major collection at work, largest first, followed by reasons that are not about a part.
pub fn reasons(held: &HeldMemory) -> Vec<Reason> {
    // The peak takes precedence over the later moment.
    let matters = |part: MemoryPart| {
        let moments = [held.peak, held.last_at_work].into_iter().flatten();
        let mut sizes = moments.map(|moment| (part, moment.parts.get(part), moment));
        sizes.find(|(_, size, moment)| {
            let least = moment.held_bytes.saturating_mul(MIN_PERCENT) / 100;
            *size > MIN_BYTES.max(least)
        })
    };
    let parts = MemoryPart::ALL
        .into_iter()
        .filter(|part| *part != MemoryPart::Live);
    let mut parts: Vec<(MemoryPart, u64, MemoryMoment)> = parts.filter_map(matters).collect();
    parts.sort_small_by_key(|&(part, size, _)| (std::cmp::Reverse(size), part));
    let reason = |(part, size, moment)| reason(held, part, size, &moment);
    let mut reasons: Vec<Reason> = parts.into_iter().map(reason).collect();
    reasons.extend(after_the_peak(held));
    reasons.extend(byte_arrays(held));
    reasons.extend(segments(held));
    reasons
}

fn reason(held: &HeldMemory, part: MemoryPart, size: u64, moment: &MemoryMoment) -> Reason {
    let share = format::percent_short(size, moment.held_bytes);
    let title = format!(
        "{}: {}, {share} of {} at {}",
        part.title(),
        bytes(size),
        bytes(moment.held_bytes),
        format::time(moment.at)
    );
    let mut meaning = part.meaning().to_owned();
    meaning += &more_of(held, part, moment);
    Reason {
        title,
        meaning,
        tries: tries(held, part, moment.capabilities),
        fine: fine(part),
    }
}

/// Adds details of this log to the meaning of a part.
fn more_of(held: &HeldMemory, part: MemoryPart, moment: &MemoryMoment) -> String {
    let flags = &held.flags;
    match part {
        MemoryPart::Nursery => match flags.nursery_bytes() {
            Some(nursery) if moment.capabilities > 1 => {
                format!(" Here: {} × {}.", moment.capabilities, bytes(nursery))
            }
            _ => String::new(),
        },
        MemoryPart::Runtime if flags.suggested_heap => {
            " With a suggested heap size (-H), nurseries are larger than -A: the excess counts here.".to_owned()
        }
        MemoryPart::Runtime if flags.collector == Collector::Nonmoving => {
            " Includes segments that the nonmoving collector has not filled yet.".to_owned()
        }
        MemoryPart::Stuck => given_back(held),
        _ => String::new(),
    }
}

/// Describes how much of the excess memory the runtime returned.
fn given_back(held: &HeldMemory) -> String {
    let Some(given) = held.returned.filter(|given| given.asked > 0) else {
        return String::new();
    };
    let majors = pluralize(given.asked, "major collection");
    let returned = bytes(given.returned_bytes);
    format!(
        " At {majors} of the range, more was held than needed; the runtime could return {returned} in total."
    )
}

fn tries(held: &HeldMemory, part: MemoryPart, capabilities: u64) -> Vec<Try> {
    let collector = held.flags.collector;
    let copying = collector == Collector::Copying;
    let tries = match part {
        MemoryPart::Reserve | MemoryPart::Free => vec![
            grow_less(held),
            copying.then_some(COMPACT),
            copying.then_some(NONMOVING),
            return_sooner(held),
        ],
        MemoryPart::Grown | MemoryPart::Unknown => vec![
            grow_less(held),
            Some(Try::new(
                "-hT -l",
                "shows its composition by closure type; each census stops the program",
            )),
        ],
        MemoryPart::Nursery => smaller_nurseries(held, capabilities),
        MemoryPart::Stuck => vec![Some(UNPINNED), Some(COPIED)],
        MemoryPart::Slop if collector == Collector::Nonmoving => vec![Some(Try::new(
            "--copying-gc",
            "no free slots between objects; longer pauses",
        ))],
        MemoryPart::Slop | MemoryPart::Runtime | MemoryPart::Live => Vec::new(),
    };
    tries.into_iter().flatten().collect()
}

const UNPINNED: Try = Try::new(
    "ShortByteString or Text for small strings that are kept",
    "not pinned; foreign functions need a copy",
);
const COPIED: Try = Try::new(
    "ByteString.copy of kept parts of a larger buffer",
    "frees the buffer; costs a copy",
);

/// Suggests halving the allocation area and the number of capabilities, unless they are small already.
fn smaller_nurseries(held: &HeldMemory, capabilities: u64) -> Vec<Option<Try>> {
    let half = held.flags.nursery_bytes().unwrap_or(0) >> 21;
    let nursery = Try {
        what: format!("-A{half}m").into(),
        price: "smaller nurseries; more minor collections, and more survivors",
    };
    let capability = Try {
        what: format!("-N{}", capabilities / 2).into(),
        price: "fewer capabilities have fewer nurseries; less parallelism",
    };
    vec![
        (half > 0).then_some(nursery),
        (capabilities > 1).then_some(capability),
    ]
}

const fn fine(part: MemoryPart) -> &'static str {
    match part {
        MemoryPart::Reserve | MemoryPart::Free => {
            "Normal: copying needs 2 to 4 times the live data in all, and memory is returned late by design."
        }
        MemoryPart::Grown => "Harmless while the live data itself does not grow.",
        MemoryPart::Nursery => {
            "Harmless if the machine has the memory: a large nursery is often the cheapest way to reduce collections."
        }
        MemoryPart::Stuck => {
            "Harmless between two bursts of work: these blocks are used before more memory is requested."
        }
        MemoryPart::Runtime | MemoryPart::Slop => "A few MiB are usual.",
        MemoryPart::Unknown => "Usual in short runs.",
        MemoryPart::Live => "",
    }
}

/// Explains memory that is still held although the live data has more than halved since the peak.
fn after_the_peak(held: &HeldMemory) -> Option<Reason> {
    let (peak, last) = (held.peak?, held.last_at_work?);
    let (live_then, live_now) = (peak.live_bytes?, last.live_bytes?);
    let fell = live_now < live_then / 2 && last.held_bytes > peak.held_bytes / 2;
    if !fell || last.at <= peak.at || last.held_bytes < 32 * MIN_BYTES {
        return None;
    }
    let decay = held.flags.return_decay();
    Some(Reason {
        title: format!(
            "After the peak: {} held for {} live",
            bytes(last.held_bytes),
            bytes(live_now)
        ),
        meaning: format!(
            "Live data fell from {} to {}, the memory held from {} to {}. The runtime returns memory only at major collections, down to (2 + F) times the live data; F decreases to 0 over several major collections while the program idles (-Fd{decay}).",
            bytes(live_then),
            bytes(live_now),
            bytes(peak.held_bytes),
            bytes(last.held_bytes),
        ),
        tries: [
            return_sooner(held),
            Some(Try::new(
                "performMajorGC after the work",
                "returns memory at once; pauses the program, longer with more live data",
            )),
            Some(Try::new(
                "--disable-delayed-os-memory-return",
                "returned memory leaves the resident size (RSS) at once; requesting it again is slower",
            )),
        ]
        .into_iter()
        .flatten()
        .collect(),
        fine: "Harmless if the next burst needs it again.",
    })
}

/// Explains byte arrays, if they are a large share of a census.
fn byte_arrays(held: &HeldMemory) -> Option<Reason> {
    let found = held.byte_arrays?;
    if found.bytes < MIN_BYTES
        || found.bytes.saturating_mul(100) < found.total_bytes.saturating_mul(BYTE_ARRAYS_PERCENT)
    {
        return None;
    }
    let share = format::percent_short(found.bytes, found.total_bytes);
    Some(Reason {
        title: format!(
            "Byte arrays: {}, {share} of the live data",
            bytes(found.bytes)
        ),
        meaning: format!(
            "ARR_WORDS in the census at {}: contents of ByteString, Text and arrays of numbers. A small pinned one keeps its whole block of 4\u{a0}KiB alive, and live data counts all of it.",
            format::time(found.at)
        ),
        tries: vec![UNPINNED, COPIED],
        fine: "Harmless if they are few and large.",
    })
}

fn segments(held: &HeldMemory) -> Option<Reason> {
    let segments = held.segments?;
    let empty = segments.held_bytes.saturating_sub(segments.live_bytes);
    if empty <= MIN_BYTES {
        return None;
    }
    Some(Reason {
        title: format!(
            "Nonmoving segments: {} held for {} of objects",
            bytes(segments.held_bytes),
            bytes(segments.live_bytes)
        ),
        meaning: format!(
            "As of {}: each segment of 32\u{a0}KiB has slots of one size, and only objects of that size can fill a free slot.",
            format::time(segments.at)
        ),
        tries: Vec::new(),
        fine: "Free slots are filled before new segments are created.",
    })
}

/// Lists what this log or range does not contain, and how to record it.
pub fn missing(held: &HeldMemory) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if held.peak.is_none() {
        missing.push(
            "The log has no heap events. GHC 7.6 and later write them with +RTS -l, but not with -l-g or -l-a.",
        );
        return missing;
    }
    if held.collections == 0 {
        missing.push("No collection in this range: the memory after the previous one is shown.");
    }
    if held.peak.is_some_and(|peak| peak.live_bytes.is_none()) {
        missing.push(
            "No major collection precedes the peak, so the live data is unknown. Run the program longer, call performMajorGC, or set a smaller -A.",
        );
    }
    if held.flags.heap.is_none() {
        missing.push(
            "The size of nurseries is not in the log (HeapInfoGHC, written at the start): they count as in use.",
        );
    }
    if held.returned.is_none() {
        missing.push(
            "Expected need and returned memory are logged since GHC 9.2: in this log, free blocks cannot be divided.",
        );
    }
    if held.byte_arrays.is_none() {
        missing.push(
            "Collections do not log pinned or large objects: a heap profile by closure type (+RTS -hT -l) shows them as ARR_WORDS.",
        );
    }
    missing
}
