//! A log that was made of a compressed file: in memory, or in a file as far as memory has no
//! room for it.

use std::ops::Range;
use std::sync::Arc;

use crate::backing::Backing;

/// What is kept, or put away, at once.
const PIECE_BYTES: usize = 1 << 20;

/// Where an inflated log may be.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// How much of it may be in memory.
    pub(crate) memory_bytes: u64,
    /// How much of it is in memory before something is put there.
    pub(crate) backing: Option<(u64, Arc<dyn Backing>)>,
}

#[derive(Debug)]
enum Piece {
    Here(Box<[u8]>),
    /// In the file, from there on.
    Away(u64),
}

/// An inflated log. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Inflated(Arc<Pieces>);

#[derive(Debug)]
struct Pieces {
    len: u64,
    /// All have [`PIECE_BYTES`], but for the last one.
    pieces: Vec<Piece>,
    backing: Option<Arc<dyn Backing>>,
}

impl Inflated {
    /// Its length in bytes.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.0.len
    }

    /// Puts the bytes of a range into `into`, as far as the log goes; whether they could be
    /// read. They cannot if the file is gone that they were put into.
    #[must_use]
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
                (Piece::Here(bytes), _) => {
                    into.extend_from_slice(bytes.get(from..to).unwrap_or_default());
                }
                (Piece::Away(place), Some(backing)) => {
                    let have = into.len();
                    into.resize(have + to - from, 0);
                    if !backing.read(place + from as u64, &mut into[have..]) {
                        return false;
                    }
                }
                (Piece::Away(_), None) => return false,
            }
            at += (to - from) as u64;
        }
        true
    }

    /// All of its bytes, if they can be read.
    #[must_use]
    pub fn to_vec(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(0..self.0.len, &mut bytes).then_some(bytes)
    }

    /// How many of its bytes are in memory, and how many were put away.
    #[must_use]
    pub fn here_and_away_bytes(&self) -> (u64, u64) {
        let here = |piece: &Piece| match piece {
            Piece::Here(bytes) => bytes.len() as u64,
            Piece::Away(_) => 0,
        };
        let here = self.0.pieces.iter().map(here).sum();
        (here, self.0.len - here)
    }
}

impl Inflated {
    /// Where it begins in the file that it was put into, if all of it stands there in one piece.
    #[must_use]
    pub fn place_in_file(&self) -> Option<u64> {
        let Some(Piece::Away(first)) = self.0.pieces.first() else {
            return None;
        };
        let mut places = (*first..).step_by(PIECE_BYTES).zip(&self.0.pieces);
        let follows =
            |(place, piece): (u64, &Piece)| matches!(piece, Piece::Away(at) if *at == place);
        places.all(follows).then_some(*first)
    }
}

impl From<Vec<u8>> for Inflated {
    /// A log that is in memory.
    fn from(bytes: Vec<u8>) -> Self {
        let pieces = bytes.chunks(PIECE_BYTES);
        Self(Arc::new(Pieces {
            len: bytes.len() as u64,
            pieces: pieces.map(|piece| Piece::Here(piece.into())).collect(),
            backing: None,
        }))
    }
}

/// An inflated log that grows.
#[derive(Debug)]
pub(crate) struct Growing {
    room: Room,
    pieces: Vec<Piece>,
    here_bytes: u64,
    /// The piece that is not full.
    last: Vec<u8>,
    /// Its first bytes.
    first: Vec<u8>,
}

/// How many first bytes are at hand.
const FIRST_AT_HAND: usize = 16;

/// There is no place for more.
#[derive(Debug)]
pub(crate) struct NoRoom;

impl Growing {
    pub(crate) const fn new(room: Room) -> Self {
        Self {
            room,
            pieces: Vec::new(),
            here_bytes: 0,
            last: Vec::new(),
            first: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        (self.pieces.len() * PIECE_BYTES + self.last.len()) as u64
    }

    /// How much of it may be in memory.
    pub(crate) const fn memory_bytes(&self) -> u64 {
        self.room.memory_bytes
    }

    /// Whether there is another place than memory.
    pub(crate) const fn may_be_put_away(&self) -> bool {
        self.room.backing.is_some()
    }

    /// Its first bytes, sixteen at most.
    pub(crate) fn first(&self) -> &[u8] {
        &self.first
    }

    pub(crate) fn append(&mut self, mut bytes: &[u8]) -> Result<(), NoRoom> {
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

    fn end_piece(&mut self) -> Result<(), NoRoom> {
        let backing = match &self.room.backing {
            Some((first_bytes, backing)) if self.len() > *first_bytes => Some(backing),
            _ => None,
        };
        // If it turns out to be large, all of it goes there.
        let away = backing.and_then(|backing| {
            for piece in &mut self.pieces {
                if let Piece::Here(bytes) = piece {
                    let place = backing.append(bytes)?;
                    self.here_bytes -= bytes.len() as u64;
                    *piece = Piece::Away(place);
                }
            }
            backing.append(&self.last)
        });
        let after = self.here_bytes + self.last.len() as u64;
        let piece = match away {
            Some(place) => Piece::Away(place),
            None if after <= self.room.memory_bytes => {
                self.here_bytes = after;
                Piece::Here(self.last.as_slice().into())
            }
            None => return Err(NoRoom),
        };
        self.pieces.push(piece);
        self.last.clear();
        Ok(())
    }

    /// It is whole.
    pub(crate) fn finish(mut self) -> Result<Inflated, NoRoom> {
        let len = self.len();
        if !self.last.is_empty() {
            self.end_piece()?;
        }
        Ok(Inflated(Arc::new(Pieces {
            len,
            pieces: self.pieces,
            backing: self.room.backing.map(|(_, backing)| backing),
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A file with so much room.
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

    fn grown(log: &[u8], step: usize, room: Room) -> Result<Inflated, NoRoom> {
        let mut growing = Growing::new(room);
        for part in log.chunks(step) {
            growing.append(part)?;
        }
        assert_eq!(growing.len(), log.len() as u64);
        growing.finish()
    }

    fn with(memory_bytes: usize, file_bytes: usize) -> Room {
        Room {
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
                let (here, away) = made.here_and_away_bytes();
                assert!(here <= memory as u64 && here + away == len as u64);
                let is_away = file == len;
                assert_eq!(made.place_in_file(), is_away.then_some(0));
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
