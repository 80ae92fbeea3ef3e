//! Heap profiles as they are looked at: which bands, in which order, of which
//! censuses, as pictures and tables.

pub mod cache;
pub mod choice;
