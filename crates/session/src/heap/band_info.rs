//! Details of one heap profile band: description, origin, and advice if it grows.

use serde::{Deserialize, Serialize};

use super::choice::{HeapChoice, HeapLog};
use analysis::heap::names::BandDescription;
use analysis::heap::{Breakdown, Label};

/// Query for the details of a band.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandInfoQuery {
    /// Index of the profile in the log.
    pub profile: u32,
    /// Key of the band, as used in links.
    pub key: String,
}

/// Details of a band.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandInfo {
    /// Name, type, package, module and source location.
    pub band: BandDescription,
    /// Closure type as the runtime calls it, if known.
    pub closure_type: Option<String>,
    /// One-sentence explanation; may be empty.
    pub what: String,
    /// One-sentence advice if the band grows; may be empty.
    pub advice: String,
}

/// Explanation and advice for an info table of which only the address is known.
const UNNAMED: (&str, &str) = (
    "Info table without a description in the log.",
    "Drop the executable of the log on the page, or build with -finfo-table-map, including libraries.",
);

impl BandInfoQuery {
    /// Returns the details of a band; `None` if there is no such band, or if it is a group.
    pub fn band_info(&self, log: HeapLog<'_>) -> Option<BandInfo> {
        let choice = HeapChoice {
            profile: self.profile,
            ..HeapChoice::default()
        };
        let (profile, bands) = (log.profile(&choice)?, log.bands(&choice)?);
        let band = bands.find(&self.key)?;
        let label = profile.label(band)?;
        let (names, breakdown) = (log.recording.band_names(), profile.kind.breakdown);
        let found = names.describe(breakdown, &label);
        let closure_type = match &label {
            Label::Text(text) => names.type_of(breakdown, text),
            _ => None,
        };
        let explained = names.explain(breakdown, &label);
        let explained = explained.map(|explained| (explained.what, explained.advice));
        let is_unnamed = breakdown == Breakdown::InfoTable && found.name == self.key;
        let explained = explained.or(is_unnamed.then_some(UNNAMED));
        let (what, advice) = explained.unwrap_or_default();
        Some(BandInfo {
            band: found,
            closure_type: closure_type.map(|closure_type| closure_type.name().to_owned()),
            what: what.to_owned(),
            advice: advice.to_owned(),
        })
    }
}

impl BandInfo {
    /// Returns further facts with their labels, apart from the name, the explanation and the advice.
    pub fn facts(&self) -> Vec<(&'static str, &str)> {
        let BandDescription {
            package,
            module,
            type_,
            place,
            what,
            ..
        } = &self.band;
        let all = [
            ("is", Some(what.as_str())),
            ("closure type", self.closure_type.as_deref()),
            ("type", type_.as_deref()),
            ("module", module.as_deref()),
            ("package", package.as_deref()),
            ("place", place.as_deref()),
        ];
        let told = all.into_iter().filter_map(|(of, text)| Some((of, text?)));
        told.filter(|(_, text)| !text.is_empty()).collect()
    }
}
