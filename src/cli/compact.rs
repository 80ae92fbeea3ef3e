//! `eventscope compact DIR`: merges the small files of a data set.

use std::path::PathBuf;

use super::{Condition, Failure, print_message};
use dataset::Dataset;
use dataset::compaction::{Compacted, compact};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A data set that `export --dataset` made
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Size from which a file is full, such as 256MiB; files below a quarter of it are merged. Use 64MiB to 512MiB
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    size: u64,
}

/// Parses a number of bytes with a unit.
fn size(text: &str) -> Result<u64, &'static str> {
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let unit: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" => 1000,
        "KiB" | "k" | "K" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" | "M" => 1 << 20,
        "GB" => 1_000_000_000,
        "GiB" | "G" => 1 << 30,
        _ => return Err("write a size such as 256MiB or 128MB"),
    };
    let bytes = number.parse::<u64>().ok();
    let bytes = bytes.and_then(|number| number.checked_mul(unit));
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or("write a size such as 256MiB or 128MB")
}

pub(super) fn run(arguments: &Arguments) -> Result<Condition, Failure> {
    let dataset = Dataset::open(&arguments.folder)?;
    let compacted = compact(&dataset, arguments.size, &mut |_| {})?;
    let Compacted {
        files_before,
        bytes_before,
        files_after,
        bytes_after,
    } = compacted;
    match files_before {
        0 => print_message("there are no small files to merge"),
        _ => print_message(format_args!(
            "{files_before} files ({}) became {files_after} ({})",
            model::format::bytes(bytes_before),
            model::format::bytes(bytes_after)
        )),
    }
    Ok(Condition::Sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("256MiB"), Ok(256 << 20));
        assert_eq!(size("1GB"), Ok(1_000_000_000));
        assert_eq!(size("65536"), Ok(65_536));
        for wrong in ["", "0", "MiB", "-1MiB", "1.5MiB", "1XB", "99999999999GiB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
