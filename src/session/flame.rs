//! Flame graphs of an open log.

use std::io::{self, Write};

use super::{Recording, Session};
use crate::automata::Span;
use crate::flamegraph::export::{self, About};
use crate::flamegraph::query::{ExportFormat, FlameBoxes, FlameHead, FlameQuery, FlameRow, answer};
use crate::flamegraph::{
    Choice, Origin, ProgramSpans, Source, SourceInfo, TrackInfo, TrackSource, WindowTotals,
    span_totals,
};

impl Recording {
    /// The spans that the program announced.
    fn program_spans(&self) -> ProgramSpans {
        let prefixes = self.tracks.prefixes();
        let mut spans = ProgramSpans::of_messages(&self.messages, prefixes, self.end());
        spans.add(self.profiles.telemetry());
        spans
    }

    /// Makes the profile of spans once the log is read, and again when other
    /// words announce them.
    pub(super) fn settle_spans(&mut self) {
        let collections = self.tracks.collections.times();
        let spans = self.program_spans();
        let (profile, left_out) = spans.profile(&collections, &self.store, self.end());
        self.profiles.set(Source::Spans, profile);
        self.spans_left_out = left_out;
    }
}

impl Session {
    /// What flame graphs can be about.
    #[must_use]
    pub fn flame_sources(&self) -> Vec<SourceInfo> {
        let mut infos = self.recording.profiles.infos();
        let tracks = infos.iter_mut().flat_map(|info| &mut info.tracks);
        tracks.for_each(|track| self.label_track(track));
        infos
    }

    fn label_track(&self, track: &mut TrackInfo) {
        let thread = match track.source {
            TrackSource::Thread(thread) => Some(thread),
            TrackSource::Spans { thread, .. } => thread,
            _ => None,
        };
        let label = thread.and_then(|thread| self.recording.store.label_of(thread));
        track.label = label.map(str::to_owned);
    }

    /// How long the spans of each name lasted without collections, as
    /// `ghc-events-analyze` has it: of the whole log, or of each span of the
    /// name `window`. Nothing before the log is read to its end.
    #[must_use]
    pub fn span_totals(&self, window: Option<&str>) -> Vec<WindowTotals> {
        let Some((first, last)) = self.recording.info.first_and_last() else {
            return Vec::new();
        };
        if !self.complete {
            return Vec::new();
        }
        let collections = self.recording.tracks.collections.times();
        let spans = self.recording.program_spans();
        span_totals(&spans, &collections, Span::new(first, last), window)
    }

    /// What a flame graph shows; `None` if the log has nothing of that source.
    #[must_use]
    pub fn flame(&self, query: &FlameQuery) -> Option<(FlameHead, FlameBoxes)> {
        Some(answer(self.origin(query.choice.source)?, query))
    }

    /// The time that a source is about: a sample lasts for the tick before it,
    /// which may begin before the first event.
    #[must_use]
    pub fn flame_span(&self, source: Source) -> Option<Span> {
        let (profile, _) = self.origin(source)?.in_time(&Choice::default());
        Some(profile.span)
    }

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

    /// How much each frame weighs, the greatest own weight first, and of how
    /// many heap samples the weights are sums. `None` if the log has nothing
    /// of that source.
    #[must_use]
    pub fn flame_totals(&self, query: &FlameQuery) -> Option<(Vec<FlameRow>, u32)> {
        Some(export::totals(self.origin(query.choice.source)?, query))
    }

    fn origin(&self, source: Source) -> Option<&dyn Origin> {
        let profile = self.recording.profiles.get(source)?;
        Some(profile)
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
