//! Writers for logs: a part of a log ([`cut`]), optionally with its texts replaced ([`anonymous`]), or several
//! logs merged into one ([`merge`]).
//!
//! Events are copied verbatim, whatever their type: only times, numbers with another meaning in the new log, and
//! texts that are to be replaced change. So events of unknown types are preserved.
//!
//! [`LogWriter`] groups events into blocks. It takes them in analysis order, as a reader delivers them, and
//! buffers only the blocks that are not full yet. A reader of the new log gets the same events in the same order.

pub mod anonymous;
mod anonymous_message;
mod boundary;
pub mod cut;
pub mod definition;
pub mod merge;
mod renumber;
mod writer;

pub use writer::{LogWriter, NewEvent};
