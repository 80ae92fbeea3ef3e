//! Output files, written batch by batch. Concatenated protobuf messages form one message with all batches; in
//! JSON each batch is a line.

use std::fs;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use prost::Message;
use serde::Serialize;

use crate::format::Error;
use crate::log::Log;
use native::OutputFile;

/// Encoding of messages.
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

/// A file being written.
#[derive(Debug)]
pub(super) struct Output {
    encoding: Encoding,
    path: PathBuf,
    file: BufWriter<OutputFile>,
}

impl Output {
    /// Creates the file of a signal of a log: `BASE.SIGNAL.EXTENSION`.
    pub(super) fn begin(
        log: &Log<'_>,
        base: &Path,
        signal: &str,
        encoding: Encoding,
    ) -> Result<Self, Error> {
        let mut path = base.as_os_str().to_owned();
        path.push(format!(".{signal}.{}", encoding.extension()));
        let path = PathBuf::from(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::File(path.clone(), error))?;
        }
        let file = OutputFile::create(&path, log.inputs);
        let file = file.map_err(|error| Error::create(&path, error))?;
        Ok(Self {
            encoding,
            path,
            file: BufWriter::new(file),
        })
    }

    /// Appends a message.
    pub(super) fn write_message(
        &mut self,
        message: &(impl Message + Serialize),
    ) -> std::io::Result<()> {
        match self.encoding {
            Encoding::Protobuf => self.file.write_all(&message.encode_to_vec()),
            Encoding::Json => {
                serde_json::to_writer(&mut self.file, message)?;
                self.file.write_all(b"\n")
            }
        }
    }

    /// Completes the file.
    pub(super) fn finish(self) -> Result<(), Error> {
        let ended = self.file.into_inner().map_err(IntoInnerError::into_error);
        let finished = ended.and_then(OutputFile::finish);
        finished.map_err(|error| Error::File(self.path, error))
    }
}
