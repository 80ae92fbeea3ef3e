//! Why a program holds more memory than is live, in words: what each part of it
//! is, what can be tried and at what price, and when there is nothing to worry
//! about.

use std::borrow::Cow;

use analysis::heap::held::{Collector, Held, HeldMoment, MemoryFlags, Part};
use model::sorting::SortSmall;

use scene::format::{self, bytes, many};

/// Parts smaller than this share of the memory, in percent, are in the table
/// alone.
const LEAST_PERCENT: u64 = 5;
/// More than this beyond what is expected is said, in percent of it.
const EXCESS_PERCENT: u64 = 20;
/// And it is no less than this.
const LEAST_EXCESS_BYTES: u64 = 32 << 20;
/// What is less than this is not worth a sentence, whatever its share.
const LEAST_BYTES: u64 = 256 << 10;
/// Byte arrays are spoken of from this share of the live data on, in percent.
const BYTE_ARRAYS_PERCENT: u64 = 40;

/// What a part of the memory is called.
#[must_use]
pub const fn part_name(part: Part) -> &'static str {
    match part {
        Part::Live => "Live data",
        Part::Slop => "Ends of blocks",
        Part::Nursery => "Nurseries",
        Part::Runtime => "Blocks of the runtime",
        Part::Grown => "Since the last major collection",
        Part::Unknown => "In use, purpose unknown",
        Part::Reserve => "Free, kept for copying",
        Part::Free => "Free",
        Part::Stuck => "Free, could not be given back",
    }
}

/// What a part of the memory is, in a sentence.
#[must_use]
pub const fn part_meaning(part: Part) -> &'static str {
    match part {
        Part::Live => "What the last major collection found to be in use by the program.",
        Part::Slop => {
            "Places in the blocks of live data that hold nothing: objects do not fill blocks evenly. The nonmoving collector's free places count here, too."
        }
        Part::Nursery => {
            "Where the capabilities allocate, as much as -A says for each. Every collection empties it, and it is kept."
        }
        Part::Runtime => {
            "The books of all blocks (a 64th of the memory), code, what the collector works with, and, since GHC 9.2, up to 1\u{a0}MiB for each capability that is kept ready for pinned objects."
        }
        Part::Grown => {
            "What has outlived a young collection since the last major collection. Nobody knows how much of it is still alive: that is found out by the next one."
        }
        Part::Unknown => {
            "Blocks in use. Before the first major collection the log does not tell what is live."
        }
        Part::Reserve => {
            "Blocks that nothing is in, which the runtime expects to need: a major collection copies what is live, and until then the old generation may grow to F times what was live."
        }
        Part::Free => {
            "Blocks that nothing is in. How many of them are needed for copying is not told: GHC 9.2 and later say it at major collections."
        }
        Part::Stuck => {
            "Blocks that nothing is in, beyond the need. Memory is given back in whole megablocks (1\u{a0}MiB), and in each of these some other block is in use: this is fragmentation."
        }
    }
}

/// Something to try, with exact flags, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// What to do: flags of `+RTS`, or a change of the program.
    pub what: Cow<'static, str>,
    /// What it gains and costs.
    pub price: &'static str,
}

/// A reason why memory is held, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What it is, with its size.
    pub title: String,
    /// What it means.
    pub meaning: String,
    /// What can be tried.
    pub tries: Vec<Try>,
    /// When there is nothing to worry about.
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
    "live data is moved together instead of copied: 1.2 times instead of 2; major collections take longer",
);
const NONMOVING: Try = Try::new(
    "--nonmoving-gc",
    "the old generation is not copied at all, and pauses are short; the program is slower, and free places between objects are left",
);

/// The old generation grows less; nothing if it is told to already.
fn grow_less(held: &Held) -> Option<Try> {
    let may = held.flags.old_generation_factor() > 1.5;
    may.then_some(Try::new(
        "-F1.5",
        "the old generation grows less before it is collected; it is collected more often",
    ))
}

/// Memory goes back sooner; nothing before GHC 9.2, or if it is told to already.
fn return_sooner(held: &Held) -> Option<Try> {
    let may = held.given_back.is_some() && held.flags.return_decay() > 1.0;
    may.then_some(Try::new(
        "-Fd1",
        "memory goes back sooner when the program idles after a peak; the next peak has to fetch it again",
    ))
}

/// The numbers of a range in one sentence: how much is held for how much that is
/// live, and whether that is usual.
#[must_use]
pub fn headline(held: &Held) -> Option<String> {
    let peak = held.peak?;
    let size = bytes(peak.held_bytes);
    let at = format::time(peak.at);
    let Some((live, factor)) = peak.live_bytes.zip(peak.copying_factor()) else {
        return Some(format!(
            "At most {size} were held, at {at}. What was live by then is not in the log: only major collections tell."
        ));
    };
    let live = bytes(live);
    let usual = expected(&held.flags, &peak).unwrap_or_default();
    let decimals = usize::from(factor < 10.0);
    Some(format!(
        "At most {size} were held, at {at}, for {live} of live data: {factor:.decimals$} times as much.{usual}"
    ))
}

/// What is usual, and by how much it was exceeded.
fn expected(flags: &MemoryFlags, peak: &HeldMoment) -> Option<String> {
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
        " {copying} usually needs ({needs} + F) times the live data, F being {factor}{default}, and {} of {}: {}.",
        many(peak.capabilities, "nursery"),
        bytes(nursery),
        bytes(expected),
    );
    let excess = peak.held_bytes.saturating_sub(expected);
    let least = expected.saturating_mul(EXCESS_PERCENT) / 100;
    let verdict = if excess > least.max(LEAST_EXCESS_BYTES) {
        format!(" {} more than that were held.", bytes(excess))
    } else {
        " There is nothing unusual about it.".to_owned()
    };
    Some(usual + &verdict)
}

/// Why more is held than is live: a reason for each part that matters at the
/// peak or after the last major collection at work, the largest first.
#[must_use]
pub fn reasons(held: &Held) -> Vec<Reason> {
    // At the peak, or else later.
    let matters = |part: Part| {
        let moments = [held.peak, held.last_at_work].into_iter().flatten();
        let mut sizes = moments.map(|moment| (part, moment.parts.of(part), moment));
        sizes.find(|(_, size, moment)| {
            let least = moment.held_bytes.saturating_mul(LEAST_PERCENT) / 100;
            *size > LEAST_BYTES.max(least)
        })
    };
    let parts = Part::ALL.into_iter().filter(|part| *part != Part::Live);
    let mut parts: Vec<(Part, u64, HeldMoment)> = parts.filter_map(matters).collect();
    parts.sort_small_by_key(|&(part, size, _)| (std::cmp::Reverse(size), part));
    let reason = |(part, size, moment)| reason(held, part, size, &moment);
    let mut reasons: Vec<Reason> = parts.into_iter().map(reason).collect();
    reasons.extend(after_the_peak(held));
    reasons.extend(byte_arrays(held));
    reasons.extend(segments(held));
    reasons
}

fn reason(held: &Held, part: Part, size: u64, moment: &HeldMoment) -> Reason {
    let share = format::percent_short(size, moment.held_bytes);
    let title = format!(
        "{}: {}, {share} of {} at {}",
        part_name(part),
        bytes(size),
        bytes(moment.held_bytes),
        format::time(moment.at)
    );
    let mut meaning = part_meaning(part).to_owned();
    meaning += &more_of(held, part, moment);
    Reason {
        title,
        meaning,
        tries: tries(held, part, moment.capabilities),
        fine: fine(part),
    }
}

/// What the meaning of a part is in this log.
fn more_of(held: &Held, part: Part, moment: &HeldMoment) -> String {
    let flags = &held.flags;
    match part {
        Part::Nursery => match flags.nursery_bytes() {
            Some(nursery) if moment.capabilities > 1 => {
                format!(" Here: {} × {}.", moment.capabilities, bytes(nursery))
            }
            _ => String::new(),
        },
        Part::Runtime if flags.suggested_heap => {
            " As a heap size is suggested (-H), nurseries are larger than -A says: the rest of them counts here.".to_owned()
        }
        Part::Runtime if flags.collector == Collector::Nonmoving => {
            " Segments that the nonmoving collector has not filled yet count here, too.".to_owned()
        }
        Part::Stuck => given_back(held),
        _ => String::new(),
    }
}

/// What the runtime gave back of what it did not need.
fn given_back(held: &Held) -> String {
    let Some(given) = held.given_back.filter(|given| given.asked > 0) else {
        return String::new();
    };
    let majors = many(given.asked, "major collection");
    let returned = bytes(given.returned_bytes);
    format!(
        " At {majors} of the range more was held than needed; {returned} in all could be given back."
    )
}

fn tries(held: &Held, part: Part, capabilities: u64) -> Vec<Try> {
    let collector = held.flags.collector;
    let copying = collector == Collector::Copying;
    let tries = match part {
        Part::Reserve | Part::Free => vec![
            grow_less(held),
            copying.then_some(COMPACT),
            copying.then_some(NONMOVING),
            return_sooner(held),
        ],
        Part::Grown | Part::Unknown => vec![
            grow_less(held),
            Some(Try::new(
                "-hT -l",
                "shows by closure type what it is made of; each census stops the program",
            )),
        ],
        Part::Nursery => smaller_nurseries(held, capabilities),
        Part::Stuck => vec![Some(UNPINNED), Some(COPIED)],
        Part::Slop if collector == Collector::Nonmoving => vec![Some(Try::new(
            "--copying-gc",
            "no free places between objects; longer pauses",
        ))],
        Part::Slop | Part::Runtime | Part::Live => Vec::new(),
    };
    tries.into_iter().flatten().collect()
}

const UNPINNED: Try = Try::new(
    "ShortByteString or Text for small strings that are kept",
    "they are not pinned; foreign functions need a copy",
);
const COPIED: Try = Try::new(
    "ByteString.copy of what is kept of a larger buffer",
    "the buffer can go; a copy",
);

/// Half of each, of those that are not small already.
fn smaller_nurseries(held: &Held, capabilities: u64) -> Vec<Option<Try>> {
    let half = held.flags.nursery_bytes().unwrap_or(0) >> 21;
    let nursery = Try {
        what: format!("-A{half}m").into(),
        price: "smaller nurseries; more young collections, and more that survives them",
    };
    let capability = Try {
        what: format!("-N{}", capabilities / 2).into(),
        price: "fewer capabilities have fewer nurseries; less runs at a time",
    };
    vec![
        (half > 0).then_some(nursery),
        (capabilities > 1).then_some(capability),
    ]
}

const fn fine(part: Part) -> &'static str {
    match part {
        Part::Reserve | Part::Free => {
            "Nothing to worry about: 2 to 4 times the live data in all is what copying costs, and memory is given back late by design."
        }
        Part::Grown => "Nothing to worry about as long as live data itself does not grow.",
        Part::Nursery => {
            "Nothing to worry about if the machine has the memory: a large nursery is often the cheapest way to less collecting."
        }
        Part::Stuck => {
            "Nothing to worry about between two bursts of work: these blocks are used before the system is asked for more."
        }
        Part::Runtime | Part::Slop => "A few MiB are usual.",
        Part::Unknown => "Usual in short runs.",
        Part::Live => "",
    }
}

/// Live data became much less since the peak, and memory did not.
fn after_the_peak(held: &Held) -> Option<Reason> {
    let (peak, last) = (held.peak?, held.last_at_work?);
    let (live_then, live_now) = (peak.live_bytes?, last.live_bytes?);
    let fell = live_now < live_then / 2 && last.held_bytes > peak.held_bytes / 2;
    if !fell || last.at <= peak.at || last.held_bytes < 32 * LEAST_BYTES {
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
            "Live data fell from {} to {}, the memory held from {} to {}. It is given back at major collections only, and then down to (2 + F) times the live data; F goes down to nothing over several of them that find the program idle (-Fd{decay}).",
            bytes(live_then),
            bytes(live_now),
            bytes(peak.held_bytes),
            bytes(last.held_bytes),
        ),
        tries: [
            return_sooner(held),
            Some(Try::new(
                "performMajorGC after the work",
                "gives back at once; a pause, longer the more is live",
            )),
            Some(Try::new(
                "--disable-delayed-os-memory-return",
                "what is given back leaves the resident size (RSS) at once; fetching it again is slower",
            )),
        ]
        .into_iter()
        .flatten()
        .collect(),
        fine: "Nothing to worry about if the next burst needs it again.",
    })
}

/// Byte arrays are most of what a census found.
fn byte_arrays(held: &Held) -> Option<Reason> {
    let found = held.byte_arrays?;
    if found.bytes < LEAST_BYTES
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
        fine: "Nothing to worry about if they are few and large.",
    })
}

fn segments(held: &Held) -> Option<Reason> {
    let segments = held.segments?;
    let empty = segments.held_bytes.saturating_sub(segments.live_bytes);
    if empty <= LEAST_BYTES {
        return None;
    }
    Some(Reason {
        title: format!(
            "Nonmoving segments: {} held for {} of objects",
            bytes(segments.held_bytes),
            bytes(segments.live_bytes)
        ),
        meaning: format!(
            "As of {}: each segment of 32\u{a0}KiB has places of one size, and only objects of that size can fill a free one.",
            format::time(segments.at)
        ),
        tries: Vec::new(),
        fine: "Free places are filled before new segments are made.",
    })
}

/// What this log or range does not tell, and what would tell it.
#[must_use]
pub fn missing(held: &Held) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if held.peak.is_none() {
        missing.push(
            "The log has no heap events, so what is held is not known. GHC 7.6 and later write them with +RTS -l; -l-g and -l-a leave them out.",
        );
        return missing;
    }
    if held.collections == 0 {
        missing.push(
            "No collection is in this range: what is shown is how the one before it left the memory.",
        );
    }
    if held.peak.is_some_and(|peak| peak.live_bytes.is_none()) {
        missing.push(
            "No major collection comes before the peak, so that nothing is known of what is live then. A longer run has some; performMajorGC, or a smaller -A, makes one sooner.",
        );
    }
    if held.flags.heap.is_none() {
        missing.push(
            "The log does not tell how large nurseries are (HeapInfoGHC, written at the start): they are in what is in use.",
        );
    }
    if held.given_back.is_none() {
        missing.push(
            "What the runtime expects to need, and what it gave back, is in logs since GHC 9.2: here free blocks are not divided.",
        );
    }
    if held.byte_arrays.is_none() {
        missing.push(
            "How much is pinned or large is not told by collections: a heap profile by closure type (+RTS -hT -l) has it as ARR_WORDS.",
        );
    }
    missing
}
