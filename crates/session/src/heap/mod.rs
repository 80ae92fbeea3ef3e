//! Views of heap profiles: selection and order of bands, ranges of censuses, charts and tables.

pub mod about;
pub mod cache;
pub mod chart;
pub mod choice;
pub mod colours;
pub mod counted;
pub mod export;
pub mod growth;
pub mod moments;
pub mod profiles;
pub mod table;
pub mod tree;
