//! Writes a fleet of digests, made from one digest by noise, to try `eventscope fleet`:
//!
//! ```text
//! cargo run --release --example make_fleet -- BASE.digest FOLDER RUNS [SEED] [--plant]
//! ```
//!
//! With `--plant` a version, a host, a day and three runs have effects.

use std::path::Path;
use std::process::ExitCode;

mod fleet_generator;

fn main() -> ExitCode {
    let all: Vec<String> = std::env::args().skip(1).collect();
    let (options, arguments): (Vec<&String>, Vec<&String>) =
        all.iter().partition(|word| word.starts_with("--"));
    let (Some(base), Some(folder), Some(Ok(runs))) = (
        arguments.first(),
        arguments.get(1),
        arguments.get(2).map(|runs| runs.parse::<usize>()),
    ) else {
        eprintln!("usage: make_fleet BASE.digest FOLDER RUNS [SEED] [--plant]");
        return ExitCode::from(2);
    };
    let seed = arguments
        .get(3)
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let planted = if options.iter().any(|option| *option == "--plant") {
        fleet_generator::Planted::ALL
    } else {
        fleet_generator::Planted::default()
    };
    let written = std::fs::read_to_string(base)
        .and_then(|text| Ok(serde_json::from_str(&text)?))
        .and_then(|base| {
            fleet_generator::write_fleet(Path::new(folder), &base, runs.max(1), planted, seed)
        });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("make_fleet: {error}");
            ExitCode::FAILURE
        }
    }
}
