//! Heap panel: view state, chart, and texts.

pub mod chart;
pub mod settings;
pub mod words;
