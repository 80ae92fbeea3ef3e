//! Decoder for the fields of one event's payload: big endian, unaligned, bounds-checked.

use super::status::StopCodes;
use crate::ids::{CapId, CapsetId, CostCentreId, OsThreadId, TaskId, ThreadId};
use std::fmt;

/// Position in a payload. A read beyond its end returns `None`.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    stop_codes: StopCodes,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `payload`.
    pub const fn new(payload: &'a [u8], stop_codes: StopCodes) -> Self {
        Self {
            rest: payload,
            stop_codes,
        }
    }

    /// Returns the numbering of stop codes in this log.
    pub const fn stop_codes(&self) -> StopCodes {
        self.stop_codes
    }

    /// Reads the next field as a `T`.
    pub fn field<T: Field<'a>>(&mut self) -> Option<T> {
        T::read(self)
    }

    /// Reads the next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    /// Reads the next `len` bytes.
    pub fn take_bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }

    /// Reads the rest of the payload.
    pub(crate) fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Reads the bytes up to the next NUL, which is skipped; all bytes if there is none.
    pub(crate) fn take_to_nul(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let len = memchr::memchr(0, self.rest);
        let text = &self.rest[..len.unwrap_or(self.rest.len())];
        self.rest = len.map_or(&[], |len| &self.rest[len + 1..]);
        Some(text)
    }

    /// Returns the number of bytes left.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }
}

/// Extent of a field in a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldExtent {
    /// The field determines its own size.
    SelfDelimited,
    /// The rest of the payload, as a text without NUL.
    Text,
    /// The rest of the payload, as arbitrary bytes.
    RestBytes,
}

/// Kind of a field, for programs that rewrite payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A number or constant with the same meaning in every log.
    Plain,
    /// The number of a capability.
    Cap,
    /// The number of a capability set.
    Capset,
    /// The number of a thread.
    Thread,
    /// The number of a task.
    Task,
    /// The number of a cost centre.
    CostCentre,
    /// A length byte, followed by that many cost centre numbers.
    CostCentres,
    /// A text that fills the rest of the payload.
    Text,
    /// A NUL-terminated text.
    TextToNul,
    /// NUL-separated texts that fill the rest of the payload.
    Texts,
    /// Arbitrary bytes that fill the rest of the payload.
    Bytes,
}

/// A type that occurs as a field in payloads.
pub trait Field<'a>: Sized {
    /// Minimum size in bytes.
    const MIN_BYTES: u16;
    /// Whether the field is the number of a Haskell thread.
    const IS_THREAD: bool = false;
    /// Extent of the field in a payload.
    const EXTENT: FieldExtent = FieldExtent::SelfDelimited;
    /// Kind of the field.
    const KIND: FieldKind = FieldKind::Plain;

    /// Reads the field; `None` if the payload ends first.
    fn read(cursor: &mut Cursor<'a>) -> Option<Self>;
    /// Returns the field as a dynamic value, for listings.
    fn value(&self) -> Value<'a>;
}

/// Dynamic value of a field, for the event list and JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// The log's GHC did not write this field.
    Absent,
    /// An unsigned number.
    Number(u64),
    /// A text from the log, nearly always UTF-8.
    Text(Text<'a>),
    /// A named constant of the runtime, with its detail.
    Name(String),
    /// A list of numbers.
    Numbers(Vec<u64>),
    /// A list of texts.
    Texts(Vec<Text<'a>>),
    /// Bytes without a known meaning.
    Bytes(&'a [u8]),
}

/// Formats the value for a list of fields: texts verbatim, bytes in hexadecimal, absent fields as nothing.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => Ok(()),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&text.to_str()),
            Self::Name(name) => f.write_str(name),
            Self::Numbers(numbers) => {
                let mut numbers = numbers.iter();
                numbers
                    .next()
                    .map_or(Ok(()), |first| write!(f, "{first}"))?;
                numbers.try_for_each(|number| write!(f, " {number}"))
            }
            Self::Texts(texts) => {
                let mut texts = texts.iter();
                texts
                    .next()
                    .map_or(Ok(()), |first| f.write_str(&first.to_str()))?;
                texts.try_for_each(|text| write!(f, "\n{}", text.to_str()))
            }
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

macro_rules! number_field {
    ($($ty:ty => $wrap:expr),* $(,)?) => {$(
        impl<'a> Field<'a> for $ty {
            const MIN_BYTES: u16 = size_of::<$ty>() as u16;

            fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
                cursor.array().map(|bytes| $wrap(bytes))
            }
            fn value(&self) -> Value<'a> {
                Value::Number(u64::from(*self))
            }
        }
    )*};
}
number_field! {
    u8 => u8::from_be_bytes,
    u16 => u16::from_be_bytes,
    u32 => u32::from_be_bytes,
    u64 => u64::from_be_bytes,
}

macro_rules! id_field {
    ($($ty:ident is $kind:ident),* $(,)?) => {$(
        impl<'a> Field<'a> for $ty {
            const MIN_BYTES: u16 = size_of::<$ty>() as u16;
            const IS_THREAD: bool = matches!(FieldKind::$kind, FieldKind::Thread);
            const KIND: FieldKind = FieldKind::$kind;

            fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
                Field::read(cursor).map($ty)
            }
            fn value(&self) -> Value<'a> {
                Value::Number(u64::from(self.0))
            }
        }
    )*};
}
id_field!(
    CapId is Cap,
    CapsetId is Capset,
    CostCentreId is CostCentre,
    OsThreadId is Plain,
    TaskId is Task,
    ThreadId is Thread,
);

/// A field that newer GHCs append: absent where the payload ends before it.
impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    const MIN_BYTES: u16 = 0;
    const KIND: FieldKind = T::KIND;

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        Some(T::read(cursor))
    }
    fn value(&self) -> Value<'a> {
        self.as_ref().map_or(Value::Absent, T::value)
    }
}

/// Text that fills the rest of the payload. GHC writes UTF-8, but a program may log any bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<'a>(pub &'a [u8]);

impl<'a> Text<'a> {
    /// Returns the text, with U+FFFD in place of invalid UTF-8.
    pub fn to_str(self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.0)
    }
}

impl std::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_str().fmt(f)
    }
}

impl<'a> Field<'a> for Text<'a> {
    const MIN_BYTES: u16 = 0;
    const EXTENT: FieldExtent = FieldExtent::Text;
    const KIND: FieldKind = FieldKind::Text;

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        Some(Self(cursor.take_rest()))
    }
    fn value(&self) -> Value<'a> {
        Value::Text(*self)
    }
}

/// Text that ends with a NUL or with the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CText<'a>(pub Text<'a>);

impl<'a> Field<'a> for CText<'a> {
    const MIN_BYTES: u16 = 1;
    const KIND: FieldKind = FieldKind::TextToNul;

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        cursor.take_to_nul().map(|text| Self(Text(text)))
    }
    fn value(&self) -> Value<'a> {
        Value::Text(self.0)
    }
}

/// Texts separated by NULs, up to the end of the payload; newer GHCs also end the last one with a NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextList<'a>(pub &'a [u8]);

impl<'a> TextList<'a> {
    /// Iterates over the texts, in order.
    pub fn iter(self) -> impl Iterator<Item = Text<'a>> {
        let list = self.0.strip_suffix(&[0]).unwrap_or(self.0);
        let empty = self.0.is_empty();
        list.split(|&byte| byte == 0)
            .filter(move |_| !empty)
            .map(Text)
    }
}

impl<'a> Field<'a> for TextList<'a> {
    const MIN_BYTES: u16 = 0;
    const EXTENT: FieldExtent = FieldExtent::RestBytes;
    const KIND: FieldKind = FieldKind::Texts;

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        Some(Self(cursor.take_rest()))
    }
    fn value(&self) -> Value<'a> {
        Value::Texts(self.iter().collect())
    }
}

/// Bytes that fill the rest of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Field<'a> for Bytes<'a> {
    const MIN_BYTES: u16 = 0;
    const EXTENT: FieldExtent = FieldExtent::RestBytes;
    const KIND: FieldKind = FieldKind::Bytes;

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        Some(Self(cursor.take_rest()))
    }
    fn value(&self) -> Value<'a> {
        Value::Bytes(self.0)
    }
}

/// Cost centre stack: a length byte, then that many ids, innermost first. `MAIN` is not written: an empty stack is
/// `MAIN` itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcStack<'a> {
    ids: &'a [u8],
}

impl<'a> CcStack<'a> {
    /// Iterates over the cost centres, innermost first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = CostCentreId> + ExactSizeIterator + 'a {
        self.ids
            .as_chunks::<4>()
            .0
            .iter()
            .map(|id| CostCentreId(u32::from_be_bytes(*id)))
    }

    /// Returns the encoded cost centre numbers, four bytes each.
    pub const fn bytes(self) -> &'a [u8] {
        self.ids
    }
}

impl<'a> Field<'a> for CcStack<'a> {
    const MIN_BYTES: u16 = 1;
    const KIND: FieldKind = FieldKind::CostCentres;

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        let depth = usize::from(u8::read(cursor)?);
        let whole = cursor.remaining() / 4 * 4;
        let ids = cursor.take_bytes(whole.min(depth * 4))?;
        Some(Self { ids })
    }
    fn value(&self) -> Value<'a> {
        Value::Numbers(self.iter().map(|id| u64::from(id.0)).collect())
    }
}

/// Declares a field type for a named constant of the runtime.
macro_rules! named_constant {
    ($(#[$doc:meta])* $name:ident($int:ty), $($code:literal => $text:literal),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub $int);

        impl $name {
            /// Returns the constant's name in `ghc-events`, or its number.
            pub fn name(self) -> String {
                match self.0 {
                    $($code => $text.to_owned(),)*
                    other => format!("{}{other}", stringify!($name)),
                }
            }
        }

        impl<'a> Field<'a> for $name {
            const MIN_BYTES: u16 = size_of::<$int>() as u16;

            fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
                Field::read(cursor).map(Self)
            }
            fn value(&self) -> Value<'a> {
                Value::Name(self.name())
            }
        }
    };
}

named_constant! {
    /// Kind of group that a capability set forms (`rts/include/rts/EventLogFormat.h`).
    CapsetType(u16),
    1 => "CapsetCustom",
    2 => "CapsetOsProcess",
    3 => "CapsetClockDomain",
}

impl CapsetType {
    /// The capabilities of an OS process.
    pub const OS_PROCESS: Self = Self(2);
    /// The capabilities that share a clock.
    pub const CLOCK_DOMAIN: Self = Self(3);
}

named_constant! {
    /// Breakdown of a heap profile (`HeapProfBreakdown` of the runtime).
    HeapBreakdown(u32),
    1 => "HeapProfBreakdownCostCentre",
    2 => "HeapProfBreakdownModule",
    3 => "HeapProfBreakdownClosureDescr",
    4 => "HeapProfBreakdownTypeDescr",
    5 => "HeapProfBreakdownRetainer",
    6 => "HeapProfBreakdownBiography",
    7 => "HeapProfBreakdownClosureType",
    8 => "HeapProfBreakdownInfoTable",
    9 => "HeapProfBreakdownEra",
}

named_constant! {
    /// Kind of a message between Eden machines.
    MessageTag(u8),
    0x50 => "Ready",
    0x51 => "NewPE",
    0x52 => "PETIDS",
    0x53 => "Finish",
    0x54 => "FailPE",
    0x55 => "RFork",
    0x56 => "Connect",
    0x57 => "DataMes",
    0x58 => "Head",
    0x59 => "Constr",
    0x5A => "Part",
    0x5B => "Terminate",
    0x5C => "Packet",
}
