//! The first page: what this is, and three ways to begin.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::files;

/// A log that comes with the site.
struct Sample {
    path: &'static str,
    title: &'static str,
    text: &'static str,
    size: &'static str,
}

const SAMPLES: [Sample; 6] = [
    Sample {
        path: "www/demo/web-server.eventlog.gz",
        title: "A web server",
        text: "48 labelled threads on 4 capabilities wait on queues, locks and I/O; bursts of garbage collection in between.",
        size: "2.0 s · 63,387 events",
    },
    Sample {
        path: "www/demo/parallel-sort.eventlog.gz",
        title: "A parallel sort",
        text: "Sparks that keep 4 capabilities busy at first, and leave three of them idle later on.",
        size: "1.5 s · 27,070 events",
    },
    Sample {
        path: "www/demo/profiled-ffi.eventlog.gz",
        title: "A profiled program",
        text: "Cost-centre samples and foreign calls on four OS threads, as a flame graph beside the timeline.",
        size: "2.2 s · 11,355 events",
    },
    Sample {
        path: "www/demo/shop-server-hT.eventlog.gz",
        title: "A leak",
        text: "A shop that grows all day, although its caches are bounded: the live heap by closure type.",
        size: "5.9 s · 19,354 events",
    },
    Sample {
        path: "www/demo/shop-server-hi.eventlog.gz",
        title: "The leak, by line of source",
        text: "The same shop by info table: thunks that one line makes hold every page that was sent.",
        size: "6.0 s · 26,420 events",
    },
    Sample {
        path: "www/demo/article-index-hc.eventlog.gz",
        title: "Who allocated the heap",
        text: "Articles are parsed, indexed and searched: the live heap by cost centre, phase by phase.",
        size: "4.9 s · 10,026 events",
    },
];

#[derive(Properties, PartialEq)]
pub(super) struct LandingProps {
    /// What a link that was followed is about.
    pub(super) link: Option<AttrValue>,
    /// Why a file could not be shown.
    pub(super) error: Option<AttrValue>,
    /// What became of something else.
    pub(super) notice: Option<AttrValue>,
    pub(super) on_browse: Callback<()>,
    pub(super) on_sample: Callback<&'static str>,
}

/// The logo.
#[component]
pub(super) fn Logo() -> Html {
    html! {
        <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
            <rect class="running" x="2" y="4" width="11" height="4" rx="1" />
            <rect class="gc" x="14" y="4" width="6" height="4" rx="1" />
            <rect class="gc" x="2" y="10" width="4" height="4" rx="1" />
            <rect class="running" x="7" y="10" width="15" height="4" rx="1" />
            <rect class="accent" x="5" y="16" width="9" height="4" rx="1" />
            <rect class="running" x="15" y="16" width="5" height="4" rx="1" />
        </svg>
    }
}

/// The first page.
#[component]
pub(super) fn Landing(props: &LandingProps) -> Html {
    let browse = props.on_browse.reform(|_: MouseEvent| ());
    let samples = SAMPLES.iter().map(|sample| {
        let onclick = {
            let on_sample = props.on_sample.clone();
            let path = sample.path;
            Callback::from(move |_: MouseEvent| on_sample.emit(path))
        };
        html! {
            <li>
                <button class="card" {onclick}>
                    <strong>{ sample.title }</strong>
                    <span>{ sample.text }</span>
                    <small>{ sample.size }</small>
                </button>
            </li>
        }
    });
    html! {
        <main class="landing">
            <p class="brand"><Logo />{ "Eventscope" }</p>
            <h1>{ "See what your Haskell program did" }</h1>
            <p class="lead">{ "Drop a GHC eventlog anywhere on this page: which capability ran which thread, when it collected garbage, what every thread waited for, and where the time went." }</p>
            if let Some(error) = &props.error {
                <div class="alert" role="alert"><strong>{ "That did not work. " }</strong>{ error }</div>
            }
            if let Some(notice) = &props.notice {
                <div class="hint" role="status">{ notice }</div>
            }
            if let Some(link) = &props.link {
                <div class="hint" role="status">{ link }</div>
            }
            <div class="drop">
                <button class="primary" onclick={browse}>{ "Browse…" }</button>
                <span>{ "or drop an " }<code>{ ".eventlog" }</code>{ " or a heap profile (" }<code>{ ".hp" }</code>{ ") here, gzip and zstd included" }</span>
            </div>
            <p class="privacy">
                <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1 2.5 3v4.5c0 3.4 2.3 6 5.5 7.5 3.2-1.5 5.5-4.1 5.5-7.5V3z" /></svg>
                { "Nothing leaves this computer. The log is read in this browser; the page may not send anything anywhere, and works offline." }
            </p>
            <h2 id="samples">{ "Look around first" }</h2>
            <ul class="samples" aria-labelledby="samples">{ for samples }</ul>
            <details class="how">
                <summary>{ "How to make an eventlog" }</summary>
                <pre><code>{ "ghc -threaded -rtsopts Main.hs\n./Main +RTS -l -N          # writes Main.eventlog\n./Main +RTS -l -N -hT      # with what holds the heap\n\n# with cost-centre samples for the flame graph\nghc -threaded -rtsopts -prof -fprof-late Main.hs\n./Main +RTS -l -p -N" }</code></pre>
                <p>{ "Before GHC 9.4 add -eventlog to the first command. Name threads with labelThread and phases with traceMarkerIO: both are shown." }</p>
            </details>
        </main>
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct FileInputProps {
    pub(super) node: NodeRef,
    pub(super) on_files: Callback<Vec<web_sys::File>>,
}

/// The file dialog: a button elsewhere opens it.
#[component]
pub(super) fn FileInput(props: &FileInputProps) -> Html {
    let onchange = {
        let on_files = props.on_files.clone();
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            let files = input
                .files()
                .map_or_else(Vec::new, |files| files::all(&files));
            if !files.is_empty() {
                on_files.emit(files);
            }
            // The same file may be chosen again.
            input.set_value("");
        })
    };
    html! {
        <input ref={props.node.clone()} class="visually-hidden" type="file" tabindex="-1" multiple=true
            aria-label="Eventlog, and the executable that wrote it" {onchange} />
    }
}
