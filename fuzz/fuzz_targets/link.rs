//! Any text either parses as a link, or as a file of notes, or yields an error; a parsed link is encoded as ASCII
//! and parsed again without loss.
#![no_main]

use analysis::timeline::thread_table::ThreadTableSettings;
use libfuzzer_sys::fuzz_target;
use session::events::EventList;
use views::heap::settings::HeapView;
use views::notes::file;
use views::share::contents::{link_entries, redacted};
use views::share::{Link, decode, encode};
use views::view::compare::CompareView;
use views::view::findings::FindingsView;
use views::view::flame::FlameView;
use views::view::panel::{Codec, Panel, PanelName};
use views::view::ticky::TickyView;

const fn panel(name: &'static str, codec: Codec) -> Panel {
    Panel {
        name: PanelName(name),
        title: "",
        help: "",
        keys: &[],
        codec,
    }
}

/// Panels with state in the link, and a plain one without.
static PANELS: &[Panel] = &[
    panel("summary", Codec::for_settings::<()>()),
    panel("findings", Codec::for_settings::<FindingsView>()),
    panel("events", Codec::for_settings::<EventList>()),
    panel("threads", Codec::for_settings::<ThreadTableSettings>()),
    panel("flame", Codec::for_settings::<FlameView>()),
    panel("heap", Codec::for_settings::<HeapView>()),
    panel("ticky", Codec::for_settings::<TickyView>()),
    panel("compare", Codec::for_settings::<CompareView>()),
];

fn stays(link: &Link) {
    let written = encode(link, PANELS);
    assert!(written.is_ascii(), "{written}");
    assert_eq!(&decode(&written, PANELS), link, "{written}");
    let _ = link_entries(link, PANELS);
}

fuzz_target!(|text: &str| {
    let link = decode(text, PANELS);
    stays(&link);
    stays(&redacted(&link, PANELS));
    if let Ok(read) = file::read(text) {
        let again = file::read(&file::write(&read.notes, read.log)).expect("what was written");
        assert_eq!((again.notes, again.log), (read.notes, read.log));
    }
});
