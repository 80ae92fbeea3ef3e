//! Sources of a log that is still being written: a file, standard input or a socket. A separate thread reads the
//! source; a broken socket connection is reestablished.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use eventlog::header::MAGIC;
use eventlog::system_words;

/// Maximum number of bytes per read.
const CHUNK_BYTES: usize = 64 << 10;
/// Capacity of the channel, in chunks.
const CHANNEL_CHUNKS: usize = 64;
/// Polling interval for a file that has not grown.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Delay before the first reconnection attempt; it doubles with each further attempt, up to the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// Source of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LogSource {
    /// File that may grow.
    File(PathBuf),
    /// Standard input.
    Input,
    /// Unix domain socket on this computer.
    Unix(PathBuf),
    /// TCP socket: host and port.
    Tcp(String),
}

impl FromStr for LogSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "-" {
            return Ok(Self::Input);
        }
        match text.split_once(':') {
            Some(("unix", path)) if cfg!(unix) => Ok(Self::Unix(path.into())),
            Some(("unix", _)) => Err("this system has no Unix sockets".to_owned()),
            Some(("tcp", address)) => match address.rsplit_once(':') {
                Some((_, port)) if port.parse::<u16>().is_ok_and(|port| port > 0) => {
                    Ok(Self::Tcp(address.to_owned()))
                }
                Some((_, port)) => Err(format!("{port:?} is not a port (1 to 65535)")),
                None => Err("the port is missing: write tcp:localhost:4242".to_owned()),
            },
            _ => Ok(Self::File(text.into())),
        }
    }
}

/// Event of a log source.
#[derive(Debug)]
pub(super) enum StreamEvent {
    /// A log begins from its start; `Some` with the reason if it is not the first.
    Began(Option<String>),
    /// Next bytes of the log.
    Bytes(Vec<u8>),
    /// No bytes for now, for this reason; the source is retried.
    Retrying(String),
    /// Message for the user; the log continues.
    Notice(String),
    /// End of the source; `Some` if an error is the cause.
    Ended(Option<io::Error>),
}

/// Error: the receiver was dropped.
struct ReceiverGone;

impl From<SendError<StreamEvent>> for ReceiverGone {
    fn from(_: SendError<StreamEvent>) -> Self {
        Self
    }
}

impl LogSource {
    /// Starts reading on a separate thread, until the source ends or the receiver is dropped.
    pub(super) fn read(self) -> Receiver<StreamEvent> {
        let (to, from) = sync_channel(CHANNEL_CHUNKS);
        thread::spawn(move || {
            let result = match &self {
                Self::File(path) => follow_file(path, &to),
                Self::Input => read_once(io::stdin().lock(), &to),
                Self::Unix(_) | Self::Tcp(_) => self.read_socket(&to),
            };
            // The receiver is gone, so there is nothing to report to.
            result.unwrap_or(());
        });
        from
    }

    /// Returns the name of the source for messages.
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Input => "-".into(),
            Self::Unix(path) => format!("unix:{}", path.display()).into(),
            Self::Tcp(address) => format!("tcp:{address}").into(),
        }
    }

    fn connect(&self) -> io::Result<Box<dyn Read>> {
        match self {
            Self::Tcp(address) => {
                let stream = std::net::TcpStream::connect(address.as_str())?;
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            Self::Unix(path) => Ok(Box::new(std::os::unix::net::UnixStream::connect(path)?)),
            _ => Err(ErrorKind::Unsupported.into()),
        }
    }

    fn read_socket(&self, to: &SyncSender<StreamEvent>) -> Result<(), ReceiverGone> {
        let mut pause = FIRST_PAUSE;
        let mut times = 0;
        loop {
            let why = match self.connect() {
                Ok(stream) => {
                    times += 1;
                    let again = (times > 1).then(|| "reconnected".to_owned());
                    to.send(StreamEvent::Began(again))?;
                    let (count, why) = match from_header(stream) {
                        Ok(log) => read_all(log, to)?,
                        Err(error) => (0, Some(error)),
                    };
                    if count > 0 {
                        pause = FIRST_PAUSE;
                    }
                    why.map_or_else(
                        || "the connection was closed".to_owned(),
                        |error| format!("the connection was lost: {}", system_words(&error)),
                    )
                }
                Err(error) => format!("no connection: {}", system_words(&error)),
            };
            to.send(StreamEvent::Retrying(format!(
                "{why}; retrying in {} ms",
                pause.as_millis()
            )))?;
            thread::sleep(pause);
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }
}

/// Skips everything before the header of a log. When a client connects, eventlog-socket makes the runtime begin a
/// new log, and first sends the rest of the previous one. Data without a header is passed through unchanged.
fn from_header(mut stream: impl Read) -> io::Result<impl Read> {
    /// Maximum size of the rest of the previous log: the runtime's buffer.
    const MAX_REST_BYTES: usize = 4 << 20;
    let mut received = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    while received.len() < MAX_REST_BYTES {
        let count = match stream.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        // The magic number may be split between reads.
        let searched = received.len().saturating_sub(MAGIC.len() - 1);
        received.extend_from_slice(&chunk[..count]);
        let mut words = received[searched..].windows(MAGIC.len());
        if let Some(at) = words.position(|word| word == MAGIC) {
            received.drain(..searched + at);
            break;
        }
        if count == 0 {
            break;
        }
    }
    Ok(Cursor::new(received).chain(stream))
}

/// Sends all bytes of a stream. Returns their number, and the error that ended the stream, if any.
fn read_all(
    mut from: impl Read,
    to: &SyncSender<StreamEvent>,
) -> Result<(u64, Option<io::Error>), ReceiverGone> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut len = 0;
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok((len, None)),
            Ok(count) => {
                len += count as u64;
                to.send(StreamEvent::Bytes(chunk[..count].to_vec()))?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Ok((len, Some(error))),
        }
    }
}

fn read_once(from: impl Read, to: &SyncSender<StreamEvent>) -> Result<(), ReceiverGone> {
    to.send(StreamEvent::Began(None))?;
    let (_, why) = read_all(from, to)?;
    Ok(to.send(StreamEvent::Ended(why))?)
}

/// Returns a key that distinguishes the file from a later one with the same name.
#[cfg(unix)]
fn identity(about: &Metadata) -> impl PartialEq + use<> {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

/// Returns a key that distinguishes the file from a later one with the same name.
#[cfg(not(unix))]
fn identity(about: &Metadata) -> impl PartialEq + use<> {
    about.created().ok()
}

/// Reads a file and everything added to it. Starts over if the file is truncated or replaced. Anything but a
/// regular file is read once.
fn follow_file(path: &PathBuf, to: &SyncSender<StreamEvent>) -> Result<(), ReceiverGone> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (about, mut file) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(to.send(StreamEvent::Ended(Some(error)))?),
    };
    if !about.is_file() {
        return read_once(file, to);
    }
    to.send(StreamEvent::Began(None))?;
    let mut read = 0;
    let mut own = identity(&about);
    let mut is_deleted = false;
    loop {
        let (count, why) = read_all(&mut file, to)?;
        if let Some(error) = why {
            return Ok(to.send(StreamEvent::Ended(Some(error)))?);
        }
        read += count;
        thread::sleep(POLL_INTERVAL);
        let now = match std::fs::metadata(path) {
            Ok(now) => now,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if !std::mem::replace(&mut is_deleted, true) {
                    let what = "the file was deleted; it is still read, and a new file of the same name will be followed";
                    to.send(StreamEvent::Notice(what.to_owned()))?;
                }
                continue;
            }
            Err(_) => continue,
        };
        is_deleted = false;
        let is_other = identity(&now) != own;
        if is_other || now.len() < read {
            // Read the data written before the file was replaced.
            if is_other {
                read_all(&mut file, to)?;
            }
            let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
            match opened {
                Ok((about, anew)) => (own, file) = (identity(&about), anew),
                // The new file may be deleted again already.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Ok(to.send(StreamEvent::Ended(Some(error)))?),
            }
            read = 0;
            let what = match is_other {
                true => "the file was replaced",
                false => "the file was truncated",
            };
            to.send(StreamEvent::Began(Some(what.to_owned())))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns a limited number of bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            let (chunk, rest) = self.0.split_at(count);
            into[..count].copy_from_slice(chunk);
            self.0 = rest;
            Ok(count)
        }
    }

    #[test]
    fn what_is_left_of_the_log_before_is_passed_over() {
        for (came, log) in [
            ("hdrb and more", "hdrb and more"),
            ("\0\x12 hdhdrhdrb and more hdrb", "hdrb and more hdrb"),
            ("no log", "no log"),
            ("", ""),
        ] {
            for size in 1..8 {
                let mut read = String::new();
                let from = from_header(Slowly(came.as_bytes(), size)).expect("bytes");
                { from }.read_to_string(&mut read).expect("text");
                assert_eq!(read, log, "{size} at a time");
            }
        }
    }

    #[test]
    fn places_are_told_by_what_stands_before_the_colon() {
        let place = |text: &str| text.parse::<LogSource>();
        assert_eq!(place("-"), Ok(LogSource::Input));
        assert_eq!(
            place("a.eventlog"),
            Ok(LogSource::File("a.eventlog".into()))
        );
        assert_eq!(
            place("tcp:[::1]:42"),
            Ok(LogSource::Tcp("[::1]:42".to_owned()))
        );
        for wrong in [
            "tcp:localhost",
            "tcp:localhost:",
            "tcp:localhost:99999",
            "tcp:localhost:0",
        ] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
        if cfg!(unix) {
            assert_eq!(
                place("unix:/tmp/a:b"),
                Ok(LogSource::Unix("/tmp/a:b".into()))
            );
        }
    }
}
