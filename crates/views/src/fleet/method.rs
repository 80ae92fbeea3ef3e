//! Section on how the page was computed.

use super::FleetPage;
use super::html::Html;
use super::text::order;
use insight::fleet::{ALPHA, TimeOrder};
use scene::format;

/// Number of files listed that were passed over.
const SKIPPED: usize = 20;

pub(super) fn section(page: &FleetPage<'_>) -> Html {
    let mut html = Html::default();
    let alpha = ALPHA * 100.0;
    html.paragraph("", format!("If all differences were due to chance, the probability of any claim on this page would be at most {alpha:.0} %: a third each for changes in time, labels and single runs; four fifths for the numbers of the table above, the rest for all others. Times are compared as ratios, shares by difference. Differences below 5 %, or 1 percentage point, are not claimed. Each program is analyzed on its own."));
    html.paragraph(
        "",
        format!("The order of runs is {}.", order(page.fleet.order)),
    );
    let mut list = Html::default();
    if page.fleet.order != TimeOrder::Name {
        list.add("li", "", &Html::text("Changes in time are found by ranks (Pettitt’s test with binary segmentation), after subtracting the effect of labels such as hosts. The variance allows for similar runs on the same day. A change lists the labels that differ between nearly all runs shortly before and after it: they need not be its cause."));
    }
    list.add("li", "", &Html::text("Differences of a host or another label are found by the rank test, after subtracting changes in time. With six values or more, a value must also differ by more than the others differ among themselves."));
    list.add("li", "", &Html::text("A run is an outlier if its distance from the median of comparable runs exceeds the reach of both a normal distribution with their median absolute deviation and an exponential tail through the 90th and the 97.5th percentile."));
    list.add(
        "li",
        "",
        &Html::text("Quantiles are interpolated linearly."),
    );
    html.add("ul", "", &list);
    for note in page.notes {
        html.paragraph("", note);
    }
    if page.fleet.left_out > 0 {
        html.paragraph(
            "",
            format!(
                "{} are left out: the fleet has too many names.",
                format::pluralize(page.fleet.left_out, "value")
            ),
        );
    }
    if !page.skipped.is_empty() {
        let files = format::pluralize(page.skipped.len() as u64, "file");
        let mut list = Html::element("summary", "", &Html::text(format!("{files} skipped")));
        let mut items = Html::default();
        for file in page.skipped.iter().take(SKIPPED) {
            items.add(
                "li",
                "",
                &Html::text(format!("{}: {}", file.path, file.why)),
            );
        }
        if page.skipped.len() > SKIPPED {
            items.add(
                "li",
                "",
                &Html::text(format!("and {} more", page.skipped.len() - SKIPPED)),
            );
        }
        list.append(&Html::element("ul", "", &items));
        html.add("details", "class=\"skipped\"", &list);
    }
    html
}
