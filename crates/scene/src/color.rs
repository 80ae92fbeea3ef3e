//! Colors in sRGB, their perceptual distance, and simulation of color vision deficiencies.

use std::fmt;

/// An sRGB color with 8 bits per component. Displayed as CSS (`#2a9d78`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Linear red, green and blue, 0 to 1.
type Linear = [f64; 3];

impl Rgb {
    /// Black, the text color on light colors.
    pub(crate) const BLACK: Self = Self(0, 0, 0);
    /// White, the text color on dark colors.
    pub(crate) const WHITE: Self = Self(255, 255, 255);

    /// Creates a color from a number such as `0x2a9d78`.
    pub const fn hex(code: u32) -> Self {
        let [_, red, green, blue] = code.to_be_bytes();
        Self(red, green, blue)
    }

    /// Returns the color in CSS syntax, `#2a9d78`.
    pub fn css(self) -> String {
        self.to_string()
    }

    /// Returns the color in CSS syntax with an opacity from 0 to 1.
    pub fn css_with_alpha(self, alpha: f64) -> String {
        // Casts from floats saturate, and map NaN to 0.
        let byte = (alpha * 255.0).round() as u8;
        format!("{self}{byte:02x}")
    }

    /// Returns the contrast ratio of two colors, 1 to 21 (WCAG 2.2).
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Returns black or white, whichever has more contrast to this color: at least 4.5.
    #[must_use]
    pub fn text_on(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) {
            Self::WHITE
        } else {
            Self::BLACK
        }
    }

    /// Returns the perceptual distance of two colors: the distance in OKLab, where 0.02 is just noticeable and
    /// black and white are 1 apart.
    pub fn distance(self, other: Self, vision: Vision) -> f64 {
        let [a, b] = [self, other].map(|color| oklab(vision.simulate(color.linear())));
        let square = |i: usize| (a[i] - b[i]).powi(2);
        (square(0) + square(1) + square(2)).sqrt()
    }

    /// Creates a color from OKLab lightness (0 to 1), chroma (0 to about 0.3) and hue (in degrees). Chroma is
    /// reduced for colors outside the sRGB gamut.
    pub fn oklch(lightness: f64, chroma: f64, hue: f64) -> Self {
        let (sin, cos) = hue.to_radians().sin_cos();
        let at = |chroma: f64| from_oklab([lightness, chroma * cos, chroma * sin]);
        let shown = |light: &Linear| light.iter().all(|part| (-0.001..=1.001).contains(part));
        let light = (0..=20)
            .map(|step| at(chroma * f64::from(20 - step) / 20.0))
            .find(shown);
        let [red, green, blue] = light.unwrap_or_else(|| at(0.0)).map(to_byte);
        Self(red, green, blue)
    }

    /// Blends this color over `ground` with an opacity from 0 to 1.
    #[must_use]
    pub fn mixed(self, ground: Self, alpha: f64) -> Self {
        let mix = |over: u8, under: u8| {
            // Casts from floats saturate.
            (f64::from(over) * alpha + f64::from(under) * (1.0 - alpha)).round() as u8
        };
        Self(
            mix(self.0, ground.0),
            mix(self.1, ground.1),
            mix(self.2, ground.2),
        )
    }

    /// Returns the relative luminance (WCAG 2.2).
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.linear();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn linear(self) -> Linear {
        [self.0, self.1, self.2].map(|byte| {
            let value = f64::from(byte) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        })
    }
}

fn to_byte(light: f64) -> u8 {
    let value = if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    // Casts from floats saturate.
    (value * 255.0).round() as u8
}

/// Kind of color vision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vision {
    /// Full color vision, with three kinds of cones.
    Full,
    /// Without the cones for red.
    Protanopia,
    /// Without the cones for green.
    Deuteranopia,
    /// Without the cones for blue.
    Tritanopia,
}

impl Vision {
    /// All kinds of color vision.
    pub const ALL: [Self; 4] = [
        Self::Full,
        Self::Protanopia,
        Self::Deuteranopia,
        Self::Tritanopia,
    ];

    /// Simulates how light looks with this vision (Machado, Oliveira and Fernandes 2009, severity 1).
    fn simulate(self, light: Linear) -> Linear {
        let matrix = match self {
            Self::Full => return light,
            Self::Protanopia => [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
            Self::Deuteranopia => [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
            Self::Tritanopia => [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        };
        apply(&matrix, light).map(|part| part.clamp(0.0, 1.0))
    }
}

fn apply(matrix: &[[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2])
}

/// Converts to OKLab (Ottosson 2020), lightness first.
fn oklab(light: Linear) -> [f64; 3] {
    let cones = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ];
    let lab = [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ];
    apply(&lab, apply(&cones, light).map(f64::cbrt))
}

fn from_oklab(lab: [f64; 3]) -> Linear {
    let cones = [
        [1.0, 0.396_337_777_4, 0.215_803_757_3],
        [1.0, -0.105_561_345_8, -0.063_854_172_8],
        [1.0, -0.089_484_177_5, -1.291_485_548_0],
    ];
    let light = [
        [4.076_741_662_1, -3.307_711_591_3, 0.230_969_929_2],
        [-1.268_438_004_6, 2.609_757_401_1, -0.341_319_396_5],
        [-0.004_196_086_3, -0.703_418_614_7, 1.707_614_701_0],
    ];
    apply(&light, apply(&cones, lab).map(|cone| cone.powi(3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text() {
        assert_eq!(Rgb::hex(0x2a_9d_08).css(), "#2a9d08");
        assert_eq!(Rgb::hex(0x2a_9d_08).css_with_alpha(0.5), "#2a9d0880");
        assert_eq!(Rgb::BLACK.css_with_alpha(f64::NAN), "#00000000");
    }

    #[test]
    fn contrast_and_distance_of_the_extremes() {
        assert!((Rgb::BLACK.contrast(Rgb::WHITE) - 21.0).abs() < 1e-9);
        for vision in Vision::ALL {
            assert!((Rgb::BLACK.distance(Rgb::WHITE, vision) - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn red_and_green_look_alike_without_one_kind_of_cones() {
        let (red, green) = (Rgb(190, 60, 60), Rgb(95, 110, 50));
        let full = red.distance(green, Vision::Full);
        assert!(red.distance(green, Vision::Deuteranopia) < full / 2.0);
        assert!(red.distance(green, Vision::Tritanopia) > full / 2.0);
    }

    #[test]
    fn oklch_of_known_colors() {
        assert_eq!(Rgb::oklch(1.0, 0.0, 0.0), Rgb::WHITE);
        assert_eq!(Rgb::oklch(0.0, 0.0, 0.0), Rgb::BLACK);
        // sRGB red, with the values given by Ottosson.
        assert_eq!(Rgb::oklch(0.627_955, 0.257_683, 29.234), Rgb(255, 0, 0));
    }

    #[test]
    fn text_is_readable_on_every_gray() {
        for level in 0..=255 {
            let gray = Rgb(level, level, level);
            assert!(gray.contrast(gray.text_on()) >= 4.5, "{gray}");
        }
    }
}
