//! A seekable reader of a file, for scattered reads.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use web_sys::{Blob, File, FileReaderSync};

/// Unit of small reads, as names are close together.
const PAGE_BYTES: u64 = 1 << 20;
/// Number of cached pages.
const MAX_CACHED_PAGES: usize = 16;

pub(super) struct BlobFile {
    blob: Blob,
    reader: FileReaderSync,
    len: u64,
    at: u64,
    /// Pages in LRU order, the most recently used one last.
    pages: VecDeque<(u64, Uint8Array)>,
}

fn failed(error: JsValue) -> Error {
    Error::other(String::from(js_sys::Error::from(error).message()))
}

impl BlobFile {
    pub(super) fn new(file: &File) -> Result<Self> {
        Ok(Self {
            blob: file.clone().into(),
            reader: FileReaderSync::new().map_err(failed)?,
            len: file.size() as u64,
            at: 0,
            pages: VecDeque::new(),
        })
    }

    /// Reads this range, up to the end of the file.
    fn slice(&self, start: u64, end: u64) -> Result<Uint8Array> {
        // Offsets up to 2^53 bytes are exact in `f64`.
        let slice = self
            .blob
            .slice_with_f64_and_f64(start as f64, end.min(self.len) as f64)
            .map_err(failed)?;
        let buffer = self.reader.read_as_array_buffer(&slice).map_err(failed)?;
        Ok(Uint8Array::new(&buffer))
    }

    fn page(&mut self, number: u64) -> Result<Uint8Array> {
        let known = self.pages.iter().position(|(other, _)| *other == number);
        let page = match known.and_then(|place| self.pages.remove(place)) {
            Some((_, page)) => page,
            None => self.slice(number * PAGE_BYTES, (number + 1) * PAGE_BYTES)?,
        };
        if self.pages.len() == MAX_CACHED_PAGES {
            self.pages.pop_front();
        }
        self.pages.push_back((number, page.clone()));
        Ok(page)
    }
}

impl Read for BlobFile {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let left = self.len.saturating_sub(self.at);
        let wanted = (buffer.len() as u64).min(left);
        if wanted == 0 {
            return Ok(0);
        }
        let found = if wanted >= PAGE_BYTES {
            self.slice(self.at, self.at + wanted)?
        } else {
            let skip = (self.at % PAGE_BYTES) as u32;
            let page = self.page(self.at / PAGE_BYTES)?;
            page.subarray(skip, page.length().min(skip + wanted as u32))
        };
        let read = found.length() as usize;
        match buffer.get_mut(..read) {
            Some(into) if read > 0 => found.copy_to(into),
            _ => return Err(ErrorKind::UnexpectedEof.into()),
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for BlobFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
