//! Cost centre declarations of a log, shared by all profiles whose samples refer to them.

use std::collections::BTreeMap;

use eventlog::hash::SeededMap;
use eventlog::ids::CostCentreId;
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::stacks::{StackId, Stacks};

/// Declared cost centres by number.
///
/// A declaration may follow the samples that refer to it, so lookups happen once the log has been read. The first
/// declaration of a number wins.
#[derive(Clone, Debug, Default)]
pub struct CostCentres(BTreeMap<CostCentreId, Frame>);

impl Sink for CostCentres {
    const CONSUMES: EventSet = EventSet::from_types(&[EventType::HEAP_PROF_COST_CENTRE]);

    fn event(&mut self, record: &Record<'_>) {
        self.declare(&record.event());
    }
}

impl CostCentres {
    /// Records a declaration (`HeapProfCostCentre`); ignores other events.
    pub(super) fn declare(&mut self, event: &Event<'_>) {
        if let Event::HeapProfCostCentre {
            id,
            label,
            module,
            src_loc,
            ..
        } = event
        {
            self.0.entry(*id).or_insert_with(|| {
                Frame::cost_centre(&module.0.to_str(), &label.0.to_str(), &src_loc.0.to_str())
            });
        }
    }

    /// Returns the stack frame of a cost centre, if the log declares it.
    pub fn get(&self, id: CostCentreId) -> Option<&Frame> {
        self.0.get(&id)
    }

    /// Returns the stack frames of all declared cost centres.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.0.values()
    }

    /// Inserts stacks of cost centres into the stacks of a profile; returns the new stack of each, by old number.
    ///
    /// GHC never writes `MAIN`: an empty stack becomes `MAIN` alone.
    pub(super) fn insert_stacks(
        &self,
        named: Stacks<CostCentreId>,
        frames: &mut Frames,
        stacks: &mut Stacks,
    ) -> Vec<StackId> {
        let main = frames.intern(Frame::built_in("MAIN", "MAIN"));
        let main = stacks.push(StackId::EMPTY, main);
        let mut known: SeededMap<CostCentreId, FrameId> = SeededMap::default();
        let mut new = named.translate(stacks, |id| {
            *known.entry(id).or_insert_with(|| {
                let centre = self.0.get(&id).cloned();
                frames.intern(centre.unwrap_or_else(|| Frame::unknown(id)))
            })
        });
        if let Some(empty) = new.first_mut() {
            *empty = main;
        }
        new
    }
}
