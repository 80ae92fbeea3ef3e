//! Scope of numbers and lists when tracks are selected.

use super::{LogContents, TrackId};
use analysis::timeline::scope::Scope;

/// Returns the scope of the tracks with these names ([`TrackId::link`]). Tracks of a capability or a thread restrict
/// the scope; tracks of the whole program do not.
pub fn scope_of<'a>(names: impl IntoIterator<Item = &'a str>, contents: &LogContents) -> Scope {
    let (mut caps, mut threads) = (Vec::new(), Vec::new());
    let names = names.into_iter();
    for row in names.filter_map(|name| TrackId::parse(name, contents)) {
        match row.thread() {
            Some(thread) => threads.push(thread),
            None => caps.extend(row.cap()),
        }
    }
    Scope::new(caps, threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::{CapId, ThreadId};

    fn scope(names: &[&str]) -> (Vec<u16>, Vec<u32>) {
        let scope = scope_of(names.iter().copied(), &LogContents::default());
        let caps = scope.caps.iter().map(|cap| cap.0).collect();
        let threads = scope.threads.iter().map(|thread| thread.0).collect();
        (caps, threads)
    }

    #[test]
    fn tracks_of_capabilities_and_threads_count() {
        let cases: [(&[&str], &[u16], &[u32]); 8] = [
            (&[], &[], &[]),
            (&["cap3"], &[3], &[]),
            // Several tracks of a capability select it once.
            (&["events2", "cap2", "pool2", "created2"], &[2], &[]),
            (&["converted1", "blocks0", "samples1"], &[0, 1], &[]),
            (&["thread12", "thread2", "thread12"], &[], &[2, 12]),
            (&["thread7", "cap1", "cap0"], &[0, 1], &[7]),
            // Tracks of the whole program.
            (
                &["activity", "heap", "blocksnone", "task5", "calls71"],
                &[],
                &[],
            ),
            (&["span:load", "cap", "nothing", "cap70000"], &[], &[]),
        ];
        for (names, caps, threads) in cases {
            assert_eq!(scope(names), (caps.to_vec(), threads.to_vec()), "{names:?}");
        }
    }

    #[test]
    fn what_is_in_it() {
        let contents = LogContents::default();
        let scope = scope_of(["cap4", "cap1", "thread9"], &contents);
        assert!(scope.has_cap(CapId(1)) && scope.has_cap(CapId(4)));
        assert!(!scope.has_cap(CapId(9)) && !scope.has_thread(ThreadId(4)));
        assert!(scope.has_thread(ThreadId(9)) && !scope.is_everything());
        assert!(scope_of(["heap"], &contents).is_everything());
    }
}
