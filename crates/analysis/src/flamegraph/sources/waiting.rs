//! Source of what threads waited for. Has no profile: queries add up the timeline's lanes.

use super::super::source_info::SourceInfo;
use super::super::waiting::waiting_info;
use super::{FlameOrigin, FlameSource};
use crate::timeline::store::Store;
use model::profile::Profile;
use model::profile::source::Source;
use model::profile::stack_source::StackSource;

/// The source `waiting`.
#[derive(Debug)]
pub(super) struct Waiting;

/// Description of the source `waiting`.
pub(super) const SOURCE: FlameSource = FlameSource {
    name: "waiting",
    title: "Waiting threads",
    help: "Waiting threads, by what they were blocked on or queued for",
    how_to_record: "run the program with +RTS -l, which logs scheduler events",
    sample_noun: |_| "waits",
    count_label: "Waits",
    all_tracks_label: "All threads",
    ..FlameSource::DEFAULT
};

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
