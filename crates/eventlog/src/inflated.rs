//! Decompressed log, in memory or spilled to a file if memory does not suffice.

use std::ops::Range;
use std::sync::Arc;

use crate::backing::Backing;

/// Size of a piece, the unit of storage and spilling.
const PIECE_BYTES: usize = 1 << 20;

/// Storage limits for an inflated log.
#[derive(Clone, Debug)]
pub(crate) struct StorageLimits {
    /// Maximum number of bytes in memory.
    pub(crate) memory_bytes: u64,
    /// Spill file, and the number of bytes in memory above which it is used.
    pub(crate) backing: Option<(u64, Arc<dyn Backing>)>,
}

#[derive(Debug)]
enum Piece {
    Resident(Box<[u8]>),
    /// Offset in the spill file.
    Spilled(u64),
}

/// An inflated log. Clones share their data.
#[derive(Clone, Debug)]
pub struct Inflated(Arc<Pieces>);

#[derive(Debug)]
struct Pieces {
    len: u64,
    /// All have [`PIECE_BYTES`], except the last one.
    pieces: Vec<Piece>,
    backing: Option<Arc<dyn Backing>>,
}

impl Inflated {
    /// Returns the length in bytes.
    pub fn byte_len(&self) -> u64 {
        self.0.len
    }

    /// Reads a range into `into`, as far as the log goes. Returns whether the bytes could be read; they cannot if
    /// the spill file is gone.
    pub fn read(&self, range: Range<u64>, into: &mut Vec<u8>) -> bool {
        into.clear();
        let end = range.end.min(self.0.len);
        let mut at = range.start.min(end);
        into.reserve((end - at) as usize);
        while at < end {
            let Some(piece) = self.0.pieces.get((at / PIECE_BYTES as u64) as usize) else {
                return false;
            };
            let from = (at % PIECE_BYTES as u64) as usize;
            let to = PIECE_BYTES.min(from + (end - at) as usize);
            match (piece, &self.0.backing) {
                (Piece::Resident(bytes), _) => {
                    into.extend_from_slice(bytes.get(from..to).unwrap_or_default());
                }
                (Piece::Spilled(place), Some(backing)) => {
                    let have = into.len();
                    into.resize(have + to - from, 0);
                    if !backing.read(place + from as u64, &mut into[have..]) {
                        return false;
                    }
                }
                (Piece::Spilled(_), None) => return false,
            }
            at += (to - from) as u64;
        }
        true
    }

    /// Reads all bytes, if possible.
    pub fn to_vec(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(0..self.0.len, &mut bytes).then_some(bytes)
    }

    /// Returns the number of bytes in memory and in the spill file.
    pub fn resident_and_spilled_bytes(&self) -> (u64, u64) {
        let resident = |piece: &Piece| match piece {
            Piece::Resident(bytes) => bytes.len() as u64,
            Piece::Spilled(_) => 0,
        };
        let resident = self.0.pieces.iter().map(resident).sum();
        (resident, self.0.len - resident)
    }
}

impl Inflated {
    /// Returns the offset of the log in the spill file, if all of it is contiguous there.
    pub fn spill_file_offset(&self) -> Option<u64> {
        let Some(Piece::Spilled(first)) = self.0.pieces.first() else {
            return None;
        };
        let mut places = (*first..).step_by(PIECE_BYTES).zip(&self.0.pieces);
        let follows =
            |(place, piece): (u64, &Piece)| matches!(piece, Piece::Spilled(at) if *at == place);
        places.all(follows).then_some(*first)
    }
}

impl From<Vec<u8>> for Inflated {
    /// Creates a log in memory.
    fn from(bytes: Vec<u8>) -> Self {
        let pieces = bytes.chunks(PIECE_BYTES);
        Self(Arc::new(Pieces {
            len: bytes.len() as u64,
            pieces: pieces.map(|piece| Piece::Resident(piece.into())).collect(),
            backing: None,
        }))
    }
}

/// Inflated log under construction.
#[derive(Debug)]
pub(crate) struct InflatedBuilder {
    limits: StorageLimits,
    pieces: Vec<Piece>,
    resident_bytes: u64,
    /// The incomplete last piece.
    last: Vec<u8>,
    /// The first bytes of the log.
    first: Vec<u8>,
}

/// Number of first bytes that are kept available.
const FIRST_AT_HAND: usize = 16;

/// Error: neither memory nor the spill file has space.
#[derive(Debug)]
pub(crate) struct OutOfStorage;

impl InflatedBuilder {
    pub(crate) const fn new(limits: StorageLimits) -> Self {
        Self {
            limits,
            pieces: Vec::new(),
            resident_bytes: 0,
            last: Vec::new(),
            first: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        (self.pieces.len() * PIECE_BYTES + self.last.len()) as u64
    }

    /// Returns the maximum number of bytes in memory.
    pub(crate) const fn memory_bytes(&self) -> u64 {
        self.limits.memory_bytes
    }

    /// Whether there is a spill file.
    pub(crate) const fn has_spill_file(&self) -> bool {
        self.limits.backing.is_some()
    }

    /// Returns the first bytes, at most sixteen.
    pub(crate) fn first(&self) -> &[u8] {
        &self.first
    }

    pub(crate) fn append(&mut self, mut bytes: &[u8]) -> Result<(), OutOfStorage> {
        let wanted = FIRST_AT_HAND - self.first.len();
        self.first.extend(bytes.iter().take(wanted));
        while self.last.len() + bytes.len() >= PIECE_BYTES {
            let (now, later) = bytes.split_at(PIECE_BYTES - self.last.len());
            self.last.extend_from_slice(now);
            bytes = later;
            self.end_piece()?;
        }
        self.last.extend_from_slice(bytes);
        Ok(())
    }

    fn end_piece(&mut self) -> Result<(), OutOfStorage> {
        let backing = match &self.limits.backing {
            Some((first_bytes, backing)) if self.len() > *first_bytes => Some(backing),
            _ => None,
        };
        // Once the log turns out to be large, all of it is spilled.
        let away = backing.and_then(|backing| {
            for piece in &mut self.pieces {
                if let Piece::Resident(bytes) = piece {
                    let place = backing.append(bytes)?;
                    self.resident_bytes -= bytes.len() as u64;
                    *piece = Piece::Spilled(place);
                }
            }
            backing.append(&self.last)
        });
        let after = self.resident_bytes + self.last.len() as u64;
        let piece = match away {
            Some(place) => Piece::Spilled(place),
            None if after <= self.limits.memory_bytes => {
                self.resident_bytes = after;
                Piece::Resident(self.last.as_slice().into())
            }
            None => return Err(OutOfStorage),
        };
        self.pieces.push(piece);
        self.last.clear();
        Ok(())
    }

    /// Completes the log.
    pub(crate) fn finish(mut self) -> Result<Inflated, OutOfStorage> {
        let len = self.len();
        if !self.last.is_empty() {
            self.end_piece()?;
        }
        Ok(Inflated(Arc::new(Pieces {
            len,
            pieces: self.pieces,
            backing: self.limits.backing.map(|(_, backing)| backing),
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Spill file with limited capacity.
    #[derive(Debug)]
    struct List(Mutex<Vec<u8>>, usize);

    impl Backing for List {
        fn append(&self, bytes: &[u8]) -> Option<u64> {
            let mut all = self.0.lock().ok()?;
            let at = all.len();
            (at + bytes.len() <= self.1).then(|| all.extend_from_slice(bytes))?;
            Some(at as u64)
        }
        fn read(&self, at: u64, into: &mut [u8]) -> bool {
            let Ok(all) = self.0.lock() else { return false };
            let bytes = all.get(at as usize..at as usize + into.len());
            bytes.map(|bytes| into.copy_from_slice(bytes)).is_some()
        }
    }

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * i / 7) as u8).collect()
    }

    fn grown(log: &[u8], step: usize, limits: StorageLimits) -> Result<Inflated, OutOfStorage> {
        let mut growing = InflatedBuilder::new(limits);
        for part in log.chunks(step) {
            growing.append(part)?;
        }
        assert_eq!(growing.len(), log.len() as u64);
        growing.finish()
    }

    fn with(memory_bytes: usize, file_bytes: usize) -> StorageLimits {
        StorageLimits {
            memory_bytes: memory_bytes as u64,
            backing: Some((
                memory_bytes as u64 / 2,
                Arc::new(List(Mutex::default(), file_bytes)),
            )),
        }
    }

    #[test]
    fn any_range_can_be_read_wherever_it_is() {
        let len = 3 * PIECE_BYTES + 1234;
        let log = bytes(len);
        for (memory, file) in [
            (0, len),
            (PIECE_BYTES, len),
            (len, 0),
            (2 * PIECE_BYTES, PIECE_BYTES * 2),
        ] {
            for step in [777, PIECE_BYTES, len] {
                let made = grown(&log, step, with(memory, file)).expect("room");
                assert_eq!(made.to_vec().as_ref(), Some(&log));
                let mut part = Vec::new();
                for range in [
                    0..1,
                    5..len,
                    PIECE_BYTES - 3..2 * PIECE_BYTES + 9,
                    len - 1..len + 5,
                ] {
                    assert!(made.read(range.start as u64..range.end as u64, &mut part));
                    assert_eq!(part, log[range.start..range.end.min(len)]);
                }
                let (resident, away) = made.resident_and_spilled_bytes();
                assert!(resident <= memory as u64 && resident + away == len as u64);
                let is_away = file == len;
                assert_eq!(made.spill_file_offset(), is_away.then_some(0));
            }
        }
        assert_eq!(Inflated::from(log.clone()).to_vec(), Some(log));
    }

    #[test]
    fn without_room_anywhere_it_is_refused() {
        let log = bytes(3 * PIECE_BYTES);
        assert!(grown(&log, 1000, with(PIECE_BYTES, PIECE_BYTES)).is_err());
        assert!(grown(&log, 1000, with(PIECE_BYTES, 2 * PIECE_BYTES)).is_ok());
    }
}
