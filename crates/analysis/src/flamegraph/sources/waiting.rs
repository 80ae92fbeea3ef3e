//! Source of what threads waited for. Has no profile: queries add up the timeline's lanes.

use super::super::source_info::SourceInfo;
use super::super::waiting::waiting_info;
use super::{FlameOrigin, FlameSource};
use crate::timeline::store::Store;
use model::profile::origin::Origin;
use model::profile::source::Source;
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
        "What threads were blocked on or queued for while they did not run"
    }

    fn how(&self) -> &'static str {
        "run the program with +RTS -l, which logs scheduler events"
    }

    fn counted(&self, _: TrackSource) -> &'static str {
        "waits"
    }

    fn counts(&self) -> &'static str {
        "Waits"
    }

    fn everything(&self) -> &'static str {
        "All threads"
    }
}

impl FlameOrigin for Waiting {
    fn origin<'a>(
        &self,
        _: Option<&'a Profile>,
        store: &'a Store,
    ) -> Option<&'a (dyn Origin + 'a)> {
        let waited = !store.wait_groups().names.is_empty();
        waited.then_some(store)
    }

    fn info(&self, id: Source, _: Option<&Profile>, store: &Store) -> Option<SourceInfo> {
        waiting_info(id, store)
    }
}
