//! Writes an eventlog with ticky counters, of any size, like that of a program compiled with `-ticky` and run with
//! `+RTS -lT`:
//!
//! ```text
//! cargo run --release --example make_ticky_log -- OUTPUT [--counters N]
//!     [--samples N] [--busy SHARE] [--seed N]
//! ```
//!
//! By default 50,000 counters are written 1,000 times, a tenth of them each time: 5 million deltas, 214 MB. The
//! runtime omits counters that have not changed since the last time (`rts/eventlog/EventLog.c`); `--busy` is the
//! share of those that have. A few counters are always busy and count most. The definitions are at the end, as the
//! runtime writes them. Equal options yield equal logs.

use std::fs::File;
use std::io::{self, BufWriter};

mod container;

use container::{NO_CAPABILITY, Random, Type};

const TYPES: [Type; 5] = [
    container::BLOCK_MARKER,
    (49, Some(12), "Total heap memory ever allocated"),
    (210, None, "Ticky-ticky entry counter definition"),
    (211, Some(32), "Ticky-ticky entry counter sample"),
    (212, Some(0), "Ticky-ticky entry counter begin sample"),
];

/// Interval between samples: a tenth of a second.
const PERIOD_NS: u64 = 100_000_000;
/// Time between two counters of a sample.
const STEP_NS: u64 = 250;

struct Options {
    output: String,
    counters: u64,
    samples: u64,
    busy: f64,
    seed: u64,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self {
            output: String::new(),
            counters: 50_000,
            samples: 1_000,
            busy: 0.1,
            seed: 1,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next();
            match arg.as_str() {
                "--counters" => options.counters = value()?.parse().ok()?,
                "--samples" => options.samples = value()?.parse().ok()?,
                "--busy" => options.busy = value()?.parse().ok()?,
                "--seed" => options.seed = value()?.parse().ok()?,
                _ if arg.starts_with('-') || !options.output.is_empty() => return None,
                _ => options.output = arg,
            }
        }
        (!options.output.is_empty()).then_some(options)
    }
}

/// Returns the address of a counter, in the data of the program.
const fn address(counter: u64) -> u64 {
    0x4_0000_0000 + counter * 80
}

/// Encodes the definition of a counter: every third is a thunk, every fifth a constructor.
fn definition(counter: u64) -> Vec<u8> {
    let module = format!("Data.Part{}", counter % 97);
    let (kind, arity, args, fvs, json) = match counter % 15 {
        0 | 3 | 6 | 9 | 12 => ("thk", 0_u16, "", ">ii", "thk_u"),
        5 | 10 => ("con: GHC.Types.I#", 0, "", "", "con"),
        _ => ("fun", 2, "Li", "M", "fun"),
    };
    let name = format!(
        "step{counter}{{v s{counter:x}}} ({module}) ({kind}) in r{:x}",
        counter / 9
    );
    let json = format!(
        r#"{{"type":"entCntr","subTy":"{json}","fvs_c":{},"fvs":"{fvs}","args":"{args}"}}"#,
        fvs.len()
    );
    let mut payload = address(counter).to_be_bytes().to_vec();
    payload.extend(arity.to_be_bytes());
    for text in [args, &name] {
        payload.extend(text.as_bytes());
        payload.push(0);
    }
    payload.extend((0x40_0000 + counter * 16).to_be_bytes());
    payload.extend(json.as_bytes());
    payload.push(0);
    payload
}

fn sample(options: &Options, random: &mut Random, events: &mut Vec<u8>, mut at_ns: u64) -> u64 {
    let busy = (options.busy * 1e6) as u64;
    container::event(events, 212, at_ns, false, &[]);
    for counter in 0..options.counters {
        let always = counter % 1_000 == 0;
        if !always && random.below(1_000_000) >= busy {
            continue;
        }
        at_ns += STEP_NS;
        let entries = random.below(if always {
            1 << 24
        } else {
            1 << (4 + counter % 12)
        });
        let numbers = [
            address(counter),
            entries,
            entries * (counter % 4) * 8,
            entries * 24,
        ];
        let payload: Vec<u8> = numbers.into_iter().flat_map(u64::to_be_bytes).collect();
        container::event(events, 211, at_ns, false, &payload);
    }
    at_ns
}

fn write(options: &Options) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(&options.output)?);
    let mut random = Random(options.seed.max(1));
    container::header(&mut out, &TYPES)?;
    let mut events = Vec::new();
    let mut last_ns = 0;
    for number in 1..=options.samples {
        let from_ns = (number * PERIOD_NS).max(last_ns);
        last_ns = sample(options, &mut random, &mut events, from_ns);
        container::block(&mut out, NO_CAPABILITY, (from_ns, last_ns), &events)?;
        events.clear();
        let allocated = [&[0; 4][..], &(number << 32).to_be_bytes()].concat();
        container::event(&mut events, 49, last_ns, false, &allocated);
        container::block(&mut out, 0, (last_ns, last_ns), &events)?;
        events.clear();
    }
    for counter in 0..options.counters {
        container::event(&mut events, 210, last_ns, true, &definition(counter));
    }
    container::block(&mut out, NO_CAPABILITY, (last_ns, last_ns), &events)?;
    container::end(&mut out)
}

fn main() -> io::Result<()> {
    let Some(options) = Options::read(std::env::args().skip(1)) else {
        eprintln!("make_ticky_log OUTPUT [--counters N] [--samples N] [--busy SHARE] [--seed N]");
        std::process::exit(2);
    };
    write(&options)
}
