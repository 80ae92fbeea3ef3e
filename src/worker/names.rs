//! Names addresses in logs by a file of symbols from the page.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;

use super::blob_file::BlobFile;
use super::{Shared, change, open_logs, post, report_contents};
use protocol::{FromWorker, LogId};
use symbols::{Symbols, SymbolsError};

/// Sets the file of symbols, for open and future logs.
pub(super) fn set_symbols_file(shared: &Shared, file: File) {
    let symbols = match read(&file) {
        Ok(symbols) => symbols,
        Err(error) => return post(&FromWorker::Symbols(error.to_string())),
    };
    shared.borrow_mut().symbols = Some(file.clone());
    let shared = Rc::clone(shared);
    spawn_local(async move {
        let mut told = false;
        for log in open_logs(&shared) {
            if let Some(text) = name(&shared, log, &file).await {
                post(&FromWorker::Symbols(text));
                // Names of functions are part of what the timeline is told.
                if let Some(open) = shared.borrow().logs.get(&log) {
                    report_contents(log, &open.session);
                }
                told = true;
            }
        }
        if !told {
            let kind = symbols.kind();
            let text = format!("The {kind} will be used for logs opened later.");
            post(&FromWorker::Symbols(text));
        }
    });
}

/// Names the addresses of a log that was just loaded. Returns a message, if there is a file of symbols.
pub(super) async fn after_loading(shared: &Shared, log: LogId) -> Option<FromWorker> {
    let file = shared.borrow().symbols.clone()?;
    let text = name(shared, log, &file).await?;
    Some(FromWorker::Symbols(text))
}

/// Names the addresses of a log if it is fully read, and describes the result.
async fn name(shared: &Shared, log: LogId, file: &File) -> Option<String> {
    let named = change(shared, log, |session| {
        session
            .is_complete()
            .then(|| session.set_symbols(&mut read(file)?))
    });
    let named = named.await??;
    Some(named.map_or_else(|error| error.to_string(), |names| names.text))
}

fn read(file: &File) -> Result<Symbols<BlobFile>, SymbolsError> {
    let file = BlobFile::new(file).map_err(|error| SymbolsError::Read {
        at: 0,
        why: error.to_string(),
    })?;
    Symbols::read(file)
}
