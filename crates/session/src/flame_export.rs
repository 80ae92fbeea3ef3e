//! Flame graphs of an open log, as files.

use std::io::{self, Write};

use super::Session;
use super::queries::FileBytes;
use super::query::Host;
use crate::flame::export::{Export, IncompleteStacks, LogInfo};
use crate::flame::query::{ExportFormat, FlameQuery};
use model::profile::stack_source::StackSource;

/// Stacks written between two yields: this takes far less than a frame, however deep the stacks are.
const SLICE: usize = 256;

/// What a written file has of the stacks that a query selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenStacks {
    /// Whether the query selects none.
    pub is_empty: bool,
    /// Stacks that the file has only in part.
    pub incomplete: IncompleteStacks,
}

impl Session {
    /// Exports a flame graph for another program; `None` if the log has no data for the source, or if memory runs
    /// out. Yields while writing.
    pub(super) async fn flame_file(
        &self,
        query: &FlameQuery,
        format: ExportFormat,
        host: &dyn Host,
    ) -> Option<FileBytes> {
        let stack_source = self.own_stack_source(&query.choice, host).await?;
        let mut export = self.export(stack_source, query, format);
        let mut file = InMemory(Vec::new());
        while export
            .advance(stack_source, &mut file, SLICE)
            .ok()?
            .is_pending()
        {
            host.yield_if_due().await;
        }
        Some(FileBytes {
            bytes: file.0,
            left_out: export.incomplete(),
        })
    }

    /// Writes a flame graph for another program to `out`, and returns what it has; `None` if the log has no data for
    /// the source.
    pub fn write_flame(
        &self,
        query: &FlameQuery,
        format: ExportFormat,
        out: &mut impl Write,
    ) -> Option<io::Result<WrittenStacks>> {
        let stack_source = self.stack_source(query.choice.source)?;
        let mut export = self.export(stack_source, query, format);
        let mut write = || {
            while export.advance(stack_source, out, SLICE)?.is_pending() {}
            Ok(WrittenStacks {
                is_empty: export.is_empty(),
                incomplete: export.incomplete(),
            })
        };
        Some(write())
    }

    fn export(
        &self,
        stack_source: &dyn StackSource,
        query: &FlameQuery,
        format: ExportFormat,
    ) -> Export {
        let info = &self.recording.info;
        let about = LogInfo {
            program: info.program().unwrap_or_default().to_owned(),
            clock_origin_ns: info.clock_origin_ns.and_then(|ns| i64::try_from(ns).ok()),
        };
        Export::new(&self.flame_steps, stack_source, query, format, &about)
    }
}

/// Writer to memory that fails instead of aborting when memory runs out.
#[derive(Debug)]
struct InMemory(Vec<u8>);

impl Write for InMemory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.0.try_reserve(bytes.len());
        room.map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
