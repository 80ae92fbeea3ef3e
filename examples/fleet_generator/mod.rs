//! Digests of a fleet, made from one digest by noise and planted effects.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

/// Effects that are planted in a fleet of 30 days, 5 versions and 12 hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Planted {
    /// From version 2.3 on, the program takes 25 % longer.
    pub(crate) version: bool,
    /// Everything on host `web-07` takes 40 % longer.
    pub(crate) host: bool,
    /// From 2026-03-23 on, pauses are 1.8 times as long.
    pub(crate) day: bool,
    /// Three runs take six times as long.
    pub(crate) runs: bool,
}

impl Planted {
    /// All effects.
    pub(crate) const ALL: Self = Self {
        version: true,
        host: true,
        day: true,
        runs: true,
    };
}

/// Runs that are planted outliers.
pub(crate) fn outliers(runs: usize) -> [usize; 3] {
    [runs / 7, runs / 2, runs - 1 - runs / 100]
}

const DAYS: usize = 30;
const HOSTS: usize = 12;
const NS_A_DAY: u64 = 86_400_000_000_000;
/// 2026-03-01, in days since 1970.
const FIRST_DAY: u64 = 20_513;

/// Value with a normal distribution, by Box and Muller.
fn noise(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// Effects on a run.
struct Factors {
    /// Elapsed time, and what belongs to it.
    time: f64,
    /// Pauses of collections.
    pause: f64,
}

/// Writes a fleet into a folder: `version=…/host=…/day=…/shop-….digest`.
pub(crate) fn write_fleet(
    folder: &Path,
    base: &Value,
    runs: usize,
    planted: Planted,
    seed: u64,
) -> io::Result<()> {
    let mut random = fastrand::Rng::with_seed(seed);
    let hosts: Vec<f64> = (0..HOSTS)
        .map(|_| (0.01 * noise(&mut random)).exp())
        .collect();
    for run in 0..runs {
        let (day, host) = (run * DAYS / runs, random.usize(0..HOSTS));
        // Releases are at noon of some days, not at their start.
        let version = (run * 10 / runs).div_ceil(2);
        let mut factors = Factors {
            time: hosts[host],
            pause: hosts[host],
        };
        if planted.version && version >= 3 {
            factors.time *= 1.25;
        }
        if planted.host && host == 7 {
            factors.time *= 1.4;
            factors.pause *= 1.4;
        }
        if planted.day && day >= 22 {
            factors.pause *= 1.8;
        }
        if planted.runs && outliers(runs).contains(&run) {
            factors.time *= 6.0;
        }
        let mut digest = base.clone();
        vary(&mut digest, &factors, &mut random);
        let started = FIRST_DAY * NS_A_DAY
            + (run as u64 * DAYS as u64 * (NS_A_DAY / 1000) / runs as u64) * 1000;
        digest["started_unix_ns"] = json!(started);
        let place = format!(
            "version=2.{version}/host=web-{host:02}/day=2026-03-{:02}",
            day + 1
        );
        let place = folder.join(place);
        fs::create_dir_all(&place)?;
        fs::write(
            place.join(format!("shop-{run:05}.digest")),
            digest.to_string(),
        )?;
    }
    Ok(())
}

/// Varies all numbers of a digest.
fn vary(digest: &mut Value, factors: &Factors, random: &mut fastrand::Rng) {
    for fact in digest["facts"].as_array_mut().into_iter().flatten() {
        if fact["name"] == "Program" {
            fact["value"] = json!("shop");
        }
    }
    let time = factors.time * (0.05 * noise(random)).exp();
    if let Some(to) = digest["range"]["to_ns"].as_f64() {
        digest["range"]["to_ns"] = json!((to * time) as u64);
    }
    let pause = factors.pause * (0.12 * noise(random)).exp();
    for row in digest["rows"].as_array_mut().into_iter().flatten() {
        let name = row["key"]["name"].as_str().unwrap_or_default();
        let is_pause = name.starts_with("gc.pause") || name.starts_with("gc.sync");
        let is_time = row["unit"] == "ns";
        let factor = match () {
            () if is_pause => pause,
            () if is_time => time,
            () => 1.0,
        };
        let own = (0.04 * noise(random)).exp();
        let value = row["value"].as_f64().unwrap_or_default() * factor * own;
        row["value"] = match row["unit"].as_str() {
            Some("share") => json!(value.min(1.0)),
            _ => json!(value.round()),
        };
    }
    let findings = digest["findings"].as_array_mut();
    if let Some(findings) = findings {
        findings.retain(|_| random.usize(0..10) < 7);
        for finding in findings {
            let share = finding["share"].as_f64().unwrap_or_default();
            finding["share"] = json!((share * (0.3 * noise(random)).exp()).min(1.0));
        }
    }
}
