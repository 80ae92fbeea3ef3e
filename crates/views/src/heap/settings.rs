//! What the panel of the heap keeps in the view.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ht` | tab, see [`Tab`] | `table` |
//! | `hm` | form of the chart, see [`Form`] | `share` |
//! | `hw` | what the chart shows of the time: `all` of it, not the timeline's view | `all` |
//! | `hl` | lines on one scale, not each on its own | `one` |
//! | `hv` | what is drawn over the chart, see [`Over`] | `live,size` |
//! | `hi`, `hx` | what messages must have in them, and must not | `step` |
//! | `hp` | profile, from 1 | `2` |
//! | `hg` | what is put together, see [`Grouping`] | `module` |
//! | `hn` | how many bands | `30` |
//! | `ho` | order, `.up` if reversed | `name`, `size.up` |
//! | `hq` | filter | `Map` |
//! | `hh` | hidden bands | `THUNK,ARR_WORDS` |
//! | `ha` | the only band that is shown | `THUNK` |
//! | `hk` | the band that is followed | `THUNK` |
//! | `hs` | order of the table, `.up` or `.down` if not the usual one | `slope`, `name.down` |
//! | `hc` | the two censuses that are compared, or the only one, from 1 | `3-40`, `40` |
//! | `hd` | order of the bands in them | `before` |
//! | `hr` | by what growth is ranked | `gained` |

use crate::view::panel::{PanelSettings, Piece};
use analysis::heap::ranking::Order;
use session::heap::chart::Over;
use session::heap::choice::{Grouping, HeapChoice};
use session::heap::growth::GrowthBy;
use session::heap::moments::MomentsChoice;
use session::heap::table::BandSort;
use session::link_text::{MAX_TEXT, cut, escape, escape_text, number, unescape, unless};

session::words! {
    /// The tabs of the panel.
    Tab {
        /// The chart.
        #[default]
        Chart "chart" "Chart" "What holds the heap, over time.",
        /// All bands with their numbers.
        Table "table" "Table" "All bands with their numbers.",
        /// One census, or the difference of two.
        Moments "moments" "Compare moments" "One census, or what grew and shrank between two.",
        /// Bands by how they grow.
        Growth "growth" "Growth" "Which bands grow, and what grows with them.",
        /// Memory held by the runtime.
        Held "held" "Memory held vs live" "What the runtime holds of the system's memory, and what of it is live.",
        /// The tree of cost centres.
        Tree "tree" "Cost-centre tree" "What each cost centre holds, by itself and with what it calls.",
    }
}

session::words! {
    /// The form of the chart.
    Form {
        /// Bands on each other.
        #[default]
        Area "area" "Area" "Bands on each other: the top is the sum",
        /// Shares of the sum.
        Share "share" "Share" "What share of the sum each band has",
        /// Bands on each other around a middle line.
        Stream "stream" "Stream" "Bands on each other around a middle line: what swells is seen",
        /// A line for each band.
        Lines "lines" "Lines" "A line for each band",
        /// A bar for each census.
        Bars "bars" "Bars" "A bar for each census",
    }
}

/// How the heap is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapView {
    /// Which bands of which profile.
    pub choice: HeapChoice,
    /// The open tab.
    pub tab: Tab,
    /// The form of the chart.
    pub form: Form,
    /// Whether it shows the whole log, and not what the timeline shows.
    pub whole: bool,
    /// Whether lines are on one scale.
    pub one_scale: bool,
    /// What is drawn over it.
    pub over: Vec<Over>,
    /// What messages that are drawn over it must have in them.
    pub include: String,
    /// What they must not have in them.
    pub exclude: String,
    /// How the table is sorted.
    pub sort: BandSort,
    /// Which two censuses are compared.
    pub moments: MomentsChoice,
    /// By what growth is ranked.
    pub growth: GrowthBy,
}

/// The most bands that are shown by themselves.
pub const MOST_BANDS: u32 = 200;
/// The most hidden bands that a link keeps.
const MOST_HIDDEN: usize = 100;
/// The longest key of a band that a link keeps, in bytes: a stack of cost
/// centres may be long.
const MAX_KEY: usize = 10 * MAX_TEXT;

/// Its keys.
const KEYS: [&str; 18] = [
    "ht", "hm", "hw", "hl", "hv", "hi", "hx", "hp", "hg", "hn", "ho", "hq", "hh", "ha", "hs", "hc",
    "hd", "hr",
];
/// The key of the band that is followed.
const PINNED: &str = "hk";

fn band(key: Option<&String>) -> Option<String> {
    let key = key.filter(|key| key.len() <= MAX_KEY)?;
    Some(escape(key))
}

impl PanelSettings for HeapView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        let choice = &self.choice;
        let usual = HeapChoice::default();
        let hidden = choice.hidden.iter().take(MOST_HIDDEN);
        let hidden: Vec<String> = hidden.filter_map(|key| band(Some(key))).collect();
        let over: Vec<&str> = self.over.iter().map(|over| over.word()).collect();
        let order = format!(
            "{}{}",
            choice.order.word(),
            if choice.reversed { ".up" } else { "" }
        );
        let values = [
            unless(self.tab, Tab::default()).map(|tab| tab.word().to_owned()),
            unless(self.form, Form::default()).map(|form| form.word().to_owned()),
            self.whole.then(|| "all".to_owned()),
            self.one_scale.then(|| "one".to_owned()),
            (!over.is_empty()).then(|| over.join(",")),
            escape_text(&self.include),
            escape_text(&self.exclude),
            (choice.profile > 0).then(|| (u64::from(choice.profile) + 1).to_string()),
            unless(choice.group, usual.group).map(|group| group.word().to_owned()),
            unless(choice.bands, usual.bands).map(|bands| bands.to_string()),
            unless(order, usual.order.word().to_owned()),
            escape_text(&choice.filter),
            (!hidden.is_empty()).then(|| hidden.join(",")),
            band(choice.alone.as_ref()),
            unless(self.sort, BandSort::default()).map(BandSort::words),
            self.moments.censuses_words(),
            self.moments.order_words(),
            unless(self.growth, GrowthBy::default()).map(|by| by.word().to_owned()),
        ];
        let pinned = (PINNED, band(choice.pinned.as_ref()));
        KEYS.into_iter().zip(values).chain([pinned]).collect()
    }

    fn read(&mut self, key: &str, raw: &str) -> Piece {
        if !KEYS.contains(&key) && key != PINNED {
            return Piece::Foreign;
        }
        self.take(key, raw).map_or(Piece::Newer, |()| Piece::Taken)
    }
}

impl HeapView {
    /// Takes over one of its keys; `None` if it cannot be understood.
    fn take(&mut self, key: &str, raw: &str) -> Option<()> {
        let choice = &mut self.choice;
        let text = || unescape(raw).map(|text| cut(&text).to_owned());
        let band = |raw: &str| unescape(raw).filter(|key| key.len() <= MAX_KEY);
        match key {
            "ht" => self.tab = Tab::named(raw)?,
            "hm" => self.form = Form::named(raw)?,
            "hw" if raw == "all" => self.whole = true,
            "hl" if raw == "one" => self.one_scale = true,
            "hv" => {
                let mut over: Vec<Over> = raw.split(',').filter_map(Over::named).collect();
                over.dedup();
                over.truncate(Over::ALL.len());
                self.over = over;
            }
            "hi" => self.include = text()?,
            "hx" => self.exclude = text()?,
            "hp" => choice.profile = u32::try_from(number(raw)?.checked_sub(1)?).ok()?,
            "hg" => choice.group = Grouping::named(raw)?,
            "hn" => choice.bands = u32::try_from(number(raw)?).ok()?.clamp(1, MOST_BANDS),
            "ho" => {
                let (word, reversed) = match raw.strip_suffix(".up") {
                    Some(word) => (word, true),
                    None => (raw, false),
                };
                choice.order = Order::ALL.into_iter().find(|order| order.word() == word)?;
                choice.reversed = reversed;
            }
            "hq" => choice.filter = text()?,
            "hh" => {
                let hidden = raw.split(',').filter_map(band);
                choice.hidden = hidden.take(MOST_HIDDEN).collect();
            }
            "ha" => choice.alone = Some(band(raw)?),
            "hk" => choice.pinned = Some(band(raw)?),
            "hs" => self.sort = BandSort::of_words(raw)?,
            "hc" => self.moments.read_censuses(raw)?,
            "hd" => self.moments.read_order(raw)?,
            "hr" => self.growth = GrowthBy::named(raw)?,
            _ => return None,
        }
        Some(())
    }

    /// Follows a band, or no longer the one that was followed.
    pub fn pin(&mut self, key: &str) {
        let pinned = &mut self.choice.pinned;
        *pinned = (pinned.as_deref() != Some(key)).then(|| key.to_owned());
    }

    /// Hides a band, or shows it again.
    pub fn hide(&mut self, key: &str) {
        let choice = &mut self.choice;
        let before = choice.hidden.len();
        choice.hidden.retain(|hidden| hidden != key);
        if choice.hidden.len() == before {
            choice.hidden.push(key.to_owned());
        }
    }

    /// Shows a band alone, or all again.
    pub fn alone(&mut self, key: &str) {
        let alone = &mut self.choice.alone;
        *alone = (alone.as_deref() != Some(key)).then(|| key.to_owned());
    }

    /// Draws something over the chart, or no longer.
    pub fn toggle(&mut self, over: Over) {
        let before = self.over.len();
        self.over.retain(|other| *other != over);
        if self.over.len() == before {
            self.over.push(over);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::panel::read_back;
    use session::heap::moments::MomentColumn;
    use session::heap::table::BandColumn;

    #[test]
    fn all_of_it_goes_into_a_link_and_back() {
        assert_eq!(
            read_back::<HeapView>(HeapView::default().write()),
            HeapView::default()
        );
        let mut view = HeapView {
            tab: Tab::Table,
            form: Form::Stream,
            whole: true,
            one_scale: true,
            include: "a,b".to_owned(),
            exclude: "ü".to_owned(),
            sort: BandSort::by(BandColumn::Slope),
            moments: MomentsChoice {
                before: Some(2),
                column: MomentColumn::Before,
                descending: false,
                ..MomentsChoice::default()
            },
            growth: GrowthBy::Gained,
            choice: HeapChoice {
                profile: 2,
                group: Grouping::Module,
                bands: 30,
                order: Order::Name,
                reversed: true,
                filter: "Map".to_owned(),
                ..HeapChoice::default()
            },
            ..HeapView::default()
        };
        for key in ["[]", "1;2", "a,b&c"] {
            view.hide(key);
        }
        view.pin("1;2");
        view.alone("(->)");
        view.toggle(Over::Live);
        view.toggle(Over::Messages);
        assert_eq!(read_back::<HeapView>(view.write()), view);
    }

    #[test]
    fn pinning_hiding_and_showing_alone_are_undone_by_doing_them_again() {
        let mut view = HeapView::default();
        for _ in 0..2 {
            view.pin("A");
            view.hide("B");
            view.alone("C");
            view.toggle(Over::Size);
        }
        assert_eq!(view, HeapView::default());
    }

    #[test]
    fn damaged_values_change_nothing() {
        let mut view = HeapView::default();
        for (key, raw) in [
            ("hp", "0"),
            ("hn", "x"),
            ("ho", "up"),
            ("hm", ""),
            ("hk", "%"),
        ] {
            assert_eq!(view.read(key, raw), Piece::Newer, "{key}");
        }
        assert_eq!(view, HeapView::default());
        assert_eq!(view.read("hn", "999999"), Piece::Taken);
        assert_eq!(view.choice.bands, MOST_BANDS);
    }
}
