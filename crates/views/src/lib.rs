//! What is asked of a log, and how the answers look and read, without a browser.
//!
//! - [`session`]: one open log; what all drivers talk to.
//! - [`cells`]: cells of tables for other programs, and CSV.
//! - [`events`]: the event list: rows found again in the file, filters, searches.
//! - [`flame`]: flame graphs, from weighted stacks to boxes and files.
//! - [`scene`]: what to draw.
//! - [`notes`]: names that a reader gives to moments and ranges.
//! - [`share`]: the link.
//! - [`thread_export`]: the table of threads for other programs.
//! - [`words`]: English for what was found and counted.
//! - [`actions`]: what can be done, with keys and words.

pub mod actions;
pub mod cells;
pub mod events;
pub mod flame;
pub mod notes;
pub mod scene;
pub mod session;
pub mod share;
pub mod thread_export;
pub mod words;
