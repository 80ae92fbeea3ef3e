//! Builds a site in parallel with tests.

use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::thread::Scope;

use crate::process::{self, During, Failure, Result};
use crate::project::Project;
use crate::site::Kind;
use crate::test::tally::Tally;

/// Build in progress.
#[derive(Debug)]
pub(super) struct BackgroundBuild {
    /// Kind of the site.
    pub(super) kind: Kind,
    built: Receiver<BuildOutcome>,
}

/// Output and outcome of a build.
type BuildOutcome = Result<(String, Result<()>)>;

impl BackgroundBuild {
    /// Starts to build a site.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        project: &'scope Project,
        kind: Kind,
    ) -> Self {
        let (sender, built) = mpsc::channel();
        scope.spawn(move || {
            // The receiver is gone if the run stopped early.
            let _ = sender.send(build(project, kind));
        });
        Self { kind, built }
    }

    /// Waits for the build, prints its output, and counts a failure. Returns whether it succeeded.
    pub(super) fn wait(&self, tally: &mut Tally<'_>) -> bool {
        let name = name(self.kind);
        let outcome = match self.built.recv() {
            Ok(Ok((output, outcome))) => {
                println!("\n-- output of: {name}\n{output}--\n");
                outcome
            }
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(Failure::new("the build panicked")),
        };
        tally.record(name, outcome)
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Quick => "build of the quick site",
        Kind::Shipped => "build of the shipped site",
    }
}

/// Builds a site in another process, whose output is captured.
fn build(project: &Project, kind: Kind) -> BuildOutcome {
    // Install these first, as two processes would do so at the same time.
    project.npm_packages()?;
    project.wasm_target()?;
    let mut xtask = Command::new(std::env::current_exe().during(|| "find xtask".into())?);
    xtask.arg("build").current_dir(&project.root);
    if kind == Kind::Quick {
        xtask.arg("--quick");
    }
    let mut output = String::new();
    let outcome = project.steps.run(name(kind), || {
        let (text, outcome) = process::run_captured(&mut xtask)?;
        output = text;
        outcome
    });
    Ok((output, outcome))
}
