//! Flame graphs of an open log.

use super::Session;
use analysis::flamegraph::profiles::{SourceInfo, TrackInfo};
use analysis::flamegraph::spans::totals::{WindowTotals, span_totals};
use analysis::flamegraph::waiting::waiting_info;
use model::profile::TrackSource;
use model::profile::origin::{Choice, Origin};
use model::profile::source::Source;
use model::time::Span;

impl Session {
    /// What flame graphs can be about.
    #[must_use]
    pub fn flame_sources(&self) -> Vec<SourceInfo> {
        let mut infos = self.recording.profiles.infos();
        let tracks = infos.iter_mut().flat_map(|info| &mut info.tracks);
        tracks.for_each(|track| self.label_track(track));
        infos.extend(waiting_info(&self.recording.store));
        infos.sort_by_key(|info| info.source);
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

    /// Of how many heap samples the weights of a choice are sums; 0 for other
    /// sources.
    pub(super) fn heap_samples(&self, choice: &Choice) -> u32 {
        let profile = self.recording.profiles.get(choice.source);
        profile.map_or(0, |profile| {
            let range = choice.range.unwrap_or(profile.span);
            let heap = profile.heap.as_ref();
            heap.map_or(0, |heap| heap.samples_in(range))
        })
    }

    /// The time of a source's samples: one lasts for the tick before it, which
    /// may begin before the first event. `None` for what has no samples.
    #[must_use]
    pub fn flame_span(&self, source: Source) -> Option<Span> {
        let profile = self.recording.profiles.get(source)?;
        Some(profile.span)
    }

    /// What flame graphs of a source are made from; `None` if the log has
    /// nothing of it.
    #[must_use]
    pub fn origin(&self, source: Source) -> Option<&dyn Origin> {
        if source == Source::Waiting {
            let store = &self.recording.store;
            let waited = !store.wait_groups().members.is_empty();
            return waited.then_some(store);
        }
        let profile = self.recording.profiles.get(source)?;
        Some(profile)
    }
}
