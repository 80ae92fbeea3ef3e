//! Program of the page for fleets (`www/fleet.html`). The script `www/fleet.js` hands over the digests that were
//! dropped, one by one, and shows the page that comes back. Nothing is kept, and nothing leaves the page.

use insight::fleet::{Analysis, FleetBuilder, NamePattern, RunDigest, path_labels};
use views::fleet::{FleetPage, SkippedFile, fragment, style};
use wasm_bindgen::prelude::*;

/// Fleet that is read file by file.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct FleetReader {
    builder: FleetBuilder,
    pattern: Option<NamePattern>,
    unmatched: usize,
    skipped: Vec<SkippedFile>,
}

#[wasm_bindgen]
impl FleetReader {
    /// Creates an empty fleet. `pattern` describes labels in file names; it may be empty.
    ///
    /// # Errors
    ///
    /// If the pattern is wrong, with the reason.
    #[wasm_bindgen(constructor)]
    pub fn new(pattern: &str) -> Result<Self, JsError> {
        let pattern = (!pattern.is_empty()).then(|| NamePattern::parse(pattern));
        Ok(Self {
            pattern: pattern.transpose().map_err(|why| JsError::new(&why))?,
            ..Self::default()
        })
    }

    /// Adds a digest; `log` is the path of its log, if that is known. Files that are none are noted.
    pub fn add(&mut self, path: &str, content: &[u8], log: Option<String>) {
        match serde_json::from_slice::<RunDigest>(content) {
            Ok(digest) => {
                let mut labels = path_labels(path);
                let by_name = self.pattern.as_ref().map(|pattern| pattern.labels(path));
                self.unmatched += usize::from(matches!(by_name, Some(None)));
                labels.extend(by_name.flatten().unwrap_or_default());
                if self.builder.add(path, labels, digest.reduced(&[]))
                    && let Some(log) = log
                {
                    self.builder.set_log(log);
                }
            }
            Err(error) => self.skipped.push(SkippedFile {
                path: path.to_owned(),
                why: format!("not a digest: {error}"),
            }),
        }
    }

    /// Returns the number of runs so far.
    pub fn count(&self) -> usize {
        self.builder.count()
    }

    /// Returns the page about all runs, without head.
    pub fn page(self) -> String {
        let fleet = self.builder.finish();
        let analysis = Analysis::of(&fleet);
        let notes = match self.unmatched {
            0 => Vec::new(),
            files => vec![format!(
                "{files} names did not match the name pattern: these runs lack its labels"
            )],
        };
        fragment(&FleetPage {
            fleet: &fleet,
            analysis: &analysis,
            title: None,
            link: None,
            skipped: &self.skipped,
            notes: &notes,
        })
    }
}

/// Returns the style sheet of the page.
#[wasm_bindgen]
pub fn fleet_style() -> String {
    style()
}

fn main() {
    console_error_panic_hook::set_once();
    let random = || js_sys::Math::random().to_bits();
    eventlog::hash::set_seeds(random(), random());
}
