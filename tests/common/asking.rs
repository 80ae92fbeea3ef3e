//! Asks a log every kind of query, with parameters decoded from bytes, for tests and fuzzers. The queries
//! come from `NAMES`, so that a new one is covered without a change here.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "the fuzzer takes this file as it is"
)]

use analysis::yielder::Yield;
use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use eventlog::{LogError, Need, Step};
use serde::de::value::U32Deserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, SeqAccess, VariantAccess,
    Visitor,
};
use session::Session;
use session::queries::{NAMES, by_name};
use session::query::{Host, LocalBoxFuture, Query, Unreadable};

/// Source of decisions: consumes bytes in order, then yields zeros.
#[derive(Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
    /// End of the log in nanoseconds; most times are chosen relative to it.
    end: u64,
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, end: 0 }
    }

    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        first
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1..=3 => u64::from(self.byte()),
            4 => (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte())),
            5 if self.byte() == 0xFF => u64::MAX,
            _ => (u128::from(self.end) * u128::from(self.byte()) / 200) as u64,
        }
    }

    fn real(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1..=4 => f64::from(self.byte()) / 255.0,
            5 => -f64::from(self.byte()),
            6 => [f64::NAN, f64::INFINITY, f64::MIN_POSITIVE][self.below(3)],
            _ => self.number() as f64,
        }
    }

    fn text(&mut self) -> &'static str {
        const TEXTS: [&str; 8] = ["", "a", "main", "#1", "START ", "é\u{202e}", "GC", "\0"];
        TEXTS[self.below(TEXTS.len())]
    }
}

#[derive(Debug)]
pub struct NoValue(String);

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoValue {}

impl Error for NoValue {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Deserializer that makes a value of any type out of [`Choices`].
struct ChoiceDeserializer<'c, 'b>(&'c mut Choices<'b>);

macro_rules! numbers {
    ($($name:ident $visit:ident $type:ty, $choose:ident;)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
            visitor.$visit(self.0.$choose() as $type)
        })*
    };
}

impl<'de> Deserializer<'de> for ChoiceDeserializer<'_, '_> {
    type Error = NoValue;

    numbers! {
        deserialize_i8 visit_i8 i8, number;
        deserialize_i16 visit_i16 i16, number;
        deserialize_i32 visit_i32 i32, number;
        deserialize_i64 visit_i64 i64, number;
        deserialize_u8 visit_u8 u8, number;
        deserialize_u16 visit_u16 u16, number;
        deserialize_u32 visit_u32 u32, number;
        deserialize_u64 visit_u64 u64, number;
        deserialize_f32 visit_f32 f32, real;
        deserialize_f64 visit_f64 f64, real;
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue("a type has to say what it is".to_owned()))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_bool(self.0.byte() % 2 == 1)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_char(char::from(self.0.byte()))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_str(self.0.text())
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_str(self.0.text())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        match self.0.byte() % 2 {
            0 => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        let left = self.0.below(5);
        visitor.visit_seq(Items(self.0, left))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_seq(Items(self.0, len))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_seq(Items(self.0, len))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_seq(Items(self.0, fields.len()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        let variant = self.0.below(variants.len());
        visitor.visit_enum(Variant(self.0, variant as u32))
    }

    serde::forward_to_deserialize_any! { bytes byte_buf map identifier ignored_any }
}

/// Remaining items of a sequence.
struct Items<'c, 'b>(&'c mut Choices<'b>, usize);

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = NoValue;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, NoValue> {
        if self.1 == 0 {
            return Ok(None);
        }
        self.1 -= 1;
        seed.deserialize(ChoiceDeserializer(self.0)).map(Some)
    }
}

/// Enum variant by index.
struct Variant<'c, 'b>(&'c mut Choices<'b>, u32);

impl<'de, 'c, 'b> EnumAccess<'de> for Variant<'c, 'b> {
    type Error = NoValue;
    type Variant = ChoiceDeserializer<'c, 'b>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, ChoiceDeserializer<'c, 'b>), NoValue> {
        let number: U32Deserializer<NoValue> = self.1.into_deserializer();
        Ok((seed.deserialize(number)?, ChoiceDeserializer(self.0)))
    }
}

impl<'de> VariantAccess<'de> for ChoiceDeserializer<'_, '_> {
    type Error = NoValue;

    fn unit_variant(self) -> Result<(), NoValue> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, NoValue> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_seq(Items(self.0, len))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_seq(Items(self.0, fields.len()))
    }
}

/// Host that supplies a file in pieces and yields periodically.
#[derive(Debug)]
struct ChunkedHost<'a> {
    file: &'a [u8],
    piece: usize,
    /// Calls so far; a pause is due at every multiple of `every`.
    calls: Cell<u32>,
    every: u32,
}

impl Yield for ChunkedHost<'_> {
    fn is_due(&self) -> bool {
        self.calls.set(self.calls.get().wrapping_add(1));
        self.every > 0 && self.calls.get().is_multiple_of(self.every)
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(PendingOnce(false))
    }
}

impl Host for ChunkedHost<'_> {
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        assert!(range.start < range.end, "nothing is asked for");
        let start = range.start as usize;
        let end = (range.end as usize).min(start.saturating_add(self.piece));
        let bytes = self.file.get(start..end).map(<[u8]>::to_vec);
        Box::pin(async move {
            PendingOnce(false).await;
            bytes.ok_or_else(|| Unreadable(format!("no bytes {range:?}")))
        })
    }
}

/// Future that is pending once, then ready.
struct PendingOnce(bool);

impl Future for PendingOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Visitor that sends a query twice, with and without pauses, and compares the answers.
struct Ask<'a, 'c, 'b> {
    log: &'a Session,
    file: &'a [u8],
    choices: &'c mut Choices<'b>,
}

impl session::query::Visitor for Ask<'_, '_, '_> {
    type Output = ();

    fn visit<Q: Query>(self) {
        let query = <Q as serde::Deserialize>::deserialize(ChoiceDeserializer(self.choices));
        let query = query.unwrap_or_else(|error| panic!("{}: {error}", Q::NAME));
        let answer_on = |host: &ChunkedHost<'_>| {
            let answer = self.log.ask_with(&query, host);
            serde_json::to_string(&answer).expect("plain data")
        };
        let block_on = answer_on(&ChunkedHost {
            file: self.file,
            piece: usize::MAX,
            calls: Cell::new(0),
            every: 0,
        });
        let in_pieces = answer_on(&ChunkedHost {
            file: self.file,
            piece: 1 + self.choices.below(200) * 37,
            calls: Cell::new(0),
            every: 1 + u32::from(self.choices.byte() % 7),
        });
        // `CountRowsQuery` reports progress, which advances with every answer.
        if Q::NAME != <session::event_list::CountRowsQuery as Query>::NAME {
            assert!(
                block_on == in_pieces,
                "{}: pauses change the answer",
                Q::NAME
            );
        }
    }
}

/// Visitor that sends a query once.
struct AskOnce<'a, 'c, 'b>(Ask<'a, 'c, 'b>);

impl session::query::Visitor for AskOnce<'_, '_, '_> {
    type Output = String;

    fn visit<Q: Query>(self) -> String {
        let Ask { log, file, choices } = self.0;
        let query = <Q as serde::Deserialize>::deserialize(ChoiceDeserializer(choices));
        let query = query.unwrap_or_else(|error| panic!("{}: {error}", Q::NAME));
        let host = ChunkedHost {
            file,
            piece: usize::MAX,
            calls: Cell::new(0),
            every: 0,
        };
        let answer = log.ask_with(&query, &host);
        serde_json::to_string(&answer).expect("plain data")
    }
}

/// Returns the answers of `log` to all queries, with the query's name. `CountRowsQuery` is left out, as its answer
/// reports the progress of a count.
pub fn answers(
    log: &Session,
    file: &[u8],
    choices: &mut Choices<'_>,
) -> Vec<(&'static str, String)> {
    choices.end = log.overview().span.map_or(0, |span| span.end().0);
    let counts = <session::event_list::CountRowsQuery as Query>::NAME;
    let names = NAMES.iter().filter(|&&name| name != counts);
    let answer = |&name: &&'static str| {
        let choices = &mut *choices;
        let asking = AskOnce(Ask { log, file, choices });
        (name, by_name(name, asking).expect("a name of the list"))
    };
    names.map(answer).collect()
}

/// Asserts that two sessions of one log, read in different ways, give equal answers.
pub fn assert_equal_answers(
    one: &Session,
    other: &Session,
    file: &[u8],
    choices: &[u8],
    how: &str,
) {
    let json = |session: &Session| serde_json::to_value(session.overview()).expect("plain data");
    assert_eq!(json(one), json(other), "{how}");
    let [one_reader, other_reader] = [one.reader(), other.reader()];
    assert_eq!(one_reader.accounting(), other_reader.accounting(), "{how}");
    assert_eq!(one_reader.damage(), other_reader.damage(), "{how}");
    let [first, again] =
        [one, other].map(|session| answers(session, file, &mut Choices::new(choices)));
    for (one, other) in first.iter().zip(&again) {
        assert!(one == other, "{how}: {one:.400?}, {other:.400?}");
    }
}

/// Sends every query twice, with and without pauses.
pub fn ask_everything(log: &Session, file: &[u8], choices: &mut Choices<'_>) {
    choices.end = log.overview().span.map_or(0, |span| span.end().0);
    for &name in NAMES {
        let asking = Ask { log, file, choices };
        by_name(name, asking).expect("a name of the list");
    }
}

/// Opens a log whose bytes arrive in pieces. Sends queries at two points while it is read and again at the end,
/// then returns the session.
///
/// # Errors
///
/// If the bytes are not an eventlog.
pub fn open_and_ask(file: &[u8], choices: &mut Choices<'_>) -> Result<Session, LogError> {
    let mut session = Session::with_chunks(file.len() as u64, 50 + choices.number() % 5000);
    let piece = 1 + choices.below(256) * 61;
    let events = 1 + choices.below(256) * 97;
    let mut asked = 0;
    loop {
        match session.advance(events)? {
            Step::Need(needs) => {
                for Need(range) in needs {
                    let start = range.start as usize;
                    let end = (range.end as usize).min(start.saturating_add(piece));
                    session.supply(range.start, &file[start..end]);
                }
            }
            Step::Indexed | Step::More if asked < 2 => {
                asked += 1;
                ask_everything(&session, file, choices);
            }
            Step::Indexed | Step::More => {}
            Step::Done => {
                ask_everything(&session, file, choices);
                return Ok(session);
            }
        }
    }
}
