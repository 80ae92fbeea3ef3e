//! What pictures are made of, without a browser: painters, colours, ticks of
//! axes, numbers as text. It knows no track. What is drawn and what the command
//! line prints use the same functions, and native tests check them.

pub mod chart;
pub mod colour;
pub(crate) mod crop;
pub mod flame;
pub use model::format;
pub mod gauge;
pub(crate) mod markup;
pub mod painter;
pub mod palette;
pub mod raster;
pub mod ruler;
pub mod strip;
pub mod svg;
pub mod viewport;
