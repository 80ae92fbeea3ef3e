#![doc = include_str!("../README.md")]

pub mod account;
pub mod automata;
pub mod capability;
pub mod check;
mod deferred;
pub mod diagnostics;
pub mod flamegraph;
pub mod heap;
pub mod info;
mod labels;
pub mod numbers;
pub mod process;
pub mod processes;
pub mod recording;
pub mod segment;
pub mod spans;
pub mod ticky;
pub mod timeline;
pub mod yielder;
