#![doc = include_str!("../README.md")]

pub mod actions;
pub mod cells;
pub mod control;
pub mod events;
pub mod fingerprint;
pub mod flame;
pub mod key;
pub mod notes;
pub mod scene;
pub mod session;
pub mod share;
pub mod thread_export;
pub mod timeline;
pub mod tracks;
pub mod view;
pub mod words;
