#![doc = include_str!("../README.md")]

pub mod chart;
pub mod color;
pub mod crop;
pub use model::format;
pub mod gauge;
pub mod markup;
pub mod painter;
pub mod palette;
pub mod raster;
pub mod ruler;
pub mod strip;
pub mod svg;
pub mod viewport;
