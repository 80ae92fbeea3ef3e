//! Colors of flame graph boxes. A function's hue depends on its name alone, and is close to those of its package
//! and module. Other frames have their color on the timeline.

use analysis::timeline::waits::WaitKind;
use model::profile::frames::{Frame, FrameKind};
use scene::color::Rgb;
use scene::palette::{Palette, class_color, frame_color, shares_of};

/// Returns the color of a frame.
pub fn color_for_frame(frame: &Frame, palette: &Palette, dark: bool) -> Rgb {
    match frame.kind {
        FrameKind::ForeignCall => palette.foreign,
        FrameKind::Foreign => in_foreign_code(&frame.label, dark),
        FrameKind::Waiting => wait_color(&frame.label, palette),
        FrameKind::Thread => palette.line,
        _ if frame.package.is_empty() => frame_color(&frame.label, &frame.module, dark),
        _ => {
            let module = format!("{}:{}", frame.package, frame.module);
            frame_color(&frame.label, &module, dark)
        }
    }
}

/// Returns a shade of the foreign-call color for a function inside foreign code.
fn in_foreign_code(name: &str, dark: bool) -> Rgb {
    let [lightness, hue] = shares_of(name).map(|share| share - 0.5);
    let (middle, chroma) = if dark { (0.70, 0.09) } else { (0.84, 0.075) };
    Rgb::oklch(middle + 0.07 * lightness, chroma, 250.0 + 30.0 * hue)
}

/// Returns the timeline color of a wait.
fn wait_color(label: &str, palette: &Palette) -> Rgb {
    let color = |wait: WaitKind| class_color(palette, wait.class());
    if let Some(wait) = WaitKind::all().find(|wait| wait.reason() == label) {
        return color(wait);
    }
    match WaitKind::all().find(|wait| wait.state() == label) {
        // Blocked states have a color per reason, so the group has none.
        Some(WaitKind::Blocked(_)) => palette.line,
        Some(wait) => color(wait),
        // A frame that is not a wait shows what threads did between waits.
        None => palette.running,
    }
}

/// Returns the color of a change: an increase is warm, a decrease is cold, no change is gray. The numbers are on
/// the box too.
pub fn change_color(before: f64, now: f64, dark: bool) -> Rgb {
    let sum = before + now;
    let change = if sum > 0.0 { (now - before) / sum } else { 0.0 };
    let strength = change.abs().min(1.0).sqrt();
    let hue = if change > 0.0 { 40.0 } else { 250.0 };
    let (gray, full) = if dark { (0.36, 0.52) } else { (0.92, 0.78) };
    Rgb::oklch(gray + (full - gray) * strength, 0.13 * strength, hue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_on_boxes_can_be_read() {
        for (dark, palette) in [(false, &Palette::LIGHT), (true, &Palette::DARK)] {
            for (before, now) in [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (0.4, 0.6)] {
                let color = change_color(before, now, dark);
                assert!(color.contrast(color.text_on()) >= 4.5, "{before} {now}");
            }
            for name in ["bar_c", "nap", "memcpy"] {
                let color = in_foreign_code(name, dark);
                assert!(color.contrast(color.text_on()) >= 4.5, "{name}");
            }
            for package in ["", "base", "containers"] {
                let mut frame = Frame::cost_centre("Data.Map", "insert", "M.hs:1:1");
                frame.package = package.to_owned();
                let color = color_for_frame(&frame, palette, dark);
                assert!(color.contrast(color.text_on()) >= 4.5);
            }
        }
    }

    #[test]
    fn packages_have_their_own_hues() {
        let of = |package: &str| {
            let mut frame = Frame::cost_centre("Data.Map", "insert", "M.hs:1:1");
            frame.package = package.to_owned();
            color_for_frame(&frame, &Palette::LIGHT, false)
        };
        assert_ne!(of("base"), of("containers"));
        assert_eq!(of("base"), of("base"));
    }
}
