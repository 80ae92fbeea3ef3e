//! Names for the addresses of logs, from a file of symbols that the page gave.

use web_sys::File;

use super::blob_file::BlobFile;
use super::{Shared, State, post};
use crate::protocol::FromWorker;
use symbols::{Symbols, SymbolsError};
use views::session::Session;

/// Takes a file of symbols: for the log that is open, and for later ones.
pub(super) fn take(shared: &Shared, file: Option<File>) {
    let Some(file) = file else { return };
    let mut state = shared.borrow_mut();
    let message = match name(&file, state.session.as_mut()) {
        Ok(message) => {
            state.symbols = Some(file);
            message
        }
        Err(error) => failed(&error),
    };
    post(&message);
    // The names of functions are part of what the timeline is told.
    let session = state.session.as_ref();
    if let Some(session) = session.filter(|session| session.is_complete()) {
        let contents = Box::new(session.contents());
        post(&FromWorker::Contents(contents, session.flame_sources()));
    }
}

/// Names the addresses of a log that was just read. The answer, if there is a
/// file of symbols.
pub(super) fn after_loading(state: &mut State) -> Option<FromWorker> {
    let file = state.symbols.as_ref()?;
    let named = name(file, state.session.as_mut());
    Some(named.unwrap_or_else(|error| failed(&error)))
}

/// Reads the file, and names the addresses of the log if it is read to its end.
fn name(file: &File, session: Option<&mut Session>) -> Result<FromWorker, SymbolsError> {
    let file = BlobFile::new(file).map_err(|error| SymbolsError::Read {
        at: 0,
        why: error.to_string(),
    })?;
    let mut symbols = Symbols::read(file)?;
    let Some(session) = session.filter(|session| session.is_complete()) else {
        return Ok(FromWorker::Symbols {
            named: 0,
            addresses: 0,
            text: format!(
                "The {} is kept for the next logs that are opened.",
                symbols.kind()
            ),
            failed: false,
        });
    };
    let names = session.set_symbols(&mut symbols)?;
    Ok(FromWorker::Symbols {
        named: names.named,
        addresses: names.addresses,
        text: names.text,
        failed: names.failed,
    })
}

fn failed(error: &SymbolsError) -> FromWorker {
    FromWorker::Symbols {
        named: 0,
        addresses: 0,
        text: error.to_string(),
        failed: true,
    }
}
