//! Finding the way again in damaged data: does a sequence of events begin here?

use super::header::{Header, MAGIC};
use super::record::{Marker, NoEvent, extent};
use crate::ids::Nanos;

/// The times that a block's events should lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
}

impl Bounds {
    /// Clocks are not exact and the runtime back-dates a little.
    const SLACK: u64 = 1_000_000_000;

    /// The times of a block: from when it was begun to when it was flushed.
    pub(crate) fn of(marker: &Marker) -> Self {
        let sane = marker.end >= marker.begin;
        Self {
            from: Nanos(if sane {
                marker.begin.0.saturating_sub(Self::SLACK)
            } else {
                0
            }),
            to: Nanos(if sane {
                marker.end.0.saturating_add(Self::SLACK)
            } else {
                u64::MAX
            }),
        }
    }

    /// Any time that could be one: less than 292 years.
    pub(crate) const ANY: Self = Self {
        from: Nanos(0),
        to: Nanos(u64::MAX >> 1),
    };

    pub(crate) fn contains(&self, time: Nanos) -> bool {
        self.from <= time && time <= self.to
    }
}

/// How many events in a row convince.
const CONVINCING: usize = 3;

/// Whether `bytes` begins with a plausible run of events dated in `bounds`:
/// three of them, or fewer that end exactly where `bytes` does.
pub(crate) fn plausible_run(header: &Header, bytes: &[u8], bounds: Bounds) -> bool {
    let mut pos = 0;
    let mut last = Nanos(0);
    for _ in 0..CONVINCING {
        match extent(header, &bytes[pos..]) {
            Ok(event) if bounds.contains(event.time) && close(last, event.time) => {
                last = event.time;
                pos += event.end;
            }
            Err(NoEvent::EndOfData) => return pos > 0 && pos + 2 == bytes.len(),
            Err(NoEvent::Short(0)) => return pos > 0 && pos == bytes.len(),
            _ => return false,
        }
    }
    true
}

/// Times inside a block go back by microseconds at most; a second is generous.
fn close(last: Nanos, time: Nanos) -> bool {
    time.0.saturating_add(1_000_000_000) >= last.0
}

/// What stands between blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// A block.
    Block(Marker),
    /// The end-of-data marker.
    EndOfData,
    /// The header of another section.
    Header,
    /// The end of the file.
    EndOfFile,
    /// An event outside of blocks.
    Event,
    /// Nothing that can be.
    Junk,
}

/// What `bytes`, which reach to the end of the file or far enough, begin with.
pub(crate) fn landing(header: &Header, bytes: &[u8]) -> Landing {
    if bytes.is_empty() {
        return Landing::EndOfFile;
    }
    if bytes.starts_with(MAGIC) {
        return Landing::Header;
    }
    if bytes.starts_with(&[0xFF, 0xFF]) {
        return Landing::EndOfData;
    }
    match Marker::parse(bytes) {
        Some(marker) if marker.is_plausible() => Landing::Block(marker),
        Some(_) => Landing::Junk,
        None if outside_run(header, bytes) => Landing::Event,
        None => Landing::Junk,
    }
}

/// Like [`plausible_run`], for events outside of blocks: a block may follow
/// them at once.
fn outside_run(header: &Header, bytes: &[u8]) -> bool {
    let mut pos = 0;
    for _ in 0..CONVINCING {
        match extent(header, &bytes[pos..]) {
            Ok(event) if Bounds::ANY.contains(event.time) => pos += event.end,
            Err(NoEvent::EndOfData | NoEvent::Short(0)) => return pos > 0,
            _ => return false,
        }
        if Marker::parse(&bytes[pos..]).is_some_and(|marker| marker.is_plausible()) {
            return true;
        }
    }
    true
}
