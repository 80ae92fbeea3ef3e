//! Writing logs: a part of one ([`cut`]), with its texts replaced if need be ([`anonymous`]), or
//! several in one ([`merge`]).
//!
//! Events are copied as they stand in the log that they come from, whatever they are: only their
//! times, the numbers that would mean something else in the new log and the texts that are to be
//! replaced change. So nothing is lost of types that this program does not know.
//!
//! [`LogWriter`] puts events into blocks. It takes them in analysis order, as a reader delivers
//! them, and holds no more of them than the blocks that are not full yet. Who reads what it
//! wrote gets the same events in the same order.

pub mod anonymous;
mod anonymous_message;
mod boundary;
pub mod cut;
pub mod definition;
pub mod merge;
mod renumber;
mod writer;

pub use writer::{LogWriter, NewEvent};
