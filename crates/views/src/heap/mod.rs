//! The panel of the heap: what it keeps in the view, its chart as a picture, its words.

pub mod chart;
pub mod settings;
pub mod words;
