//! What the log says of info tables (`-finfo-table-map`). A program has
//! 100,000 of them, of which samples meet a few: they are kept compactly.

use rustc_hash::FxHashMap;

use model::profile::frames::{Frame, FrameKind};

/// A part of the text.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    at: u32,
    len: u16,
}

/// Info tables by address.
#[derive(Debug, Default)]
pub(super) struct InfoTables {
    text: String,
    /// Modules are few; each is kept once.
    modules: Vec<Box<str>>,
    module_ids: FxHashMap<Box<str>, u32>,
    /// Label, location, module.
    tables: FxHashMap<u64, (Part, Part, u32)>,
}

impl InfoTables {
    /// How much text is kept in all; later tables are not.
    const BUDGET_BYTES: usize = 64 << 20;

    /// Describes a table; the last description stays.
    pub(super) fn insert(&mut self, address: u64, label: &str, (module, location): (&str, &str)) {
        if self.text.len() + label.len() + location.len() > Self::BUDGET_BYTES {
            return;
        }
        let next = u32::try_from(self.modules.len()).unwrap_or(u32::MAX);
        let known = self.module_ids.get(module).copied();
        let module = known.unwrap_or_else(|| {
            self.modules.push(module.into());
            self.module_ids.insert(module.into(), next);
            next
        });
        let (label, location) = (self.keep(label), self.keep(location));
        self.tables.insert(address, (label, location, module));
    }

    fn keep(&mut self, text: &str) -> Part {
        let text = &text[..text.floor_char_boundary(usize::from(u16::MAX))];
        let at = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.text.push_str(text);
        let len = u16::try_from(text.len()).unwrap_or(u16::MAX);
        Part { at, len }
    }

    fn get(&self, part: Part) -> &str {
        let at = part.at as usize;
        let text = self.text.get(at..at + usize::from(part.len));
        text.unwrap_or_default()
    }

    /// The frame of the function with the table at this address.
    pub(super) fn frame(&self, address: u64) -> Frame {
        let named = self.tables.get(&address).map(|(label, location, module)| {
            let module = self.modules.get(*module as usize);
            let module = module.map_or("", |module| module);
            (self.get(*label), self.get(*location), module)
        });
        let Some((label, location, module)) = named.filter(|(label, ..)| !label.is_empty()) else {
            let label = format!("{address:#x}");
            return Frame {
                address: Some(address),
                ..Frame::of_kind(FrameKind::Haskell, &label)
            };
        };
        Frame {
            module: module.to_owned(),
            location: Some(location.to_owned()).filter(|location| !location.is_empty()),
            ..Frame::of_kind(FrameKind::Haskell, label)
        }
    }
}
