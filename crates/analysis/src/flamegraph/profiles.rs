//! The profiles of a log, one for each source that it has something of.

use super::centres::CostCentres;
use super::sources::{self, Gather, Gathered, Known};
use super::ticks::SliceTicks;
use crate::diagnostics::Diagnostics;
use eventlog::ids::Address;
use eventlog::{EventSet, Record, Sink};
use model::profile::Profile;
use model::profile::frames::Frames;
use model::profile::source::Source;
use symbols::Name;

/// The profiles of a log: gathered while it is read, there once it is.
#[derive(Clone, Debug)]
pub struct Profiles {
    all: Vec<Gathering>,
    centres: CostCentres,
    /// What any of them takes.
    consumes: EventSet,
}

/// The profile of a source.
#[derive(Clone, Debug)]
struct Gathering {
    source: Source,
    consumes: EventSet,
    gather: Box<dyn Gather>,
    /// Once the log is read, if it has something of the source.
    profile: Option<Profile>,
    oddities: Diagnostics,
}

impl Default for Profiles {
    fn default() -> Self {
        let gathering = |source| {
            let gather = sources::origin(source).gather()?;
            Some(Gathering {
                source,
                consumes: gather.consumes(),
                gather,
                profile: None,
                oddities: Diagnostics::default(),
            })
        };
        let all: Vec<Gathering> = sources::all().filter_map(gathering).collect();
        let consumes = all
            .iter()
            .fold(CostCentres::CONSUMES, |set, of| set.union(of.consumes));
        Self {
            all,
            centres: CostCentres::default(),
            consumes,
        }
    }
}

impl Gathering {
    fn settle(&mut self, known: &Known<'_>, centres: &CostCentres) {
        let Gathered { profile, oddities } = self.gather.settle(known, centres);
        self.profile = Some(profile).filter(|profile| !profile.tracks.is_empty());
        self.oddities = oddities;
    }
}

impl Profiles {
    /// The types of events that any of them takes.
    pub(crate) const fn consumes(&self) -> EventSet {
        self.consumes
    }

    /// Takes the next event in analysis order.
    #[inline]
    pub fn event(&mut self, record: &Record<'_>) {
        if self.consumes.contains(record.id) {
            self.centres.offer(record);
            for of in &mut self.all {
                if of.consumes.contains(record.id) {
                    of.gather.event(record);
                }
            }
        }
    }

    /// Adds the cost-centre samples of the slice that follows.
    pub(crate) fn samples(&mut self, slice: &SliceTicks) {
        (self.all.iter_mut()).for_each(|of| of.gather.samples(slice));
    }

    /// The log is read.
    pub fn settle(&mut self, known: &Known<'_>) {
        for place in 0..self.all.len() {
            let (before, rest) = self.all.split_at_mut(place);
            let samples = before.iter().find(|of| of.source == sources::STACK_SAMPLES);
            let known = Known {
                stack_samples: samples.and_then(|of| of.profile.as_ref()),
                ..*known
            };
            if let Some(of) = rest.first_mut() {
                of.settle(&known, &self.centres);
            }
        }
    }

    /// Other words begin and end spans, in a log that is read.
    pub(crate) fn follow_words(&mut self, known: &Known<'_>) {
        let those = self.all.iter_mut().filter(|of| of.gather.follows_words());
        those.for_each(|of| of.settle(known, &self.centres));
    }

    /// The profile of a source, if the log has something of it.
    #[must_use]
    pub fn get(&self, source: Source) -> Option<&Profile> {
        let found = self.all.iter().find(|of| of.source == source);
        found.and_then(|of| of.profile.as_ref())
    }

    /// The cost centres of the log.
    #[must_use]
    pub const fn centres(&self) -> &CostCentres {
        &self.centres
    }

    /// The functions of each profile.
    pub fn frames(&self) -> impl Iterator<Item = &Frames> {
        let profiles = self.all.iter().filter_map(|of| of.profile.as_ref());
        profiles.map(|profile| &profile.frames)
    }

    /// Gives names to the frames that have an address.
    pub fn name_addresses<'a>(&mut self, name: impl Fn(Address) -> Option<&'a Name>) {
        for profile in self.all.iter_mut().filter_map(|of| of.profile.as_mut()) {
            profile.name_addresses(&name);
        }
    }

    /// What was odd about what they are made from, source by source.
    pub fn oddities(&self) -> impl Iterator<Item = &Diagnostics> {
        self.all.iter().map(|of| &of.oddities)
    }
}
