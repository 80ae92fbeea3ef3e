//! The files: messages are written batch by batch. In protobuf they are put behind each other,
//! which is one message that has all of them; in JSON each is a line.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use prost::Message;
use serde::Serialize;

use crate::format::Error;

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    const fn extension(self) -> &'static str {
        match self {
            Self::Protobuf => "binpb",
            Self::Json => "jsonl",
        }
    }
}

/// A file that is being written. It has its name when it is finished.
#[derive(Debug)]
pub(super) struct Output {
    encoding: Encoding,
    path: PathBuf,
    unfinished: PathBuf,
    file: BufWriter<File>,
}

impl Output {
    /// Begins the file of a signal of a log: `NAME.SIGNAL.EXTENSION`.
    pub(super) fn begin(
        folder: &Path,
        name: &str,
        signal: &str,
        encoding: Encoding,
    ) -> Result<Self, Error> {
        let path = folder.join(format!("{name}.{signal}.{}", encoding.extension()));
        let unfinished = path.with_added_extension("unfinished");
        let create = || {
            fs::create_dir_all(folder)?;
            File::create(&unfinished)
        };
        let file = create().map_err(|error| Error::File(path.clone(), error))?;
        Ok(Self {
            encoding,
            path,
            unfinished,
            file: BufWriter::new(file),
        })
    }

    /// Writes a message.
    pub(super) fn put(&mut self, message: &(impl Message + Serialize)) -> std::io::Result<()> {
        match self.encoding {
            Encoding::Protobuf => self.file.write_all(&message.encode_to_vec()),
            Encoding::Json => {
                serde_json::to_writer(&mut self.file, message)?;
                self.file.write_all(b"\n")
            }
        }
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let ended = self.file.flush();
        let named = ended.and_then(|()| fs::rename(&self.unfinished, &self.path));
        named.map_err(|error| Error::File(self.path, error))
    }
}
