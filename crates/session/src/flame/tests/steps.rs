//! Effect of each step on stacks.

use super::*;

fn mixed() -> Profile {
    let cap = [
        (0, 10, "abAc"),
        (10, 20, "aBCb"),
        (20, 30, "-"),
        (40, 50, "aba"),
        (50, 60, "d"),
    ];
    profile(&cap, &[])
}

fn heavy(steps: &[Transform]) -> String {
    shown(&mixed(), &stepped(steps, View::LeftHeavy))
}

fn in_time(steps: &[Transform]) -> String {
    shown(&mixed(), &stepped(steps, View::Time))
}

#[test]
fn focus() {
    let steps = [Transform::Focus("M.b".into())];
    insta::assert_snapshot!(heavy(&steps), @r"
    total 30, bands []
    0 b 0..30 own 10 of 30, 3 samples
    1  A 0..10 own 0 of 10, 1 samples
    1  a 10..20 own 10 of 10, 1 samples
    2   c 0..10 own 10 of 10, 1 samples
    ");
    insta::assert_snapshot!(in_time(&steps), @r"
    total 60, bands [0]
    0 b 0..20 own 10 of 20, 2 samples
    0 b 30..50 own 0 of 10, 1 samples
    1  A 0..10 own 0 of 10, 1 samples
    1  a 30..50 own 10 of 10, 1 samples
    2   c 0..10 own 10 of 10, 1 samples
    ");
}

#[test]
fn drop() {
    let steps = [Transform::Drop("M.b".into())];
    insta::assert_snapshot!(heavy(&steps), @r"
    total 20, bands []
    0 IDLE 0..10 own 10 of 10, 1 samples
    0 d 10..20 own 10 of 10, 1 samples
    ");
    insta::assert_snapshot!(in_time(&steps), @r"
    total 60, bands [0]
    0 IDLE 20..30 own 10 of 10, 1 samples
    0 d 50..60 own 10 of 10, 1 samples
    ");
}

#[test]
fn merge() {
    let steps = [Transform::Merge("M.a".into())];
    insta::assert_snapshot!(heavy(&steps), @r"
    total 50, bands []
    0 b 0..20 own 10 of 20, 2 samples
    0 B 20..30 own 0 of 10, 1 samples
    0 IDLE 30..40 own 10 of 10, 1 samples
    0 d 40..50 own 10 of 10, 1 samples
    1  A 0..10 own 0 of 10, 1 samples
    1  C 20..30 own 0 of 10, 1 samples
    2   c 0..10 own 10 of 10, 1 samples
    2   b 20..30 own 10 of 10, 1 samples
    ");
}

#[test]
fn collapse_recursion() {
    let profile = profile(&[(0, 10, "abcab"), (10, 20, "abca"), (20, 30, "aab")], &[]);
    let query = stepped(&[Transform::CollapseRecursion], View::LeftHeavy);
    insta::assert_snapshot!(shown(&profile, &query), @r"
    total 30, bands []
    0 a 0..30 own 10 of 30, 3 samples
    1  b 0..20 own 20 of 20, 2 samples
    ");
}

#[test]
fn merge_modules() {
    insta::assert_snapshot!(heavy(&[Transform::MergeModules]), @r"
    total 50, bands []
    0 M 0..40 own 20 of 40, 4 samples
    0 IDLE 40..50 own 10 of 10, 1 samples
    1  N 0..20 own 0 of 20, 2 samples
    2   M 0..20 own 20 of 20, 2 samples
    ");
}

#[test]
fn hidden_idle_time_leaves_time_as_it_is() {
    insta::assert_snapshot!(heavy(&[Transform::HideIdle]), @r"
    total 40, bands []
    0 a 0..30 own 0 of 30, 3 samples
    0 d 30..40 own 10 of 10, 1 samples
    1  b 0..20 own 0 of 20, 2 samples
    1  B 20..30 own 0 of 10, 1 samples
    2   A 0..10 own 0 of 10, 1 samples
    2   a 10..20 own 10 of 10, 1 samples
    2   C 20..30 own 0 of 10, 1 samples
    3    c 0..10 own 10 of 10, 1 samples
    3    b 20..30 own 10 of 10, 1 samples
    ");
    insta::assert_snapshot!(in_time(&[Transform::HideIdle]), @r"
    total 60, bands [0]
    0 a 0..20 own 0 of 20, 2 samples
    0 a 30..50 own 0 of 10, 1 samples
    0 d 50..60 own 10 of 10, 1 samples
    1  b 0..10 own 0 of 10, 1 samples
    1  B 10..20 own 0 of 10, 1 samples
    1  b 30..50 own 0 of 10, 1 samples
    2   A 0..10 own 0 of 10, 1 samples
    2   C 10..20 own 0 of 10, 1 samples
    2   a 30..50 own 10 of 10, 1 samples
    3    c 0..10 own 10 of 10, 1 samples
    3    b 10..20 own 10 of 10, 1 samples
    ");
}

#[test]
fn inverted() {
    insta::assert_snapshot!(heavy(&[Transform::Invert]), @r"
    total 50, bands []
    0 IDLE 0..10 own 10 of 10, 1 samples
    0 a 10..20 own 0 of 10, 1 samples
    0 b 20..30 own 0 of 10, 1 samples
    0 c 30..40 own 0 of 10, 1 samples
    0 d 40..50 own 10 of 10, 1 samples
    1  b 10..20 own 0 of 10, 1 samples
    1  C 20..30 own 0 of 10, 1 samples
    1  A 30..40 own 0 of 10, 1 samples
    2   a 10..20 own 10 of 10, 1 samples
    2   B 20..30 own 0 of 10, 1 samples
    2   b 30..40 own 0 of 10, 1 samples
    3    a 20..30 own 10 of 10, 1 samples
    3    a 30..40 own 10 of 10, 1 samples
    ");
    insta::assert_snapshot!(in_time(&[Transform::Invert]), @r"
    total 60, bands [0]
    0 c 0..10 own 0 of 10, 1 samples
    0 b 10..20 own 0 of 10, 1 samples
    0 IDLE 20..30 own 10 of 10, 1 samples
    0 a 30..50 own 0 of 10, 1 samples
    0 d 50..60 own 10 of 10, 1 samples
    1  A 0..10 own 0 of 10, 1 samples
    1  C 10..20 own 0 of 10, 1 samples
    1  b 30..50 own 0 of 10, 1 samples
    2   b 0..10 own 0 of 10, 1 samples
    2   B 10..20 own 0 of 10, 1 samples
    2   a 30..50 own 10 of 10, 1 samples
    3    a 0..10 own 10 of 10, 1 samples
    3    a 10..20 own 10 of 10, 1 samples
    ");
}

#[test]
fn steps_follow_each_other() {
    let steps = [
        Transform::HideIdle,
        Transform::Focus("M.a".into()),
        Transform::MergeModules,
        Transform::Invert,
    ];
    insta::assert_snapshot!(heavy(&steps), @r"
    total 30, bands []
    0 M 0..30 own 10 of 30, 3 samples
    1  N 0..20 own 0 of 20, 2 samples
    2   M 0..20 own 20 of 20, 2 samples
    ");
    let query = stepped(&steps, View::LeftHeavy);
    insta::assert_snapshot!(tabled(&mixed(), &query), @r"
    M own 30 of 30, 3 of 3 samples
    N own 0 of 20, 0 of 2 samples
    ");
}

#[test]
fn transformed_frames_are_found() {
    let mut query = stepped(&[Transform::MergeModules], View::LeftHeavy);
    query.search = "n".into();
    let (head, _) = answer(&mixed(), &query);
    assert!(
        (head.found_share - 0.4).abs() < 1e-12,
        "{}",
        head.found_share
    );
}

#[test]
fn what_is_kept_is_what_would_be_made() {
    let cache = StepCache::default();
    let (one, other) = (mixed(), small());
    for profile in [&one, &other, &one] {
        for steps in [
            &[][..],
            &[Transform::Invert],
            &[Transform::MergeModules],
            &[Transform::Invert],
        ] {
            for view in [View::Time, View::LeftHeavy, View::Callers("M.b".into())] {
                let query = stepped(steps, view);
                let kept = crate::flame::answer::answer_with(&cache, profile, &query);
                assert_eq!(kept, answer(profile, &query));
            }
        }
    }
}
