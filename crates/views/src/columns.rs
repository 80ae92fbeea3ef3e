//! The columns of a list, as its reader has arranged them: their order, which are hidden, how
//! wide they are.
//!
//! What is kept of it is a line of text, `thread,label:200,runs,-ready`: the columns in their
//! order, `-` before one that is hidden, `:` and pixels behind one whose width was set. Reading
//! never fails: what names no column says nothing, and a column that is not named stands where
//! it stands at first.

use std::fmt::Write as _;

use model::sorting::SortSmall;

/// The narrowest and the widest that a column can be made, in pixels.
pub const WIDTHS_PX: (u16, u16) = (28, 1600);
/// What stands between two columns, and beside all of them, in pixels; the style sheet says the
/// same. Behind the last one is room for the button that arranges them.
const AROUND_PX: (u32, u32) = (12, 14 + 38);
/// The same in a narrow window.
const AROUND_NARROW_PX: (u32, u32) = (8, 8 + 32);

/// A column of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in what is kept, which never changes.
    pub id: &'static str,
    /// What stands above it.
    pub title: &'static str,
    /// What it means, for newcomers.
    pub help: &'static str,
    /// Whether it holds numbers, which stand on the right.
    pub number: bool,
    /// Whether the rows can be sorted by it.
    pub sortable: bool,
    /// How wide it is at first, in pixels; one that grows is at least as wide.
    px: u16,
    /// How wide it is at first in a narrow window.
    narrow_px: u16,
    /// Whether it takes what room is left.
    grows: bool,
    /// Whether it always stands first and in view, as it says which row that is.
    stays: bool,
    /// In which windows it is hidden until it is asked for.
    hides: Hides,
}

/// In which windows a column is hidden at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hides {
    Never,
    Narrow,
    Always,
}

impl Column {
    /// A column of numbers by which the rows can be sorted, so many pixels wide.
    #[must_use]
    pub const fn number(
        id: &'static str,
        title: &'static str,
        px: u16,
        help: &'static str,
    ) -> Self {
        Self {
            id,
            title,
            help,
            number: true,
            sortable: true,
            px,
            narrow_px: px,
            grows: false,
            stays: false,
            hides: Hides::Never,
        }
    }

    /// A column of texts by which the rows can be sorted, so many pixels wide.
    #[must_use]
    pub const fn text(id: &'static str, title: &'static str, px: u16, help: &'static str) -> Self {
        Self {
            number: false,
            ..Self::number(id, title, px, help)
        }
    }

    /// The column, by which the rows cannot be sorted.
    #[must_use]
    pub const fn unsorted(self) -> Self {
        Self {
            sortable: false,
            ..self
        }
    }

    /// The column, as wide as there is room.
    #[must_use]
    pub const fn growing(self) -> Self {
        Self {
            grows: true,
            ..self
        }
    }

    /// The column, which always stands before those that do not. The first one does anyway.
    #[must_use]
    pub const fn staying(self) -> Self {
        Self {
            stays: true,
            ..self
        }
    }

    /// The column, of another width in a narrow window.
    #[must_use]
    pub const fn narrow_px(self, narrow_px: u16) -> Self {
        Self { narrow_px, ..self }
    }

    /// The column, which in a narrow window is hidden until it is asked for.
    #[must_use]
    pub const fn wide_only(self) -> Self {
        Self {
            hides: Hides::Narrow,
            ..self
        }
    }

    /// The column, which is hidden until it is asked for.
    #[must_use]
    pub const fn on_demand(self) -> Self {
        Self {
            hides: Hides::Always,
            ..self
        }
    }
}

/// A column in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which column of the list it is.
    pub column: usize,
    /// Whether it is shown.
    pub is_shown: bool,
    /// How wide it was made, in pixels.
    px: Option<u16>,
}

/// Something that a reader does with the columns. Columns are named by their place in the list
/// as it is at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Shows a column, or hides it.
    Show(usize, bool),
    /// Moves a column before the one on its left.
    Left(usize),
    /// Moves a column behind the one on its right.
    Right(usize),
    /// Moves a column to where another one stands.
    Put(usize, usize),
    /// Makes a column so wide, in pixels; without a width as wide as it is at first.
    Widen(usize, Option<u16>),
    /// Shows all columns.
    ShowAll,
    /// As it is at first.
    Reset,
}

/// All columns of a list, each once, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    columns: &'static [Column],
    is_narrow: bool,
    places: Vec<Placed>,
}

impl Arrangement {
    /// The columns as they are at first, in a window that may be narrow.
    #[must_use]
    pub fn usual(columns: &'static [Column], is_narrow: bool) -> Self {
        let placed = |(column, about): (usize, &Column)| Placed {
            column,
            is_shown: match about.hides {
                Hides::Never => true,
                Hides::Narrow => !is_narrow,
                Hides::Always => false,
            },
            px: None,
        };
        let places = columns.iter().enumerate().map(placed).collect();
        Self {
            columns,
            is_narrow,
            places,
        }
        .sound()
    }

    /// The columns as a text says that was kept. Any text says something.
    #[must_use]
    pub fn read(kept: &str, columns: &'static [Column], is_narrow: bool) -> Self {
        let mut places: Vec<Placed> = Vec::with_capacity(columns.len());
        for piece in kept.split(',') {
            let (name, px) = match piece.split_once(':') {
                Some((name, px)) => (name, px.parse().ok()),
                None => (piece, None),
            };
            let id = name.strip_prefix('-').unwrap_or(name);
            let column = columns.iter().position(|column| column.id == id);
            let is_new = |column: &usize| places.iter().all(|place| place.column != *column);
            if let Some(column) = column.filter(is_new) {
                places.push(Placed {
                    column,
                    is_shown: id.len() == name.len(),
                    px: px.map(limited),
                });
            }
        }
        let usual = Self::usual(columns, is_narrow);
        // A column that this text does not know stands behind the one that it usually follows.
        let mut before = None;
        for place in &usual.places {
            if places.iter().all(|other| other.column != place.column) {
                let at = places.iter().position(|it| Some(it.column) == before);
                places.insert(at.map_or(0, |at| at + 1), *place);
            }
            before = Some(place.column);
        }
        Self { places, ..usual }.sound()
    }

    /// The text that is to be kept; nothing, if the columns are as they are at first.
    #[must_use]
    pub fn kept(&self) -> Option<String> {
        if *self == Self::usual(self.columns, self.is_narrow) {
            return None;
        }
        let mut kept = String::new();
        for place in &self.places {
            let comma = if kept.is_empty() { "" } else { "," };
            let hidden = if place.is_shown { "" } else { "-" };
            let _ = write!(kept, "{comma}{hidden}{}", self.columns[place.column].id);
            if let Some(px) = place.px {
                let _ = write!(kept, ":{px}");
            }
        }
        Some(kept)
    }

    /// The columns that stay stand first, in their order, and are shown.
    fn sound(mut self) -> Self {
        let staying = self.staying();
        self.places
            .sort_small_by_key(|place| place.column.min(staying));
        for place in self.places.iter_mut().take(staying) {
            place.is_shown = true;
        }
        self
    }

    /// How many columns, the first ones, always stay.
    #[must_use]
    pub fn staying(&self) -> usize {
        let stay = self.columns.iter().take_while(|column| column.stays);
        stay.count().max(1).min(self.columns.len())
    }

    /// The columns of the list, as they are at first.
    #[must_use]
    pub const fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Whether it is for a narrow window.
    #[must_use]
    pub const fn is_narrow(&self) -> bool {
        self.is_narrow
    }

    /// All columns in their order.
    #[must_use]
    pub fn places(&self) -> &[Placed] {
        &self.places
    }

    /// The columns that are shown: the place of each among all, from 1, and the column.
    pub fn shown(&self) -> impl Iterator<Item = (usize, usize)> {
        let places = self.places.iter().enumerate();
        places
            .filter(|(_, place)| place.is_shown)
            .map(|(at, place)| (at + 1, place.column))
    }

    /// How many columns are shown.
    #[must_use]
    pub fn count_shown(&self) -> usize {
        self.shown().count()
    }

    /// How wide a column is, in pixels; one that grows is at least as wide.
    #[must_use]
    pub fn px(&self, column: usize) -> u16 {
        let set = self.find(column).and_then(|at| self.places[at].px);
        set.unwrap_or_else(|| match self.columns.get(column) {
            Some(column) if self.is_narrow => column.narrow_px,
            Some(column) => column.px,
            None => WIDTHS_PX.0,
        })
    }

    /// How wide a column was made, in pixels.
    #[must_use]
    pub fn set_px(&self, column: usize) -> Option<u16> {
        self.places[self.find(column)?].px
    }

    /// The widths of the columns that are shown, as style sheets say it.
    #[must_use]
    pub fn template(&self) -> String {
        let mut template = String::new();
        for (_, column) in self.shown() {
            let px = self.px(column);
            let _ = match self.set_px(column) {
                None if self.columns[column].grows => {
                    write!(template, "minmax({px}px,1fr) ")
                }
                _ => write!(template, "{px}px "),
            };
        }
        template
    }

    /// How wide a row is at least, in pixels.
    #[must_use]
    pub fn row_px(&self) -> u32 {
        let px = self.shown().map(|(_, column)| u32::from(self.px(column)));
        let (gap, edges) = match self.is_narrow {
            true => AROUND_NARROW_PX,
            false => AROUND_PX,
        };
        px.sum::<u32>() + self.count_shown().saturating_sub(1) as u32 * gap + edges
    }

    /// Whether a column may move by one.
    #[must_use]
    pub fn may_move(&self, column: usize, right: bool) -> bool {
        let at = self.find(column).filter(|&at| at >= self.staying());
        at.is_some_and(|at| match right {
            true => at + 1 < self.places.len(),
            false => at > self.staying(),
        })
    }

    /// The columns after a change.
    #[must_use]
    pub fn changed(&self, change: Change) -> Self {
        let mut to = self.clone();
        match change {
            Change::Show(column, is_shown) => {
                if let Some(at) = self.find(column) {
                    to.places[at].is_shown = is_shown;
                }
            }
            Change::Left(column) if self.may_move(column, false) => to.step(column, false),
            Change::Right(column) if self.may_move(column, true) => to.step(column, true),
            Change::Left(_) | Change::Right(_) => {}
            Change::Put(column, onto) => {
                if let (Some(from), Some(at)) = (self.find(column), self.find(onto)) {
                    let place = to.places.remove(from);
                    to.places.insert(at, place);
                }
            }
            Change::Widen(column, px) => {
                if let Some(at) = self.find(column) {
                    to.places[at].px = px.map(|px| limited(px.into()));
                }
            }
            Change::ShowAll => to.places.iter_mut().for_each(|place| place.is_shown = true),
            Change::Reset => return Self::usual(self.columns, self.is_narrow),
        }
        to.sound()
    }

    fn step(&mut self, column: usize, right: bool) {
        if let Some(at) = self.find(column) {
            self.places.swap(at, if right { at + 1 } else { at - 1 });
        }
    }

    fn find(&self, column: usize) -> Option<usize> {
        self.places.iter().position(|place| place.column == column)
    }
}

/// A width that a column can have.
fn limited(px: u32) -> u16 {
    let (least, most) = WIDTHS_PX;
    u16::try_from(px).unwrap_or(most).clamp(least, most)
}

#[cfg(test)]
mod tests;
