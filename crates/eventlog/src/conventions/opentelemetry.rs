//! Messages of the package opentelemetry (`OpenTelemetry.Eventlog`), which writes spans and metrics into the log.
//! Up to 0.4 they are text ("ot2 begin span 7 request"), since then binary and little endian, beginning with the
//! letters OT, the version 3 and a byte for the kind of message.

use super::take_array;
use crate::cursor::Text;

/// A decoded message. Spans have a serial number that is unique in the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Telemetry<'a> {
    /// Start of a span, with its name.
    BeginSpan {
        /// Serial number of the span.
        span: u64,
        /// Name of the operation.
        name: Text<'a>,
    },
    /// End of the span of that id.
    EndSpan {
        /// Serial number of the span.
        span: u64,
    },
    /// A span gets a tag.
    SetTag {
        /// Serial number of the span.
        span: u64,
        /// Name of the tag.
        key: Text<'a>,
        /// Value of the tag.
        value: Text<'a>,
    },
    /// An event occurs in a span.
    AddEvent {
        /// Serial number of the span.
        span: u64,
        /// Name of the event.
        name: Text<'a>,
        /// Details of the event.
        value: Text<'a>,
    },
    /// A span has a parent, possibly in another process.
    SetParent {
        /// Serial number of the span.
        span: u64,
        /// Id of the trace that contains both.
        trace: u64,
        /// Global id of the parent.
        parent: u64,
    },
    /// A span belongs to a trace.
    SetTrace {
        /// Serial number of the span.
        span: u64,
        /// Id of the trace.
        trace: u64,
    },
    /// A span gets a global id.
    SetSpanId {
        /// Serial number of the span.
        span: u64,
        /// Global id of the span.
        id: u64,
    },
    /// A measuring instrument is declared.
    DeclareInstrument {
        /// Kind of the instrument.
        kind: Instrument<'a>,
        /// Id of the instrument, to which measurements refer.
        id: u64,
        /// Name of the instrument.
        name: Text<'a>,
    },
    /// A measurement of a declared instrument.
    Measure {
        /// Id of the instrument.
        instrument: u64,
        /// The measured value.
        value: i64,
    },
    /// A measurement of an undeclared instrument (in text messages only).
    MeasureByName {
        /// Kind of the instrument.
        kind: Instrument<'a>,
        /// Name of the instrument.
        name: Text<'a>,
        /// The measured value.
        value: i64,
    },
}

/// Kind of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrument<'a> {
    /// Number in binary messages, 1 to 6.
    Number(u8),
    /// Name in text messages.
    Name(Text<'a>),
}

/// The names of kinds 1 to 6.
const KINDS: [&str; 6] = [
    "Counter",
    "UpDownCounter",
    "ValueRecorder",
    "SumObserver",
    "UpDownSumObserver",
    "ValueObserver",
];

impl Instrument<'_> {
    /// Returns the name of the kind.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Number(number) => {
                let index = usize::from(*number).wrapping_sub(1);
                (*KINDS.get(index).unwrap_or(&"instrument")).into()
            }
            Self::Name(name) => name.to_str(),
        }
    }
}

fn u64_le(bytes: &mut &[u8]) -> Option<u64> {
    take_array(bytes).map(u64::from_le_bytes)
}

/// Reads a number that must be the last field.
fn last_u64(bytes: &mut &[u8]) -> Option<u64> {
    u64_le(bytes).filter(|_| bytes.is_empty())
}

/// Reads a key and a value: preceded by both lengths, or (up to 0.5) separated by a NUL.
fn key_and_value(bytes: &[u8]) -> Option<(Text<'_>, Text<'_>)> {
    let mut rest = bytes;
    let lengths = take_array(&mut rest)
        .map(u32::from_le_bytes)
        .zip(take_array(&mut rest).map(u32::from_le_bytes));
    if let Some((key_len, value_len)) = lengths
        && u64::from(key_len) + u64::from(value_len) == rest.len() as u64
    {
        let (key, value) = rest.split_at_checked(key_len as usize)?;
        return Some((Text(key), Text(value)));
    }
    let nul = bytes.iter().position(|&byte| byte == 0)?;
    Some((Text(bytes.get(..nul)?), Text(bytes.get(nul + 1..)?)))
}

impl<'a> Telemetry<'a> {
    /// Decodes a binary message.
    pub fn parse_bytes(payload: &'a [u8]) -> Option<Self> {
        let rest = &mut payload.strip_prefix(b"OT\x03")?;
        let [kind] = take_array(rest)?;
        Some(match kind {
            1 => Self::BeginSpan {
                span: u64_le(rest)?,
                name: Text(rest),
            },
            2 => Self::EndSpan {
                span: last_u64(rest)?,
            },
            3 | 4 => {
                let span = u64_le(rest)?;
                let (key, value) = key_and_value(rest)?;
                Self::tag_or_event(kind == 3, span, key, value)
            }
            5 => {
                let (span, parent) = (u64_le(rest)?, u64_le(rest)?);
                let trace = last_u64(rest)?;
                Self::SetParent {
                    span,
                    trace,
                    parent,
                }
            }
            6 => Self::SetTrace {
                span: u64_le(rest)?,
                trace: last_u64(rest)?,
            },
            7 => Self::SetSpanId {
                span: u64_le(rest)?,
                id: last_u64(rest)?,
            },
            8 => {
                let [kind] = take_array(rest)?;
                Self::DeclareInstrument {
                    kind: Instrument::Number(kind),
                    id: u64_le(rest)?,
                    name: Text(rest),
                }
            }
            9 => Self::Measure {
                instrument: u64_le(rest)?,
                value: last_u64(rest)?.cast_signed(),
            },
            _ => return None,
        })
    }

    const fn tag_or_event(tag: bool, span: u64, key: Text<'a>, value: Text<'a>) -> Self {
        if tag {
            Self::SetTag { span, key, value }
        } else {
            Self::AddEvent {
                span,
                name: key,
                value,
            }
        }
    }

    /// Decodes a text message.
    pub fn parse_text(text: &'a [u8]) -> Option<Self> {
        let rest = text.strip_prefix(b"ot2 ")?;
        let mut words = Words(std::str::from_utf8(rest).ok()?);
        let found = match (words.next()?, words.next()?) {
            ("begin", "span") => Self::BeginSpan {
                span: words.number()?,
                name: words.rest(),
            },
            ("end", "span") => Self::EndSpan {
                span: words.number()?,
            },
            ("set", "tag") => {
                Self::tag_or_event(true, words.number()?, words.text()?, words.rest())
            }
            ("add", "event") => {
                Self::tag_or_event(false, words.number()?, words.text()?, words.rest())
            }
            ("set", "parent") => Self::SetParent {
                span: words.number()?,
                trace: words.hexadecimal()?,
                parent: words.hexadecimal()?,
            },
            ("set", "traceid") => Self::SetTrace {
                span: words.number()?,
                trace: words.hexadecimal()?,
            },
            ("set", "spanid") => Self::SetSpanId {
                span: words.number()?,
                id: words.hexadecimal()?,
            },
            ("metric", "create") => Self::DeclareInstrument {
                kind: Instrument::Name(words.text()?),
                id: words.hexadecimal()?,
                name: words.rest(),
            },
            ("metric", "capture") => Self::Measure {
                instrument: words.hexadecimal()?,
                value: words.next()?.parse().ok()?,
            },
            ("metric", kind) => Self::MeasureByName {
                kind: Instrument::Name(Text(kind.as_bytes())),
                name: words.text()?,
                value: words.next()?.parse().ok()?,
            },
            _ => return None,
        };
        words.0.is_empty().then_some(found)
    }
}

/// Splitter for the words of a text.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
    fn text(&mut self) -> Option<Text<'a>> {
        self.next().map(|word| Text(word.as_bytes()))
    }
    fn number(&mut self) -> Option<u64> {
        self.next()?.parse().ok()
    }
    fn hexadecimal(&mut self) -> Option<u64> {
        u64::from_str_radix(self.next()?, 16).ok()
    }
    fn rest(&mut self) -> Text<'a> {
        Text(std::mem::take(&mut self.0).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text<'_> {
        Text(text.as_bytes())
    }

    fn message(kind: u8, fields: &[&[u8]]) -> Vec<u8> {
        [b"OT\x03", &[kind][..], &fields.concat()].concat()
    }

    #[test]
    fn binary_messages() {
        let seven = &7_u64.to_le_bytes()[..];
        let (nine, ten) = (&9_u64.to_le_bytes()[..], &10_u64.to_le_bytes()[..]);
        let lengths = &[3, 0, 0, 0, 2, 0, 0, 0][..];
        let cases = [
            (
                message(1, &[seven, b"a request"]),
                Telemetry::BeginSpan {
                    span: 7,
                    name: text("a request"),
                },
            ),
            (message(2, &[seven]), Telemetry::EndSpan { span: 7 }),
            (
                message(3, &[seven, lengths, b"keyva"]),
                Telemetry::SetTag {
                    span: 7,
                    key: text("key"),
                    value: text("va"),
                },
            ),
            (
                message(4, &[seven, b"key\0value"]),
                Telemetry::AddEvent {
                    span: 7,
                    name: text("key"),
                    value: text("value"),
                },
            ),
            (
                message(5, &[seven, nine, ten]),
                Telemetry::SetParent {
                    span: 7,
                    parent: 9,
                    trace: 10,
                },
            ),
            (
                message(6, &[seven, nine]),
                Telemetry::SetTrace { span: 7, trace: 9 },
            ),
            (
                message(7, &[seven, nine]),
                Telemetry::SetSpanId { span: 7, id: 9 },
            ),
            (
                message(8, &[&[6], nine, b"heap"]),
                Telemetry::DeclareInstrument {
                    kind: Instrument::Number(6),
                    id: 9,
                    name: text("heap"),
                },
            ),
            (
                message(9, &[nine, &(-5_i64).to_le_bytes()]),
                Telemetry::Measure {
                    instrument: 9,
                    value: -5,
                },
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Telemetry::parse_bytes(&bytes), Some(expected));
        }
    }

    #[test]
    fn what_is_no_binary_message() {
        let seven = &7_u64.to_le_bytes()[..];
        let cases = [
            message(0, &[seven]),
            message(10, &[seven]),
            message(2, &[&seven[1..]]),
            message(2, &[seven, b"more"]),
            message(3, &[seven, b"no value"]),
            b"OT\x02\x02\0\0\0\0\0\0\0\0".to_vec(),
            b"OT".to_vec(),
        ];
        for bytes in cases {
            assert_eq!(Telemetry::parse_bytes(&bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn texts() {
        let cases = [
            (
                "ot2 begin span 7 GET /a b",
                Telemetry::BeginSpan {
                    span: 7,
                    name: text("GET /a b"),
                },
            ),
            ("ot2 end span 7", Telemetry::EndSpan { span: 7 }),
            (
                "ot2 set tag 7 key the value",
                Telemetry::SetTag {
                    span: 7,
                    key: text("key"),
                    value: text("the value"),
                },
            ),
            (
                "ot2 add event 7 message hello",
                Telemetry::AddEvent {
                    span: 7,
                    name: text("message"),
                    value: text("hello"),
                },
            ),
            (
                "ot2 set parent 7 000000000000000a 0000000000000009",
                Telemetry::SetParent {
                    span: 7,
                    trace: 10,
                    parent: 9,
                },
            ),
            (
                "ot2 set traceid 7 ff",
                Telemetry::SetTrace {
                    span: 7,
                    trace: 255,
                },
            ),
            (
                "ot2 set spanid 7 ff",
                Telemetry::SetSpanId { span: 7, id: 255 },
            ),
            (
                "ot2 metric create Counter 000000000000000a hits",
                Telemetry::DeclareInstrument {
                    kind: Instrument::Name(text("Counter")),
                    id: 10,
                    name: text("hits"),
                },
            ),
            (
                "ot2 metric capture 000000000000000a -5",
                Telemetry::Measure {
                    instrument: 10,
                    value: -5,
                },
            ),
            (
                "ot2 metric Counter hits 5",
                Telemetry::MeasureByName {
                    kind: Instrument::Name(text("Counter")),
                    name: text("hits"),
                    value: 5,
                },
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(Telemetry::parse_text(message.as_bytes()), Some(expected));
        }
        for message in [
            "ot2",
            "ot2 ",
            "ot2 end span x",
            "ot2 end span 7 8",
            "ot2 set colour 7",
            "START x",
        ] {
            assert_eq!(Telemetry::parse_text(message.as_bytes()), None, "{message}");
        }
    }

    #[test]
    fn kinds_of_instruments() {
        assert_eq!(Instrument::Number(1).name(), "Counter");
        assert_eq!(Instrument::Number(6).name(), "ValueObserver");
        assert_eq!(Instrument::Number(0).name(), "instrument");
        assert_eq!(Instrument::Number(7).name(), "instrument");
    }
}
