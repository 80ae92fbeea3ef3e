//! The guide explains every color, and shows every mark of the timeline.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use model::class::Class;
use scene::painter::Rect;
use scene::palette::Palette;
use scene::svg::SvgPainter;
use session::tracks::legend::{SAMPLE_PX, Section};
use views::fingerprint::fingerprint;
use views::panels::PANELS;
use views::share::encode;
use views::timeline::legend::{Entry, entries, paint_sample};
use views::tour::{SAMPLE, STEPS, sample};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/www/guide.html");
const BEGIN: &str = "writes it anew -->\n";
const END: &str = "<!-- marks: end -->";

fn guide() -> String {
    std::fs::read_to_string(FILE).expect("the guide")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Renders a mark as SVG, with the CSS variables of the page as colors.
fn picture(entry: &Entry, number: usize) -> String {
    let size = (SAMPLE_PX, entry.height_px());
    let mut painter = SvgPainter::new(size);
    let rect = Rect::new(0.0, 0.0, size.0, size.1);
    paint_sample(entry, rect, &Palette::LIGHT, false, &mut painter);
    let mut svg = painter.finish();
    for (name, color) in Palette::LIGHT.tokens() {
        svg = svg.replace(
            &format!("\"{}\"", color.css()),
            &format!("\"var(--{name})\""),
        );
    }
    // Ids of patterns and clip paths must be unique within the page.
    for kind in ["h", "c"] {
        svg = svg.replace(&format!("id=\"{kind}"), &format!("id=\"m{number}{kind}"));
        svg = svg.replace(&format!("url(#{kind}"), &format!("url(#m{number}{kind}"));
    }
    svg = svg.replace(
        " xmlns=\"http://www.w3.org/2000/svg\"",
        " aria-hidden=\"true\"",
    );
    svg.lines().collect()
}

fn marks() -> String {
    let mut out = String::new();
    let mut number = 0;
    for section in Section::ALL {
        let _ = writeln!(out, "<h3>{}</h3>", escape(section.title()));
        if !section.note().is_empty() {
            let _ = writeln!(out, "<p>{}</p>", escape(section.note()));
        }
        let _ = writeln!(out, "<dl class=\"marks\">");
        for entry in entries(section) {
            let _ = writeln!(
                out,
                "<div>{}<dt>{}</dt><dd>{}</dd></div>",
                picture(&entry, number),
                escape(entry.name),
                escape(entry.meaning)
            );
            number += 1;
        }
        let _ = writeln!(out, "</dl>");
    }
    out
}

#[test]
fn the_marks_are_those_of_the_timeline() {
    let text = guide();
    let (before, rest) = text.split_once(BEGIN).expect("where the marks begin");
    let (written, after) = rest.split_once(END).expect("where they end");
    let marks = marks();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let whole = format!("{before}{BEGIN}{marks}{END}{after}");
        std::fs::write(FILE, whole).expect("www/ can be written");
    } else {
        assert!(
            written == marks,
            "UPDATE_DOCS=1 cargo test guide writes www/guide.html anew"
        );
    }
}

#[test]
fn every_class_of_state_has_its_line_among_the_colours() {
    let text = guide();
    let colors = text.split("id=\"colours\"").nth(1).expect("the colours");
    let colors = colors.split("</section>").next().expect("their end");
    for class in Class::ALL {
        let line = format!("<th scope=\"row\">{}</th>", class.name());
        assert!(colors.contains(&line), "{line}");
    }
}

/// Every anchor that the guide or a panel links to exists in the guide.
#[test]
fn every_place_that_is_linked_is_there() {
    let text = guide();
    let ids: Vec<&str> = text
        .split("id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "an id stands twice");
    let own = text.split("href=\"#").skip(1);
    let own = own.filter_map(|rest| rest.split('"').next().map(str::to_owned));
    let mut linked: Vec<String> = own.collect();
    for file in sources() {
        let code = std::fs::read_to_string(&file).expect("a source");
        for call in ["how_to_record(\"", "guide(\""] {
            let places = code.split(call).skip(1);
            linked.extend(places.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
        }
    }
    assert!(linked.iter().any(|place| place == "record-ticky"));
    for place in linked.iter().filter(|place| !place.is_empty()) {
        assert!(unique.contains(place.as_str()), "#{place}");
    }
}

fn sources() -> Vec<std::path::PathBuf> {
    let mut folders = vec![std::path::PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/page"
    ))];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn the_tour_is_about_the_sample_and_its_links_say_what_is_known() {
    let path = format!("{}/{SAMPLE}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).expect("the sample");
    let size = 65_536.min(bytes.len());
    let middle = (bytes.len() - size) / 2;
    let samples = [
        &bytes[..size],
        &bytes[middle..middle + size],
        &bytes[bytes.len() - size..],
    ];
    assert_eq!(Some(fingerprint(bytes.len() as u64, &samples)), sample());
    for step in STEPS {
        let link = step.link(PANELS);
        assert_eq!(link.unknown.iter().count(), 0, "{}", step.title);
        assert_eq!(link.fingerprint, sample());
        assert!(!encode(&link, PANELS).is_empty(), "{}", step.title);
    }
}
