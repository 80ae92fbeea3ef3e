//! The cost centres of a log, for all profiles whose samples name them.

use std::collections::BTreeMap;

use eventlog::hash::SeededMap;
use eventlog::ids::CostCentreId;
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::stacks::{StackId, Stacks};

/// Cost centres by number. They may be declared after the samples that name them,
/// so they are looked up when the log is read. The first declaration counts.
#[derive(Clone, Debug, Default)]
pub struct CostCentres(BTreeMap<CostCentreId, Frame>);

impl Sink for CostCentres {
    const CONSUMES: EventSet = EventSet::of(&[EventType::HEAP_PROF_COST_CENTRE]);

    fn event(&mut self, record: &Record<'_>) {
        self.declare(&record.event());
    }
}

impl CostCentres {
    /// Takes a declaration (`HeapProfCostCentre`); other events are passed over.
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

    /// What a cost centre looks like in a stack, if the log declares it.
    #[must_use]
    pub fn get(&self, id: CostCentreId) -> Option<&Frame> {
        self.0.get(&id)
    }

    /// What the cost centres look like in a stack.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.0.values()
    }

    /// Puts stacks of cost centres among others; the result has the new stack of
    /// each. `MAIN` is never written: nothing at all is `MAIN` itself.
    pub(super) fn place(
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
