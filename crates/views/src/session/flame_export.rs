//! Flame graphs of an open log, as files.

use std::io::{self, Write};

use super::Session;
use crate::flame::export::{self, About};
use crate::flame::query::{ExportFormat, FlameQuery};

impl Session {
    /// What a flame graph shows as a file for another program; `None` if the
    /// log has nothing of that source, or if memory does not suffice.
    #[must_use]
    pub fn flame_export(&self, query: &FlameQuery, format: ExportFormat) -> Option<Vec<u8>> {
        let mut file = InMemory(Vec::new());
        self.write_flame(query, format, &mut file)?.ok()?;
        Some(file.0)
    }

    /// The same, written piece by piece. `None` if the log has nothing of
    /// that source.
    pub fn write_flame(
        &self,
        query: &FlameQuery,
        format: ExportFormat,
        out: &mut impl Write,
    ) -> Option<io::Result<()>> {
        let info = &self.recording.info;
        let about = About {
            program: info.program().unwrap_or_default().to_owned(),
            clock_origin_ns: info.clock_origin_ns.and_then(|ns| i64::try_from(ns).ok()),
        };
        let origin = self.origin(query.choice.source)?;
        Some(export::write(origin, query, format, &about, out))
    }
}

/// A file in memory. Where that does not suffice, writing fails; the program
/// goes on.
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
