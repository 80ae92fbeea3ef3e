//! Eventscope reads the eventlog of a Haskell program and shows what it did.
//!
//! The layers below, each a crate that knows only those before it:
//! `eventlog` (the format), `symbols` (names for addresses), `model`
//! (columns and their indexes), `analysis` (what the events mean), `insight`
//! (what is wrong with a program), `views` (questions, pictures and words),
//! `export` (the formats of other programs). Here are the drivers: the page (`ui`,
//! `worker` and `wire`, for wasm32 only), the [`protocol`] between its
//! threads, and the command line (`cli`, which puts what memory has no room
//! for into a `temporary` file).

#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod protocol;
#[cfg(not(target_arch = "wasm32"))]
pub mod temporary;
pub mod ui;
#[cfg(target_arch = "wasm32")]
pub mod wire;
#[cfg(target_arch = "wasm32")]
pub mod worker;

/// The examples of the page for those who use the crates.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod library {}
