#![doc = include_str!("../README.md")]

mod output_file;
mod read;
mod temporary;

pub use output_file::{
    CreateError, OutputFile, add_unfinished, is_same_file, is_standard_output,
    remove_unfinished_outputs,
};
pub use read::{read_records, read_session_on};
pub use temporary::TemporaryFile;
