//! Writes the eventlog of a heap profile by info table, of any size, like that of a program run with
//! `+RTS -hi -l`:
//!
//! ```text
//! cargo run --release --example make_heap_log -- OUTPUT [--bands N]
//!     [--censuses N] [--restless SHARE] [--named SHARE] [--seed N]
//! ```
//!
//! By default 50,000 bands (info tables) in 5,000 censuses: 250 million values, 7.3 GB, in half a minute. Equal
//! options yield equal logs.
//!
//! **Sizes of bands.** Each size is a multiple of one closure size (16 to 56 bytes). The multiples have a
//! long-tailed distribution: half of the bands hold one or two closures, one in a hundred more than 300, the first
//! few some megabytes.
//!
//! **Changes.** Two in a thousand of all bands, at least three, leak: every tenth of them fast, the others an
//! occasional closure. One in a hundred is empty except for bursts of up to 20 censuses. One in twenty-five
//! appears after the start. `--restless` is the share of bands that grow or shrink in each census (0.01); with 1
//! all do, which no real program does and which is the worst case for a reader. The remaining bands change once in
//! a thousand censuses.
//!
//! **The file format** follows `rts/ProfHeap.c`. A band is written in a census only if it is not empty. Bands are
//! in the reverse order in which the heap traversal first found them: frequent closures come last, and the order
//! changes slightly between censuses. A census lies in the pause of a major collection, in blocks without
//! capability; the collections, heap sizes and the main thread are in blocks of capability 0. A block is written
//! when its 2 MiB are full. `--named` is the share of info tables with a provenance entry (0.6).
//!
//! Depends only on the standard library: `rustc --edition 2024 -O` compiles it too.

use std::fs::File;
use std::io::{self, Write};
use std::time::Instant;

mod container;
mod stream;

use container::{NO_CAPABILITY, Random, Type};
use stream::Stream;

/// Returns whether events of a type have variable size.
fn is_any(id: u16) -> bool {
    TYPES.iter().any(|ty| ty.0 == id && ty.1.is_none())
}

/// Declared event types; `None` marks variable size.
const TYPES: [Type; 35] = [
    (0, Some(4), "Create thread"),
    (1, Some(4), "Run thread"),
    (2, Some(10), "Stop thread"),
    (9, Some(0), "Starting GC"),
    (10, Some(0), "Finished GC"),
    (11, Some(0), "Request sequential GC"),
    container::BLOCK_MARKER,
    (20, Some(0), "GC idle"),
    (21, Some(0), "GC working"),
    (22, Some(0), "GC done"),
    (25, Some(6), "Create capability set"),
    (26, Some(4), "Delete capability set"),
    (27, Some(6), "Add capability to capability set"),
    (28, Some(6), "Remove capability from capability set"),
    (29, None, "RTS name and version"),
    (30, None, "Program arguments"),
    (32, Some(8), "Process ID"),
    (43, Some(16), "Wall clock time"),
    (44, None, "Thread label"),
    (45, Some(2), "Create capability"),
    (46, Some(2), "Delete capability"),
    (49, Some(12), "Total heap memory ever allocated"),
    (
        50,
        Some(12),
        "Current heap size (number of allocated mblocks)",
    ),
    (51, Some(12), "Current heap live data"),
    (52, Some(38), "Heap static parameters"),
    (53, Some(58), "GC statistics"),
    (54, Some(0), "Synchronise stop-the-world GC"),
    (58, None, "User marker"),
    (
        90,
        Some(16),
        "The RTS attempted to return heap memory to the OS",
    ),
    (91, Some(12), "Report the size of the heap in blocks"),
    (160, None, "Start of heap profile"),
    (162, Some(8), "Start of heap profile sample"),
    (164, None, "Heap profile string sample"),
    (165, Some(8), "End of heap profile sample"),
    (169, None, "An IPE entry"),
];

const MIB: u64 = 1 << 20;
/// Interval between censuses: a tenth of a second (`-i0.1`).
const PERIOD_NS: u64 = 100_000_000;
const MINOR_COLLECTIONS: u64 = 4;

/// Options of the command line.
struct Options {
    output: String,
    bands: usize,
    censuses: u64,
    restless: f64,
    named: f64,
    seed: u64,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self {
            output: String::new(),
            bands: 50_000,
            censuses: 5_000,
            restless: 0.01,
            named: 0.6,
            seed: 1,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next();
            match arg.as_str() {
                "--bands" => options.bands = value()?.parse().ok()?,
                "--censuses" => options.censuses = value()?.parse().ok()?,
                "--restless" => options.restless = value()?.parse().ok()?,
                "--named" => options.named = value()?.parse().ok()?,
                "--seed" => options.seed = value()?.parse().ok()?,
                _ if arg.starts_with('-') || !options.output.is_empty() => return None,
                _ => options.output = arg,
            }
        }
        (!options.output.is_empty()).then_some(options)
    }
}

/// Rate of a fast leak, in the unit of [`ChangePattern::Leak`].
const FAST: u64 = 512;

/// Behavior of a band over time.
#[derive(Clone, Copy, PartialEq)]
enum ChangePattern {
    Quiet,
    Restless,
    /// Grows by this number of closures per census, in units of 1/16.
    Leak(u64),
    Burst,
}

/// Info table with its population of closures.
struct Band {
    address: u64,
    /// Encoded event; only time and bytes are filled in per census.
    record: Vec<u8>,
    closure_bytes: u64,
    /// Normal number of closures.
    usual: u64,
    /// Current number of closures.
    closures: u64,
    pattern: ChangePattern,
    /// Census in which it first appears.
    born: u64,
    /// Census in which a burst ends.
    until: u64,
}

/// Offsets of time and size in the record of a band.
const TIME_AT: usize = 2;
const BYTES_AT: usize = 13;

impl Band {
    fn new(address: u64, options: &Options, random: &mut Random) -> Self {
        let label = format!("0x{address:x}\0");
        let mut record = Vec::new();
        let payload = [&[0; 9], label.as_bytes()].concat();
        container::event(&mut record, 164, 0, true, &payload);
        // Pareto distribution: u^(-5/4) for u in 0..1.
        let u = (1 + random.below(1 << 24)) as f64 / (1 << 24) as f64;
        let usual = ((1.0 / (u * u.sqrt().sqrt())) as u64).min(1 << 19);
        let is_restless = random.below(1 << 32) < (options.restless * (1_u64 << 32) as f64) as u64;
        let pattern = match random.below(1_000) {
            _ if is_restless => ChangePattern::Restless,
            0..2 => {
                ChangePattern::Leak([FAST, 1, 1, 2, 2, 3, 3, 4, 6, 8][random.below(10) as usize])
            }
            2..12 => ChangePattern::Burst,
            _ => ChangePattern::Quiet,
        };
        let is_late = pattern == ChangePattern::Quiet && random.below(25) == 0;
        Self {
            address,
            record,
            closure_bytes: 8 * (2 + random.below(2) * random.below(3) + random.below(4)),
            usual,
            closures: if is_late || pattern == ChangePattern::Burst {
                0
            } else {
                usual
            },
            pattern,
            born: if is_late {
                random.below(options.censuses)
            } else {
                0
            },
            until: 0,
        }
    }

    fn bytes(&self) -> u64 {
        self.closures * self.closure_bytes
    }

    /// Advances the band to a census.
    fn step(&mut self, census: u64, random: &mut Random) {
        let drawn = random.next();
        match self.pattern {
            // Up or down by at most an eighth around the normal number.
            ChangePattern::Restless => {
                let reach = 1 + self.usual / 8;
                let closures = (self.usual + drawn % (2 * reach + 1) - reach).max(1);
                self.closures = closures + u64::from(closures == self.closures);
            }
            ChangePattern::Leak(pace) => {
                self.closures += (pace + drawn % 16) / 16 * (1 + drawn % 3)
            }
            ChangePattern::Burst if census < self.until => self.closures += self.closures / 4,
            ChangePattern::Burst if drawn.is_multiple_of(500) => {
                self.until = census + 1 + (drawn >> 32) % 20;
                self.closures = 20 * self.usual;
            }
            ChangePattern::Burst => self.closures = 0,
            ChangePattern::Quiet if census < self.born => {}
            ChangePattern::Quiet => self.closures = self.usual + drawn % (1 + self.usual / 4),
        }
    }
}

/// All bands, and the order in which a census writes them.
struct Heap {
    bands: Vec<Band>,
    /// Band indexes in writing order; frequent ones come last.
    order: Vec<u32>,
    /// Bands that may change in each census; the others rarely change.
    busy: Vec<u32>,
    /// Bands that appear later, the next one last.
    unborn: Vec<u32>,
    random: Random,
}

impl Heap {
    fn new(options: &Options) -> Self {
        let mut random = Random(options.seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1);
        let mut address = 0x40_0000;
        let mut bands: Vec<Band> = (0..options.bands)
            .map(|_| {
                address += 24 + 8 * random.below(22);
                Band::new(address, options, &mut random)
            })
            .collect();
        for band in bands.iter_mut().take(3) {
            band.pattern = ChangePattern::Leak(FAST);
        }
        let mut keys: Vec<(u64, u32)> = (0_u32..)
            .zip(&bands)
            .map(|(id, band)| (band.usual * (1 + random.below(8)), id))
            .collect();
        keys.sort_unstable();
        let (busy, _): (Vec<u32>, _) = (0..bands.len() as u32)
            .partition(|id| bands[*id as usize].pattern != ChangePattern::Quiet);
        let mut unborn: Vec<u32> = (0..bands.len() as u32)
            .filter(|id| bands[*id as usize].born > 0)
            .collect();
        unborn.sort_by_key(|id| std::cmp::Reverse(bands[*id as usize].born));
        let order = keys.into_iter().map(|(_, id)| id).collect();
        Self {
            bands,
            order,
            busy,
            unborn,
            random,
        }
    }

    /// Advances the program to a census. Returns the live bytes.
    fn step(&mut self, census: u64) -> u64 {
        let Self {
            bands,
            order,
            busy,
            unborn,
            random,
        } = self;
        for id in busy.iter() {
            bands[*id as usize].step(census, random);
        }
        let count = bands.len() as u64;
        for _ in 0..count.div_ceil(1_000) {
            let band = &mut bands[random.below(count) as usize];
            if band.pattern == ChangePattern::Quiet {
                band.step(census, random);
            }
        }
        while let Some(id) = unborn.pop_if(|id| bands[*id as usize].born <= census) {
            bands[id as usize].step(census, random);
        }
        for _ in 0..count / 50 {
            let at = random.below(count);
            let other = (at + random.below(64)).min(count - 1);
            order.swap(at as usize, other as usize);
        }
        bands.iter().map(Band::bytes).sum()
    }
}

/// Encodes numbers in big-endian order.
fn words(numbers: &[u64]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}

/// Log under construction.
struct Log<W> {
    out: W,
    /// Events without a capability: program information and censuses.
    global: Stream,
    /// Events of the only capability.
    cap: Stream,
    at_ns: u64,
    allocated_bytes: u64,
    heap_mib: u64,
    values: u64,
}

impl<W: Write> Log<W> {
    fn new(mut out: W) -> io::Result<Self> {
        container::header(&mut out, &TYPES)?;
        let (global, cap) = (Stream::new(NO_CAPABILITY), Stream::new(0));
        let (at_ns, allocated_bytes, heap_mib, values) = (150_000, 0, 4, 0);
        Ok(Self {
            out,
            global,
            cap,
            at_ns,
            allocated_bytes,
            heap_mib,
            values,
        })
    }

    /// Writes an event without a capability, 1 µs after the previous one.
    fn global(&mut self, id: u16, payload: &[u8]) -> io::Result<()> {
        self.at_ns += 1_000;
        self.global
            .event(&mut self.out, id, self.at_ns, is_any(id), payload)
    }

    /// Writes an event of the capability, 1 µs after the previous one.
    fn cap(&mut self, id: u16, payload: &[u8]) -> io::Result<()> {
        self.at_ns += 1_000;
        self.cap
            .event(&mut self.out, id, self.at_ns, is_any(id), payload)
    }

    /// Writes what the runtime logs at the start about itself and the program.
    fn start(&mut self, options: &Options, heap: &Heap) -> io::Result<()> {
        self.global(25, &[0, 0, 0, 0, 0, 2])?;
        self.global(25, &[0, 0, 0, 1, 0, 3])?;
        self.global(45, &[0, 0])?;
        self.global(27, &[0, 0, 0, 0, 0, 0])?;
        self.global(27, &[0, 0, 0, 1, 0, 0])?;
        self.global(
            43,
            &[&[0, 0, 0, 1], &1_700_000_000_u64.to_be_bytes()[..], &[0; 4]].concat(),
        )?;
        self.global(32, &[0, 0, 0, 0, 0, 0, 0x30, 0x39])?;
        self.global(29, b"\0\0\0\0GHC-9.12.2 rts_thr")?;
        self.global(30, b"\0\0\0\0/demo/server\0+RTS\0-hi\0-i0.1\0-l\0-RTS\0")?;
        self.global(
            52,
            &[
                &[0; 4],
                &2_u16.to_be_bytes()[..],
                &words(&[0, 4 * MIB, MIB, 4096]),
            ]
            .concat(),
        )?;
        self.names(options, heap)?;
        let period = PERIOD_NS.to_be_bytes();
        self.global(160, &[&[0][..], &period, &[0, 0, 0, 8], &[0; 7]].concat())?;
        self.cap(0, &[0, 0, 0, 1])?;
        self.cap(44, b"\0\0\0\x01main thread")?;
        self.cap(1, &[0, 0, 0, 1])
    }

    /// Writes the provenance entries of some of the info tables.
    fn names(&mut self, options: &Options, heap: &Heap) -> io::Result<()> {
        const TYPES_OF_CLOSURES: [&str; 6] =
            ["[Char]", "Text", "Map k a", "Int", "IO ()", "Maybe a"];
        let random = &mut Random(options.seed ^ 0x9E37_79B9);
        for (number, band) in heap.bands.iter().enumerate() {
            if random.below(1 << 32) >= (options.named * (1_u64 << 32) as f64) as u64 {
                continue;
            }
            let module = random.below(400);
            let line = 10 + random.below(600);
            let ty = TYPES_OF_CLOSURES[random.below(6) as usize];
            // Closure types 1 to 6 are constructors, 8 to 13 functions, 15 to 20 thunks.
            let (table, closure) = match random.below(3) {
                0 => (format!("Con{number}_con_info"), 1 + random.below(6)),
                1 => (format!("go{number}_info"), 8 + random.below(6)),
                _ => (format!("sat_s{number:x}_info"), 15 + random.below(6)),
            };
            let entry = format!(
                "{table}\0{closure}\0{ty}\0work{}\0Server.Module{module}\0src/Server/Module{module}.hs:{line}:9-40\0",
                line / 10
            );
            self.at_ns += 150;
            let payload = [&words(&[band.address])[..], entry.as_bytes()].concat();
            self.global
                .event(&mut self.out, 169, self.at_ns, true, &payload)?;
        }
        Ok(())
    }

    /// Writes a collection after which `live_bytes` are live; that of the oldest generation has a census in its
    /// pause.
    fn collection(
        &mut self,
        is_major: bool,
        live_bytes: u64,
        heap: Option<(&Heap, u64)>,
    ) -> io::Result<()> {
        self.allocated_bytes += 4 * MIB - 512;
        self.cap(11, &[])?;
        // HeapOverflow
        self.cap(2, &[0, 0, 0, 1, 0, 1, 0, 0, 0, 0])?;
        self.cap(9, &[])?;
        self.cap(21, &[])?;
        // Copying takes a second per gigabyte, the traversal of the census slightly more.
        let copied_bytes = if is_major { live_bytes } else { MIB / 4 };
        self.at_ns += 200_000 + copied_bytes;
        self.cap(20, &[])?;
        self.cap(22, &[])?;
        if let Some((heap, census)) = heap {
            self.at_ns += live_bytes;
            self.census(heap, census)?;
        }
        let blocks_bytes = (live_bytes * 21 / 20 + 4 * MIB).next_multiple_of(4096);
        let needed_mib = (2 * live_bytes + 5 * MIB).div_ceil(MIB);
        if is_major {
            // Surplus memory is returned slowly.
            let surplus_mib = self.heap_mib.saturating_sub(needed_mib);
            let returned_mib = surplus_mib.div_ceil(4);
            let sizes =
                [self.heap_mib, needed_mib, returned_mib].map(|mib| (mib as u32).to_be_bytes());
            self.cap(90, &[[0; 4], sizes[0], sizes[1], sizes[2]].concat())?;
            self.heap_mib = (self.heap_mib - returned_mib).max(needed_mib);
        } else {
            self.heap_mib = self.heap_mib.max(blocks_bytes.div_ceil(MIB));
        }
        let in_set_0 = |numbers: &[u64]| [vec![0; 4], words(numbers)].concat();
        self.cap(49, &in_set_0(&[self.allocated_bytes]))?;
        self.cap(54, &[])?;
        let generation = u16::from(is_major).to_be_bytes();
        let slop = [copied_bytes, live_bytes / 50, live_bytes / 100];
        self.cap(
            53,
            &[
                &[0; 4],
                &generation[..],
                &words(&slop),
                &[0, 0, 0, 1],
                &words(&[0, copied_bytes, 0]),
            ]
            .concat(),
        )?;
        self.cap(10, &[])?;
        if is_major {
            self.cap(51, &in_set_0(&[live_bytes]))?;
        }
        self.cap(50, &in_set_0(&[self.heap_mib * MIB]))?;
        self.cap(91, &in_set_0(&[blocks_bytes]))?;
        self.cap(1, &[0, 0, 0, 1])
    }

    /// Writes a census, with 50 to 300 ns for each nonempty band.
    fn census(&mut self, heap: &Heap, census: u64) -> io::Result<()> {
        self.global(162, &words(&[0]))?;
        for id in &heap.order {
            let band = &heap.bands[*id as usize];
            if band.closures == 0 {
                continue;
            }
            self.at_ns += 50 + (u64::from(*id) * 37 + census) % 250;
            let record = &band.record;
            self.global.room(&mut self.out, record.len(), self.at_ns)?;
            let start = self.global.events.len();
            self.global.events.extend_from_slice(record);
            let copy = &mut self.global.events[start..];
            copy[TIME_AT..TIME_AT + 8].copy_from_slice(&self.at_ns.to_be_bytes());
            copy[BYTES_AT..BYTES_AT + 8].copy_from_slice(&band.bytes().to_be_bytes());
            self.values += 1;
        }
        self.global(165, &words(&[0]))
    }

    /// Writes what the runtime logs at the end.
    fn finish(&mut self) -> io::Result<()> {
        // ThreadFinished
        self.cap(2, &[0, 0, 0, 1, 0, 5, 0, 0, 0, 0])?;
        self.global(28, &[0, 0, 0, 0, 0, 0])?;
        self.global(28, &[0, 0, 0, 1, 0, 0])?;
        self.global(46, &[0, 0])?;
        self.global(26, &[0, 0, 0, 0])?;
        self.global(26, &[0, 0, 0, 1])?;
        self.cap.flush(&mut self.out)?;
        self.global.flush(&mut self.out)?;
        container::end(&mut self.out)
    }
}

fn main() -> io::Result<()> {
    let Some(options) = Options::read(std::env::args().skip(1)) else {
        eprintln!(
            "usage: make_heap_log OUTPUT [--bands N] [--censuses N] [--restless SHARE] [--named SHARE] [--seed N]"
        );
        std::process::exit(2);
    };
    let begun = Instant::now();
    let mut heap = Heap::new(&options);
    let mut log = Log::new(File::create(&options.output)?)?;
    log.start(&options, &heap)?;
    let mut live_bytes = heap.step(0);
    for census in 0..options.censuses {
        if census % options.censuses.div_ceil(10) == 0 {
            log.cap(
                58,
                format!("part {}", 10 * census / options.censuses).as_bytes(),
            )?;
        }
        for _ in 0..MINOR_COLLECTIONS {
            log.at_ns += PERIOD_NS / (MINOR_COLLECTIONS + 1);
            log.collection(false, live_bytes, None)?;
        }
        log.at_ns += PERIOD_NS / (MINOR_COLLECTIONS + 1);
        live_bytes = heap.step(census);
        log.collection(true, live_bytes, Some((&heap, census)))?;
    }
    log.finish()?;
    println!(
        "{} values of {} bands in {} censuses, {} s of a program, in {:.1} s",
        log.values,
        options.bands,
        options.censuses,
        log.at_ns / 1_000_000_000,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
