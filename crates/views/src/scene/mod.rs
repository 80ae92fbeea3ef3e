//! What a view looks like, computed without a browser: words and numbers,
//! ticks of the time axis, colours. What is drawn and what the command line
//! prints use the same functions, and native tests check them.

pub mod arrange;
pub mod chart;
pub mod colour;
pub mod flame;
pub mod format;
pub mod item;
pub mod legend;
pub mod painter;
pub mod palette;
pub mod ruler;
pub mod svg;
pub mod timeline;
pub mod track;
pub mod track_name;
pub mod viewport;
pub mod words;
