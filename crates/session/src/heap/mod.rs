//! Views of heap profiles: selection and order of bands, ranges of censuses, charts and tables.

pub mod band_info;
pub mod cache;
pub mod census_diff;
pub mod census_range;
pub mod chart;
pub mod choice;
pub mod colors;
pub mod export;
pub mod growth;
pub mod profiles;
pub mod table;
pub mod tree;
