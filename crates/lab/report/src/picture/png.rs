//! A picture as PNG, for readers that show no SVG.

use super::{LIGHT, STYLE, with_style};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{FontResolver, ImageHrefResolver, Options, Tree, fontdb};
use std::sync::{Arc, LazyLock};

/// Pixels for each unit of the picture, so that small texts can be read.
const SCALE: f32 = 2.0;

/// The most pixels of a picture; a larger one is scaled down.
const MOST_PIXELS: f32 = 4_000_000.0;

/// The fonts of all pictures. Fonts of the machine are not used, so the bytes depend on the picture alone.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// Draws the `<svg>` element of a [`Picture`](super::Picture) on white. Characters that DejaVu Sans does not have are boxes.
///
/// # Errors
/// The text is no SVG that can be drawn: why, as a clause.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let options = Options {
        fontdb: Arc::clone(&FONTS),
        font_resolver: FontResolver::default(),
        // A picture never reads a file.
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    let svg = with_style(svg, &format!("{STYLE}{LIGHT}"));
    let tree = Tree::from_str(&svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size();
    let scale = SCALE.min((MOST_PIXELS / (size.width() * size.height())).sqrt());
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let mut pixmap =
        Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("the picture is too large")?;
    pixmap.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of pixels that are not white, and the size.
    fn drawn(svg: &str) -> (usize, u32, u32) {
        let pixmap = Pixmap::decode_png(&png(svg).unwrap()).unwrap();
        let dark = pixmap.pixels().iter().filter(|pixel| pixel.red() < 128).count();
        (dark, pixmap.width(), pixmap.height())
    }

    fn picture(body: &str, side: u32) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pf-picture\" width=\"{side}\" height=\"{side}\">{body}</svg>"
        )
    }

    #[test]
    fn texts_are_drawn_with_the_own_font_and_files_are_not_read() {
        let (empty, width, height) = drawn(&picture("", 50));
        assert_eq!((empty, width, height), (0, 100, 100));
        let (text, ..) = drawn(&picture("<text x=\"5\" y=\"20\">robot</text>", 50));
        let (bold, ..) = drawn(&picture("<text class=\"pf-h\" x=\"5\" y=\"20\">robot</text>", 50));
        assert!(text > 50 && bold > text, "{text} {bold}");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/planforge.svg");
        assert!(std::path::Path::new(file).exists());
        assert_eq!(drawn(&picture(&format!("<image href=\"{file}\" width=\"50\" height=\"50\"/>"), 50)).0, 0);
    }

    #[test]
    fn large_pictures_are_scaled_down_and_other_texts_are_refused() {
        let (_, width, height) = drawn(&picture("", 40_000));
        assert_eq!((width, height), (2_000, 2_000));
        assert!(png("a text").is_err());
    }
}
