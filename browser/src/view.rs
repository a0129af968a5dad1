//! Says how a page is looked at.

use chromiumoxide::cdp::browser_protocol::emulation::{
    MediaFeature, SetDeviceMetricsOverrideParams, SetEmulatedMediaParams,
};

/// The widths of a phone, a tablet and a screen.
pub const WIDTHS: [u32; 3] = [390, 820, 1440];

/// The width of what is printed between the margins of A4, at 96 pixels per inch.
const PAPER: u32 = 687;

/// The colours that the reader's system asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Scheme {
    /// Dark on white.
    Light,
    /// White on black.
    Dark,
}

/// A way to look at a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// In a window.
    Screen {
        /// The width of the window in pixels.
        width: u32,
        /// The height of the window in pixels.
        height: u32,
        /// The colours.
        scheme: Scheme,
    },
    /// Printed.
    Paper,
}

impl View {
    /// Returns a view in a window as people have them.
    pub const fn screen(width: u32, scheme: Scheme) -> Self {
        Self::Screen {
            width,
            height: 900,
            scheme,
        }
    }

    /// Returns all views that a page is checked in. Colours do not depend on the width, but a phone has pictures of its own: those of
    /// phones and those of wider windows are seen in both colours, and every width is seen once.
    pub const fn all() -> [Self; 5] {
        let [phone, tablet, screen] = WIDTHS;
        [
            Self::screen(phone, Scheme::Light),
            Self::screen(phone, Scheme::Dark),
            Self::screen(tablet, Scheme::Light),
            Self::screen(screen, Scheme::Dark),
            Self::Paper,
        ]
    }

    /// Returns the size of the window. It is never that of a mobile device, which would zoom out until a page that is too wide
    /// fits.
    pub(crate) fn metrics(self) -> SetDeviceMetricsOverrideParams {
        let (width, height) = match self {
            Self::Screen { width, height, .. } => (width, height),
            Self::Paper => (PAPER, 1000),
        };
        SetDeviceMetricsOverrideParams::new(width, height, 1, false)
    }

    /// Returns the medium and its colours.
    pub(crate) fn media(self) -> SetEmulatedMediaParams {
        let (medium, scheme) = match self {
            Self::Screen {
                scheme: Scheme::Dark,
                ..
            } => ("screen", "dark"),
            Self::Screen { .. } => ("screen", "light"),
            // Paper is white, whatever the reader's screen is like.
            Self::Paper => ("print", "dark"),
        };
        SetEmulatedMediaParams::builder()
            .media(medium)
            .feature(MediaFeature::new("prefers-color-scheme", scheme))
            .build()
    }
}
