//! Builds of sites that run at the same time as tests.

use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::thread::Scope;

use crate::process::{self, During, Failure, Result};
use crate::project::Project;
use crate::site::Kind;
use crate::test::tally::Tally;

/// Builds that were started, one after another.
#[derive(Debug)]
pub(super) struct Builds {
    quick: Receiver<Build>,
    shipped: Receiver<Build>,
}

/// The output of a build, and its outcome.
type Build = Result<(String, Result<()>)>;

impl Builds {
    /// Starts the builds of sites.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        project: &'scope Project,
        kinds: &[Kind],
    ) -> Self {
        let (quick_sender, quick) = mpsc::channel();
        let (shipped_sender, shipped) = mpsc::channel();
        let kinds = kinds.to_vec();
        scope.spawn(move || {
            for kind in kinds {
                let sender = match kind {
                    Kind::Quick => &quick_sender,
                    Kind::Shipped => &shipped_sender,
                };
                // A run that stops early receives nothing.
                let _ = sender.send(build(project, kind));
            }
        });
        Self { quick, shipped }
    }

    /// Waits for a build, prints its output, and counts a failure. Returns whether it succeeded.
    pub(super) fn wait(&self, tally: &mut Tally<'_>, kind: Kind) -> bool {
        let receiver = match kind {
            Kind::Quick => &self.quick,
            Kind::Shipped => &self.shipped,
        };
        let outcome = match receiver.recv() {
            Ok(Ok((output, outcome))) => {
                println!("\n-- output of: {}\n{output}--\n", name(kind));
                outcome
            }
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(Failure::new("the build panicked")),
        };
        tally.record(name(kind), outcome)
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Quick => "build of the quick site",
        Kind::Shipped => "build of the shipped site",
    }
}

/// Builds a site in another process, whose output is captured.
fn build(project: &Project, kind: Kind) -> Build {
    // Two processes would install them at the same time.
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
