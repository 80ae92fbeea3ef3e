//! Where a log comes from while it is written: a file, standard input, a socket. What comes is
//! read by a thread of its own; a socket that breaks off is connected to again.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use eventlog::header::MAGIC;
use eventlog::system_words;

/// How much is read at once.
const PIECE_BYTES: usize = 64 << 10;
/// How many pieces wait for whoever takes them.
const WAITING: usize = 64;
/// How often a file is looked at that has not grown.
const LOOK: Duration = Duration::from_millis(100);
/// After so long a socket is tried again for the first time, later after twice as long each
/// time, but never longer than the most.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const MOST_PAUSE: Duration = Duration::from_secs(8);

/// Where a log comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file that may grow.
    File(PathBuf),
    /// Standard input.
    Input,
    /// A socket of this computer.
    Unix(PathBuf),
    /// A socket somewhere: host and port.
    Tcp(String),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "-" {
            return Ok(Self::Input);
        }
        match text.split_once(':') {
            Some(("unix", path)) if cfg!(unix) => Ok(Self::Unix(path.into())),
            Some(("unix", _)) => Err("this system has no sockets with paths".to_owned()),
            Some(("tcp", address)) => match address.rsplit_once(':') {
                Some((_, port)) if port.parse::<u16>().is_ok_and(|port| port > 0) => {
                    Ok(Self::Tcp(address.to_owned()))
                }
                Some((_, port)) => Err(format!("{port:?} is no port: 1 to 65535")),
                None => Err("a port is missing, as in tcp:localhost:4242".to_owned()),
            },
            _ => Ok(Self::File(text.into())),
        }
    }
}

/// What is told of a log that comes.
#[derive(Debug)]
pub(super) enum Came {
    /// The log begins, from its start: for the first time or, if that is said, once more.
    Begins(Option<String>),
    /// Its next bytes.
    Bytes(Vec<u8>),
    /// Nothing comes for now, for this reason: it is tried again.
    Waits(String),
    /// Something to report; the log goes on.
    Notice(String),
    /// Nothing more will come; why, if not because that was all.
    Ends(Option<io::Error>),
}

/// Nobody wants to hear more.
struct Unheard;

impl From<SendError<Came>> for Unheard {
    fn from(_: SendError<Came>) -> Self {
        Self
    }
}

impl Place {
    /// Reads it from now on, until nobody takes what comes any more.
    pub(super) fn read(self) -> Receiver<Came> {
        let (to, from) = sync_channel(WAITING);
        thread::spawn(move || {
            let told = match &self {
                Self::File(path) => follow_file(path, &to),
                Self::Input => read_once(io::stdin().lock(), &to),
                Self::Unix(_) | Self::Tcp(_) => self.connect_again_and_again(&to),
            };
            // Who does not hear it has gone.
            told.unwrap_or(());
        });
        from
    }

    /// Its path, for messages.
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

    fn connect_again_and_again(&self, to: &SyncSender<Came>) -> Result<(), Unheard> {
        let mut pause = FIRST_PAUSE;
        let mut times = 0;
        loop {
            let why = match self.connect() {
                Ok(stream) => {
                    times += 1;
                    let again = (times > 1).then(|| "connected again".to_owned());
                    to.send(Came::Begins(again))?;
                    let (came, why) = match from_header(stream) {
                        Ok(log) => read_all(log, to)?,
                        Err(error) => (0, Some(error)),
                    };
                    if came > 0 {
                        pause = FIRST_PAUSE;
                    }
                    why.map_or_else(
                        || "the connection was closed".to_owned(),
                        |error| format!("the connection broke off: {}", system_words(&error)),
                    )
                }
                Err(error) => format!("no connection: {}", system_words(&error)),
            };
            to.send(Came::Waits(format!(
                "{why}; it is tried again after {} ms",
                pause.as_millis()
            )))?;
            thread::sleep(pause);
            pause = (pause * 2).min(MOST_PAUSE);
        }
    }
}

/// What comes from the header of a log on. When somebody connects, eventlog-socket has the runtime begin a new
/// log, and sends what was left of the one before in front of it. What has no header is handed on as it is.
fn from_header(mut stream: impl Read) -> io::Result<impl Read> {
    /// No more than this is left of a log: the runtime's buffer.
    const MOST_LEFT: usize = 4 << 20;
    let mut came = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    while came.len() < MOST_LEFT {
        let count = match stream.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        // The header's first word may come in parts.
        let looked = came.len().saturating_sub(MAGIC.len() - 1);
        came.extend_from_slice(&piece[..count]);
        let mut words = came[looked..].windows(MAGIC.len());
        if let Some(at) = words.position(|word| word == MAGIC) {
            came.drain(..looked + at);
            break;
        }
        if count == 0 {
            break;
        }
    }
    Ok(Cursor::new(came).chain(stream))
}

/// Tells all that comes. How much that was, and what it ended with.
fn read_all(
    mut from: impl Read,
    to: &SyncSender<Came>,
) -> Result<(u64, Option<io::Error>), Unheard> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut len = 0;
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok((len, None)),
            Ok(count) => {
                len += count as u64;
                to.send(Came::Bytes(piece[..count].to_vec()))?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Ok((len, Some(error))),
        }
    }
}

fn read_once(from: impl Read, to: &SyncSender<Came>) -> Result<(), Unheard> {
    to.send(Came::Begins(None))?;
    let (_, why) = read_all(from, to)?;
    Ok(to.send(Came::Ends(why))?)
}

/// What tells a file from another one that has its name later.
#[cfg(unix)]
fn identity(about: &Metadata) -> impl PartialEq + use<> {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

/// What tells a file from another one that has its name later.
#[cfg(not(unix))]
fn identity(about: &Metadata) -> impl PartialEq + use<> {
    about.created().ok()
}

/// Reads a file, and what is added to it; from its start if it has become shorter or another file has its name. What
/// is no regular file is read once.
fn follow_file(path: &PathBuf, to: &SyncSender<Came>) -> Result<(), Unheard> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (about, mut file) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(to.send(Came::Ends(Some(error)))?),
    };
    if !about.is_file() {
        return read_once(file, to);
    }
    to.send(Came::Begins(None))?;
    let mut read = 0;
    let mut own = identity(&about);
    let mut is_deleted = false;
    loop {
        let (came, why) = read_all(&mut file, to)?;
        if let Some(error) = why {
            return Ok(to.send(Came::Ends(Some(error)))?);
        }
        read += came;
        thread::sleep(LOOK);
        let now = match std::fs::metadata(path) {
            Ok(now) => now,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if !std::mem::replace(&mut is_deleted, true) {
                    let what = "the file was deleted; what is still written to it is read, and a new file of that name is followed once there is one";
                    to.send(Came::Notice(what.to_owned()))?;
                }
                continue;
            }
            Err(_) => continue,
        };
        is_deleted = false;
        let is_other = identity(&now) != own;
        if is_other || now.len() < read {
            // What was written to the file before it was replaced.
            if is_other {
                read_all(&mut file, to)?;
            }
            let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
            match opened {
                Ok((about, anew)) => (own, file) = (identity(&about), anew),
                // It may be gone again.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Ok(to.send(Came::Ends(Some(error)))?),
            }
            read = 0;
            let what = match is_other {
                true => "the file was replaced by another",
                false => "the file was begun anew",
            };
            to.send(Came::Begins(Some(what.to_owned())))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that come so many at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            let (piece, rest) = self.0.split_at(count);
            into[..count].copy_from_slice(piece);
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
        let place = |text: &str| text.parse::<Place>();
        assert_eq!(place("-"), Ok(Place::Input));
        assert_eq!(place("a.eventlog"), Ok(Place::File("a.eventlog".into())));
        assert_eq!(place("tcp:[::1]:42"), Ok(Place::Tcp("[::1]:42".to_owned())));
        for wrong in [
            "tcp:localhost",
            "tcp:localhost:",
            "tcp:localhost:99999",
            "tcp:localhost:0",
        ] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
        if cfg!(unix) {
            assert_eq!(place("unix:/tmp/a:b"), Ok(Place::Unix("/tmp/a:b".into())));
        }
    }
}
