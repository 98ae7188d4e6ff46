//! A picture, made small enough for any window once, and for this one when its size changes.

use std::io::Cursor;

use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits, RgbaImage};

/// The largest side that is kept, in pixels: more than the dots of a wide window.
const LARGEST: u32 = 480;

/// The most memory that decoding may take.
const MEMORY: u64 = 128 * 1_024 * 1_024;

/// The longest side that is decoded at all.
const MOST_PIXELS: u32 = 20_000;

/// A picture as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// `PNG`.
    pub format: &'static str,
    /// Columns and rows of the whole picture, in pixels.
    pub size: (u32, u32),
    small: RgbaImage,
}

/// The dots of a window: each is a colour, or nothing where the picture is transparent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dots {
    /// Dots in a row.
    pub columns: usize,
    dots: Vec<Option<[u8; 3]>>,
}

impl Dots {
    /// The dot at a column and row; nothing outside of the picture.
    #[must_use]
    pub fn at(&self, column: usize, row: usize) -> Option<[u8; 3]> {
        self.dots.get(row * self.columns + column).copied()?
    }

    /// Rows of dots.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.dots.len() / self.columns.max(1)
    }
}

/// Whether the bytes begin as a picture that can be drawn does.
#[must_use]
pub fn is_picture(bytes: &[u8]) -> bool {
    image::guess_format(bytes).is_ok_and(|format| name(format).is_some())
}

const fn name(format: ImageFormat) -> Option<&'static str> {
    match format {
        ImageFormat::Png => Some("PNG"),
        ImageFormat::Jpeg => Some("JPEG"),
        ImageFormat::Gif => Some("GIF"),
        ImageFormat::WebP => Some("WebP"),
        _ => None,
    }
}

impl Picture {
    /// Reads the picture; of an animation the first frame.
    ///
    /// # Errors
    ///
    /// Why it cannot be shown.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        let format = image::guess_format(bytes).map_err(|error| error.to_string())?;
        let name = name(format).ok_or("it is of a format that cannot be drawn")?;
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        let mut limits = Limits::default();
        limits.max_alloc = Some(MEMORY);
        limits.max_image_width = Some(MOST_PIXELS);
        limits.max_image_height = Some(MOST_PIXELS);
        reader.limits(limits);
        let whole = reader.decode().map_err(|error| error.to_string())?;
        let size = (whole.width(), whole.height());
        let small = if size.0.max(size.1) > LARGEST {
            whole.thumbnail(LARGEST, LARGEST)
        } else {
            whole
        };
        Ok(Self {
            format: name,
            size,
            small: small.into_rgba8(),
        })
    }

    /// What the name of a file of it ends with.
    #[must_use]
    pub fn ending(&self) -> &'static str {
        match self.format {
            "PNG" => "png",
            "JPEG" => "jpg",
            "GIF" => "gif",
            _ => "webp",
        }
    }

    /// The picture for a window of so many columns and rows of dots. It keeps its shape, and is
    /// not made larger than it is.
    #[must_use]
    pub fn dots(&self, columns: usize, rows: usize) -> Dots {
        let fit = |value: usize| u32::try_from(value.max(1)).unwrap_or(u32::MAX);
        let (columns, rows) = (fit(columns), fit(rows));
        let small = DynamicImage::ImageRgba8(self.small.clone());
        let drawn = if small.width() > columns || small.height() > rows {
            small.resize(columns, rows, FilterType::Triangle)
        } else {
            small
        };
        let drawn = drawn.into_rgba8();
        Dots {
            columns: drawn.width() as usize,
            dots: drawn
                .pixels()
                .map(|pixel| {
                    let [red, green, blue, alpha] = pixel.0;
                    (alpha >= 128).then_some([red, green, blue])
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut picture = RgbaImage::from_pixel(width, height, Rgba([200, 0, 0, 255]));
        picture.put_pixel(0, 0, Rgba([0, 0, 0, 0]));
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn a_picture_keeps_its_shape_and_is_never_enlarged() {
        let picture = Picture::new(&png(1_000, 500)).unwrap();
        assert_eq!((picture.format, picture.size), ("PNG", (1_000, 500)));
        let dots = picture.dots(100, 100);
        assert_eq!((dots.columns, dots.rows()), (100, 50));
        assert_eq!(dots.at(50, 25), Some([200, 0, 0]));
        assert_eq!(dots.at(0, 50), None);
        let small = Picture::new(&png(4, 4)).unwrap().dots(100, 100);
        assert_eq!((small.columns, small.rows()), (4, 4));
        assert_eq!((small.at(0, 0), small.at(1, 0)), (None, Some([200, 0, 0])));
    }

    #[test]
    fn what_is_no_picture_says_why() {
        assert!(!is_picture(b"hello"));
        assert!(Picture::new(b"hello").is_err());
        let cut = &png(10, 10)[..30];
        assert!(is_picture(cut) && Picture::new(cut).is_err());
        // A header that promises more than may be decoded.
        let mut bomb = png(10, 10);
        bomb[16..20].copy_from_slice(&100_000_u32.to_be_bytes());
        assert!(Picture::new(&bomb).is_err());
    }
}
