//! Metadata of panels, independent of their rendering, and the panel settings stored in the view.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::key::Chord;

/// Panel below the timeline, as an entry of the table of panels.
#[derive(Debug)]
pub struct Panel {
    /// Name in links, which never changes.
    pub name: PanelName,
    /// Title of the tab.
    pub title: &'static str,
    /// Contents of the panel, in one sentence.
    pub help: &'static str,
    /// Keyboard shortcuts; empty for panels after the ninth.
    pub keys: &'static [Chord],
    /// Reads and writes the settings in links.
    pub codec: Codec,
}

impl Panel {
    /// Returns the link keys of the panel with their escaped values; `None` for default values.
    pub fn write(&self, settings: &Settings) -> Vec<(&'static str, Option<String>)> {
        (self.codec.write)(settings)
    }

    /// Parses one piece of a link into the settings; `raw` is the escaped value.
    pub fn read(&self, settings: &mut Settings, key: &str, raw: &str) -> ParseResult {
        (self.codec.read)(settings, key, raw)
    }
}

/// Name of a panel in links, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelName(pub &'static str);

impl Default for PanelName {
    /// Returns the panel of a freshly opened log.
    fn default() -> Self {
        Self("summary")
    }
}

/// Result of offering a piece of a link to a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseResult {
    /// The key does not belong to this panel.
    UnknownKey,
    /// The piece was applied.
    Applied,
    /// The value may come from a newer version: it is kept and written again.
    Unsupported,
    /// The value is invalid and ignored.
    Invalid,
}

/// Panel settings stored in the view. The default is that of a fresh view.
pub trait PanelSettings: Any + Clone + fmt::Debug + Default + PartialEq {
    /// Returns the link keys with their escaped values; `None` for default values.
    fn write(&self) -> Vec<(&'static str, Option<String>)>;

    /// Parses one piece of a link; `raw` is the escaped value.
    fn read(&mut self, key: &str, raw: &str) -> ParseResult;
}

/// Panel without settings.
impl PanelSettings for () {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        Vec::new()
    }

    fn read(&mut self, _: &str, _: &str) -> ParseResult {
        ParseResult::UnknownKey
    }
}

/// Implements [`PanelSettings`] for the settings of a table, with the function that parses a column, and the link keys
/// of order and filter.
macro_rules! table_settings {
    ($settings:ty, $column:ident::$named:ident, [$order_key:literal, $filter_key:literal]) => {
        impl $crate::view::panel::PanelSettings for $settings {
            fn write(&self) -> Vec<(&'static str, Option<String>)> {
                use session::link_text::{escape_text, order_words, unless};
                let usual = Self::default();
                let order = (self.sort, self.descending);
                let order = unless(order, (usual.sort, usual.descending));
                let order = order.map(|(sort, descending)| {
                    order_words(sort.name(), descending, sort.largest_first())
                });
                vec![
                    ($order_key, order),
                    ($filter_key, escape_text(&self.filter)),
                ]
            }

            fn read(&mut self, key: &str, raw: &str) -> $crate::view::panel::ParseResult {
                use session::link_text::{cut, read_order, unescape};
                use $crate::view::panel::ParseResult;
                let is_known = [$order_key, $filter_key].contains(&key);
                let Some(value) = unescape(raw).filter(|_| is_known) else {
                    return ParseResult::UnknownKey;
                };
                if key == $filter_key {
                    cut(&value).clone_into(&mut self.filter);
                    return ParseResult::Applied;
                }
                if value.is_empty() {
                    return ParseResult::Invalid;
                }
                let order = read_order(&value, $column::$named, $column::largest_first);
                let usual = Self::default();
                (self.sort, self.descending) = order.unwrap_or((usual.sort, usual.descending));
                // It may come from a newer version.
                order.map_or(ParseResult::Unsupported, |_| ParseResult::Applied)
            }
        }
    };
}

pub(super) use table_settings;

/// Removes an item from a list, or appends it if the list does not contain it.
pub fn toggle_item<T: PartialEq>(list: &mut Vec<T>, item: T) {
    let before = list.len();
    list.retain(|other| *other != item);
    if list.len() == before {
        list.push(item);
    }
}

/// Parses pieces of a link, all of which must be accepted.
#[cfg(test)]
pub(crate) fn read_back<T: PanelSettings>(pieces: Vec<(&'static str, Option<String>)>) -> T {
    let mut read = T::default();
    for (key, value) in pieces {
        if let Some(value) = value {
            assert_eq!(
                read.read(key, &value),
                ParseResult::Applied,
                "{key}={value}"
            );
        }
    }
    read
}

trait ErasedSettings: Any + fmt::Debug {
    fn eq_dyn(&self, other: &dyn ErasedSettings) -> bool;
}

impl<T: PanelSettings> ErasedSettings for T {
    fn eq_dyn(&self, other: &dyn ErasedSettings) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }
}

/// Settings of all panels, keyed by type; default settings are not stored.
#[derive(Clone, Debug, Default)]
pub struct Settings(BTreeMap<TypeId, Rc<dyn ErasedSettings>>);

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        let pairs = || self.0.iter().zip(&other.0);
        self.0.len() == other.0.len()
            && pairs().all(|((a, one), (b, two))| a == b && one.eq_dyn(&**two))
    }
}

impl Settings {
    /// Returns the settings of type `T`.
    pub fn get<T: PanelSettings>(&self) -> T {
        let stored = self.0.get(&TypeId::of::<T>());
        let any = stored.map(|stored| -> &dyn Any { &**stored });
        any.and_then(<dyn Any>::downcast_ref)
            .cloned()
            .unwrap_or_default()
    }

    /// Replaces the settings of type `T`.
    pub fn set<T: PanelSettings>(&mut self, settings: T) {
        let id = TypeId::of::<T>();
        if settings == T::default() {
            self.0.remove(&id);
        } else {
            self.0.insert(id, Rc::new(settings));
        }
    }
}

/// Link keys with their escaped values; keys without a value are not written.
type Pairs = Vec<(&'static str, Option<String>)>;

/// Type-erased functions that read and write the settings of one panel.
#[derive(Clone, Copy, Debug)]
pub struct Codec {
    write: fn(&Settings) -> Pairs,
    read: fn(&mut Settings, &str, &str) -> ParseResult,
}

impl Codec {
    /// Returns the codec for settings of type `T`.
    pub const fn for_settings<T: PanelSettings>() -> Self {
        Self {
            write: |settings| settings.get::<T>().write(),
            read: |settings, key, raw| {
                let mut own = settings.get::<T>();
                let piece = own.read(key, raw);
                settings.set(own);
                piece
            },
        }
    }
}

/// Finds a panel of a table by its name.
pub fn find(panels: &'static [Panel], name: &str) -> Option<&'static Panel> {
    panels.iter().find(|panel| panel.name.0 == name)
}
