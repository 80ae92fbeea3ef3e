//! Tests with links that must remain readable, unusual links, and arbitrary links.

use proptest::collection::{btree_set, vec};
use proptest::option::of;
use proptest::prelude::*;

use super::contents::{LinkEntry, link_entries, redacted};
use super::{decode as decode_with, encode as encode_with, *};
use crate::fingerprint::fingerprint;
use crate::notes::tests::any_notes;
use crate::notes::{MAX_NAME, MAX_NOTES, Note};
use crate::timeline::arrange::{Move, TrackView};
use crate::view::flame::{FlameOrder, FlameView, TwoLogs};
use crate::view::panel::{Codec, Settings};
use crate::view::tracks::MAX_TRACKS;
use analysis::flamegraph::sources;
use analysis::timeline::thread_lane::ThreadOrder;
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableSettings};
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::ids::{CapId, OsThreadId, ThreadId};
use model::profile::weights::Measure;
use model::time::Interval;
use session::events::EventList;
use session::events::filter::{CapFilter, EventFilter};
use session::flame::transform::Transform;

const FLAME: PanelName = PanelName("flame");

const fn panel(name: PanelName, codec: Codec) -> Panel {
    Panel {
        name,
        title: "",
        help: "",
        keys: &[],
        codec,
    }
}

/// Panels with settings, and the default panel, which has none.
static PANELS: [Panel; 4] = [
    panel(PanelName("summary"), Codec::for_settings::<()>()),
    panel(PanelName("events"), Codec::for_settings::<EventList>()),
    panel(
        PanelName("threads"),
        Codec::for_settings::<ThreadTableSettings>(),
    ),
    panel(FLAME, Codec::for_settings::<FlameView>()),
];

fn encode(link: &Link) -> String {
    encode_with(link, &PANELS)
}

fn decode(text: &str) -> Link {
    decode_with(text, &PANELS)
}

/// Combines the settings of panels.
fn settings(flame: FlameView, events: EventList, threads: ThreadTableSettings) -> Settings {
    let mut settings = Settings::default();
    settings.set(flame);
    settings.set(events);
    settings.set(threads);
    settings
}

fn span(start: u64, end: u64) -> Option<Interval> {
    Some(Interval::new(Nanos(start), Nanos(end)))
}

fn track(name: &str) -> TrackName {
    TrackName::new(name).expect("a name")
}

fn note(start: u64, end: u64, name: &str) -> Note {
    Note::new(Interval::new(Nanos(start), Nanos(end)), name)
}

#[test]
fn the_times_of_a_link_are_those_of_its_first_log() {
    let [one, two, three] = [1, 2, 3].map(|len| Some(Fingerprint { len, hash: 0 }));
    let link = |other: Option<Fingerprint>| Link {
        fingerprint: one,
        other: other.map(|print| (Role::Before, print)),
        ..Link::default()
    };
    assert!(link(two).is_of_second(two));
    for log in [one, three, None] {
        assert!(!link(two).is_of_second(log), "{log:?}");
    }
    // Neither a link to one log nor the comparison of a log with itself has a log without times.
    for log in [one, two, three, None] {
        assert!(!link(None).is_of_second(log), "{log:?}");
        assert!(!link(one).is_of_second(log), "{log:?}");
    }
}

/// Returns a link with a value for every key.
fn full() -> Link {
    let mut link = Link {
        fingerprint: Some(Fingerprint {
            len: 15_640_237,
            hash: 0x4f0a_91c2_d7e3,
        }),
        other: Some((
            Role::Before,
            Fingerprint {
                len: 11_558,
                hash: 0x0a91_c2d7_e34f,
            },
        )),
        log_name: Some("a b&c.eventlog".into()),
        url: Some("logs/a b.eventlog".into()),
        view: View {
            visible: span(12_345_000_000, 13_845_000_000),
            selection: span(12_600_000_001, 12_600_000_041),
            selected: Some(Selected {
                time: Nanos(12_601_234_567),
                track: TrackName::capability(CapId(3)),
            }),
            panel: FLAME,
            room: PanelLayout::Timeline,
            tracks: TrackView {
                filter: "worker µ".into(),
                hidden: [track("gc"), TrackName::thread(ThreadId(12))].into(),
                folded: [track("a,b")].into(),
                opened: [track("sparks")].into(),
                pinned: vec![track("cap1"), track("cap0")],
                moved: vec![
                    Move {
                        name: track("cap3"),
                        after: Some(track("cap0")),
                    },
                    Move {
                        name: track("a!b"),
                        after: None,
                    },
                ],
                selected: [track("cap2")].into(),
                threads: ThreadOrder::Label,
                by_label: true,
                prefixes: SpanPrefixes::of_lists("BEGIN, >", "DONE,END"),
            },
            settings: settings(
                FlameView {
                    source: Some(sources::COST_CENTRES),
                    order: FlameOrder::LeftHeavy,
                    tracks: TrackName::os_thread(OsThreadId(1234)),
                    measure: Measure::Count,
                    steps: vec![Transform::HideIdle, Transform::Focus("Main.a,b".into())],
                    frame: "Main.f".into(),
                    before: span(0, 5_000_000),
                    moments: span(200, 900),
                    two: TwoLogs::Shares,
                    area: false,
                    search: "100 %".into(),
                },
                EventList {
                    filter: EventFilter {
                        types: vec![1, 19],
                        cap: CapFilter::Only(CapId(2)),
                        thread: Some(ThreadId(12)),
                        ..EventFilter::default()
                    },
                    search: "a+b".into(),
                },
                ThreadTableSettings {
                    filter: "io".into(),
                    sort: ThreadColumn::Ready,
                    descending: false,
                },
            ),
            notes: Rc::new(
                [
                    note(7, 7, "start"),
                    note(12_600_000_000, 12_640_000_000, "a, b"),
                ]
                .into_iter()
                .collect(),
            ),
        },
        ..Link::default()
    };
    link.unknown.insert("zoom", "3".into()).expect("room");
    link
}

/// Strings that links of version 1 contain. Their meaning must never change.
#[test]
fn frozen_version_1() {
    let of = |edit: fn(&mut View)| {
        let mut link = Link::default();
        edit(&mut link.view);
        link
    };
    let cases = [
        ("", Link::default()),
        (
            "v=1&t=0s2",
            of(|view| view.visible = span(0, 2_000_000_000)),
        ),
        (
            "v=1&t=56117u1284",
            of(|view| view.visible = span(56_117_000, 57_401_000)),
        ),
        ("v=1&r=7n0", of(|view| view.selection = span(7, 7))),
        ("v=1&p=flame", of(|view| view.panel = FLAME)),
        (
            "v=1&q=io%20manager",
            of(|view| view.tracks.filter = "io manager".into()),
        ),
        (
            "v=1&hide=activity,gc",
            of(|view| view.tracks.hidden = [track("gc"), track("activity")].into()),
        ),
        (
            "v=1&f=9b831.4f0a91c2d7e3&lb=8x2.0a91c2d7e34f&n=a%20b%26c.eventlog&url=logs%2Fa%20b.eventlog&t=12345m1500&r=12600000001n40\
             &e=12601234567.cap3&p=flame&ph=1&q=worker%20%C2%B5&hide=gc,thread12&fold=a%2Cb&open=sparks&pin=cap1,cap0\
             &move=cap3!cap0,a%21b!&sel=cap2&to=label&tg=1&sp=BEGIN,%3E!DONE,END\
             &es=a%2Bb&et=1.19&ec=2&eh=12&ts=ready.up&tq=io&fk=cost-centres&fo=left&fs=os1234&fm=samples&fx=idle,focus%3AMain.a%2Cb&ff=Main.f&fc=0m5&fd=200n700&fl=shares&fa=0&fq=100%20%25\
             &k=7~start,12600m40~a%2C%20b&zoom=3",
            full(),
        ),
    ];
    for (text, link) in cases {
        assert_eq!(encode(&link), text);
        assert_eq!(decode(text), link, "{text}");
    }
}

/// Earlier builds wrote the keys of panels in a different order.
#[test]
fn the_order_of_keys_does_not_matter() {
    let link = decode("v=1&fk=cost-centres&fo=left&es=a&ts=ready.up&k=7~start");
    let again = decode("k=7~start&ts=ready.up&es=a&fo=left&fk=cost-centres");
    assert_eq!(link, again);
    assert_eq!(
        encode(&link),
        "v=1&es=a&ts=ready.up&fk=cost-centres&fo=left&k=7~start"
    );
}

/// Pieces whose encoding differs from their input.
#[test]
fn odd_pieces() {
    let cases = [
        ("#v=1&p=flame", "v=1&p=flame"),
        ("p=flame", "v=1&p=flame"),
        ("p=summary&fs=all&fo=time&q=&n=", ""),
        ("t=m1500", "v=1&t=0m1500"),
        ("t=1000m2000", "v=1&t=1s2"),
        ("t=1s2&t=3s4&t=x&t=5s&t=-5s1&t=+5s1&t=1s+2", "v=1&t=3s4"),
        ("t=18446744073709551615s1", ""),
        ("t=18446744073709551615n1", ""),
        ("t=18446744073709551616n1", ""),
        ("q=a&q=%zz&q=%4&q=%ff&q", "v=1&q=a"),
        ("q=100%", ""),
        ("garbage&=1&&&=&p=summary", ""),
        ("%70=flame", "v=1&p=flame"),
        ("e=12.&e=x.cap1&e=7.a.b", "v=1&e=7.a.b"),
        ("hide=,,gc,%zz,gc", "v=1&hide=gc"),
        ("hide=gc&hide=", ""),
        ("sp=START!STOP,END&sp=x&sp=", ""),
        ("sp=%20a%2Cb%20,,a,%zz!", "v=1&sp=a,b!"),
        ("sp=!", "v=1&sp=!"),
        (
            "k=9~b,7n0~a,x~,~,5,-1~,1s~,%zz~,3~%zz,1s2~",
            "v=1&k=7~a,9~b,1s2~",
        ),
        ("k=7~a~b%0A,7~%20", "v=1&k=7~a~b,7~"),
        (
            "k=18446744073709551616~,18446744073709551615~",
            "v=1&k=18446744073709551615~",
        ),
        ("k=7~a&k=", ""),
        ("et=19.2.19&et=1.&et=&et=x&et=70000", "v=1&et=2.19"),
        ("ec=none&ec=-1&ec=70000&ec=x", "v=1&ec=none"),
        ("eh=3&eh=-3&eh=4294967296", "v=1&eh=3"),
        ("p=flame&p=heap", "v=1&p=heap"),
        ("p=heap&p=flame", "v=1&p=flame"),
        ("p=heap&p=summary", ""),
        ("p=flame&p=", "v=1&p=flame"),
        ("ph=1&ph=0", ""),
        ("ph=1&pm=1&ph=0", "v=1&pm=1"),
        ("ts=ready&ts=future", "v=1&ts=future"),
        ("ts=future&ts=ready", "v=1&ts=ready"),
        ("fk=future&fo=left", "v=1&fo=left&fk=future"),
        (
            "f=zz.123&f=ZZ.00000000000A&f=+1.00000000000a",
            "v=1&f=zz.00000000000a",
        ),
        ("lb=8x2.0a91c2d7e34f&la=x", "v=1&lb=8x2.0a91c2d7e34f"),
        (
            "lb=8x2.0a91c2d7e34f&la=8x3.0a91c2d7e34f",
            "v=1&la=8x3.0a91c2d7e34f",
        ),
        ("v=0&v=-1&v=99999999999", ""),
        ("b=2&a=1&b=3", "v=1&a=1&b=3"),
    ];
    for (text, canonical) in cases {
        assert_eq!(encode(&decode(text)), canonical, "{text}");
    }
}

#[test]
fn a_newer_version_says_so() {
    let state = decode("v=2&t=1s2&p=heap&w=5");
    assert!(state.newer());
    assert_eq!(state.view.visible, span(1_000_000_000, 3_000_000_000));
    assert_eq!(encode(&state), "v=2&t=1s2&p=heap&w=5");
    assert!(!decode("v=1").newer());
    assert!(!decode("").newer());
}

#[test]
fn a_key_that_comes_twice_is_written_as_it_was_read() {
    let written = encode(&full());
    for piece in written.split('&') {
        let (key, _) = piece.split_once('=').expect("a key");
        let link = decode(&format!("{written}&{key}=zzz"));
        assert_eq!(decode(&encode(&link)), link, "{key}");
    }
}

#[test]
fn everything_is_bounded() {
    let long = "é".repeat(5_000);
    let state = decode(&format!(
        "q={long}&fq={long}&n={long}&fs={long}&p={long}&z={long}"
    ));
    assert_eq!(state.view.tracks.filter.len(), MAX_TEXT);
    let flame = state.view.settings.get::<FlameView>();
    assert_eq!(flame.search.len(), MAX_TEXT);
    assert_eq!(flame.tracks, TrackName::all());
    assert_eq!(state.unknown, Unknown::default());
    let many: Vec<_> = (0..1000).map(|i| format!("k{i}=1")).collect();
    assert_eq!(decode(&many.join("&")).unknown.0.len(), MAX_UNKNOWN);
    let many: Vec<_> = (0..1000).map(|i| format!("cap{i}")).collect();
    assert_eq!(
        decode(&format!("hide={}", many.join(",")))
            .view
            .tracks
            .hidden
            .len(),
        MAX_TRACKS
    );
    let many: Vec<_> = (0..1000).map(|i| format!("{i}~{long}")).collect();
    let notes = decode(&format!("k={}", many.join(","))).view.notes;
    assert_eq!(notes.len(), MAX_NOTES);
    assert!(notes.iter().all(|note| note.name().len() == MAX_NAME));
}

#[test]
fn names_of_tracks() {
    assert_eq!(track("thread12").as_thread(), Some(ThreadId(12)));
    assert_eq!(track("thread-1").as_thread(), None);
    assert_eq!(track("gc").as_thread(), None);
    assert_eq!(TrackName::new(""), None);
}

#[test]
fn fingerprints() {
    let print = fingerprint(15_640_237, &[b"abc", b"de"]);
    assert_eq!(print.len(), 15_640_237);
    assert_eq!(print.to_string(), "9b831.a0b539c85415");
    assert_eq!(Fingerprint::parse(&print.to_string()), Some(print));
    assert_ne!(print, fingerprint(15_640_237, &[b"ab", b"cde"]));
    assert_ne!(print, fingerprint(15_640_236, &[b"abc", b"de"]));
    assert_eq!(
        fingerprint(u64::MAX, &[]).to_string().split('.').next(),
        Some("3w5e11264sgsf")
    );
    assert!(fingerprint(0, &[]).to_string().starts_with("0."));
}

fn any_span() -> impl Strategy<Value = Interval> {
    let unit = prop::sample::select(vec![1, 1_000, 1_000_000, 1_000_000_000]);
    let scaled = (unit, 0..1_000_000_u64, 0..1_000_000_u64)
        .prop_map(|(unit, start, length)| (start * unit, (start + length) * unit));
    let any = any::<(u64, u64)>().prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![scaled, any].prop_map(|(start, end)| Interval::new(Nanos(start), Nanos(end)))
}

fn any_text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| cut(&text).to_owned())
}

fn any_track() -> impl Strategy<Value = TrackName> {
    prop_oneof![
        any::<u16>().prop_map(|id| TrackName::capability(CapId(id))),
        any::<u32>().prop_map(|id| TrackName::thread(ThreadId(id))),
        "\\PC{1,12}".prop_map(|name| track(&name)),
    ]
}

prop_compose! {
    fn any_unknown()(
        panel in of("heap[a-z]{0,5}"),
        others in vec(("z[^a-z]{0,7}", any_text()), 0..4),
    ) -> (Option<String>, Unknown) {
        let mut unknown = Unknown::default();
        for (key, value) in others {
            unknown.insert(&key, value);
        }
        (panel, unknown)
    }
}

fn any_step() -> impl Strategy<Value = Transform> {
    let name = || "\\PC{1,12}";
    prop_oneof![
        prop::sample::select(vec![
            Transform::CollapseRecursion,
            Transform::MergeModules,
            Transform::HideIdle,
            Transform::Invert,
        ]),
        name().prop_map(Transform::Focus),
        name().prop_map(Transform::Drop),
        name().prop_map(Transform::Merge),
    ]
}

prop_compose! {
    fn any_flame()(
        source in of(prop::sample::select(sources::all().collect::<Vec<_>>())),
        order in prop::sample::select(FlameOrder::ALL.to_vec()),
        tracks in any_track(),
        steps in vec(any_step(), 0..4),
        samples in any::<bool>(),
        before in of(any_span()),
        moments in of(any_span()),
        two in prop::sample::select(TwoLogs::ALL.to_vec()),
        area in any::<bool>(),
        frame in any_text(),
        search in any_text(),
    ) -> FlameView {
        let measure = if samples { Measure::Count } else { Measure::Amount };
        FlameView { source, tracks, order, measure, steps, frame, before, moments, two, area, search }
    }
}

prop_compose! {
    fn any_events()(
        types in btree_set(any::<u16>(), 0..5),
        cap in prop_oneof![
            Just(CapFilter::All),
            Just(CapFilter::Without),
            any::<u16>().prop_map(|cap| CapFilter::Only(CapId(cap))),
        ],
        thread in of(any::<u32>().prop_map(ThreadId)),
        search in any_text(),
    ) -> EventList {
        let types = types.into_iter().collect();
        EventList { filter: EventFilter { types, cap, thread, ..EventFilter::default() }, search }
    }
}

prop_compose! {
    fn any_threads()(
        sort in prop::sample::select(ThreadColumn::ALL.to_vec()),
        descending in any::<bool>(),
        filter in any_text(),
    ) -> ThreadTableSettings {
        ThreadTableSettings { filter, sort, descending }
    }
}

fn any_prefixes() -> impl Strategy<Value = SpanPrefixes> {
    prop_oneof![
        Just(SpanPrefixes::default()),
        any::<(String, String)>().prop_map(|(start, stop)| SpanPrefixes::of_lists(&start, &stop)),
        ("[a-z!,]{0,99}", "[A-Z ,]{0,99}")
            .prop_map(|(start, stop)| SpanPrefixes::of_lists(&start, &stop)),
    ]
}

prop_compose! {
    fn any_tracks()(
        filter in any_text(),
        (hidden, folded) in (btree_set(any_track(), 0..9), btree_set(any_track(), 0..9)),
        (opened, selected) in (btree_set(any_track(), 0..9), btree_set(any_track(), 0..9)),
        pinned in btree_set(any_track(), 0..9),
        moved in vec((any_track(), of(any_track())), 0..5),
        threads in prop::sample::select(vec![
            ThreadOrder::Activity, ThreadOrder::FirstRun, ThreadOrder::Id, ThreadOrder::Label,
        ]),
        (by_label, prefixes) in (any::<bool>(), any_prefixes()),
    ) -> TrackView {
        let moved = moved.into_iter().map(|(name, after)| Move { name, after }).collect();
        let pinned = pinned.into_iter().rev().collect();
        TrackView { filter, hidden, folded, opened, pinned, moved, selected, threads, by_label, prefixes }
    }
}

prop_compose! {
    fn any_link()(
        version in 1..4_u32,
        prints in of(((any::<u64>(), 0..1_u64 << 48), of((any::<bool>(), any::<u64>())))),
        (name, url) in (of(any_text()), of(any_text())),
        (visible, selection) in (of(any_span()), of(any_span())),
        selected in of((any::<u64>(), any_track())),
        (panel, room) in (prop::sample::select(vec![PanelName::default(), FLAME]), prop::sample::select(vec![PanelLayout::Both, PanelLayout::Timeline, PanelLayout::Panel])),
        tracks in any_tracks(),
        flame in any_flame(),
        (events, threads, notes) in (any_events(), any_threads(), any_notes()),
        (future, mut unknown) in any_unknown(),
    ) -> Link {
        // An unknown panel is only kept if no known one is open.
        if let (Some(word), true) = (future, panel == PanelName::default()) {
            unknown.insert("p", word);
        }
        Link {
            version: Version::new(version).unwrap_or_default(),
            fingerprint: prints.map(|((len, hash), _)| Fingerprint { len, hash }),
            other: prints.and_then(|(_, other)| other).map(|(before, len)| {
                let role = if before { Role::Before } else { Role::After };
                (role, Fingerprint { len, hash: len & 0xffff })
            }),
            log_name: name.filter(|name| !name.is_empty()),
            url: url.filter(|url| !url.is_empty()),
            view: View {
                visible,
                selection,
                selected: selected.map(|(time, track)| Selected { time: Nanos(time), track }),
                panel,
                room,
                tracks,
                settings: settings(flame, events, threads),
                notes: Rc::new(notes),
            },
            unknown,
        }
    }
}

/// Returns the link with the same word in all of its texts.
fn marked(link: &Link) -> Link {
    const WORD: &str = "secret";
    let mut link = link.clone();
    let name = || TrackName::new(format!("span:{WORD}")).expect("a name");
    (link.log_name, link.url) = (Some(WORD.into()), Some(WORD.into()));
    let _ = link.unknown.insert(WORD, WORD.into());
    let view = &mut link.view;
    view.selected = Some(Selected {
        time: Nanos(7),
        track: name(),
    });
    let tracks = &mut view.tracks;
    tracks.filter = WORD.into();
    tracks.prefixes = SpanPrefixes::of_lists(WORD, WORD);
    for set in [
        &mut tracks.hidden,
        &mut tracks.folded,
        &mut tracks.opened,
        &mut tracks.selected,
    ] {
        set.insert(name());
    }
    tracks.pinned.push(name());
    tracks.moved.push(Move {
        name: name(),
        after: Some(track("gc")),
    });
    tracks.moved.push(Move {
        name: track("gc"),
        after: Some(name()),
    });
    let mut flame = view.settings.get::<FlameView>();
    (flame.frame, flame.search, flame.tracks) = (WORD.into(), WORD.into(), name());
    flame.steps.push(Transform::Focus(WORD.into()));
    view.settings.set(flame);
    let search = WORD.to_owned();
    view.settings.set(EventList {
        search,
        ..view.settings.get()
    });
    let filter = WORD.to_owned();
    view.settings.set(ThreadTableSettings {
        filter,
        ..view.settings.get()
    });
    Rc::make_mut(&mut view.notes).insert(note(1, 2, WORD));
    link
}

#[test]
fn a_link_says_what_it_holds() {
    let said = link_entries(&full(), &PANELS);
    let value = |what: &str| {
        let held = said.iter().find(|held| held.label == what).expect(what);
        (held.value.replace('\u{a0}', " "), held.is_text)
    };
    let says = |text: &str, is_text| (text.to_owned(), is_text);
    assert_eq!(value("selected item"), says("cap3 at 12.601235 s", false));
    assert_eq!(
        value("address of the log"),
        says("“logs/a b.eventlog”", true)
    );
    assert_eq!(
        value("moved tracks"),
        says("cap3 behind cap0, a!b first", true)
    );
    assert_eq!(
        value("steps of the flame graph"),
        says("idle, focus:Main.a,b", true)
    );
    assert_eq!(value("panel hidden"), says("1", false));
    let bare = redacted(&full(), &PANELS);
    assert_eq!(
        encode(&bare),
        "v=1&f=9b831.4f0a91c2d7e3&lb=8x2.0a91c2d7e34f&t=12345m1500&r=12600000001n40\
         &e=12601234567.cap3&p=flame&ph=1&hide=gc,thread12&open=sparks&pin=cap1,cap0&move=cap3!cap0&sel=cap2\
         &to=label&tg=1&et=1.19&ec=2&eh=12&ts=ready.up&fk=cost-centres&fo=left&fs=os1234&fm=samples&fx=idle\
         &fc=0m5&fd=200n700&fl=shares&fa=0"
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(link in any_link()) {
        let text = encode(&link);
        prop_assert!(text.is_ascii(), "{text}");
        prop_assert_eq!(decode(&text), link);
    }

    #[test]
    fn a_link_that_was_read_holds_what_was_said(link in any_link()) {
        prop_assert_eq!(link_entries(&decode(&encode(&link)), &PANELS), link_entries(&link, &PANELS));
    }

    #[test]
    fn no_text_is_left_where_names_are_left_out(link in any_link()) {
        let bare = redacted(&link, &PANELS);
        let text = encode(&bare);
        let is_own = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"&=.,!-".contains(&byte);
        prop_assert!(text.bytes().all(is_own), "{text}");
        prop_assert_eq!(redacted(&bare, &PANELS), bare.clone());
        let said = link_entries(&bare, &PANELS);
        prop_assert!(said.iter().all(|held| !held.is_text), "{said:?}");
        // Values without text are kept.
        let plain: Vec<LinkEntry> = link_entries(&link, &PANELS).into_iter().filter(|link_entries| !link_entries.is_text).collect();
        prop_assert!(plain.iter().all(|held| said.contains(held)), "{plain:?} {said:?}");
        let marked = marked(&link);
        prop_assert_eq!(encode(&redacted(&marked, &PANELS)).find("secret"), None);
    }

    #[test]
    fn reading_anything_settles(
        text in prop_oneof![
            any::<String>(),
            "([vfntrepqzk]|l[ab]|hide|fold|f[osq]|e[stch]|t[sq]|s?p)=[a-z0-9.,!%&=nums~]{0,30}(&[vtrepzk]=[0-9a-zµ%&=~]{0,9}){0,6}",
        ],
    ) {
        let state = decode(&text);
        let written = encode(&state);
        prop_assert_eq!(&decode(&written), &state);
        prop_assert_eq!(encode(&decode(&written)), written);
    }
}
