//! What the panel that compares two logs keeps in the view.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ca` | where the logs are aligned, if not at their starts: a marker or a span | `m:warm`, `s:request` |

use super::panel::{PanelSettings, Piece};
use super::text::{cut, escape_text, unescape};
use crate::beside::Alignment;

/// How two logs are compared; a part of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareView {
    /// What stands at the same place in both.
    pub align: Alignment,
}

impl PanelSettings for CompareView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        vec![("ca", escape_text(&self.align.to_text()))]
    }

    fn read(&mut self, key: &str, raw: &str) -> Piece {
        let Some(value) = unescape(raw).filter(|_| key == "ca") else {
            return Piece::Foreign;
        };
        match Alignment::parse(cut(&value)) {
            Some(align) => self.align = align,
            None => return Piece::Newer,
        }
        Piece::Taken
    }
}
