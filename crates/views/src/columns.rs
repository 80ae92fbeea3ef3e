//! Column arrangement of a list as customized by the reader: order, visibility, and widths.
//!
//! It is stored as one line of text, `thread,label:200,runs,-ready`: the columns in order, with `-` before hidden
//! ones and `:` with pixels after those whose width was set. Parsing never fails: unknown names are ignored, and
//! missing columns get their default position.

use std::fmt::Write as _;

use model::sorting::CompactSort;

/// Minimum and maximum width of a column, in pixels.
pub const WIDTHS_PX: (u16, u16) = (28, 1600);
/// Gap between columns and total side margins, in pixels; must match the style sheet. The right margin has room
/// for the button that arranges the columns.
const AROUND_PX: (u32, u32) = (12, 14 + 38);
/// Same as [`AROUND_PX`], for a narrow window.
const AROUND_NARROW_PX: (u32, u32) = (8, 8 + 32);

/// Column of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name in the stored text, which never changes.
    pub id: &'static str,
    /// Title in the header.
    pub title: &'static str,
    /// Explanation for newcomers.
    pub help: &'static str,
    /// Whether cells are numbers, which are aligned right.
    pub number: bool,
    /// Whether rows can be sorted by this column.
    pub sortable: bool,
    /// Default width in pixels; the minimum for a growing column.
    px: u16,
    /// Default width in a narrow window, in pixels.
    narrow_px: u16,
    /// Whether the column takes up remaining space.
    grows: bool,
    /// Whether the column identifies the row and so always comes first and stays visible.
    is_fixed: bool,
    /// Windows in which the column is hidden by default.
    hides: Hides,
}

/// Windows in which a column is hidden by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hides {
    Never,
    Narrow,
    Always,
}

impl Column {
    /// Creates a sortable column of numbers with this default width in pixels.
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
            is_fixed: false,
            hides: Hides::Never,
        }
    }

    /// Creates a sortable column of texts with this default width in pixels.
    pub const fn text(id: &'static str, title: &'static str, px: u16, help: &'static str) -> Self {
        Self {
            number: false,
            ..Self::number(id, title, px, help)
        }
    }

    /// Makes the column unsortable.
    #[must_use]
    pub const fn unsorted(self) -> Self {
        Self {
            sortable: false,
            ..self
        }
    }

    /// Lets the column take up remaining space.
    #[must_use]
    pub const fn growing(self) -> Self {
        Self {
            grows: true,
            ..self
        }
    }

    /// Keeps the column at the start; the first column always stays there.
    #[must_use]
    pub const fn fixed(self) -> Self {
        Self {
            is_fixed: true,
            ..self
        }
    }

    /// Sets the default width in a narrow window, in pixels.
    #[must_use]
    pub const fn narrow_px(self, narrow_px: u16) -> Self {
        Self { narrow_px, ..self }
    }

    /// Hides the column by default in a narrow window.
    #[must_use]
    pub const fn wide_only(self) -> Self {
        Self {
            hides: Hides::Narrow,
            ..self
        }
    }

    /// Hides the column by default in every window.
    #[must_use]
    pub const fn on_demand(self) -> Self {
        Self {
            hides: Hides::Always,
            ..self
        }
    }
}

/// Returns the order of a table, a column and whether it is descending, after a click on a column. Another click
/// reverses it.
pub fn sorted_again<C: PartialEq>(order: (C, bool), column: C, largest_first: bool) -> (C, bool) {
    let descending = if order.0 == column {
        !order.1
    } else {
        largest_first
    };
    (column, descending)
}

/// Column with its current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnState {
    /// Index of the column in the list.
    pub column: usize,
    /// Whether the column is shown.
    pub is_shown: bool,
    /// Width set by the reader, in pixels.
    px: Option<u16>,
}

/// Change of the arrangement by the reader. Columns are identified by their index in the default order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Shows a column, or hides it.
    Show(usize, bool),
    /// Moves a column one position to the left.
    Left(usize),
    /// Moves a column one position to the right.
    Right(usize),
    /// Moves a column to the position of another one.
    Put(usize, usize),
    /// Sets the width of a column in pixels; `None` restores the default.
    Widen(usize, Option<u16>),
    /// Shows all columns.
    ShowAll,
    /// Restores the default arrangement.
    Reset,
}

/// Arrangement of all columns of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    columns: &'static [Column],
    is_narrow: bool,
    states: Vec<ColumnState>,
}

impl Arrangement {
    /// Returns the default arrangement in a wide or narrow window.
    pub fn default_for(columns: &'static [Column], is_narrow: bool) -> Self {
        let placed = |(column, about): (usize, &Column)| ColumnState {
            column,
            is_shown: match about.hides {
                Hides::Never => true,
                Hides::Narrow => !is_narrow,
                Hides::Always => false,
            },
            px: None,
        };
        let states = columns.iter().enumerate().map(placed).collect();
        Self {
            columns,
            is_narrow,
            states,
        }
        .normalized()
    }

    /// Parses a stored arrangement; any text is valid.
    pub fn parse(text: &str, columns: &'static [Column], is_narrow: bool) -> Self {
        let mut states: Vec<ColumnState> = Vec::with_capacity(columns.len());
        for piece in text.split(',') {
            let (name, px) = match piece.split_once(':') {
                Some((name, px)) => (name, px.parse().ok()),
                None => (piece, None),
            };
            let id = name.strip_prefix('-').unwrap_or(name);
            let column = columns.iter().position(|column| column.id == id);
            let is_new = |column: &usize| states.iter().all(|place| place.column != *column);
            if let Some(column) = column.filter(is_new) {
                states.push(ColumnState {
                    column,
                    is_shown: id.len() == name.len(),
                    px: px.map(limited),
                });
            }
        }
        let usual = Self::default_for(columns, is_narrow);
        // A column missing from the text goes after its predecessor in the default arrangement.
        let mut before = None;
        for place in &usual.states {
            if states.iter().all(|other| other.column != place.column) {
                let at = states.iter().position(|it| Some(it.column) == before);
                states.insert(at.map_or(0, |at| at + 1), *place);
            }
            before = Some(place.column);
        }
        Self { states, ..usual }.normalized()
    }

    /// Returns the text to store; `None` for the default arrangement.
    pub fn to_text(&self) -> Option<String> {
        if *self == Self::default_for(self.columns, self.is_narrow) {
            return None;
        }
        let mut text = String::new();
        for place in &self.states {
            let comma = if text.is_empty() { "" } else { "," };
            let hidden = if place.is_shown { "" } else { "-" };
            let _ = write!(text, "{comma}{hidden}{}", self.columns[place.column].id);
            if let Some(px) = place.px {
                let _ = write!(text, ":{px}");
            }
        }
        Some(text)
    }

    /// Restores the invariant that columns that stay come first, in default order, and are shown.
    fn normalized(mut self) -> Self {
        let staying = self.fixed_count();
        self.states
            .sort_small_by_key(|place| place.column.min(staying));
        for place in self.states.iter_mut().take(staying) {
            place.is_shown = true;
        }
        self
    }

    /// Returns the number of leading columns that always stay.
    pub fn fixed_count(&self) -> usize {
        let stay = self.columns.iter().take_while(|column| column.is_fixed);
        stay.count().max(1).min(self.columns.len())
    }

    /// Returns the columns in default order.
    pub const fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Returns whether the arrangement is for a narrow window.
    pub const fn is_narrow(&self) -> bool {
        self.is_narrow
    }

    /// Returns all columns in their current order.
    pub fn states(&self) -> &[ColumnState] {
        &self.states
    }

    /// Returns the visible columns: their position among all columns, counted from 1, and their index.
    pub fn visible_columns(&self) -> impl Iterator<Item = (usize, usize)> {
        let states = self.states.iter().enumerate();
        states
            .filter(|(_, place)| place.is_shown)
            .map(|(at, place)| (at + 1, place.column))
    }

    /// Returns the number of visible columns.
    pub fn count_shown(&self) -> usize {
        self.visible_columns().count()
    }

    /// Returns the width of a column in pixels; the minimum for a growing column.
    pub fn px(&self, column: usize) -> u16 {
        let set = self.find(column).and_then(|at| self.states[at].px);
        set.unwrap_or_else(|| match self.columns.get(column) {
            Some(column) if self.is_narrow => column.narrow_px,
            Some(column) => column.px,
            None => WIDTHS_PX.0,
        })
    }

    /// Returns the width that the reader set, in pixels.
    pub fn set_px(&self, column: usize) -> Option<u16> {
        self.states[self.find(column)?].px
    }

    /// Returns the widths of the visible columns as a CSS grid template.
    pub fn template(&self) -> String {
        let mut template = String::new();
        for (_, column) in self.visible_columns() {
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

    /// Returns the minimum width of a row, in pixels.
    pub fn row_px(&self) -> u32 {
        let px = self
            .visible_columns()
            .map(|(_, column)| u32::from(self.px(column)));
        let (gap, edges) = match self.is_narrow {
            true => AROUND_NARROW_PX,
            false => AROUND_PX,
        };
        px.sum::<u32>() + self.count_shown().saturating_sub(1) as u32 * gap + edges
    }

    /// Returns whether a column can move by one position.
    pub fn may_move(&self, column: usize, right: bool) -> bool {
        let at = self.find(column).filter(|&at| at >= self.fixed_count());
        at.is_some_and(|at| match right {
            true => at + 1 < self.states.len(),
            false => at > self.fixed_count(),
        })
    }

    /// Returns the arrangement after a change.
    pub fn changed(&self, change: Change) -> Self {
        let mut to = self.clone();
        match change {
            Change::Show(column, is_shown) => {
                if let Some(at) = self.find(column) {
                    to.states[at].is_shown = is_shown;
                }
            }
            Change::Left(column) if self.may_move(column, false) => to.step(column, false),
            Change::Right(column) if self.may_move(column, true) => to.step(column, true),
            Change::Left(_) | Change::Right(_) => {}
            Change::Put(column, onto) => {
                if let (Some(from), Some(at)) = (self.find(column), self.find(onto)) {
                    let place = to.states.remove(from);
                    to.states.insert(at, place);
                }
            }
            Change::Widen(column, px) => {
                if let Some(at) = self.find(column) {
                    to.states[at].px = px.map(|px| limited(px.into()));
                }
            }
            Change::ShowAll => to.states.iter_mut().for_each(|place| place.is_shown = true),
            Change::Reset => return Self::default_for(self.columns, self.is_narrow),
        }
        to.normalized()
    }

    fn step(&mut self, column: usize, right: bool) {
        if let Some(at) = self.find(column) {
            self.states.swap(at, if right { at + 1 } else { at - 1 });
        }
    }

    fn find(&self, column: usize) -> Option<usize> {
        self.states.iter().position(|place| place.column == column)
    }
}

/// Clamps a width to [`WIDTHS_PX`].
fn limited(px: u32) -> u16 {
    let (least, most) = WIDTHS_PX;
    u16::try_from(px).unwrap_or(most).clamp(least, most)
}

#[cfg(test)]
mod tests;
