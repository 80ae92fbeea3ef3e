//! Messages of the package ghc-stack-profiler, which samples the stacks of
//! threads: big endian, beginning with a tag of two bytes. A stack refers to
//! texts and source locations that other messages define.

use super::take;
use crate::cursor::Text;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackMessage<'a> {
    /// The version of these messages.
    Version(u8),
    /// A stack, or a part of it that others follow.
    Stack {
        /// Whether it is the last part.
        last: bool,
        /// The capability that sampled it.
        cap: u32,
        /// The thread; the first versions wrote 32 bits, later ones 64.
        thread: u64,
        /// The frames, innermost first.
        frames: StackFrames<'a>,
    },
    /// A text for stacks and locations to refer to.
    Define {
        /// Its number.
        id: u64,
        /// The text.
        text: Text<'a>,
    },
    /// A place in a source file.
    Location {
        /// Its number.
        id: u64,
        /// The line.
        line: u32,
        /// The column.
        column: u32,
        /// The number of the text that is the file's name.
        file: u64,
    },
}

/// One frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StackFrame {
    /// The address of an info table, which the log may describe.
    InfoTable(u64),
    /// An annotation of the program.
    Annotation {
        /// The number of its text.
        text: u64,
        /// The number of its location, if it has one.
        location: Option<u64>,
    },
}

/// The frames of a stack, checked to be whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrames<'a> {
    bytes: &'a [u8],
    count: u16,
}

fn u64_be(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes).map(u64::from_be_bytes)
}

fn u32_be(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes).map(u32::from_be_bytes)
}

fn u16_be(bytes: &mut &[u8]) -> Option<u16> {
    take(bytes).map(u16::from_be_bytes)
}

fn frame(bytes: &mut &[u8]) -> Option<StackFrame> {
    let [kind] = take(bytes)?;
    let first = u64_be(bytes)?;
    Some(match kind {
        1 => StackFrame::InfoTable(first),
        2 => StackFrame::Annotation {
            text: first,
            location: None,
        },
        3 => StackFrame::Annotation {
            text: first,
            location: Some(u64_be(bytes)?),
        },
        _ => return None,
    })
}

impl<'a> StackFrames<'a> {
    /// A length and that many frames, and nothing after them.
    fn parse(mut bytes: &'a [u8]) -> Option<Self> {
        let count = u16_be(&mut bytes)?;
        let frames = Self { bytes, count };
        for _ in 0..count {
            frame(&mut bytes)?;
        }
        bytes.is_empty().then_some(frames)
    }

    /// How many bytes they have in the message, which ends with them.
    #[must_use]
    pub const fn byte_len(self) -> usize {
        self.bytes.len()
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> u16 {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// The frames, innermost first.
    pub fn iter(self) -> impl Iterator<Item = StackFrame> {
        let mut bytes = self.bytes;
        std::iter::from_fn(move || frame(&mut bytes))
    }
}

impl<'a> StackMessage<'a> {
    /// Decodes a binary message.
    #[must_use]
    pub fn of_bytes(payload: &'a [u8]) -> Option<Self> {
        let mut rest = payload;
        let tag = u16_be(&mut rest)?;
        match tag {
            0xFFC0 => {
                let [version] = take(&mut rest)?;
                rest.is_empty().then_some(Self::Version(version))
            }
            0xFFCA | 0xFFCB => Self::stack(rest, tag == 0xFFCA),
            0xFFCC => {
                let (id, len) = (u64_be(&mut rest)?, u16_be(&mut rest)?);
                let text = Text(rest);
                (usize::from(len) == rest.len()).then_some(Self::Define { id, text })
            }
            0xFFCD => Self::location(rest),
            _ => None,
        }
    }

    fn stack(mut rest: &'a [u8], last: bool) -> Option<Self> {
        let cap = u32_be(&mut rest)?;
        let with = |thread, frames| Self::Stack {
            last,
            cap,
            thread,
            frames,
        };
        // Only one of the two widths leaves frames that are whole; no program
        // gets beyond 32 bits.
        let (mut narrow, mut wide) = (rest, rest);
        let thread = u32_be(&mut narrow)?;
        if let Some(frames) = StackFrames::parse(narrow) {
            return Some(with(u64::from(thread), frames));
        }
        let thread = u64_be(&mut wide).filter(|thread| thread >> 32 == 0)?;
        Some(with(thread, StackFrames::parse(wide)?))
    }

    fn location(mut rest: &'a [u8]) -> Option<Self> {
        let id = u64_be(&mut rest)?;
        let (line, column) = (u32_be(&mut rest)?, u32_be(&mut rest)?);
        let file = u64_be(&mut rest)?;
        let location = Self::Location {
            id,
            line,
            column,
            file,
        };
        rest.is_empty().then_some(location)
    }
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
            }) = StackMessage::of_bytes(&bytes)
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
            StackMessage::of_bytes(text),
            Some(StackMessage::Define {
                id: 5,
                text: Text(b"main")
            })
        );
        let location = b"\xFF\xCD\0\0\0\0\0\0\0\x09\0\0\0\x0C\0\0\0\x03\0\0\0\0\0\0\0\x07";
        assert_eq!(
            StackMessage::of_bytes(location),
            Some(StackMessage::Location {
                id: 9,
                line: 12,
                column: 3,
                file: 7
            })
        );
        assert_eq!(
            StackMessage::of_bytes(b"\xFF\xC0\x01"),
            Some(StackMessage::Version(1))
        );
    }

    #[test]
    fn what_is_no_message() {
        let whole = [&[0xFF, 0xCA, 0, 0, 0, 2, 0, 0, 0, 12][..], &frames()].concat();
        for len in 0..whole.len() {
            assert_eq!(StackMessage::of_bytes(&whole[..len]), None, "{len}");
        }
        let more = [&whole[..], &[0]].concat();
        assert_eq!(StackMessage::of_bytes(&more), None);
        let text = b"\xFF\xCC\0\0\0\0\0\0\0\x05\0\x04mai";
        assert_eq!(StackMessage::of_bytes(text), None);
        assert_eq!(StackMessage::of_bytes(b"\xFF\xC1\x01"), None);
    }
}
