//! Source of what threads waited for. Has no profile: queries add up the timeline's lanes.

use super::super::source_info::SourceInfo;
use super::super::waiting::waiting_info;
use super::{FlameOrigin, FlameSource};
use crate::timeline::store::Store;
use model::profile::source::Source;
use model::profile::stack_source::StackSource;
use model::profile::{Profile, TrackSource};

/// The source `waiting`.
#[derive(Debug)]
pub(super) struct Waiting;

impl FlameSource for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }

    fn title(&self) -> &'static str {
        "Waiting threads"
    }

    fn help(&self) -> &'static str {
        "Waiting threads, by what they were blocked on or queued for"
    }

    fn how_to_record(&self) -> &'static str {
        "run the program with +RTS -l, which logs scheduler events"
    }

    fn sample_noun(&self, _: TrackSource) -> &'static str {
        "waits"
    }

    fn count_label(&self) -> &'static str {
        "Waits"
    }

    fn all_tracks_label(&self) -> &'static str {
        "All threads"
    }
}

impl FlameOrigin for Waiting {
    fn origin<'a>(
        &self,
        _: Option<&'a Profile>,
        store: &'a Store,
    ) -> Option<&'a (dyn StackSource + 'a)> {
        let waited = !store.wait_groups().names.is_empty();
        waited.then_some(store)
    }

    fn info(&self, id: Source, _: Option<&Profile>, store: &Store) -> Option<SourceInfo> {
        waiting_info(id, store)
    }
}
