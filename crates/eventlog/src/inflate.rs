//! Compressed logs: gzip and zstd, known by their first bytes, inflated piece
//! by piece so that progress can be shown and the work be stopped.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::problem::LogError;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952; several members may follow each other.
    Gzip,
    /// RFC 8878; several frames may follow each other.
    Zstd,
}

impl Compression {
    /// How many bytes the detection wants to see.
    pub const MAGIC_BYTES: usize = 4;

    /// Tells by the first bytes, never by a name.
    #[must_use]
    pub(crate) fn detect(bytes: &[u8]) -> Option<Self> {
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

/// Whether a zstd frame begins here that holds no data: its magic number is one
/// of sixteen (RFC 8878, 3.1.2).
fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// Bytes of a skippable frame before its content: magic number and length.
const SKIPPABLE_HEADER: usize = 8;

enum Decoder {
    Gzip(Box<MultiGzDecoder<Cursor<Vec<u8>>>>),
    Zstd(Box<StreamingDecoder<Cursor<Vec<u8>>, FrameDecoder>>),
    /// Between two zstd frames, or at the end.
    ZstdNext(Cursor<Vec<u8>>),
    Finished,
}

/// Inflates a file that is in memory.
pub struct Inflate {
    format: Compression,
    decoder: Decoder,
    out: Vec<u8>,
    in_bytes: u64,
    budget_bytes: u64,
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

const NOT_GZIP: &str = "it breaks off, or is not what was compressed";
const NOT_ZSTD: &str = "it breaks off, or is no zstd from here on";
const ENDS_EARLY: &str = "it ends inside of a frame";
const WRONG_CHECKSUM: &str =
    "its checksum says that it is not what was compressed: events before this may be wrong";

/// How much is inflated in one step.
const STEP_BYTES: u64 = 4 << 20;

impl Inflate {
    /// Begins with the whole compressed file. The result may have
    /// `budget_bytes` at most.
    #[must_use]
    pub fn new(format: Compression, compressed: Vec<u8>, budget_bytes: u64) -> Self {
        let in_bytes = compressed.len() as u64;
        let input = Cursor::new(compressed);
        let decoder = match format {
            Compression::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(input))),
            Compression::Zstd => Decoder::ZstdNext(input),
        };
        Self {
            format,
            decoder,
            out: Vec::new(),
            in_bytes,
            budget_bytes,
            broken: None,
        }
    }

    /// Bytes of input used and bytes of input in all.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        let used = match &self.decoder {
            Decoder::Gzip(decoder) => decoder.get_ref().position(),
            Decoder::Zstd(decoder) => decoder.get_ref().position(),
            Decoder::ZstdNext(input) => input.position(),
            Decoder::Finished => self.in_bytes,
        };
        (used, self.in_bytes)
    }

    /// Inflates some more. `Ok(true)` when all is done.
    ///
    /// # Errors
    /// If the result is larger than the budget, or nothing comes out of
    /// broken data; data that breaks off later ends the log there.
    pub fn step(&mut self) -> Result<bool, LogError> {
        let before = self.out.len();
        let read = match std::mem::replace(&mut self.decoder, Decoder::Finished) {
            Decoder::Finished => return Ok(true),
            Decoder::Gzip(mut decoder) => {
                let read = decoder.by_ref().take(STEP_BYTES).read_to_end(&mut self.out);
                if self.out.len() > before && read.is_ok() {
                    self.decoder = Decoder::Gzip(decoder);
                }
                read.map(|_| ()).map_err(|_| NOT_GZIP)
            }
            Decoder::ZstdNext(input) if input.position() == self.in_bytes => return Ok(true),
            Decoder::ZstdNext(input) => self.next_frame(input),
            Decoder::Zstd(mut decoder) => {
                let read = decoder.by_ref().take(STEP_BYTES).read_to_end(&mut self.out);
                match read {
                    Err(_) => Err(NOT_ZSTD),
                    Ok(_) if self.out.len() > before => {
                        self.decoder = Decoder::Zstd(decoder);
                        Ok(())
                    }
                    Ok(_) => self.frame_ended(*decoder),
                }
            }
        };
        if self.doubly_compressed() {
            return Err(LogError::CompressedTwice);
        }
        if let Err(why) = read {
            let error = LogError::Decompress {
                format: self.format.name(),
                at: self.out.len() as u64,
                why,
            };
            if self.out.is_empty() {
                return Err(error);
            }
            self.broken = Some(error);
            self.decoder = Decoder::Finished;
        }
        if self.out.len() as u64 > self.budget_bytes {
            return Err(too_big(self.out.len() as u64, self.budget_bytes));
        }
        Ok(matches!(self.decoder, Decoder::Finished))
    }

    /// Begins a zstd frame, or passes over one that holds no data.
    fn next_frame(&mut self, mut input: Cursor<Vec<u8>>) -> Result<(), &'static str> {
        let at = usize::try_from(input.position()).unwrap_or(usize::MAX);
        let rest = input.get_ref().get(at..).unwrap_or_default();
        if is_skippable(rest) {
            let header = rest.first_chunk::<SKIPPABLE_HEADER>().ok_or(ENDS_EARLY)?;
            let [_, _, _, _, length @ ..] = *header;
            let end = at as u64 + SKIPPABLE_HEADER as u64 + u64::from(u32::from_le_bytes(length));
            if end > self.in_bytes {
                return Err(ENDS_EARLY);
            }
            input.set_position(end);
            self.decoder = Decoder::ZstdNext(input);
            return Ok(());
        }
        let decoder = StreamingDecoder::new(input).map_err(|_| NOT_ZSTD)?;
        self.decoder = Decoder::Zstd(Box::new(decoder));
        Ok(())
    }

    /// All of a zstd frame is inflated: it must be what was compressed.
    fn frame_ended(
        &mut self,
        decoder: StreamingDecoder<Cursor<Vec<u8>>, FrameDecoder>,
    ) -> Result<(), &'static str> {
        let (input, frame) = decoder.into_parts();
        let told = frame.get_checksum_from_data();
        if told.is_some() && told != frame.get_calculated_checksum() {
            return Err(WRONG_CHECKSUM);
        }
        self.decoder = Decoder::ZstdNext(input);
        Ok(())
    }

    /// Whether what comes out is compressed once more.
    fn doubly_compressed(&self) -> bool {
        Compression::detect(&self.out).is_some()
    }

    /// The log, and why it ends early if it does.
    pub fn take(&mut self) -> (Vec<u8>, Option<LogError>) {
        (std::mem::take(&mut self.out), self.broken.take())
    }
}

/// The error for a compressed log that does not fit.
pub(crate) fn too_big(need_bytes: u64, budget_bytes: u64) -> LogError {
    LogError::TooBig {
        need_bytes,
        budget_bytes,
        advice: "Uncompress the file and open that: an uncompressed log is read piece by piece and may be of any size.".to_owned(),
    }
}
