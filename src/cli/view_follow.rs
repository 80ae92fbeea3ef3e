//! A log that is opened in the page while it is written. A file is served as it is; what comes
//! through a pipe or a socket is put into a temporary file, as it comes.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;

use super::stream::{Came, Place};
use super::tail::QUIET;
use super::view_files::{Served, temporary_file};
use super::{Failure, say};
use eventlog::live::LiveReader;
use eventlog::{Record, system_words};

/// A log that is being written, once it has an event: before there is nothing to show.
pub(super) fn served(place: &Place) -> Result<Served, Failure> {
    let from = place.clone().read();
    say(format_args!(
        "waiting for the first events of {}",
        place.path().display()
    ));
    if let Place::File(path) = place
        && path.is_file()
    {
        wait(&from, &mut None, place)?;
        return Served::open(path);
    }
    let failed = |error| Failure::File(place.path(), error);
    let kept = temporary_file().map_err(failed)?;
    let mut into = Some(Latest {
        file: kept.reopen().map_err(failed)?,
        begins: false,
    });
    wait(&from, &mut into, place)?;
    let name = name(place);
    thread::spawn(move || {
        for came in from {
            if let Err(error) = take(&came, &mut into) {
                return say(format_args!("no more is read: {}", system_words(&error)));
            }
        }
    });
    Ok(Served::kept(&name, kept))
}

/// What a log is called that comes from there.
fn name(place: &Place) -> String {
    match place {
        Place::File(path) | Place::Unix(path) => {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        }
        Place::Input => "standard input".to_owned(),
        Place::Tcp(address) => address.clone(),
    }
}

/// The file that holds the latest log of a pipe or a socket.
struct Latest {
    file: File,
    /// Whether the next bytes begin another log. Until they come, the one before stays: the page
    /// may not have read its end.
    begins: bool,
}

impl Latest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if std::mem::take(&mut self.begins) {
            self.file.set_len(0)?;
            self.file.seek(SeekFrom::Start(0))?;
        }
        self.file.write_all(bytes)
    }
}

/// Puts what came into a file.
fn take(came: &Came, into: &mut Option<Latest>) -> io::Result<()> {
    match (came, into) {
        (Came::Begins(again), into) => {
            if let Some(again) = again {
                say(format_args!("{again}: a log begins"));
            }
            if let Some(latest) = into {
                latest.begins = true;
            }
        }
        (Came::Bytes(bytes), Some(latest)) => latest.write(bytes)?,
        (Came::Waits(why) | Came::Notice(why), _) => say(why),
        (Came::Bytes(_), None) | (Came::Ends(_), _) => {}
    }
    Ok(())
}

/// Takes what comes until there is an event.
fn wait(from: &Receiver<Came>, into: &mut Option<Latest>, place: &Place) -> Result<(), Failure> {
    let failed = |error| Failure::File(place.path(), error);
    let mut nothing = |_: &Record<'_>| {};
    let mut reader = LiveReader::new();
    loop {
        let came = match from.recv_timeout(QUIET) {
            Ok(came) => came,
            Err(RecvTimeoutError::Timeout) => {
                reader.pause()?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        take(&came, into).map_err(failed)?;
        match came {
            Came::Begins(_) => reader = LiveReader::new(),
            Came::Bytes(bytes) => reader.feed(&bytes, &mut nothing)?,
            Came::Waits(_) | Came::Notice(_) => {}
            Came::Ends(Some(error)) => return Err(failed(error)),
            Came::Ends(None) => {
                reader.finish(&mut nothing)?;
                break;
            }
        }
        if reader.events() > 0 {
            return Ok(());
        }
    }
    match reader.events() {
        0 => Err(Failure::Absent(format!(
            "{}: it ended without an event",
            place.path().display()
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_log_stays_until_bytes_of_the_next_one_come() {
        let kept = tempfile::tempfile().expect("a file");
        let text = || {
            let (mut file, mut text) = (kept.try_clone().expect("the file"), String::new());
            file.seek(SeekFrom::Start(0)).expect("its start");
            file.read_to_string(&mut text).expect("what it holds");
            text
        };
        let mut into = Some(Latest {
            file: kept.try_clone().expect("the file"),
            begins: false,
        });
        let mut take = |came| take(&came, &mut into).expect("it is written");
        take(Came::Begins(None));
        take(Came::Bytes(b"first".to_vec()));
        take(Came::Begins(None));
        assert_eq!(text(), "first");
        take(Came::Bytes(b"next".to_vec()));
        assert_eq!(text(), "next");
    }
}
