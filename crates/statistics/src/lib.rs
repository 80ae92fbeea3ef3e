#![doc = include_str!("../README.md")]

pub mod rank_test;
pub mod robust;
pub mod shift;
pub mod splits;
