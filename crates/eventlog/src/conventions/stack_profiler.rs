//! Messages of the package ghc-stack-profiler, which samples the stacks of threads. They are big endian and begin
//! with a tag of two bytes. A stack refers to texts and source locations that other messages define.
//!
//! | | 0.1, 0.2 | 0.3, 0.4 | 0.5 |
//! |---|---|---|---|
//! | order of frames and of parts of a stack | innermost first | outermost first | outermost first |
//! | a frame with a location (`03`) | location | text, location | text, location |
//! | a location | with the text of its function | without | without |
//! | a thread | 32 bits | 32 bits | 64 bits |
//! | the length of a text | characters | characters | bytes |
//! | version message | – | – | 0 |
//!
//! The length of a message determines its layout. The order of frames is the same in the whole log; only some
//! messages determine it ([`StackMessage::frame_order`]).

use super::take_array;
use crate::cursor::Text;

/// A decoded message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackMessage<'a> {
    /// Version of the message format.
    Version(u8),
    /// A stack, or a part of one that other parts follow.
    Stack {
        /// Whether this is the last part.
        last: bool,
        /// The capability of the thread.
        cap: u32,
        /// The sampled thread.
        thread: u64,
        /// The frames, in the order of [`FrameOrder`].
        frames: StackFrames<'a>,
    },
    /// A text that stacks and locations refer to.
    Define {
        /// Id of the text.
        id: u64,
        /// The text itself.
        text: Text<'a>,
    },
    /// A source location.
    Location {
        /// Id of the location.
        id: u64,
        /// Line in the source file.
        line: u32,
        /// Column in that line.
        column: u32,
        /// Id of the text with the function's name, up to version 0.2.
        function: Option<u64>,
        /// Id of the text with the file name.
        file: u64,
    },
}

/// One frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StackFrame {
    /// Address or id of an info table, which the log may describe.
    InfoTable(u64),
    /// An annotation of the program.
    Annotation {
        /// Id of its text.
        text: u64,
        /// Id of its location, if it has one.
        location: Option<u64>,
    },
    /// A call known only by its location, up to version 0.2.
    Location(u64),
}

/// Order in which the frames of a stack, and its parts, are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOrder {
    /// Up to version 0.2.
    InnermostFirst,
    /// From version 0.3 on.
    OutermostFirst,
}

/// The frames of a stack, checked to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrames<'a> {
    bytes: &'a [u8],
    count: u16,
    /// Size of a frame with a location, in bytes.
    located_bytes: usize,
    has_wide_thread: bool,
}

fn u64_be(bytes: &mut &[u8]) -> Option<u64> {
    take_array(bytes).map(u64::from_be_bytes)
}

fn u32_be(bytes: &mut &[u8]) -> Option<u32> {
    take_array(bytes).map(u32::from_be_bytes)
}

fn u16_be(bytes: &mut &[u8]) -> Option<u16> {
    take_array(bytes).map(u16::from_be_bytes)
}

/// Kind byte of frames with a location.
const LOCATED: u8 = 3;

impl<'a> StackFrames<'a> {
    /// Size of a frame with one reference: kind and number.
    const SMALL_BYTES: usize = 9;
    /// Size of a frame that refers to a text and a location.
    const LARGE_BYTES: usize = 17;

    /// Parses a count and that many frames, which must end the message.
    fn parse(mut bytes: &'a [u8], has_wide_thread: bool) -> Option<Self> {
        let count = u16_be(&mut bytes)?;
        let all_are_small = bytes.len() == usize::from(count) * Self::SMALL_BYTES;
        let frames = Self {
            bytes,
            count,
            located_bytes: if all_are_small {
                Self::SMALL_BYTES
            } else {
                Self::LARGE_BYTES
            },
            has_wide_thread,
        };
        for _ in 0..count {
            frames.take_frame(&mut bytes)?;
        }
        bytes.is_empty().then_some(frames)
    }

    fn take_frame(&self, bytes: &mut &[u8]) -> Option<StackFrame> {
        let [kind] = take_array(bytes)?;
        let first = u64_be(bytes)?;
        Some(match kind {
            1 => StackFrame::InfoTable(first),
            2 => StackFrame::Annotation {
                text: first,
                location: None,
            },
            LOCATED if self.located_bytes == Self::SMALL_BYTES => StackFrame::Location(first),
            LOCATED => StackFrame::Annotation {
                text: first,
                location: Some(u64_be(bytes)?),
            },
            _ => return None,
        })
    }

    /// Returns the size of the encoded frames, which end the message, in bytes.
    pub const fn byte_len(self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of frames.
    pub const fn len(self) -> u16 {
        self.count
    }

    /// Whether there are no frames.
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Iterates over the frames, in the order of the message.
    pub fn iter(self) -> impl Iterator<Item = StackFrame> {
        let mut bytes = self.bytes;
        std::iter::from_fn(move || self.take_frame(&mut bytes))
    }

    fn order(self) -> Option<FrameOrder> {
        let is_located = |frame| {
            !matches!(
                frame,
                StackFrame::InfoTable(_) | StackFrame::Annotation { location: None, .. }
            )
        };
        if self.has_wide_thread {
            return Some(FrameOrder::OutermostFirst);
        }
        self.iter()
            .any(is_located)
            .then_some(match self.located_bytes {
                Self::SMALL_BYTES => FrameOrder::InnermostFirst,
                _ => FrameOrder::OutermostFirst,
            })
    }
}

impl<'a> StackMessage<'a> {
    /// Decodes a binary message.
    pub fn parse_bytes(payload: &'a [u8]) -> Option<Self> {
        let mut rest = payload;
        let tag = u16_be(&mut rest)?;
        match tag {
            0xFFC0 => {
                let [version] = take_array(&mut rest)?;
                rest.is_empty().then_some(Self::Version(version))
            }
            0xFFCA | 0xFFCB => Self::stack(rest, tag == 0xFFCA),
            0xFFCC => {
                let (id, len) = (u64_be(&mut rest)?, u16_be(&mut rest)?);
                let has_len = usize::from(len) == rest.len() || chars(rest) == Some(len.into());
                has_len.then_some(Self::Define {
                    id,
                    text: Text(rest),
                })
            }
            0xFFCD => Self::location(rest),
            _ => None,
        }
    }

    /// Returns the order of frames in this log, if the message determines it.
    pub fn frame_order(&self) -> Option<FrameOrder> {
        match self {
            Self::Version(_) => Some(FrameOrder::OutermostFirst),
            Self::Stack { frames, .. } => frames.order(),
            Self::Define { .. } => None,
            Self::Location { function, .. } => Some(match function {
                Some(_) => FrameOrder::InnermostFirst,
                None => FrameOrder::OutermostFirst,
            }),
        }
    }

    fn stack(mut rest: &'a [u8], last: bool) -> Option<Self> {
        let cap = u32_be(&mut rest)?;
        let (mut narrow, mut wide) = (rest, rest);
        // Thread numbers start at 1 and fit into 32 bits.
        let wide = || {
            let thread = u64_be(&mut wide).filter(|thread| thread >> 32 == 0)?;
            Some((thread, StackFrames::parse(wide, true)?))
        };
        let narrow = || {
            let thread = u32_be(&mut narrow)?;
            Some((u64::from(thread), StackFrames::parse(narrow, false)?))
        };
        let (thread, frames) = { wide }().or_else(narrow)?;
        Some(Self::Stack {
            last,
            cap,
            thread,
            frames,
        })
    }

    fn location(mut rest: &'a [u8]) -> Option<Self> {
        const BYTES_WITH_FUNCTION: usize = 32;
        let has_function = rest.len() == BYTES_WITH_FUNCTION;
        let id = u64_be(&mut rest)?;
        let (line, column) = (u32_be(&mut rest)?, u32_be(&mut rest)?);
        let function = if has_function {
            Some(u64_be(&mut rest)?)
        } else {
            None
        };
        let file = u64_be(&mut rest)?;
        let location = Self::Location {
            id,
            line,
            column,
            function,
            file,
        };
        rest.is_empty().then_some(location)
    }
}

/// Returns the number of characters; `None` for invalid UTF-8.
fn chars(text: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(text).ok()?;
    Some(text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<u8> {
        let mut bytes = vec![0, 3];
        bytes.extend([1, 0, 0, 0, 0, 0, 0x40, 0xFF, 0xF8]);
        bytes.extend([2, 0, 0, 0, 0, 0, 0, 0, 5]);
        bytes.extend([3, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 9]);
        bytes
    }

    const EXPECTED: [StackFrame; 3] = [
        StackFrame::InfoTable(0x40_FFF8),
        StackFrame::Annotation {
            text: 5,
            location: None,
        },
        StackFrame::Annotation {
            text: 6,
            location: Some(9),
        },
    ];

    #[test]
    fn stacks_with_both_widths_of_threads() {
        let narrow = [&[0xFF, 0xCA, 0, 0, 0, 2, 0, 0, 0, 12][..], &frames()].concat();
        let wide = [
            &[0xFF, 0xCB, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 12][..],
            &frames(),
        ]
        .concat();
        for (bytes, is_last) in [(narrow, true), (wide, false)] {
            let Some(StackMessage::Stack {
                last,
                cap,
                thread,
                frames,
            }) = StackMessage::parse_bytes(&bytes)
            else {
                panic!("{bytes:?} is a stack");
            };
            assert_eq!((last, cap, thread), (is_last, 2, 12));
            assert_eq!(frames.len(), 3);
            assert_eq!(frames.iter().collect::<Vec<_>>(), EXPECTED);
        }
    }

    #[test]
    fn definitions() {
        let text = b"\xFF\xCC\0\0\0\0\0\0\0\x05\0\x04main";
        assert_eq!(
            StackMessage::parse_bytes(text),
            Some(StackMessage::Define {
                id: 5,
                text: Text(b"main")
            })
        );
        let location = b"\xFF\xCD\0\0\0\0\0\0\0\x09\0\0\0\x0C\0\0\0\x03\0\0\0\0\0\0\0\x07";
        assert_eq!(
            StackMessage::parse_bytes(location),
            Some(StackMessage::Location {
                id: 9,
                line: 12,
                column: 3,
                function: None,
                file: 7
            })
        );
        assert_eq!(
            StackMessage::parse_bytes(b"\xFF\xC0\x01"),
            Some(StackMessage::Version(1))
        );
    }

    #[test]
    fn layouts_of_the_first_versions() {
        let location =
            b"\xFF\xCD\0\0\0\0\0\0\0\x09\0\0\0\x0C\0\0\0\x03\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x07";
        let location = StackMessage::parse_bytes(location).expect("a location");
        assert_eq!(
            location,
            StackMessage::Location {
                id: 9,
                line: 12,
                column: 3,
                function: Some(5),
                file: 7
            }
        );
        assert_eq!(location.frame_order(), Some(FrameOrder::InnermostFirst));
        let mut stack = vec![0xFF, 0xCA, 0, 0, 0, 2, 0, 0, 0, 12, 0, 2];
        stack.extend([1, 0, 0, 0, 0, 0, 0x40, 0xFF, 0xF8]);
        assert_eq!(StackMessage::parse_bytes(&stack), None);
        stack.extend([3, 0, 0, 0, 0, 0, 0, 0, 9]);
        let stack = StackMessage::parse_bytes(&stack).expect("a stack");
        assert_eq!(stack.frame_order(), Some(FrameOrder::InnermostFirst));
        let StackMessage::Stack { frames, .. } = stack else {
            panic!("{stack:?}");
        };
        let expected = [StackFrame::InfoTable(0x40_FFF8), StackFrame::Location(9)];
        assert_eq!(frames.iter().collect::<Vec<_>>(), expected);
        // The length counts characters up to 0.4, bytes later.
        for len in [3, 6] {
            let text = [
                &b"\xFF\xCC\0\0\0\0\0\0\0\x05\0"[..],
                &[len],
                "äöü".as_bytes(),
            ]
            .concat();
            let expected = StackMessage::Define {
                id: 5,
                text: Text("äöü".as_bytes()),
            };
            assert_eq!(StackMessage::parse_bytes(&text), Some(expected), "{len}");
        }
    }

    /// Read with 32 bits, a 64-bit thread would become thread 0 with frames.
    #[test]
    fn a_thread_beyond_16_bits_is_not_read_as_two_numbers() {
        let mut wide = vec![0xFF, 0xCA, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0];
        let StackMessage::Stack { thread, frames, .. } =
            StackMessage::parse_bytes(&wide).expect("a stack")
        else {
            panic!("a stack");
        };
        assert_eq!((thread, frames.len()), (0x1_0100, 0));
        wide.truncate(15);
        assert_eq!(StackMessage::parse_bytes(&wide), None);
    }

    #[test]
    fn what_is_no_message() {
        let whole = [&[0xFF, 0xCA, 0, 0, 0, 2, 0, 0, 0, 12][..], &frames()].concat();
        // Without its location, the last frame is a valid one of the first versions.
        let with_location = 8;
        for len in (0..whole.len()).filter(|len| *len != whole.len() - with_location) {
            assert_eq!(StackMessage::parse_bytes(&whole[..len]), None, "{len}");
        }
        let more = [&whole[..], &[0]].concat();
        assert_eq!(StackMessage::parse_bytes(&more), None);
        let text = b"\xFF\xCC\0\0\0\0\0\0\0\x05\0\x04mai";
        assert_eq!(StackMessage::parse_bytes(text), None);
        assert_eq!(StackMessage::parse_bytes(b"\xFF\xC1\x01"), None);
    }
}
