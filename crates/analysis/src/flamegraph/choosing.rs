//! Which tracks a name in a link, a menu or on the command line stands for.

use crate::flamegraph::source_info::{SourceInfo, TrackInfo};
use crate::timeline::scope::Scope;
use eventlog::hash::SeededMap;
use model::profile::TrackSource;

/// All that belongs to one picture.
pub const ALL: &str = "all";
/// All capabilities.
pub const CAPS: &str = "caps";
/// The foreign calls of all OS threads.
pub const THREADS: &str = "threads";

/// A track with its label, if it has one.
fn titled(source: TrackSource, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{source} · {label}"),
        None => source.to_string(),
    }
}

impl SourceInfo {
    /// How many tracks are foreign calls of an OS thread.
    #[must_use]
    pub fn os_threads(&self) -> usize {
        self.tracks
            .iter()
            .filter(|track| is_os_thread(track))
            .count()
    }

    /// How many tracks are a capability's.
    #[must_use]
    pub fn caps(&self) -> usize {
        self.tracks.iter().filter(|track| is_cap(track)).count()
    }

    /// What a track is called: with its label, if it has one.
    #[must_use]
    pub fn title(&self, source: TrackSource) -> String {
        let track = self.tracks.iter().find(|track| track.source == source);
        titled(source, track.and_then(|track| track.label.as_deref()))
    }

    /// What many tracks are called, in their order.
    #[must_use]
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

    /// The tracks of that name: none for all that belong to one picture.
    /// `all` is limited to those that `scope` is about, if there are any.
    #[must_use]
    pub fn tracks_named(&self, name: &str, scope: &Scope) -> Vec<TrackSource> {
        let those = |wanted: &dyn Fn(&TrackInfo) -> bool| {
            let tracks = self.tracks.iter().filter(|track| wanted(track));
            tracks.map(|track| track.source).collect()
        };
        match name {
            ALL => {
                // A sample is both a capability's and a thread's.
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
            name => TrackSource::named(name).into_iter().collect(),
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

/// Whether the selected tracks of the timeline are about this one.
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
