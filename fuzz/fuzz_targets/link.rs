//! Any text is a link, or a file of notes, or it is said what is wrong with it; what was understood is
//! written in letters that every address may have, and read again as it was.
#![no_main]

use analysis::timeline::thread_table::ThreadView;
use libfuzzer_sys::fuzz_target;
use session::events::EventList;
use views::heap::settings::HeapView;
use views::notes::file;
use views::share::held::{held, without_texts};
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

/// Those that keep something in the link, and the usual one, which does not.
static PANELS: &[Panel] = &[
    panel("summary", Codec::of::<()>()),
    panel("findings", Codec::of::<FindingsView>()),
    panel("events", Codec::of::<EventList>()),
    panel("threads", Codec::of::<ThreadView>()),
    panel("flame", Codec::of::<FlameView>()),
    panel("heap", Codec::of::<HeapView>()),
    panel("ticky", Codec::of::<TickyView>()),
    panel("compare", Codec::of::<CompareView>()),
];

fn stays(link: &Link) {
    let written = encode(link, PANELS);
    assert!(written.is_ascii(), "{written}");
    assert_eq!(&decode(&written, PANELS), link, "{written}");
    let _ = held(link, PANELS);
}

fuzz_target!(|text: &str| {
    let link = decode(text, PANELS);
    stays(&link);
    stays(&without_texts(&link, PANELS));
    if let Ok(read) = file::read(text) {
        let again = file::read(&file::write(&read.notes, read.log)).expect("what was written");
        assert_eq!((again.notes, again.log), (read.notes, read.log));
    }
});
