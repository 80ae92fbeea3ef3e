//! Streaming decompression of gzip and zstd logs, detected by their first bytes. Neither the file nor the log
//! needs to fit into memory.

use std::io::Write;

use flate2::write::MultiGzDecoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::inflated::{Inflated, InflatedBuilder, StorageLimits};
use super::problem::LogError;

/// Compression format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952; several members may follow each other.
    Gzip,
    /// RFC 8878; several frames may follow each other.
    Zstd,
}

impl Compression {
    /// Number of bytes required for detection.
    pub const MAGIC_BYTES: usize = 4;

    /// Detects the format by the first bytes, never by a file name.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(&[0x1F, 0x8B]) {
            Some(Self::Gzip)
        } else if bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) || is_skippable(bytes) {
            Some(Self::Zstd)
        } else {
            None
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Whether a skippable zstd frame, which holds no data, begins here: its magic number is one of sixteen (RFC 8878,
/// 3.1.2).
fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// Bytes of a skippable frame before its content: magic number and length.
const SKIPPABLE_HEADER: usize = 8;

/// Size of the longest header of a zstd frame (RFC 8878, 3.1.1).
const MAX_FRAME_HEADER: usize = 18;
/// Size of the longest block of a zstd frame, with its header and the checksum behind the last one.
const MAX_BLOCK: usize = 3 + (128 << 10) + 4;

const NOT_GZIP: &str = "it is cut off or corrupt";
const NOT_ZSTD: &str = "it is cut off, or not zstd from here on";
const ENDS_EARLY: &str = "it ends inside a frame";
const WRONG_CHECKSUM: &str = "its checksum does not match: events before this point may be wrong";

/// Number of compressed bytes per step. They yield some hundred KiB, and never more than a thousand times as much.
const STEP_BYTES: usize = 64 << 10;

enum Decoder {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zstd(Box<Frames>),
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inflating {
    /// There is more to do.
    More,
    /// More bytes of the file are needed.
    NeedsInput,
    /// The whole file is inflated.
    Done,
}

/// Streaming decompressor for one file.
pub(crate) struct Inflate {
    format: Compression,
    decoder: Decoder,
    /// Received bytes; those from `used` on are not yet inflated.
    input: Vec<u8>,
    used: usize,
    /// Number of bytes received.
    taken_bytes: u64,
    out: InflatedBuilder,
    /// Why the data ends early, if it does.
    broken: Option<LogError>,
}

impl std::fmt::Debug for Inflate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inflate")
            .field("format", &self.format)
            .field("out_bytes", &self.out.len())
            .finish_non_exhaustive()
    }
}

impl Inflate {
    /// Starts a file whose log may use the storage in `limits`.
    pub(crate) fn new(format: Compression, limits: StorageLimits) -> Self {
        Self {
            format,
            decoder: match format {
                Compression::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
                Compression::Zstd => Decoder::Zstd(Box::default()),
            },
            input: Vec::new(),
            used: 0,
            taken_bytes: 0,
            out: InflatedBuilder::new(limits),
            broken: None,
        }
    }

    /// Supplies the next bytes of the file.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.input.drain(..self.used);
        self.used = 0;
        self.input.extend_from_slice(bytes);
        self.taken_bytes += bytes.len() as u64;
    }

    /// Returns the number of bytes received.
    pub(crate) const fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// Returns the number of bytes inflated.
    pub(crate) fn done_bytes(&self) -> u64 {
        self.taken_bytes - (self.input.len() - self.used) as u64
    }

    /// Inflates a part of a file of `file_bytes` bytes.
    ///
    /// # Errors
    /// If there is no space for the log, or broken data yields no bytes at all. Data that breaks off later ends
    /// the log there.
    pub(crate) fn step(&mut self, file_bytes: u64) -> Result<Inflating, LogError> {
        let is_last = self.taken_bytes >= file_bytes;
        let input = self.input.get(self.used..).unwrap_or_default();
        let mut rest = input;
        let mut fresh = Vec::new();
        let inflated = match &mut self.decoder {
            Decoder::Gzip(decoder) => gunzip(decoder, &mut rest, is_last, &mut fresh),
            Decoder::Zstd(frames) => frames.step(&mut rest, is_last, &mut fresh),
        };
        self.used += input.len() - rest.len();
        if self.out.append(&fresh).is_err() {
            return Err(self.too_big());
        }
        if Compression::detect(self.out.first()).is_some() {
            return Err(LogError::CompressedTwice);
        }
        inflated.or_else(|why| {
            let error = LogError::Decompress {
                format: self.format.name(),
                at: self.out.len(),
                why,
            };
            if self.out.len() == 0 {
                return Err(error);
            }
            self.broken = Some(error);
            Ok(Inflating::Done)
        })
    }

    fn too_big(&self) -> LogError {
        const UNCOMPRESS: &str = "Decompress the file and open the result: an uncompressed log is read in pieces and may have any size.";
        let disk = if self.out.has_spill_file() {
            "The disk is full as well. "
        } else {
            ""
        };
        LogError::TooBig {
            need_bytes: self.out.len(),
            budget_bytes: self.out.memory_bytes(),
            advice: format!("{disk}{UNCOMPRESS}"),
        }
    }

    /// Returns the log, and why it ends early, if it does.
    ///
    /// # Errors
    /// If there is no space for it.
    pub(crate) fn finish(self) -> Result<(Inflated, Option<LogError>), LogError> {
        let too_big = self.too_big();
        let log = self.out.finish().map_err(|_| too_big)?;
        Ok((log, self.broken))
    }
}

/// Inflates a part of a gzip file.
fn gunzip(
    decoder: &mut MultiGzDecoder<Vec<u8>>,
    input: &mut &[u8],
    is_last: bool,
    out: &mut Vec<u8>,
) -> Result<Inflating, &'static str> {
    let (now, later) = input.split_at(STEP_BYTES.min(input.len()));
    *input = later;
    let mut inflated = decoder.write_all(now).map(|()| match later {
        [] => Inflating::NeedsInput,
        _ => Inflating::More,
    });
    if inflated.is_err() || (is_last && later.is_empty()) {
        // Output that preceded the error is still in the decoder.
        let ended = decoder.try_finish();
        inflated = inflated.and(ended.map(|()| Inflating::Done));
    }
    out.append(decoder.get_mut());
    inflated.map_err(|_| NOT_GZIP)
}

/// Decoder for the frames of a zstd file.
struct Frames {
    frame: FrameDecoder,
    /// Whether a frame is open.
    begun: bool,
    /// Number of bytes without data left to skip.
    skip: u64,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            frame: FrameDecoder::new(),
            begun: false,
            skip: 0,
        }
    }
}

impl Frames {
    /// Inflates the next block, or handles what is between two blocks.
    fn step(
        &mut self,
        input: &mut &[u8],
        is_last: bool,
        out: &mut Vec<u8>,
    ) -> Result<Inflating, &'static str> {
        if self.skip > 0 {
            let now = self.skip.min(input.len() as u64);
            *input = input.get(now as usize..).unwrap_or_default();
            self.skip -= now;
            return match (self.skip, is_last) {
                (0, _) => Ok(Inflating::More),
                (_, false) => Ok(Inflating::NeedsInput),
                (_, true) => Err(ENDS_EARLY),
            };
        }
        let wanted = if self.begun {
            MAX_BLOCK
        } else {
            MAX_FRAME_HEADER
        };
        if input.len() < wanted && !is_last {
            return Ok(Inflating::NeedsInput);
        }
        if self.begun {
            self.block(input, out)?;
        } else if input.is_empty() {
            return Ok(Inflating::Done);
        } else {
            self.begin(input)?;
        }
        Ok(Inflating::More)
    }

    /// Begins a frame, or determines the number of bytes to skip.
    fn begin(&mut self, input: &mut &[u8]) -> Result<(), &'static str> {
        if is_skippable(input) {
            let (header, rest) = input
                .split_first_chunk::<SKIPPABLE_HEADER>()
                .ok_or(ENDS_EARLY)?;
            let [_, _, _, _, length @ ..] = *header;
            self.skip = u64::from(u32::from_le_bytes(length));
            *input = rest;
            return Ok(());
        }
        self.frame.reset(input).map_err(|_| NOT_ZSTD)?;
        self.begun = true;
        Ok(())
    }

    fn block(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let decoded = self.frame.decode_blocks(input, one);
        self.frame.collect_to_writer(out).map_err(|_| NOT_ZSTD)?;
        decoded.map_err(|_| NOT_ZSTD)?;
        if !self.frame.is_finished() {
            return Ok(());
        }
        self.begun = false;
        let told = self.frame.get_checksum_from_data();
        if told.is_some() && told != self.frame.get_calculated_checksum() {
            return Err(WRONG_CHECKSUM);
        }
        Ok(())
    }
}
