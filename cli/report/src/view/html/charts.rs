//! The plots, as SVG with a title, a description, and a tooltip for each bar.

use std::fmt::Write;

use crawlpike_core::Identity;

use super::escape::Text;
use crate::model::{Interval, Report, Row, Timeline};
use crate::numbers::{count, share};
use crate::view::table::cut;

/// The width of a plot in its own units.
const WIDTH: f64 = 1000.0;
/// The identities of automated clients, in the order in which bars stack.
pub(super) const AUTOMATED: [Identity; 5] =
    [Identity::Verified, Identity::Unverified, Identity::Spoofed, Identity::Undeclared, Identity::Generic];

/// A bar of parts, each with its class and its number.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) parts: Vec<(&'static str, u64)>,
    /// The text behind the bar.
    pub(super) note: String,
}

fn open(svg: &mut String, height: f64, id: &str, title: &str, description: &str) {
    let _ = write!(
        svg,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>",
        Text(title),
        Text(description)
    );
}

/// Requests over time: a column for each interval, and a line.
pub(super) struct Columns<'r> {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: String,
    /// The words for the sum of a column and for the line.
    pub(super) words: (&'static str, &'static str),
    pub(super) timeline: &'r Timeline,
    /// The identities, in the order in which columns stack.
    pub(super) order: Vec<Identity>,
    /// The height of the line, of an interval and the sum of its column.
    pub(super) line: fn(&Interval, u64) -> u64,
    /// A number that is drawn across all columns, unless it is far above them.
    pub(super) ceiling: Option<f64>,
}

/// Automated requests over time: a column for each interval, and a line of those that are denied.
pub(super) fn timeline(report: &Report) -> Option<String> {
    columns(&Columns {
        id: "timeline".into(),
        title: "Automated requests over time".into(),
        description: format!(
            "Columns of automated requests by identity, each of {}. A line shows the requests that are denied.",
            length(report.timeline.seconds)
        ),
        words: ("automated", "denied"),
        timeline: &report.timeline,
        order: AUTOMATED.to_vec(),
        line: |interval, _| interval.denied,
        ceiling: None,
    })
}

pub(super) fn columns(plot: &Columns<'_>) -> Option<String> {
    const HEIGHT: f64 = 300.0;
    const LEFT: f64 = 70.0;
    const TOP: f64 = 12.0;
    const BOTTOM: f64 = 264.0;
    let Timeline { seconds, intervals, .. } = plot.timeline;
    let place = |identity: &Identity| Identity::ALL.iter().position(|known| known == identity);
    let order: Vec<(usize, Identity)> =
        plot.order.iter().filter_map(|identity| Some((place(identity)?, *identity))).collect();
    let of = |interval: &Interval| -> u64 { order.iter().map(|(at, _)| interval.requests[*at]).sum() };
    let line_of = |interval: &Interval| (plot.line)(interval, of(interval));
    let highest = intervals.iter().map(|interval| of(interval).max(line_of(interval))).max();
    let highest = highest.filter(|most| *most > 0)?;
    let ceiling = plot.ceiling.filter(|ceiling| *ceiling <= highest as f64 * 2.0);
    let shown = ceiling.map_or(highest, |ceiling| highest.max(ceiling.ceil() as u64));
    let step = step(shown);
    let top = shown.div_ceil(step) * step;
    let y = |number: u64| BOTTOM - (BOTTOM - TOP) * number as f64 / top as f64;
    let slot = (WIDTH - LEFT) / intervals.len() as f64;
    let gap = if slot > 4.0 { 1.0 } else { 0.0 };

    let mut svg = String::new();
    let description = format!("{} The highest column or point has {}.", plot.description, count(highest));
    open(&mut svg, HEIGHT, &plot.id, &plot.title, &description);
    for tick in (0..=top / step).map(|number| number * step) {
        let y = y(tick);
        let class = if tick == 0 { "base" } else { "grid" };
        let _ = write!(
            svg,
            "<line class=\"{class}\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"axis\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            count(tick)
        );
    }
    let mut line = String::new();
    let label = |at: usize| short_time(&intervals[at].start, *seconds);
    let longest = (0..intervals.len()).map(|at| text_width(&label(at))).fold(0.0, f64::max);
    for (number, interval) in intervals.iter().enumerate() {
        let x = LEFT + slot * number as f64;
        let mut below = 0;
        let _ = write!(
            svg,
            "<g><title>{}: {} {}, {} {}</title>",
            label(number),
            count(of(interval)),
            plot.words.0,
            count(line_of(interval)),
            plot.words.1
        );
        for (at, identity) in &order {
            let requests = interval.requests[*at];
            if requests > 0 {
                let (low, high) = (y(below), y(below + requests));
                let _ = write!(
                    svg,
                    "<rect class=\"{identity}\" x=\"{:.2}\" y=\"{high:.1}\" width=\"{:.2}\" height=\"{:.1}\"/>",
                    x + gap / 2.0,
                    slot - gap,
                    low - high
                );
                below += requests;
            }
        }
        svg.push_str("</g>");
        let _ = write!(line, "{:.1},{:.1} ", x + slot / 2.0, y(line_of(interval)));
    }
    for (at, x) in labels(intervals.len(), LEFT, longest) {
        let _ =
            write!(svg, "<text class=\"axis\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", BOTTOM + 20.0, label(at));
    }
    if intervals.len() > 1 {
        let points = line.trim_end();
        let _ = write!(
            svg,
            "<polyline class=\"halo\" points=\"{points}\"/><polyline class=\"line\" points=\"{points}\"/>"
        );
    }
    if let Some(ceiling) = ceiling {
        let y = BOTTOM - (BOTTOM - TOP) * ceiling / top as f64;
        let _ =
            write!(svg, "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// The room that a text of an axis takes, in the widest of the usual fonts.
fn text_width(text: &str) -> f64 {
    const CHARACTER: f64 = 12.0 * 0.64;
    CHARACTER * text.chars().count() as f64
}

/// The intervals that have a label, at most eight or so, each with the place where its label begins. A label that would leave
/// the plot stands at the end of it, or not at all if there is another one.
fn labels(intervals: usize, left: f64, width: f64) -> Vec<(usize, f64)> {
    let slot = (WIDTH - left) / intervals as f64;
    let mut places: Vec<(usize, f64)> = Vec::new();
    for at in (0..intervals).step_by(intervals.div_ceil(8).max(1)) {
        let x = (left + slot * at as f64).min(WIDTH - width);
        let is_free = places.last().is_none_or(|(_, before)| before + width <= x);
        places.extend(is_free.then_some((at, x)));
    }
    places
}

/// Bars that lie below each other, the longest as long as there is room.
pub(super) fn bars(id: &str, title: &str, description: &str, bars: &[Bar]) -> Option<String> {
    const LEFT: f64 = 230.0;
    const GAP: f64 = 8.0;
    const LONGEST_NOTE: usize = 50;
    const ROW: f64 = 30.0;
    const THICK: f64 = 18.0;
    let sum = |bar: &Bar| -> u64 { bar.parts.iter().map(|(_, number)| number).sum() };
    let longest = bars.iter().map(sum).max().filter(|longest| *longest > 0)?;
    let note = |bar: &Bar| cut(&bar.note, LONGEST_NOTE);
    let right = bars.iter().map(|bar| text_width(&note(bar))).fold(0.0, f64::max) + GAP;
    // A part of a bar is at least 1 wide.
    let thin = bars.iter().map(|bar| bar.parts.len()).max().unwrap_or_default() as f64;
    let scale = (WIDTH - LEFT - right - thin) / longest as f64;
    let mut svg = String::new();
    open(&mut svg, ROW * bars.len() as f64 + 4.0, id, title, description);
    for (number, bar) in bars.iter().enumerate() {
        let y = ROW * number as f64 + 4.0;
        let middle = y + THICK / 2.0 + 4.5;
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 10.0,
            Text(&cut(&bar.label, 26))
        );
        let mut x = LEFT;
        for (class, requests) in bar.parts.iter().filter(|(_, requests)| *requests > 0) {
            let width = (*requests as f64 * scale).max(1.0);
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{THICK}\">\
                 <title>{}: {} {class} ({})</title></rect>",
                Text(&bar.label),
                count(*requests),
                share(*requests, sum(bar))
            );
            x += width;
        }
        let _ = write!(
            svg,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{middle:.1}\">{}</text>",
            x + GAP,
            Text(&note(bar))
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// The bar of an agent.
pub(super) fn of_agent(row: &Row) -> Bar {
    Bar {
        label: row.title(),
        parts: AUTOMATED.iter().map(|identity| (identity.as_str(), row.requests_of(*identity))).collect(),
        note: format!("{}, {} denied", count(row.all.requests), share(row.denied.requests, row.all.requests)),
    }
}

/// The intervals of an axis, so that there are at most five: 1, 2 or 5 times a power of ten.
fn step(highest: u64) -> u64 {
    let mut power = 1;
    loop {
        for factor in [1, 2, 5] {
            if highest.div_ceil(power * factor) <= 5 {
                return power * factor;
            }
        }
        power *= 10;
    }
}

/// A duration in its largest unit.
pub(super) fn length(seconds: i64) -> String {
    let (number, unit) = match seconds {
        0..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        86_400..604_800 => (seconds / 86_400, "day"),
        _ => (seconds / 604_800, "week"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// `11-22 07:05`, or the date if intervals are that long.
pub(super) fn short_time(time: &str, seconds: i64) -> String {
    let range = if seconds < 86_400 { 5..16 } else { 0..10 };
    time.get(range).unwrap_or(time).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_of_the_time_is_cut_off_or_upon_another() {
        for text in ["11-22 07:05", "2026-11-22"] {
            let width = text_width(text);
            for intervals in 1..=400 {
                let places = labels(intervals, 70.0, width);
                assert!(!places.is_empty() && places.len() <= 8);
                assert!(places.iter().all(|(_, x)| x + width <= WIDTH), "{intervals}: {places:?}");
                assert!(places.windows(2).all(|two| two[0].1 + width <= two[1].1), "{intervals}: {places:?}");
            }
        }
    }

    #[test]
    fn no_note_of_a_bar_is_cut_off() {
        let bar = |number, note: &str| Bar {
            label: "a".into(),
            parts: vec![("denied", number)],
            note: note.into(),
        };
        let notes =
            ["12,345,678 as a-very-long-name-of-an-external-agent", "1", "1,234, purpose-not-allowed"];
        let svg = bars("i", "t", "d", &notes.map(|note| bar(1 + note.len() as u64, note))).unwrap();
        for text in svg.split("<text class=\"axis\" x=\"").skip(1) {
            let (x, rest) = text.split_once('"').unwrap();
            let note = rest.split_once('>').unwrap().1.split_once('<').unwrap().0;
            assert!(x.parse::<f64>().unwrap() + text_width(note) <= WIDTH, "{text}");
        }
    }

    #[test]
    fn an_axis_has_round_numbers() {
        for (highest, expected) in [(1, 1), (5, 1), (6, 2), (11, 5), (26, 10), (499, 100), (10_001, 5_000)] {
            assert_eq!(step(highest), expected, "{highest}");
            assert!(highest.div_ceil(expected) <= 5);
        }
    }
}
