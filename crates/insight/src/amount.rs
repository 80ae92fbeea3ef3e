//! Numbers with units, formatted for display.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::metrics::Unit;
use model::format;

/// Number with its unit; its `Display` is for people.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Value in the base of its unit: nanoseconds, bytes, a share of 1.
    pub number: f64,
    /// Unit of the value.
    pub unit: Unit,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.number < 0.0 { "-" } else { "" };
        let size = self.number.abs();
        let whole = size.round() as u64;
        let text = match self.unit {
            _ if size.is_infinite() => "∞".to_owned(),
            Unit::Ns => format::duration_ns(whole),
            Unit::Bytes => format::bytes(whole),
            // `format::fraction` is for shares up to 1 only.
            Unit::Share if size > 1.0 => format!("{:.1}{}%", size * 100.0, format::NBSP),
            Unit::Share => format::fraction(size),
            Unit::Count if size.fract() == 0.0 => format::count(whole),
            Unit::Count => format!("{size:.2}"),
            Unit::PerSecond => format!("{size:.0}/s"),
        };
        write!(f, "{sign}{text}")
    }
}
