//! Heap profiles as they are looked at: which bands, in which order, of which
//! censuses, as pictures and tables.

pub mod cache;
pub mod chart;
pub mod choice;
pub mod colours;
pub mod profiles;
pub mod settings;
