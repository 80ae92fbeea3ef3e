//! Logs that are opened in the page while being written. A file is served directly; data from a pipe or a socket
//! is copied to a temporary file as it arrives.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;

use super::stream::{LogSource, StreamEvent};
use super::tail::IDLE_TIMEOUT;
use super::view_files::{ServedFile, temporary_file};
use super::{Failure, print_message};
use eventlog::live::LiveReader;
use eventlog::{Record, system_words};

/// Waits for the first event of a log, because there is nothing to show before, and returns the served file.
pub(super) fn serve_followed(place: &LogSource) -> Result<ServedFile, Failure> {
    let from = place.clone().read();
    print_message(format_args!(
        "waiting for the first events of {}",
        place.path().display()
    ));
    if let LogSource::File(path) = place
        && path.is_file()
    {
        wait_for_first_event(&from, &mut None, place)?;
        return ServedFile::open(path);
    }
    let failed = |error| Failure::File(place.path(), error);
    let temporary = temporary_file().map_err(failed)?;
    let mut into = Some(Latest {
        file: temporary.reopen().map_err(failed)?,
        begins: false,
    });
    wait_for_first_event(&from, &mut into, place)?;
    let name = name(place);
    thread::spawn(move || {
        for event in from {
            if let Err(error) = apply_event(&event, &mut into) {
                return print_message(format_args!("stopped reading: {}", system_words(&error)));
            }
        }
    });
    Ok(ServedFile::from_temporary(&name, temporary))
}

/// Returns the display name of a source.
fn name(place: &LogSource) -> String {
    match place {
        LogSource::File(path) | LogSource::Unix(path) => {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        }
        LogSource::Input => "standard input".to_owned(),
        LogSource::Tcp(address) => address.clone(),
    }
}

/// Temporary file with the latest log from a pipe or a socket.
struct Latest {
    file: File,
    /// Whether the next bytes begin another log. The previous log is kept until then, because the page may not
    /// have read its end.
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

/// Handles one event of the source, writing received bytes to the temporary file.
fn apply_event(event: &StreamEvent, into: &mut Option<Latest>) -> io::Result<()> {
    match (event, into) {
        (StreamEvent::Began(again), into) => {
            if let Some(again) = again {
                print_message(format_args!("{again}: a new log begins"));
            }
            if let Some(latest) = into {
                latest.begins = true;
            }
        }
        (StreamEvent::Bytes(bytes), Some(latest)) => latest.write(bytes)?,
        (StreamEvent::Retrying(why) | StreamEvent::Notice(why), _) => print_message(why),
        (StreamEvent::Bytes(_), None) | (StreamEvent::Ended(_), _) => {}
    }
    Ok(())
}

/// Handles events of the source until the log has an event.
fn wait_for_first_event(
    from: &Receiver<StreamEvent>,
    into: &mut Option<Latest>,
    place: &LogSource,
) -> Result<(), Failure> {
    let failed = |error| Failure::File(place.path(), error);
    let mut nothing = |_: &Record<'_>| {};
    let mut reader = LiveReader::new();
    loop {
        let event = match from.recv_timeout(IDLE_TIMEOUT) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => {
                reader.pause()?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        apply_event(&event, into).map_err(failed)?;
        match event {
            StreamEvent::Began(_) => reader = LiveReader::new(),
            StreamEvent::Bytes(bytes) => reader.feed(&bytes, &mut nothing)?,
            StreamEvent::Retrying(_) | StreamEvent::Notice(_) => {}
            StreamEvent::Ended(Some(error)) => return Err(failed(error)),
            StreamEvent::Ended(None) => {
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
            "{}: the log ended without events",
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
        let temporary = tempfile::tempfile().expect("a file");
        let text = || {
            let (mut file, mut text) = (temporary.try_clone().expect("the file"), String::new());
            file.seek(SeekFrom::Start(0)).expect("its start");
            file.read_to_string(&mut text).expect("what it holds");
            text
        };
        let mut into = Some(Latest {
            file: temporary.try_clone().expect("the file"),
            begins: false,
        });
        let mut apply_event = |event| apply_event(&event, &mut into).expect("it is written");
        apply_event(StreamEvent::Began(None));
        apply_event(StreamEvent::Bytes(b"first".to_vec()));
        apply_event(StreamEvent::Began(None));
        assert_eq!(text(), "first");
        apply_event(StreamEvent::Bytes(b"next".to_vec()));
        assert_eq!(text(), "next");
    }
}
