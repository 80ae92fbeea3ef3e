//! View state of the event panel: the filter of the list. Its time range is the selected one.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `es` | search text | `timeout` |
//! | `et` | numbers of the listed event types | `1.2.19` |
//! | `ec` | capability, or `none` | `3` |
//! | `eh` | thread | `12` |

use std::collections::BTreeSet;

use super::panel::{PanelSettings, ParseResult};
use eventlog::ids::{CapId, ThreadId};
use session::events::EventList;
use session::events::filter::CapFilter;
use session::link_text::{cut, escape_text, number, unescape};

/// Maximum number of event types in a link.
pub(crate) const MAX_TYPES: usize = 256;

impl PanelSettings for EventList {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        let thread = self.filter.thread.map(|thread| thread.to_string());
        vec![
            ("es", escape_text(&self.search)),
            ("et", write_types(&self.filter.types)),
            ("ec", write_cap(self.filter.cap)),
            ("eh", thread),
        ]
    }

    fn read(&mut self, key: &str, raw: &str) -> ParseResult {
        if !["es", "et", "ec", "eh"].contains(&key) {
            return ParseResult::UnknownKey;
        }
        let mut take = || {
            let value = unescape(raw)?;
            match key {
                "es" => self.search = cut(&value).to_owned(),
                "et" => self.filter.types = read_types(&value)?,
                "ec" => self.filter.cap = read_cap(&value)?,
                _ => self.filter.thread = Some(ThreadId(number(&value)?.try_into().ok()?)),
            }
            Some(ParseResult::Applied)
        };
        take().unwrap_or(ParseResult::Invalid)
    }
}

fn write_types(types: &[u16]) -> Option<String> {
    let numbers: Vec<String> = types.iter().take(MAX_TYPES).map(u16::to_string).collect();
    (!numbers.is_empty()).then(|| numbers.join("."))
}

/// Parses type numbers, sorted and deduplicated.
fn read_types(text: &str) -> Option<Vec<u16>> {
    let numbers = text
        .split('.')
        .map(|text| number(text)?.try_into().ok())
        .collect::<Option<BTreeSet<u16>>>()?;
    Some(numbers.into_iter().take(MAX_TYPES).collect())
}

fn write_cap(cap: CapFilter) -> Option<String> {
    match cap {
        CapFilter::All => None,
        CapFilter::Without => Some("none".to_owned()),
        CapFilter::Only(cap) => Some(cap.to_string()),
    }
}

fn read_cap(text: &str) -> Option<CapFilter> {
    Some(match text {
        "none" => CapFilter::Without,
        number_text => CapFilter::Only(CapId(number(number_text)?.try_into().ok()?)),
    })
}
