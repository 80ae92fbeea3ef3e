//! Tests of arranging columns, and of storing and parsing arrangements, including arbitrary text.

use proptest::prelude::*;

use super::*;

static COLUMNS: [Column; 6] = [
    Column::number("number", "#", 40, "").fixed(),
    Column::text("label", "Label", 150, "")
        .fixed()
        .narrow_px(90),
    Column::number("ran", "Ran", 80, ""),
    Column::number("waited", "Waited", 80, "").on_demand(),
    Column::text("why", "Why", 100, "").growing(),
    Column::text("end", "End", 120, "").wide_only(),
];

fn usual() -> Arrangement {
    Arrangement::default_for(&COLUMNS, false)
}

fn read(kept: &str) -> Arrangement {
    Arrangement::parse(kept, &COLUMNS, false)
}

fn order(of: &Arrangement) -> Vec<usize> {
    of.states().iter().map(|place| place.column).collect()
}

fn shown(of: &Arrangement) -> Vec<usize> {
    of.visible_columns().map(|(_, column)| column).collect()
}

#[test]
fn at_first_they_stand_as_the_list_has_them() {
    assert_eq!(shown(&usual()), [0, 1, 2, 4, 5]);
    assert_eq!(usual().to_text(), None);
    assert_eq!(
        usual().template().trim_end(),
        "40px 150px 80px minmax(100px,1fr) 120px"
    );
    assert_eq!(usual().row_px(), 40 + 150 + 80 + 100 + 120 + 4 * 12 + 52);
    let narrow = Arrangement::default_for(&COLUMNS, true);
    assert_eq!(shown(&narrow), [0, 1, 2, 4]);
    assert_eq!(narrow.px(1), 90);
    assert_eq!(narrow.to_text(), None);
}

#[test]
fn they_are_shown_hidden_moved_and_widened() {
    let all = usual().changed(Change::ShowAll);
    assert_eq!(shown(&all), [0, 1, 2, 3, 4, 5]);
    assert_eq!(shown(&all.changed(Change::Show(4, false))), [0, 1, 2, 3, 5]);
    assert_eq!(order(&all.changed(Change::Left(5))), [0, 1, 2, 3, 5, 4]);
    assert_eq!(order(&all.changed(Change::Right(2))), [0, 1, 3, 2, 4, 5]);
    assert_eq!(order(&all.changed(Change::Put(2, 4))), [0, 1, 3, 4, 2, 5]);
    assert_eq!(order(&all.changed(Change::Put(5, 2))), [0, 1, 5, 2, 3, 4]);
    let wide = all.changed(Change::Widen(4, Some(300)));
    assert_eq!((wide.px(4), wide.set_px(4)), (300, Some(300)));
    assert!(wide.template().contains(" 300px "));
    assert_eq!(wide.changed(Change::Widen(4, Some(1))).px(4), WIDTHS_PX.0);
    assert_eq!(wide.changed(Change::Widen(4, None)), all);
    assert_eq!(wide.changed(Change::Reset), usual());
    assert_eq!(
        wide.changed(Change::Show(2, false))
            .changed(Change::Left(5))
            .to_text()
            .as_deref(),
        Some("number,label,-ran,waited,end,why:300")
    );
}

#[test]
fn those_that_name_a_row_stay() {
    let tried = [
        Change::Show(0, false),
        Change::Show(1, false),
        Change::Left(1),
        Change::Right(0),
        Change::Right(1),
        Change::Left(2),
        Change::Put(1, 5),
        Change::Put(0, 1),
    ];
    for change in tried {
        assert_eq!(usual().changed(change), usual(), "{change:?}");
    }
    // Moved as far left as possible.
    assert_eq!(
        order(&usual().changed(Change::Put(5, 0))),
        [0, 1, 5, 2, 3, 4]
    );
    // If no column is marked, the first one stays.
    static PLAIN: [Column; 2] = [
        Column::text("a", "A", 50, ""),
        Column::text("b", "B", 50, ""),
    ];
    let plain = Arrangement::parse("-b,-a", &PLAIN, false);
    assert_eq!(plain.to_text().as_deref(), Some("a,-b"));
}

#[test]
fn what_other_versions_kept_is_understood() {
    assert_eq!(read(""), usual());
    assert_eq!(read("no,such,-columns:3"), usual());
    // The first of several duplicates wins.
    assert_eq!(shown(&read("-ran,ran:70,ran")), [0, 1, 4, 5]);
    // A column missing from the text goes after its default predecessor.
    assert_eq!(
        order(&read("number,label,end,waited,why")),
        [0, 1, 2, 5, 3, 4]
    );
    assert_eq!(read("end:99999999999").set_px(5), None);
    assert_eq!(read("end:65536").set_px(5), Some(WIDTHS_PX.1));
    assert_eq!(read("end:0").set_px(5), Some(WIDTHS_PX.0));
    assert_eq!(read("end:-7:8").set_px(5), None);
}

/// Generates texts, many of which name columns.
fn any_kept() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "-?(number|label|ran|waited|why|end)(:[0-9]{1,7})?",
        "[-,:a-z0-9é]{0,6}",
    ];
    let pieces = proptest::collection::vec(piece, 0..9).prop_map(|pieces| pieces.join(","));
    prop_oneof![4 => pieces, 1 => any::<String>()]
}

fn any_change() -> impl Strategy<Value = Change> {
    let column = || 0_usize..8;
    prop_oneof![
        (column(), any::<bool>()).prop_map(|(column, shown)| Change::Show(column, shown)),
        column().prop_map(Change::Left),
        column().prop_map(Change::Right),
        (column(), column()).prop_map(|(column, onto)| Change::Put(column, onto)),
        (column(), any::<Option<u16>>()).prop_map(|(column, px)| Change::Widen(column, px)),
        Just(Change::ShowAll),
        Just(Change::Reset),
    ]
}

fn is_sound(it: &Arrangement) {
    let mut columns = order(it);
    assert_eq!(columns[..2], [0, 1]);
    assert!(it.states()[..2].iter().all(|place| place.is_shown));
    columns.sort_unstable();
    assert_eq!(columns, [0, 1, 2, 3, 4, 5]);
    let (least, most) = WIDTHS_PX;
    for column in columns {
        assert!((least..=most).contains(&it.px(column)));
    }
    assert_eq!(it.template().split_whitespace().count(), it.count_shown());
}

proptest! {
    #[test]
    fn any_text_is_read_and_what_is_kept_says_the_same(kept in any_kept(), narrow: bool) {
        let read = Arrangement::parse(&kept, &COLUMNS, narrow);
        is_sound(&read);
        prop_assert_eq!(read.clone().normalized(), read.clone());
        let again = read.to_text().unwrap_or_default();
        prop_assert_eq!(Arrangement::parse(&again, &COLUMNS, narrow), read);
    }

    #[test]
    fn any_changes_leave_each_column_once(
        kept in any_kept(),
        changes in proptest::collection::vec(any_change(), 0..12),
    ) {
        let mut arrangement = read(&kept);
        for change in changes {
            arrangement = arrangement.changed(change);
            is_sound(&arrangement);
            prop_assert_eq!(read(&arrangement.to_text().unwrap_or_default()), arrangement.clone());
        }
        prop_assert_eq!(arrangement.changed(Change::Reset), usual());
    }
}
