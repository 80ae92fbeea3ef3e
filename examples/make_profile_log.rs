//! Writes an eventlog of a profiled program, of any size, to measure flame graphs:
//!
//! ```text
//! cargo run --release --example make_profile_log -- OUTPUT [SAMPLES] [DEPTH] [CAPABILITIES]
//! ```
//!
//! By default 5,000,000 samples of stacks of up to 200 frames on 4 capabilities, about 2.7 GB:
//! `HeapProfCostCentre` for 2,000 cost centres, `ProfBegin`, then one `ProfSampleCostCentre` per millisecond and
//! capability. Successive stacks share most of their outer frames; occasionally a capability is idle, and rarely
//! its samples pause. All samples together have about 100,000 distinct stacks. Depends only on the standard
//! library: `rustc -O` compiles it too.

use std::fs::File;
use std::io::{self, BufWriter};

mod container;

use container::{NO_CAPABILITY, Random, Type, block};

const TYPES: [Type; 4] = [
    container::BLOCK_MARKER,
    (161, None, "Heap prof cost-centre"),
    (167, None, "Time profile cost-centre stack"),
    (168, Some(8), "Start of time profile"),
];
const CENTRES: u32 = 2_000;
const TICK_NS: u64 = 1_000_000;
const SAMPLES_PER_BLOCK: u64 = 2_000;
/// Number of leaf positions of a capability, to which it returns.
const PLACES: u64 = 600;

fn event(into: &mut Vec<u8>, id: u16, at_ns: u64, payload: &[u8]) {
    let any = TYPES.iter().any(|ty| ty.0 == id && ty.1.is_none());
    container::event(into, id, at_ns, any, payload);
}

fn declarations() -> Vec<u8> {
    let mut events = Vec::new();
    event(&mut events, 168, 0, &TICK_NS.to_be_bytes());
    for centre in 1..=CENTRES {
        let mut payload = centre.to_be_bytes().to_vec();
        let (label, module) = match centre {
            1 => ("IDLE".to_owned(), "IDLE".to_owned()),
            _ => (
                format!("function{centre}"),
                format!("Lib.Module{}", centre % 97),
            ),
        };
        let place = match centre {
            1 => "<built-in>".to_owned(),
            _ => format!("src/Lib/Module{}.hs:{centre}:1-40", centre % 97),
        };
        for text in [label, module, place] {
            payload.extend(text.as_bytes());
            payload.push(0);
        }
        payload.push(0);
        event(&mut events, 161, 0, &payload);
    }
    events
}

/// Current stack of a capability, outermost frame first.
struct StackGenerator {
    stack: Vec<u32>,
    depth: u64,
    random: Random,
    /// Seed of the current part of the program; `samples_left` counts its remaining samples.
    part: u64,
    samples_left: u64,
    idle: u64,
    pause: u64,
}

impl StackGenerator {
    /// Advances to the stack of the next sample.
    fn step(&mut self) {
        self.idle = self.idle.saturating_sub(1);
        self.pause = 0;
        if self.random.below(20_000) == 0 {
            self.idle = self.random.below(2_000);
        }
        if self.random.below(50_000) == 0 {
            self.pause = self.random.below(3_000) * TICK_NS;
        }
        if self.samples_left == 0 {
            (self.samples_left, self.part) = (self.random.below(4_000), self.random.below(40));
        }
        self.samples_left -= 1;
        // Frames depend only on the part and the position, so that stacks recur.
        let place = self.random.below(PLACES) * self.random.below(PLACES) / PLACES;
        let own = 1 + place % 12;
        let mut calls = Random(((self.part << 20) | ((place / 4) << 4)) + 0x9E37_79B9_7F4A_7C15);
        let depth = self.depth - calls.below(self.depth / 3 + 1);
        let mut spine = Random(self.part.wrapping_mul(0xD129_0D3B_42B1_2B4D) | 1);
        self.stack.clear();
        self.stack.push(2);
        let shared = depth.saturating_sub(own + calls.below(8));
        for _ in 1..shared {
            self.stack
                .push(3 + spine.below(u64::from(CENTRES) - 2) as u32);
        }
        for _ in 0..own + calls.below(4) {
            self.stack
                .push(3 + calls.below(u64::from(CENTRES) - 2) as u32);
        }
        self.stack.truncate(self.depth.min(255) as usize);
    }

    fn payload(&self, cap: u16, tick: u64) -> Vec<u8> {
        let idle = [1];
        let stack = if self.idle > 0 {
            &idle[..]
        } else {
            &self.stack
        };
        let mut payload = Vec::with_capacity(13 + 4 * stack.len());
        payload.extend(u32::from(cap).to_be_bytes());
        payload.extend(tick.to_be_bytes());
        payload.push(stack.len() as u8);
        payload.extend(stack.iter().rev().flat_map(|centre| centre.to_be_bytes()));
        payload
    }
}

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: make_profile_log OUTPUT [SAMPLES] [DEPTH] [CAPABILITIES]");
        std::process::exit(2);
    };
    let mut number = |default| {
        args.next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (samples, depth, caps) = (number(5_000_000_u64), number(200), number(4).clamp(1, 64));
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
    container::header(&mut out, &TYPES)?;
    block(&mut out, NO_CAPABILITY, (0, 0), &declarations())?;
    let generator = |cap| StackGenerator {
        stack: Vec::new(),
        depth,
        random: Random(0x2545_F491_4F6C_DD1D + cap),
        part: 0,
        samples_left: 0,
        idle: 0,
        pause: 0,
    };
    let mut generators: Vec<(StackGenerator, u64)> =
        (0..caps).map(|cap| (generator(cap), 0)).collect();
    let mut written = 0;
    let mut events = Vec::new();
    while written < samples {
        for (cap, (generator, at)) in generators.iter_mut().enumerate() {
            let from = *at;
            events.clear();
            for _ in 0..SAMPLES_PER_BLOCK.min(samples - written) {
                generator.step();
                // The timer is sometimes late.
                *at += TICK_NS + generator.pause + generator.random.below(20_000);
                event(
                    &mut events,
                    167,
                    *at,
                    &generator.payload(cap as u16, *at / TICK_NS),
                );
                written += 1;
            }
            block(&mut out, cap as u16, (from, *at), &events)?;
        }
    }
    container::end(&mut out)
}
