//! Transformation of a tree of stacks.

use super::Transform;
use super::invert::{Paths, invert};
use super::recursion::collapse_recursion;
use model::profile::frames::{Frame, FrameId, FrameKind, Frames};
use model::profile::stacks::{StackId, Stacks};

/// Result of a transformation.
#[derive(Clone, Debug)]
pub(crate) struct Transformed {
    /// Frames of the new stacks.
    pub(crate) frames: Frames,
    /// Stacks after the transformation.
    pub(crate) stacks: Stacks,
    /// New id of each old stack; `None` if the stack and its weight were removed.
    pub(crate) map: Vec<Option<StackId>>,
    /// Number of inverted stacks that lack their outermost frames, because the complete result would be too large.
    pub(crate) shortened: u64,
}

/// Transformation of stacks, by the user or for a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    /// Transformation by the user.
    Transform(Transform),
    /// Keeps the callees of the frame with this name, under one root frame.
    Callees(String),
    /// Keeps the callers of the frame with this name, which becomes the root. The weight of its callees counts as
    /// its own.
    Callers(String),
}

/// Applies changes in order.
///
/// `seen` is the number of samples of each stack; with `None`, any stack may have samples. The result may omit
/// stacks without samples.
pub(crate) fn apply_changes(
    frames: &Frames,
    stacks: &Stacks,
    seen: Option<&[u32]>,
    changes: &[Change],
) -> Transformed {
    let mut changes = changes.iter();
    let Some(first) = changes.next() else {
        return Transformed {
            frames: frames.clone(),
            stacks: stacks.clone(),
            map: stacks.ids().map(Some).collect(),
            shortened: 0,
        };
    };
    let mut result = change(frames, stacks, seen, first);
    for next in changes {
        let seen = seen.map(|seen| seen_after(seen, &result));
        let inner = change(&result.frames, &result.stacks, seen.as_deref(), next);
        for stack in &mut result.map {
            *stack = stack.and_then(|stack| inner.map.get(stack.index()).copied().flatten());
        }
        result = Transformed {
            map: std::mem::take(&mut result.map),
            shortened: result.shortened + inner.shortened,
            ..inner
        };
    }
    result
}

/// Returns the number of samples of each new stack.
fn seen_after(seen: &[u32], done: &Transformed) -> Vec<u32> {
    let mut after = vec![0_u32; done.stacks.len()];
    for (old, new) in seen.iter().zip(&done.map) {
        if let Some(count) = new.and_then(|new| after.get_mut(new.index())) {
            *count = count.saturating_add(*old);
        }
    }
    after
}

fn change(frames: &Frames, stacks: &Stacks, seen: Option<&[u32]>, change: &Change) -> Transformed {
    let named = |name: &str| marked(frames, |frame| frame.name() == name);
    let inverted = |paths| invert(frames, stacks, seen, paths);
    match change {
        Change::Transform(Transform::Focus(name)) => focus(frames, stacks, &named(name), None),
        Change::Callees(name) => {
            let named = named(name);
            let root = (0..).zip(&named).find(|(_, named)| **named);
            focus(frames, stacks, &named, root.map(|(id, _)| FrameId(id)))
        }
        Change::Callers(name) => inverted(Paths::From(&named(name))),
        Change::Transform(Transform::Invert) => inverted(Paths::Whole),
        Change::Transform(Transform::Drop(name)) => drop_frames(frames, stacks, &named(name)),
        Change::Transform(Transform::HideIdle) => {
            drop_frames(frames, stacks, &marked(frames, Frame::is_idle))
        }
        Change::Transform(Transform::Merge(name)) => {
            let named = named(name);
            let empty = Some(StackId::EMPTY);
            rebuild_stacks(frames.clone(), stacks, empty, |into, outer, frame| {
                let outer = outer?;
                Some(if is_marked(&named, frame) {
                    outer
                } else {
                    into.push(outer, frame)
                })
            })
        }
        Change::Transform(Transform::CollapseRecursion) => collapse_recursion(frames, stacks),
        Change::Transform(Transform::MergeModules) => merge_modules(frames, stacks),
    }
}

/// Returns a flag per frame.
fn marked(frames: &Frames, is_so: impl Fn(&Frame) -> bool) -> Vec<bool> {
    frames.iter().map(|(_, frame)| is_so(frame)).collect()
}

/// Returns whether a frame is marked.
pub(super) fn is_marked(marked: &[bool], frame: FrameId) -> bool {
    marked.get(frame.0 as usize).copied().unwrap_or(false)
}

/// Rebuilds every stack from the outside in. `inner` receives the new parent, if it still exists, and the
/// innermost frame; it may drop a stack, or start one although its parent was dropped. `empty` replaces the stack
/// without frames.
fn rebuild_stacks(
    frames: Frames,
    stacks: &Stacks,
    empty: Option<StackId>,
    mut inner: impl FnMut(&mut Stacks, Option<StackId>, FrameId) -> Option<StackId>,
) -> Transformed {
    let mut into = Stacks::default();
    let mut map: Vec<Option<StackId>> = Vec::with_capacity(stacks.len());
    for stack in stacks.ids() {
        let new = match stacks.frame(stack) {
            None => empty,
            Some(frame) => {
                let outer = map.get(stacks.parent(stack).index());
                inner(&mut into, outer.copied().flatten(), frame)
            }
        };
        map.push(new);
    }
    Transformed {
        frames,
        stacks: into,
        map,
        shortened: 0,
    }
}

/// Keeps stacks from their outermost named frame inwards; `root`, if given, replaces that frame.
fn focus(frames: &Frames, stacks: &Stacks, named: &[bool], root: Option<FrameId>) -> Transformed {
    rebuild_stacks(
        frames.clone(),
        stacks,
        None,
        |into, outer, frame| match outer {
            Some(outer) => Some(into.push(outer, frame)),
            None if is_marked(named, frame) => {
                Some(into.push(StackId::EMPTY, root.unwrap_or(frame)))
            }
            None => None,
        },
    )
}

/// Removes the stacks that have a marked frame.
fn drop_frames(frames: &Frames, stacks: &Stacks, marked: &[bool]) -> Transformed {
    rebuild_stacks(
        frames.clone(),
        stacks,
        Some(StackId::EMPTY),
        |into, outer, frame| {
            let outer = outer.filter(|_| !is_marked(marked, frame))?;
            Some(into.push(outer, frame))
        },
    )
}

/// Replaces functions of the program by their modules, and merges neighbors of the same module.
fn merge_modules(frames: &Frames, stacks: &Stacks) -> Transformed {
    let mut modules = Frames::default();
    let new: Vec<FrameId> = frames
        .iter()
        .map(|(_, frame)| modules.intern(module_of(frame)))
        .collect();
    let is_module = marked(&modules, |frame| frame.kind == FrameKind::Module);
    rebuild_stacks(
        modules,
        stacks,
        Some(StackId::EMPTY),
        |into, outer, frame| {
            let (outer, frame) = (outer?, *new.get(frame.0 as usize)?);
            let same = is_marked(&is_module, frame) && into.frame(outer) == Some(frame);
            Some(if same { outer } else { into.push(outer, frame) })
        },
    )
}

fn module_of(frame: &Frame) -> Frame {
    let of_module = matches!(frame.kind, FrameKind::CostCentre | FrameKind::Haskell);
    if !of_module || frame.module.is_empty() {
        return frame.clone();
    }
    Frame {
        package: frame.package.clone(),
        ..Frame::with_kind(FrameKind::Module, &frame.module)
    }
}
