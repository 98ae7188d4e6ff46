//! Draws lines over a logarithmic axis as an SVG.

use std::fmt::{self, Write as _};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 280.0;
/// The room around the axes.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 76.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;

const COLOURS: [&str; 2] = ["#2f7fd1", "#8a8f98"];

/// Values over sizes.
#[derive(Debug)]
pub struct Line {
    pub name: &'static str,
    pub points: Vec<(usize, f64)>,
}

/// One pair of axes.
#[derive(Debug)]
pub struct Plot {
    pub title: String,
    pub unit: &'static str,
    /// What the axis at the bottom counts.
    pub over: String,
    pub lines: Vec<Line>,
}

/// The plots side by side.
pub fn svg(plots: &[Plot]) -> Result<String, fmt::Error> {
    let width = WIDTH * plots.iter().fold(0.0, |sum, _| sum + 1.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" \
         width=\"{width}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let mut left = 0.0;
    for plot in plots {
        writeln!(svg, "<g transform=\"translate({left} 0)\">")?;
        plot.draw(&mut svg)?;
        svg.push_str("</g>\n");
        left += WIDTH;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

impl Plot {
    fn draw(&self, svg: &mut String) -> fmt::Result {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let most = points().fold(f64::MIN_POSITIVE, |most, (_, value)| most.max(*value));
        let last = points()
            .map(|(size, _)| logarithm(*size))
            .fold(0.0, f64::max);
        let first = points()
            .map(|(size, _)| logarithm(*size))
            .fold(last, f64::min);
        let step = nice(most / 4.0);
        let top = (most / step).ceil() * step;
        let x = |size: usize| {
            let share = (logarithm(size) - first) / (last - first).max(f64::MIN_POSITIVE);
            LEFT + share * (WIDTH - LEFT - RIGHT)
        };
        let y = |value: f64| HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM);

        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"22\" font-size=\"13\" fill=\"#1b1f27\">{}, {}</text>\n\
             <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#4a505a\">{}</text>",
            self.title,
            self.unit,
            HEIGHT - 12.0,
            self.over
        )?;
        let mut value = 0.0;
        while value <= top + step / 2.0 {
            let at = y(value);
            writeln!(
                svg,
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" \
                 stroke=\"#e3e6ea\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#4a505a\">{value}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0
            )?;
            value += step;
        }
        for (size, _) in self.lines.iter().take(1).flat_map(|line| &line.points) {
            writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#4a505a\">{size}</text>",
                x(*size),
                HEIGHT - BOTTOM + 16.0
            )?;
        }
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let path: Vec<String> = line
                .points
                .iter()
                .map(|(size, value)| format!("{:.1},{:.1}", x(*size), y(*value)))
                .collect();
            writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
                path.join(" ")
            )?;
            for (size, value) in &line.points {
                writeln!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{colour}\"/>",
                    x(*size),
                    y(*value)
                )?;
            }
            if let Some((size, value)) = line.points.last() {
                writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
                    x(*size) + 8.0,
                    y(*value) + 4.0,
                    line.name
                )?;
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes are small")]
fn logarithm(size: usize) -> f64 {
    (size.max(1) as f64).log10()
}

/// The next of 1, 2 and 5 and their multiples of ten.
fn nice(step: f64) -> f64 {
    let unit = 10_f64.powf(step.log10().floor());
    let next = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| step <= factor * unit);
    next.unwrap_or(10.0) * unit
}
