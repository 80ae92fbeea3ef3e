//! Resolves track names of links, menus and the command line.

use crate::flamegraph::source_info::{SourceInfo, TrackInfo};
use crate::timeline::scope::Scope;
use eventlog::hash::SeededMap;
use model::profile::TrackSource;

/// Name of the default: all tracks combined in one graph.
pub const ALL: &str = "all";
/// Name of the tracks of all capabilities.
pub const CAPS: &str = "caps";
/// Name of the foreign call tracks of all OS threads.
pub const THREADS: &str = "threads";

/// Formats a track with its label, if any.
fn titled(source: TrackSource, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{source} · {label}"),
        None => source.to_string(),
    }
}

impl SourceInfo {
    /// Returns the number of foreign call tracks, those of unknown OS threads included.
    pub fn os_threads(&self) -> usize {
        self.tracks
            .iter()
            .filter(|track| is_os_thread(track))
            .count()
    }

    /// Returns the number of capability tracks.
    pub fn caps(&self) -> usize {
        self.tracks.iter().filter(|track| is_cap(track)).count()
    }

    /// Returns the display name of a track, with its label, if any.
    pub fn title(&self, source: TrackSource) -> String {
        let track = self.tracks.iter().find(|track| track.source == source);
        titled(source, track.and_then(|track| track.label.as_deref()))
    }

    /// Returns the display names of several tracks, in order; resolves all labels in one pass.
    pub fn titles(&self, sources: impl IntoIterator<Item = TrackSource>) -> Vec<String> {
        let labels: SeededMap<TrackSource, &str> = self
            .tracks
            .iter()
            .filter_map(|track| Some((track.source, track.label.as_deref()?)))
            .collect();
        let sources = sources.into_iter();
        sources
            .map(|source| titled(source, labels.get(&source).copied()))
            .collect()
    }

    /// Returns the tracks with this name.
    ///
    /// An empty list stands for all tracks combined in one graph, or an unknown name.
    ///
    /// `all` is narrowed to the tracks in `scope`, if it has any.
    pub fn tracks_named(&self, name: &str, scope: &Scope) -> Vec<TrackSource> {
        let those = |wanted: &dyn Fn(&TrackInfo) -> bool| {
            let tracks = self.tracks.iter().filter(|track| wanted(track));
            tracks.map(|track| track.source).collect()
        };
        match name {
            ALL => {
                // A sample is on the track of its capability and of its thread; count it once.
                let of_caps: Vec<TrackSource> =
                    those(&|track| is_cap(track) && is_in(track, scope));
                if of_caps.is_empty() {
                    those(&|track| is_in(track, scope))
                } else {
                    of_caps
                }
            }
            CAPS => those(&is_cap),
            THREADS => those(&is_os_thread),
            name => TrackSource::from_name(name).into_iter().collect(),
        }
    }
}

fn is_cap(track: &TrackInfo) -> bool {
    matches!(track.source, TrackSource::Capability(_))
}

fn is_os_thread(track: &TrackInfo) -> bool {
    matches!(
        track.source,
        TrackSource::OsThread(_) | TrackSource::UnknownThread { .. }
    )
}

/// Returns whether the track belongs to a selected track of the timeline.
fn is_in(track: &TrackInfo, scope: &Scope) -> bool {
    match track.source {
        TrackSource::Capability(cap) => !scope.caps.is_empty() && scope.has_cap(cap),
        TrackSource::Thread(thread)
        | TrackSource::Spans {
            thread: Some(thread),
            ..
        } => scope.threads.contains(&thread),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flamegraph::sources;
    use eventlog::ids::{CapId, OsThreadId, ThreadId};

    #[test]
    fn names_stand_for_tracks() {
        let (cap, os) = (TrackSource::Capability, TrackSource::OsThread);
        let unknown = TrackSource::UnknownThread { lane: 0 };
        let info = |sources: &[TrackSource]| SourceInfo {
            source: sources::COST_CENTRES,
            tracks: sources
                .iter()
                .map(|&source| TrackInfo {
                    source,
                    label: None,
                    samples: 1,
                })
                .collect(),
        };
        let info = info(&[cap(CapId(0)), cap(CapId(1)), os(OsThreadId(7)), unknown]);
        let named = |name, scope: &Scope| info.tracks_named(name, scope);
        let everything = Scope::default();
        assert_eq!(named("all", &everything), []);
        assert_eq!(named("caps", &everything), [cap(CapId(0)), cap(CapId(1))]);
        assert_eq!(named("threads", &everything), [os(OsThreadId(7)), unknown]);
        assert_eq!(named("cap1", &everything), [cap(CapId(1))]);
        assert_eq!(named("nonsense", &everything), []);
        let scope = Scope {
            caps: [CapId(1)].into_iter().collect(),
            ..Scope::default()
        };
        assert_eq!(named("all", &scope), [cap(CapId(1))]);
        assert_eq!(named("caps", &scope).len(), 2);
        let scope = Scope {
            threads: [ThreadId(1)].into_iter().collect(),
            ..Scope::default()
        };
        assert_eq!(named("all", &scope), []);
        assert_eq!((info.caps(), info.os_threads()), (2, 2));
    }
}
