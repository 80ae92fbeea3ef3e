//! Colors by meaning, each with one meaning everywhere, and the colors of flame graph frames.
//!
//! Tests enforce a contrast of 4.5:1 for text on page and panel, 3:1 for marks on the page (7:1 and 4.5:1 with
//! high contrast), and that any two marks are distinguishable for people with full color vision and with red,
//! green or blue color blindness.

use super::color::Rgb;
use model::class::Class;

/// The colors of one theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Background of the tracks.
    pub page: Rgb,
    /// Background of the header, track names and panels.
    pub panel: Rgb,
    /// Lines between sections.
    pub line: Rgb,
    /// Lines between rows.
    pub faint_line: Rgb,
    /// Primary text.
    pub ink: Rgb,
    /// Secondary text.
    pub ink2: Rgb,
    /// Text of labels.
    pub ink3: Rgb,
    /// Selection, links and focus.
    pub accent: Rgb,
    /// Text on the accent color.
    pub on_accent: Rgb,
    /// Running Haskell code (the mutator).
    pub running: Rgb,
    /// Garbage collection.
    pub gc: Rgb,
    /// Synchronization of capabilities before a collection.
    pub gc_sync: Rgb,
    /// Foreign calls.
    pub foreign: Rgb,
    /// Blocked on an `MVar`.
    pub mvar: Rgb,
    /// Blocked on a black hole.
    pub black_hole: Rgb,
    /// Blocked in an STM `retry`.
    pub stm: Rgb,
    /// Blocked in `throwTo`.
    pub throw_to: Rgb,
    /// Runnable, but not running on a capability.
    pub ready: Rgb,
    /// Waiting for a file or socket, and other states.
    pub io: Rgb,
    /// Sleeping until a time.
    pub sleeping: Rgb,
}

impl Palette {
    /// Dark text on a light page.
    pub const LIGHT: Self = Self {
        page: Rgb::hex(0xfb_fb_fa),
        panel: Rgb::hex(0xff_ff_ff),
        line: Rgb::hex(0xe3_e2_de),
        faint_line: Rgb::hex(0xf0_ef_ec),
        ink: Rgb::hex(0x1c_1d_1f),
        ink2: Rgb::hex(0x5d_60_66),
        ink3: Rgb::hex(0x6b_6e_74),
        accent: Rgb::hex(0x3b_5b_db),
        on_accent: Rgb::hex(0xff_ff_ff),
        running: Rgb::hex(0x25_9e_79),
        gc: Rgb::hex(0xc9_61_09),
        gc_sync: Rgb::hex(0xb5_3b_85),
        foreign: Rgb::hex(0x2b_7c_d4),
        mvar: Rgb::hex(0x94_60_bf),
        black_hole: Rgb::hex(0x72_47_20),
        stm: Rgb::hex(0x0a_6c_69),
        throw_to: Rgb::hex(0x7e_19_45),
        ready: Rgb::hex(0xb9_89_00),
        io: Rgb::hex(0x81_86_99),
        sleeping: Rgb::hex(0x3a_35_80),
    };

    /// Light text on a dark page.
    pub const DARK: Self = Self {
        page: Rgb::hex(0x15_16_1a),
        panel: Rgb::hex(0x1b_1d_22),
        line: Rgb::hex(0x2c_2f_36),
        faint_line: Rgb::hex(0x23_26_2c),
        ink: Rgb::hex(0xe9_e9_ea),
        ink2: Rgb::hex(0xa9_ad_b5),
        ink3: Rgb::hex(0x86_8b_95),
        accent: Rgb::hex(0x8a_a2_ff),
        on_accent: Rgb::hex(0x15_16_1a),
        running: Rgb::hex(0x52_c5_8e),
        gc: Rgb::hex(0xfe_92_4c),
        gc_sync: Rgb::hex(0xcd_67_af),
        foreign: Rgb::hex(0x71_9d_fd),
        mvar: Rgb::hex(0xb2_86_d8),
        black_hole: Rgb::hex(0x92_6d_3d),
        stm: Rgb::hex(0x5e_d9_e5),
        throw_to: Rgb::hex(0xb9_52_7b),
        ready: Rgb::hex(0xe1_c5_42),
        io: Rgb::hex(0x9a_a4_ac),
        sleeping: Rgb::hex(0x6a_62_c8),
    };

    /// Black on white, for users who ask for more contrast.
    pub const LIGHT_CONTRAST: Self = Self {
        page: Rgb::hex(0xff_ff_ff),
        panel: Rgb::hex(0xff_ff_ff),
        line: Rgb::hex(0x6b_6e_74),
        faint_line: Rgb::hex(0xa6_a8_ad),
        ink: Rgb::hex(0x00_00_00),
        ink2: Rgb::hex(0x2b_2d_31),
        ink3: Rgb::hex(0x45_48_4e),
        accent: Rgb::hex(0x1f_3f_c0),
        on_accent: Rgb::hex(0xff_ff_ff),
        running: Rgb::hex(0x22_86_53),
        gc: Rgb::hex(0xa5_48_00),
        gc_sync: Rgb::hex(0xa9_3b_8f),
        foreign: Rgb::hex(0x3e_73_d4),
        mvar: Rgb::hex(0x90_59_be),
        black_hole: Rgb::hex(0x62_35_13),
        stm: Rgb::hex(0x00_51_5e),
        throw_to: Rgb::hex(0x5c_10_2d),
        ready: Rgb::hex(0x8e_73_05),
        io: Rgb::hex(0x72_76_7e),
        sleeping: Rgb::hex(0x2a_25_66),
    };

    /// White on black, for users who ask for more contrast.
    pub(crate) const DARK_CONTRAST: Self = Self {
        page: Rgb::hex(0x00_00_00),
        panel: Rgb::hex(0x00_00_00),
        line: Rgb::hex(0x9a_9d_a4),
        faint_line: Rgb::hex(0x5c_5f_66),
        ink: Rgb::hex(0xff_ff_ff),
        ink2: Rgb::hex(0xdc_dd_e0),
        ink3: Rgb::hex(0xc4_c7_cc),
        accent: Rgb::hex(0xb3_c1_ff),
        on_accent: Rgb::hex(0x00_00_00),
        running: Rgb::hex(0x58_be_83),
        gc: Rgb::hex(0xff_8e_43),
        gc_sync: Rgb::hex(0xd9_7f_c6),
        foreign: Rgb::hex(0x67_93_fa),
        mvar: Rgb::hex(0xad_9f_f0),
        black_hole: Rgb::hex(0xa6_7e_44),
        stm: Rgb::hex(0x7a_f4_fc),
        throw_to: Rgb::hex(0xba_52_77),
        ready: Rgb::hex(0xda_c8_46),
        io: Rgb::hex(0x92_96_9c),
        sleeping: Rgb::hex(0x78_66_ea),
    };

    /// Returns whether the palette has a dark page.
    pub fn is_dark(&self) -> bool {
        self.page.text_on() == Rgb::WHITE
    }

    /// Returns the palette of a theme.
    pub const fn select(dark: bool, more_contrast: bool) -> &'static Self {
        match (dark, more_contrast) {
            (false, false) => &Self::LIGHT,
            (true, false) => &Self::DARK,
            (false, true) => &Self::LIGHT_CONTRAST,
            (true, true) => &Self::DARK_CONTRAST,
        }
    }

    /// Returns the definitions of all colors in a style sheet.
    pub fn css(&self) -> String {
        let tokens = self.tokens().into_iter();
        tokens
            .map(|(name, color)| format!("--{name}:{color};"))
            .collect()
    }

    /// Returns all colors with their names in the style sheet.
    pub const fn tokens(&self) -> [(&'static str, Rgb); 20] {
        [
            ("page", self.page),
            ("panel", self.panel),
            ("line", self.line),
            ("faint-line", self.faint_line),
            ("ink", self.ink),
            ("ink2", self.ink2),
            ("ink3", self.ink3),
            ("accent", self.accent),
            ("on-accent", self.on_accent),
            ("running", self.running),
            ("gc", self.gc),
            ("gc-sync", self.gc_sync),
            ("foreign", self.foreign),
            ("mvar", self.mvar),
            ("black-hole", self.black_hole),
            ("stm", self.stm),
            ("throw-to", self.throw_to),
            ("ready", self.ready),
            ("io", self.io),
            ("sleeping", self.sleeping),
        ]
    }
}

/// Opacity of frames that do not match a search.
pub const DIMMED: f64 = 0.25;

/// Returns the color of a class.
pub const fn class_color(palette: &Palette, class: Class) -> Rgb {
    match class {
        Class::Running | Class::Open => palette.running,
        Class::Gc | Class::GcStart | Class::GcIdle | Class::GcDone | Class::Returning => palette.gc,
        Class::GcSync | Class::Census => palette.gc_sync,
        Class::RunnableDuringGc => palette.gc,
        Class::Ready | Class::ThreadRunnableCapIdle | Class::CapIdleWorkAvailable => palette.ready,
        Class::Mvar => palette.mvar,
        Class::BlackHole => palette.black_hole,
        Class::Stm => palette.stm,
        Class::ThrowTo => palette.throw_to,
        Class::Foreign => palette.foreign,
        Class::Sleeping => palette.sleeping,
        Class::Io | Class::Other | Class::Unknown | Class::Unread => palette.io,
    }
}

/// Returns the color of a function, always the same for a name.
///
/// The hue depends on the name, around a center that depends on the module: functions of one module have similar
/// colors, but are distinguishable even if there is only one module. Hues range from pink to green at similar
/// lightness, so that none looks like a foreign call. [`Rgb::text_on`] is readable on it.
pub fn frame_color(name: &str, module: &str, dark: bool) -> Rgb {
    match built_in(name, module) {
        Some(BuiltIn::Collecting) => {
            let lightness = if dark { 0.59 } else { 0.75 };
            return Rgb::oklch(lightness, 0.135, 50.0);
        }
        Some(BuiltIn::Other) => {
            let lightness = if dark { 0.33 } else { 0.90 };
            return Rgb::oklch(lightness, 0.005, 260.0);
        }
        None => {}
    }
    let [module_hue, _] = shares_of(module);
    let [name_hue, name_lightness] = shares_of(name).map(|share| share - 0.5);
    let hue = -10.0 + 120.0 * module_hue + 100.0 * name_hue;
    // Yellow at the lightness of the others would look brown.
    let yellow = (hue - 100.0).to_radians().cos();
    if dark {
        Rgb::oklch(0.70 + 0.04 * yellow + 0.06 * name_lightness, 0.105, hue)
    } else {
        Rgb::oklch(0.86 + 0.02 * yellow + 0.05 * name_lightness, 0.09, hue)
    }
}

/// Cost centre of the runtime itself.
enum BuiltIn {
    Collecting,
    Other,
}

/// Recognizes built-in cost centres (`rts/Profiling.c`).
fn built_in(name: &str, module: &str) -> Option<BuiltIn> {
    match (name, module) {
        ("GC", "GC") => Some(BuiltIn::Collecting),
        ("IDLE", "IDLE")
        | ("SYSTEM" | "PINNED", "SYSTEM")
        | ("MAIN" | "DONT_CARE", "MAIN")
        | ("OVERHEAD_of", "PROFILING") => Some(BuiltIn::Other),
        _ => None,
    }
}

/// Hashes a text to two numbers from 0 to 1, the same on every machine.
///
/// Uses 64-bit FNV-1a with an extra mixing step, as texts that differ in the last letter differ little in its
/// upper bits.
pub fn shares_of(text: &str) -> [f64; 2] {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = mixed ^ (mixed >> 29);
    let share = |bits: u64| (bits & 0xffff) as f64 / 65535.0;
    [share(mixed), share(mixed >> 32)]
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::super::color::Vision;
    use super::super::strip::stripes_on;
    use super::*;

    /// The palette as CSS custom properties, one per line: `--page: #fbfbfa;`.
    fn css_variables(palette: &Palette) -> String {
        let mut out = String::new();
        for (name, color) in palette.tokens() {
            let _ = writeln!(out, "  --{name}: {color};");
        }
        out
    }

    /// The beginning of the style sheet: palettes by system preference, overridden by `data-theme` and
    /// `data-contrast` on the root element.
    fn style_sheet() -> String {
        let rule = |selector: &str, scheme: &str, palette: &Palette| {
            let variables = css_variables(palette);
            format!("{selector} {{\n  color-scheme: {scheme};\n{variables}}}\n")
        };
        let media = |condition: &str, rules: &str| {
            let indented: String = rules.lines().map(|line| format!("  {line}\n")).collect();
            format!("@media {condition} {{\n{indented}}}\n")
        };
        let themes = |more_contrast: bool| {
            let light = Palette::select(false, more_contrast);
            let dark = Palette::select(true, more_contrast);
            let chosen = rule(":root, [data-theme=light]", "light", light);
            let system = rule(":root:not([data-theme=light])", "dark", dark);
            let system = media("(prefers-color-scheme: dark)", &system);
            chosen + &system + &rule("[data-theme=dark]", "dark", dark)
        };
        let chosen = {
            let more = "[data-contrast=more]";
            let light = Palette::select(false, true);
            let dark = Palette::select(true, true);
            let system = rule(
                &format!(":root{more}:not([data-theme=light])"),
                "dark",
                dark,
            );
            // Same specificity as the rules for the system preference, so the later rule applies.
            rule(&format!(":root{more}"), "light", light)
                + &media("(prefers-color-scheme: dark)", &system)
                + &rule(&format!(":root{more}[data-theme=dark]"), "dark", dark)
        };
        themes(false) + &media("(prefers-contrast: more)", &themes(true)) + &chosen
    }

    const THEMES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

    fn marks(palette: &Palette) -> [(&'static str, Rgb); 11] {
        palette.tokens()[9..].try_into().expect("eleven marks")
    }

    #[test]
    fn text_is_readable() {
        for (dark, more) in THEMES {
            let palette = Palette::select(dark, more);
            let least = if more { 7.0 } else { 4.5 };
            let inks = [palette.ink, palette.ink2, palette.ink3, palette.accent];
            for ink in inks {
                for ground in [palette.page, palette.panel] {
                    let contrast = ink.contrast(ground);
                    assert!(contrast >= least, "{ink} on {ground}: {contrast:.2}");
                }
            }
            assert!(palette.on_accent.contrast(palette.accent) >= least);
        }
    }

    #[test]
    fn marks_are_visible() {
        for (dark, more) in THEMES {
            let palette = Palette::select(dark, more);
            let least = if more { 4.5 } else { 3.0 };
            for (name, mark) in marks(palette) {
                let contrast = mark.contrast(palette.page);
                assert!(contrast >= least, "{name} {mark}: {contrast:.2}");
                assert!(
                    mark.contrast(mark.text_on()) >= 4.5,
                    "text on {name} {mark}"
                );
                let stripes = stripes_on(mark);
                let striped = stripes.color.mixed(mark, stripes.alpha);
                assert!(
                    striped.contrast(mark.text_on()) >= 4.5,
                    "text on the stripes of {name} {mark}"
                );
            }
        }
    }

    #[test]
    fn marks_are_told_apart() {
        for (dark, more) in THEMES {
            let least = if dark { 0.055 } else { 0.045 };
            let marks = marks(Palette::select(dark, more));
            for (i, (name, mark)) in marks.iter().enumerate() {
                for (other_name, other) in &marks[..i] {
                    for vision in Vision::ALL {
                        let distance = mark.distance(*other, vision);
                        let pair = format!("{name} {mark}, {other_name} {other}");
                        assert!(distance >= least, "{pair} ({vision:?}): {distance:.3}");
                    }
                }
            }
        }
    }

    #[test]
    fn frames() {
        for dark in [false, true] {
            let color = |name, module| frame_color(name, module, dark);
            assert_eq!(color("go", "Main"), color("go", "Main"));
            assert_ne!(color("go", "Main"), color("loop", "Main"));
            assert_ne!(color("go", "Main"), color("go", "Data.Map"));
            assert_eq!(color("IDLE", "IDLE"), color("SYSTEM", "SYSTEM"));
            assert_ne!(color("IDLE", "IDLE"), color("GC", "GC"));
        }
        // Links, pictures and users' memory rely on these colors: they must not change.
        assert_eq!(frame_color("main", "Main", false).css(), "#ebcc8a");
        assert_eq!(frame_color("main", "Main", true).css(), "#bf9c4f");
    }

    /// Functions of a single module are distinguishable, but closer to each other than functions of all modules.
    #[test]
    fn functions_of_a_module_are_a_family_of_many() {
        let names: Vec<String> = (0..200).map(|i| format!("function{i}")).collect();
        let mean = |colors: &[Rgb]| {
            let mut sum = (0.0, 0.0);
            for (i, color) in colors.iter().enumerate() {
                for other in &colors[..i] {
                    sum = (sum.0 + color.distance(*other, Vision::Full), sum.1 + 1.0);
                }
            }
            sum.0 / sum.1
        };
        for dark in [false, true] {
            let of = |module: &dyn Fn(usize) -> String| {
                let names = names.iter().enumerate();
                let colors = names.map(|(i, name)| frame_color(name, &module(i), dark));
                mean(&colors.collect::<Vec<_>>())
            };
            let one = of(&|_| "Main".to_owned());
            let many = of(&|i| format!("Module{i}"));
            assert!(one > 0.04, "{one}");
            assert!(many > 1.15 * one, "{many} {one}");
        }
    }

    /// Texts on a frame are readable, even if it is dimmed by a search.
    fn text_can_be_read_on(frame: Rgb, palette: &Palette) -> bool {
        let ground = frame.mixed(palette.page, DIMMED);
        frame.contrast(frame.text_on()) >= 4.5 && ground.contrast(palette.ink2) >= 4.5
    }

    proptest! {
        #[test]
        fn text_on_frames_is_readable(name in any::<String>(), module in any::<String>()) {
            for (dark, more) in THEMES {
                let frame = frame_color(&name, &module, dark);
                prop_assert!(text_can_be_read_on(frame, Palette::select(dark, more)), "{}", frame);
                // The frame itself is visible too.
                prop_assert!(frame.contrast(Palette::select(dark, more).page) >= 1.15, "{}", frame);
            }
        }
    }

    #[test]
    fn text_on_built_in_frames_is_readable() {
        for (dark, more) in THEMES {
            for name in ["GC", "IDLE", "SYSTEM"] {
                let frame = frame_color(name, name, dark);
                assert!(
                    text_can_be_read_on(frame, Palette::select(dark, more)),
                    "{name}"
                );
            }
        }
    }

    const BEGIN: &str = "/* palette: generated by src/scene/palette.rs; \
                         to write it anew: UPDATE_PALETTE=1 cargo test palette */\n";
    const END: &str = "/* palette: end */\n";

    /// With `UPDATE_PALETTE=1` in the environment, writes the palette into the style sheet instead.
    #[test]
    fn the_style_sheet_has_this_palette() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../www/app.css");
        let css = std::fs::read_to_string(path).unwrap_or_default();
        let expected = format!("{BEGIN}{}{END}", style_sheet());
        if std::env::var_os("UPDATE_PALETTE").is_some_and(|value| value == "1") {
            let (before, rest) = css
                .split_once("/* palette: generated")
                .unwrap_or(("", &css));
            let after = rest.split_once(END).map_or(rest, |(_, after)| after);
            std::fs::write(path, format!("{before}{expected}{after}")).expect("written");
        } else {
            assert!(
                css.contains(&expected),
                "run UPDATE_PALETTE=1 cargo test palette"
            );
            assert_eq!(css.matches("/* palette:").count(), 2, "one palette");
        }
    }
}
