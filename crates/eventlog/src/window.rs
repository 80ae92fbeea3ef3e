//! Buffers for bytes supplied by a driver. The parser does no I/O: it requests a range and continues when the
//! range was supplied.

use std::collections::VecDeque;
use std::ops::Range;

/// Range of bytes that must be supplied before the reader can continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need(pub Range<u64>);

/// Small LRU cache of supplied windows of a file.
#[derive(Debug)]
pub(crate) struct Windows {
    len: u64,
    windows: VecDeque<(u64, Vec<u8>)>,
    last_request_end: u64,
    request_bytes: u64,
}

impl Windows {
    pub(crate) const MIN_REQUEST_BYTES: u64 = 4 << 10;
    const MAX_REQUEST_BYTES: u64 = 4 << 20;
    const MAX_WINDOWS: usize = 3;

    pub(crate) fn new(len: u64) -> Self {
        Self {
            len,
            windows: VecDeque::new(),
            last_request_end: 0,
            request_bytes: 64 << 10,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns at least `count` bytes from `at` on, fewer only at the end of the file. Sequential reading doubles
    /// the requested size with each request.
    pub(crate) fn get(&mut self, at: u64, count: u64) -> Result<&[u8], Need> {
        let end = at.saturating_add(count).min(self.len);
        let at = at.min(end);
        let found = self
            .windows
            .iter()
            .position(|(start, bytes)| *start <= at && at <= start + bytes.len() as u64);
        if let Some(i) = found {
            // The least recently used window is the first.
            if let Some(window) = self.windows.remove(i) {
                self.windows.push_back(window);
            }
            let i = self.windows.len() - 1;
            let (start, bytes) = &self.windows[i];
            let have = start + bytes.len() as u64;
            if end <= have {
                let (start, bytes) = &self.windows[i];
                let from = (at - start) as usize;
                return Ok(&bytes[from..]);
            }
            if have > at {
                return Err(Need(have..self.grow_request(have, end)));
            }
        }
        if at == end {
            return Ok(&[]);
        }
        Err(Need(at..self.grow_request(at, end)))
    }

    fn grow_request(&mut self, from: u64, end: u64) -> u64 {
        let adjacent = from.abs_diff(self.last_request_end) <= Self::MIN_REQUEST_BYTES;
        self.request_bytes = if adjacent {
            (self.request_bytes * 2).min(Self::MAX_REQUEST_BYTES)
        } else {
            Self::MIN_REQUEST_BYTES
        };
        self.last_request_end = end.max(from + self.request_bytes).min(self.len);
        self.last_request_end
    }

    /// Adds bytes that start at offset `at`.
    pub(crate) fn supply(&mut self, at: u64, bytes: &[u8]) {
        let joined = self
            .windows
            .iter_mut()
            .find(|(start, have)| start.saturating_add(have.len() as u64) == at);
        if let Some((_, have)) = joined {
            have.extend_from_slice(bytes);
            return;
        }
        if self.windows.len() == Self::MAX_WINDOWS {
            self.windows.pop_front();
        }
        self.windows.push_back((at, bytes.to_vec()));
    }

    /// Drops bytes before `at`, to limit memory to a few windows.
    pub(crate) fn discard_before(&mut self, at: u64) {
        for (start, bytes) in &mut self.windows {
            let passed = at.saturating_sub(*start).min(bytes.len() as u64);
            if passed >= Self::MAX_REQUEST_BYTES {
                bytes.drain(..passed as usize);
                *start += passed;
            }
        }
    }

    /// Shortens the file to `len` bytes.
    pub(crate) fn truncate(&mut self, len: u64) {
        self.len = self.len.min(len);
    }
}
