//! View state of the heap panel.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ht` | tab, see [`Tab`] | `table` |
//! | `hm` | form of the chart, see [`Form`] | `share` |
//! | `hw` | `all`: the chart shows the whole log instead of the timeline's view | `all` |
//! | `hl` | `one`: all lines share one scale | `one` |
//! | `hv` | overlays of the chart, see [`OverlayKind`] | `live,size` |
//! | `hi`, `hx` | text that overlaid messages must contain, and must not | `step` |
//! | `hp` | profile, from 1 | `2` |
//! | `hg` | grouping of bands, see [`Grouping`] | `module` |
//! | `hn` | number of bands | `30` |
//! | `ho` | order, `.up` if reversed | `name`, `size.up` |
//! | `hq` | filter | `Map` |
//! | `hh` | hidden bands | `THUNK,ARR_WORDS` |
//! | `ha` | the only band that is shown | `THUNK` |
//! | `hk` | the followed band | `THUNK` |
//! | `hs` | order of the table, with `.up` or `.down` if not the default direction | `slope`, `name.down` |
//! | `hc` | the two compared censuses, or the only one, from 1 | `3-40`, `40` |
//! | `hd` | order of the bands in the compared censuses | `before` |
//! | `hr` | ranking of growth | `gained` |

use crate::view::panel::{PanelSettings, ParseResult, toggle_item};
use analysis::heap::ranking::BandOrder;
use session::heap::census_diff::CensusDiffChoice;
use session::heap::chart::OverlayKind;
use session::heap::choice::{Grouping, HeapChoice};
use session::heap::growth::GrowthBy;
use session::heap::table::BandSort;
use session::link_text::{MAX_TEXT, cut, escape, escape_text, number, unescape, unless};

model::named_enum! {
    /// Tabs of the heap panel.
    #[derive(Default, Hash)]
    pub enum Tab: from_name {
        /// Chart over time.
        #[default]
        Chart: "chart", "Chart", "Heap by band over time.";
        /// Table of all bands.
        Table: "table", "Table", "All bands with their numbers.";
        /// One census, or the difference of two.
        Moments: "moments", "Compare censuses", "One census, or the differences between two.";
        /// Bands ranked by growth.
        Growth: "growth", "Growth", "Growing bands, and bands that correlate with them.";
        /// Memory held by the runtime.
        Held: "held", "Memory held vs live", "Memory that the runtime holds from the system, and its live part.";
        /// Tree of cost centres.
        Tree: "tree", "Cost-centre tree", "Bytes by cost centre: self, and total with callees.";
    }
    /// Returns the name in links, which never changes.
    fn name;
    /// Returns the display name.
    fn title;
    /// Returns a one-sentence description.
    fn help;
}

model::named_enum! {
    /// Forms of the chart.
    #[derive(Default, Hash)]
    pub enum Form: from_name {
        /// Stacked bands.
        #[default]
        Area: "area", "Area", "Stacked bands: the top is the sum";
        /// Stacked bands as shares of the sum.
        Share: "share", "Share", "Share of each band in the sum";
        /// Stacked bands around a center line.
        Stream: "stream", "Stream", "Bands stacked around a center line, which emphasizes changes";
        /// One line per band.
        Lines: "lines", "Lines", "A line for each band";
        /// One stacked bar per census.
        Bars: "bars", "Bars", "A bar for each census";
    }
    /// Returns the name in links, which never changes.
    fn name;
    /// Returns the display name.
    fn title;
    /// Returns a one-sentence description.
    fn help;
}

/// Settings of the heap panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapView {
    /// Profile, and selection of its bands.
    pub choice: HeapChoice,
    /// Open tab.
    pub tab: Tab,
    /// Form of the chart.
    pub form: Form,
    /// Whether the chart shows the whole log instead of the timeline's view.
    pub whole: bool,
    /// Whether all lines share one scale.
    pub one_scale: bool,
    /// Overlays of the chart.
    pub over: Vec<OverlayKind>,
    /// Text that overlaid messages must contain.
    pub include: String,
    /// Text that overlaid messages must not contain.
    pub exclude: String,
    /// Order of the table.
    pub sort: BandSort,
    /// Compared censuses and the order of their bands.
    pub moments: CensusDiffChoice,
    /// Ranking of growth.
    pub growth: GrowthBy,
}

/// Maximum number of bands shown individually.
pub const MAX_BANDS: u32 = 200;
/// Maximum number of hidden bands in a link.
const MAX_HIDDEN: usize = 100;
/// Maximum length of a band's key in a link, in bytes; large because cost centre stacks can be long.
const MAX_KEY: usize = 10 * MAX_TEXT;

/// Link keys, in the order of the values that `write` returns.
const KEYS: [&str; 18] = [
    "ht", "hm", "hw", "hl", "hv", "hi", "hx", "hp", "hg", "hn", "ho", "hq", "hh", "ha", "hs", "hc",
    "hd", "hr",
];
/// Link key of the followed band.
const PINNED: &str = "hk";

fn band(key: Option<&String>) -> Option<String> {
    let key = key.filter(|key| key.len() <= MAX_KEY)?;
    Some(escape(key))
}

impl PanelSettings for HeapView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        let choice = &self.choice;
        let usual = HeapChoice::default();
        let hidden = choice.hidden.iter().take(MAX_HIDDEN);
        let hidden: Vec<String> = hidden.filter_map(|key| band(Some(key))).collect();
        let over: Vec<&str> = self.over.iter().map(|over| over.name()).collect();
        let order = format!(
            "{}{}",
            choice.order.name(),
            if choice.reversed { ".up" } else { "" }
        );
        let values = [
            unless(self.tab, Tab::default()).map(|tab| tab.name().to_owned()),
            unless(self.form, Form::default()).map(|form| form.name().to_owned()),
            self.whole.then(|| "all".to_owned()),
            self.one_scale.then(|| "one".to_owned()),
            (!over.is_empty()).then(|| over.join(",")),
            escape_text(&self.include),
            escape_text(&self.exclude),
            (choice.profile > 0).then(|| (u64::from(choice.profile) + 1).to_string()),
            unless(choice.group, usual.group).map(|group| group.name().to_owned()),
            unless(choice.bands, usual.bands).map(|bands| bands.to_string()),
            unless(order, usual.order.name().to_owned()),
            escape_text(&choice.filter),
            (!hidden.is_empty()).then(|| hidden.join(",")),
            band(choice.alone.as_ref()),
            unless(self.sort, BandSort::default()).map(BandSort::words),
            self.moments.censuses_words(),
            self.moments.order_words(),
            unless(self.growth, GrowthBy::default()).map(|by| by.name().to_owned()),
        ];
        let pinned = (PINNED, band(choice.pinned.as_ref()));
        KEYS.into_iter().zip(values).chain([pinned]).collect()
    }

    fn read(&mut self, key: &str, raw: &str) -> ParseResult {
        if !KEYS.contains(&key) && key != PINNED {
            return ParseResult::UnknownKey;
        }
        self.parse_value(key, raw)
            .map_or(ParseResult::Unsupported, |()| ParseResult::Applied)
    }
}

impl HeapView {
    /// Parses one key; `None` if its value is not understood.
    fn parse_value(&mut self, key: &str, raw: &str) -> Option<()> {
        let choice = &mut self.choice;
        let text = || unescape(raw).map(|text| cut(&text).to_owned());
        let band = |raw: &str| unescape(raw).filter(|key| key.len() <= MAX_KEY);
        match key {
            "ht" => self.tab = Tab::from_name(raw)?,
            "hm" => self.form = Form::from_name(raw)?,
            "hw" if raw == "all" => self.whole = true,
            "hl" if raw == "one" => self.one_scale = true,
            "hv" => {
                let mut over: Vec<OverlayKind> =
                    raw.split(',').filter_map(OverlayKind::from_name).collect();
                over.dedup();
                over.truncate(OverlayKind::ALL.len());
                self.over = over;
            }
            "hi" => self.include = text()?,
            "hx" => self.exclude = text()?,
            "hp" => choice.profile = u32::try_from(number(raw)?.checked_sub(1)?).ok()?,
            "hg" => choice.group = Grouping::from_name(raw)?,
            "hn" => choice.bands = u32::try_from(number(raw)?).ok()?.clamp(1, MAX_BANDS),
            "ho" => {
                let (word, reversed) = match raw.strip_suffix(".up") {
                    Some(word) => (word, true),
                    None => (raw, false),
                };
                choice.order = BandOrder::from_name(word)?;
                choice.reversed = reversed;
            }
            "hq" => choice.filter = text()?,
            "hh" => {
                let hidden = raw.split(',').filter_map(band);
                choice.hidden = hidden.take(MAX_HIDDEN).collect();
            }
            "ha" => choice.alone = Some(band(raw)?),
            "hk" => choice.pinned = Some(band(raw)?),
            "hs" => self.sort = BandSort::from_words(raw)?,
            "hc" => self.moments.read_censuses(raw)?,
            "hd" => self.moments.read_order(raw)?,
            "hr" => self.growth = GrowthBy::from_name(raw)?,
            _ => return None,
        }
        Some(())
    }

    /// Follows a band, or stops following it.
    pub fn pin(&mut self, key: &str) {
        toggle_only(&mut self.choice.pinned, key);
    }

    /// Hides a band, or shows it again.
    pub fn hide(&mut self, key: &str) {
        toggle_item(&mut self.choice.hidden, key.to_owned());
    }

    /// Shows only this band, or all again.
    pub fn alone(&mut self, key: &str) {
        toggle_only(&mut self.choice.alone, key);
    }

    /// Toggles an overlay of the chart.
    pub fn toggle(&mut self, over: OverlayKind) {
        toggle_item(&mut self.over, over);
    }
}

fn toggle_only(only: &mut Option<String>, key: &str) {
    *only = (only.as_deref() != Some(key)).then(|| key.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::panel::read_back;
    use session::heap::census_diff::CensusDiffColumn;
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
            sort: BandSort::sorted_by(BandColumn::Slope),
            moments: CensusDiffChoice {
                before: Some(2),
                column: CensusDiffColumn::Before,
                descending: false,
                ..CensusDiffChoice::default()
            },
            growth: GrowthBy::Gained,
            choice: HeapChoice {
                profile: 2,
                group: Grouping::Module,
                bands: 30,
                order: BandOrder::Name,
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
        view.toggle(OverlayKind::Live);
        view.toggle(OverlayKind::Messages);
        assert_eq!(read_back::<HeapView>(view.write()), view);
    }

    #[test]
    fn pinning_hiding_and_showing_alone_are_undone_by_doing_them_again() {
        let mut view = HeapView::default();
        for _ in 0..2 {
            view.pin("A");
            view.hide("B");
            view.alone("C");
            view.toggle(OverlayKind::Size);
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
            assert_eq!(view.read(key, raw), ParseResult::Unsupported, "{key}");
        }
        assert_eq!(view, HeapView::default());
        assert_eq!(view.read("hn", "999999"), ParseResult::Applied);
        assert_eq!(view.choice.bands, MAX_BANDS);
    }
}
