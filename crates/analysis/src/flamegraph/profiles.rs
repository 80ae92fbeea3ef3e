//! Profiles of a log, one per source with data.

use super::centres::CostCentres;
use super::cost_centre_samples::SliceCostCentreSamples;
use super::sources::{self, AnalysisResults, BuiltProfile, ProfileBuilder};
use crate::diagnostics::Diagnostics;
use eventlog::ids::Address;
use eventlog::{EventSet, Record, Sink};
use model::profile::Profile;
use model::profile::frames::Frames;
use model::profile::source::Source;
use symbols::Name;

/// Profiles of a log: collected while it is read, available once it has been read.
#[derive(Clone, Debug)]
pub struct Profiles {
    all: Vec<SourceProfile>,
    centres: CostCentres,
    /// Union of the event types of all sources and of cost centre declarations.
    consumes: EventSet,
}

/// Collector and profile of one source.
#[derive(Clone, Debug)]
struct SourceProfile {
    source: Source,
    consumes: EventSet,
    builder: Box<dyn ProfileBuilder>,
    /// Set once the log has been read, if it has data for the source.
    profile: Option<Profile>,
    anomalies: Diagnostics,
}

impl Default for Profiles {
    fn default() -> Self {
        let source_profile = |source| {
            let builder = sources::origin(source).builder()?;
            Some(SourceProfile {
                source,
                consumes: builder.consumes(),
                builder,
                profile: None,
                anomalies: Diagnostics::default(),
            })
        };
        let all: Vec<SourceProfile> = sources::all().filter_map(source_profile).collect();
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

impl SourceProfile {
    fn finish(&mut self, results: &AnalysisResults<'_>, centres: &CostCentres) {
        let BuiltProfile { profile, anomalies } = self.builder.finish(results, centres);
        self.profile = Some(profile).filter(|profile| !profile.tracks.is_empty());
        self.anomalies = anomalies;
    }
}

impl Profiles {
    /// Returns the event types that any source or the cost centre declarations need.
    pub(crate) const fn consumes(&self) -> EventSet {
        self.consumes
    }

    /// Processes the next event in analysis order.
    #[inline]
    pub fn event(&mut self, record: &Record<'_>) {
        if self.consumes.contains(record.id) {
            self.centres.offer(record);
            for of in &mut self.all {
                if of.consumes.contains(record.id) {
                    of.builder.event(record);
                }
            }
        }
    }

    /// Appends the cost centre samples of the next slice.
    pub(crate) fn samples(&mut self, slice: &SliceCostCentreSamples) {
        (self.all.iter_mut()).for_each(|of| of.builder.samples(slice));
    }

    /// Builds all profiles once the log has been read.
    ///
    /// Stack samples are built before the sources that derive from them.
    pub fn finish(&mut self, results: &AnalysisResults<'_>) {
        for place in 0..self.all.len() {
            let (before, rest) = self.all.split_at_mut(place);
            let samples = before.iter().find(|of| of.source == sources::STACK_SAMPLES);
            let results = AnalysisResults {
                stack_samples: samples.and_then(|of| of.profile.as_ref()),
                ..*results
            };
            if let Some(of) = rest.first_mut() {
                of.finish(&results, &self.centres);
            }
        }
    }

    /// Rebuilds the profiles that depend on span prefixes, after these were changed.
    pub(crate) fn rebuild_for_prefixes(&mut self, results: &AnalysisResults<'_>) {
        let those = self
            .all
            .iter_mut()
            .filter(|of| of.builder.depends_on_prefixes());
        those.for_each(|of| of.finish(results, &self.centres));
    }

    /// Returns the profile of a source, if the log has data for it.
    pub fn get(&self, source: Source) -> Option<&Profile> {
        let found = self.all.iter().find(|of| of.source == source);
        found.and_then(|of| of.profile.as_ref())
    }

    /// Returns the cost centres declared in the log.
    pub const fn centres(&self) -> &CostCentres {
        &self.centres
    }

    /// Returns the frames of each profile.
    pub fn frames(&self) -> impl Iterator<Item = &Frames> {
        let profiles = self.all.iter().filter_map(|of| of.profile.as_ref());
        profiles.map(|profile| &profile.frames)
    }

    /// Names the frames that have an address, by means of `name`.
    pub fn name_addresses<'a>(&mut self, name: impl Fn(Address) -> Option<&'a Name>) {
        for profile in self.all.iter_mut().filter_map(|of| of.profile.as_mut()) {
            profile.name_addresses(&name);
        }
    }

    /// Returns the diagnostics of each source, in the order of sources.
    pub fn anomalies(&self) -> impl Iterator<Item = &Diagnostics> {
        self.all.iter().map(|of| &of.anomalies)
    }
}
