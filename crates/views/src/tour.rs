//! Guided tour: views of a sample log with explanations.

use crate::fingerprint::Fingerprint;
use crate::share::{Link, decode};
use crate::view::panel::Panel;

/// Path of the tour's sample log.
pub const SAMPLE: &str = "www/demo/web-server.eventlog.gz";
/// Fingerprint of the sample log.
const FINGERPRINT: &str = "8yqt.03bfae4a759d";

/// Stop of the tour.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Topic of the stop.
    pub title: &'static str,
    /// What to look at.
    pub see: &'static str,
    /// Why it matters to the author of a slow program.
    pub why: &'static str,
    /// View in link format.
    pub(crate) view: &'static str,
}

impl Step {
    /// Returns the link that the stop shows; `panels` is the panel table.
    pub fn link(&self, panels: &'static [Panel]) -> Link {
        Link {
            fingerprint: sample(),
            ..decode(self.view, panels)
        }
    }
}

/// Returns the fingerprint of the sample log.
pub fn sample() -> Option<Fingerprint> {
    Fingerprint::parse(FINGERPRINT)
}

/// Stops of the tour, in order.
pub const STEPS: &[Step] = &[
    Step {
        title: "Two seconds of a web server",
        see: "Time runs from left to right. Each row under Capabilities is one capability: it runs one Haskell thread at a time. This server had four (+RTS -N4).",
        why: "Green is Haskell code, orange is garbage collection, and gaps are idle time. A slow program has too much orange or too many gaps.",
        view: "p=summary",
    },
    Step {
        title: "Collecting, or idle?",
        see: "The Summary panel shows the same in numbers. Productivity is 85.8 %, so garbage collection is not the problem. But Capabilities busy shows that the capabilities ran threads only 28.5 % of the time.",
        why: "If Productivity is low, look at memory first. If only Capabilities busy is low, threads wait: more capabilities would not help.",
        view: "p=summary&hide=spans",
    },
    Step {
        title: "The numbers of a range",
        see: "Drag on the timeline to select a range of time. Here it is 200 ms long, and the panel below now shows only this part.",
        why: "Compare a slow part with a good one: the differences are the first suspects. Esc clears the range.",
        view: "p=summary&r=840m200",
    },
    Step {
        title: "The longest pause",
        see: "The panel Collections lists every garbage collection. The longest is selected on the timeline: for 13.98 ms no thread ran. Below it each capability shows its part: bright orange is work, faded orange is waiting.",
        why: "A request that comes in now waits that long. Less live data, a larger nursery (-A) or the nonmoving collector make pauses shorter or rarer.",
        view: "t=835m40&e=847108873.gc&p=gc",
    },
    Step {
        title: "The waits of a thread",
        see: "One thread of the server, client-02, is pinned at the top. The thin purple line means blocked on an MVar: for 6.87 ms it waits for an answer. The dark blue line before it is sleep: the client pauses between two requests.",
        why: "A thread that hardly runs is not slow, it waits. Press U to go to the thread that woke it: it waited for worker-5.",
        view: "t=805m20&e=812952761.thread24&pin=thread24&p=threads&tq=client-02",
    },
    Step {
        title: "Findings",
        see: "Some fifty rules detect known problems. This one found that 18 threads take turns, for a lock or in a pipeline: on average 1.3 of them ran.",
        why: "Start here with a log of your own. Each finding has advice, its caveats, and its evidence on the timeline.",
        view: "p=findings&io=lock-convoy",
    },
    Step {
        title: "A flame graph of waiting",
        see: "The wider a box, the more time. Each column is a thread; the boxes below show whether it was blocked or ready, and the reason. Double-click a box to zoom in.",
        why: "The widest box matters most. A log of a profiled program has the same picture of its functions: it shows where your code spends time.",
        view: "p=flame&fk=waiting&fo=left",
    },
    Step {
        title: "Now your own program",
        see: "Run it with +RTS -l and drop the .eventlog on this page. For sparks, cost centres or heap profiles, the guide has the flags to copy.",
        why: "Share link copies a link to this view, for anyone who has the same log. The link never contains the log itself.",
        view: "p=summary",
    },
];
