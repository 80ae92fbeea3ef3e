#![doc = include_str!("../README.md")]

pub mod account;
pub mod automata;
pub mod capability;
pub mod check;
pub mod diagnostics;
pub mod flamegraph;
pub mod heap;
pub mod info;
mod kept;
mod labels;
pub mod listen;
pub mod numbers;
pub mod process;
pub mod processes;
pub mod recording;
pub mod segment;
pub mod spans;
pub mod ticky;
pub mod timeline;
