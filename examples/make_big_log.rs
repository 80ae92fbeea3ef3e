//! Writes the eventlog of a program with many threads, sparks and collections, of any size, as GHC 9.0 writes it
//! with `+RTS -N4 -l`:
//!
//! ```text
//! cargo run --release --example make_big_log -- OUTPUT SIZE [--caps N] [--plain] [--seed N]
//! ```
//!
//! `SIZE` is in bytes: `50M`, `300M`, `10G` (powers of 1,000). By default there are 4 capabilities. Equal options
//! yield equal logs, at some 600 MB/s: faster than a real program, and without GHC.
//!
//! **The program** is simulated, not drawn at random: the capability whose clock is behind takes the next step.
//! Times therefore interleave as in real logs, and every event follows from those before it: a thread is woken
//! after it has stopped, runs after it was woken or migrated, and collections begin when all capabilities have
//! stopped. Each capability has 16 threads that live as long as the program; they yield, wait for `MVar`s and wake
//! each other, make foreign calls, create sparks, and fork threads. Most of the forked threads run once; one in
//! forty is a `session` that runs up to 2,000 times.
//!
//! **Frequencies** of event types are those in the logs of `benches/make-big-log.sh`: two fifths are runs of
//! threads and their stops, two fifths are sparks, a twentieth are new threads. 300 MB are 21 million events,
//! among them 4.3 million runs, and 1.1 million threads. With `--plain` there are no sparks and fewer threads: 860
//! MB are 20 million runs of a million threads.
//!
//! **The file format** follows `rts/eventlog/EventLog.c`: a buffer of 2 MiB for each capability, and one for
//! events without a capability, which become blocks when they are full. The last block of events without a
//! capability is therefore at the end of the log, though many of them are from its start.
//!
//! Depends only on the standard library: `rustc --edition 2024 -O` compiles it too.

use std::fs::File;
use std::io;
use std::time::Instant;

mod container;
mod program;
mod stream;

/// Options of the command line.
struct Options {
    output: String,
    bytes: u64,
    caps: u16,
    is_plain: bool,
    seed: u64,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let (mut places, mut caps, mut is_plain, mut seed) = (Vec::new(), 4, false, 1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--caps" => caps = args.next()?.parse().ok()?,
                "--plain" => is_plain = true,
                "--seed" => seed = args.next()?.parse().ok()?,
                _ if arg.starts_with('-') => return None,
                _ => places.push(arg),
            }
        }
        let [output, size] = places.try_into().ok()?;
        let digits = size.trim_end_matches(['k', 'M', 'G']);
        let unit = match &size[digits.len()..] {
            "" => 1,
            "k" => 1_000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            _ => return None,
        };
        let bytes = digits.parse::<u64>().ok()?.checked_mul(unit)?;
        (1..=256).contains(&caps).then_some(Self {
            output,
            bytes,
            caps,
            is_plain,
            seed,
        })
    }
}

fn main() -> io::Result<()> {
    let Some(options) = Options::read(std::env::args().skip(1)) else {
        eprintln!("usage: make_big_log OUTPUT SIZE [--caps N] [--plain] [--seed N]");
        std::process::exit(2);
    };
    let begun = Instant::now();
    let file = File::create(&options.output)?;
    let told = program::write(
        file,
        options.bytes,
        options.caps,
        options.is_plain,
        options.seed,
    )?;
    let seconds = begun.elapsed().as_secs_f64();
    let rate = options.bytes as f64 / 1e6 / seconds;
    println!("{told}; in {seconds:.1} s, {rate:.0} MB/s");
    Ok(())
}
