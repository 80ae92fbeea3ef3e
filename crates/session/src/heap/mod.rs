//! Heap profiles as they are looked at: which bands, in which order, of which
//! censuses, as pictures and tables.

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
