//! What there is to know of a panel, without what draws it, and what panels
//! keep in the view.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::key::Chord;

/// A panel below the timeline, as a line of the table of panels.
#[derive(Debug)]
pub struct Panel {
    /// Its name in links, which never changes.
    pub name: PanelName,
    /// What its tab says.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub help: &'static str,
    /// Its keys; none for a panel beyond the ninth.
    pub keys: &'static [Chord],
    /// How its settings are read and written in links.
    pub codec: Codec,
}

impl Panel {
    /// What it keeps, for a link: each of its keys, with its value, escaped, if
    /// that is not the usual one.
    #[must_use]
    pub fn write(&self, settings: &Settings) -> Vec<(&'static str, Option<String>)> {
        (self.codec.write)(settings)
    }

    /// Takes over a piece of a link, its value as it stands there.
    pub fn read(&self, settings: &mut Settings, key: &str, raw: &str) -> Piece {
        (self.codec.read)(settings, key, raw)
    }
}

/// The name of a panel in links, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelName(pub &'static str);

impl Default for PanelName {
    /// The panel of a log that was just opened.
    fn default() -> Self {
        Self("summary")
    }
}

/// What became of a piece of a link that a panel was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// It is no key of this panel.
    Foreign,
    /// It counts.
    Taken,
    /// A newer version may know what it says: it is kept and written again.
    Newer,
    /// It says nothing and is ignored.
    Damaged,
}

/// What a panel keeps in the view. The default is that of a fresh view.
pub trait PanelSettings: Any + Clone + fmt::Debug + Default + PartialEq {
    /// Its keys in links, each with its value, escaped; `None` where that is
    /// the usual one.
    fn write(&self) -> Vec<(&'static str, Option<String>)>;

    /// Takes over a piece of a link, its value as it stands there.
    fn read(&mut self, key: &str, raw: &str) -> Piece;
}

/// A panel that keeps nothing.
impl PanelSettings for () {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        Vec::new()
    }

    fn read(&mut self, _: &str, _: &str) -> Piece {
        Piece::Foreign
    }
}

/// The settings that pieces of a link say, all of which they know.
#[cfg(test)]
pub(crate) fn read_back<T: PanelSettings>(pieces: Vec<(&'static str, Option<String>)>) -> T {
    let mut read = T::default();
    for (key, value) in pieces {
        if let Some(value) = value {
            assert_eq!(read.read(key, &value), Piece::Taken, "{key}={value}");
        }
    }
    read
}

trait Stored: Any + fmt::Debug {
    fn is(&self, other: &dyn Stored) -> bool;
}

impl<T: PanelSettings> Stored for T {
    fn is(&self, other: &dyn Stored) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }
}

/// The settings of all panels, each by its type; fresh ones are not kept.
#[derive(Clone, Debug, Default)]
pub struct Settings(BTreeMap<TypeId, Rc<dyn Stored>>);

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        let pairs = || self.0.iter().zip(&other.0);
        self.0.len() == other.0.len()
            && pairs().all(|((a, one), (b, two))| a == b && one.is(&**two))
    }
}

impl Settings {
    /// Those of one type.
    #[must_use]
    pub fn get<T: PanelSettings>(&self) -> T {
        let stored = self.0.get(&TypeId::of::<T>());
        let any = stored.map(|stored| -> &dyn Any { &**stored });
        any.and_then(<dyn Any>::downcast_ref)
            .cloned()
            .unwrap_or_default()
    }

    /// Keeps other ones.
    pub fn set<T: PanelSettings>(&mut self, settings: T) {
        let id = TypeId::of::<T>();
        if settings == T::default() {
            self.0.remove(&id);
        } else {
            self.0.insert(id, Rc::new(settings));
        }
    }
}

/// Keys of a link with their values; those without one are not written.
type Pairs = Vec<(&'static str, Option<String>)>;

/// How settings of some type are read and written.
#[derive(Clone, Copy, Debug)]
pub struct Codec {
    write: fn(&Settings) -> Pairs,
    read: fn(&mut Settings, &str, &str) -> Piece,
}

impl Codec {
    /// That of a type.
    #[must_use]
    pub const fn of<T: PanelSettings>() -> Self {
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

/// A panel of a table by its name.
#[must_use]
pub fn find(panels: &'static [Panel], name: &str) -> Option<&'static Panel> {
    panels.iter().find(|panel| panel.name.0 == name)
}
