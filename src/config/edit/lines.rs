//! Which line of an older text is which line of a newer one.

/// No longer stretches of changed lines are compared: two of this product take a few megabytes.
const MOST_COMPARED: usize = 4_000_000;

/// A line of a text: what it is told by, and how many bytes it has. Lines are the same that are
/// told by the same, so that a changed value makes no other line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) identity: String,
    pub(super) bytes: usize,
}

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

/// The lines that two texts have in common, in order.
pub(super) struct LineMap {
    /// Where each line of the older text begins, and its end as a last one.
    old: Vec<usize>,
    /// The same of the newer text.
    new: Vec<usize>,
    /// For each line of the older text, its number in the newer one.
    matches: Vec<Option<usize>>,
}

impl LineMap {
    /// Compares the lines of the texts.
    pub(super) fn new(old: &[Line], new: &[Line]) -> Self {
        Self {
            old: starts(old),
            new: starts(new),
            matches: common(old, new),
        }
    }

    /// Where the beginning of a line of the older text is in the newer one: before the line that
    /// follows it, or else behind the line before it.
    pub(super) fn place(&self, offset: usize, before_next: bool) -> usize {
        let line = self.old.partition_point(|start| *start < offset);
        let line = line.min(self.matches.len());
        let end = self.new.len() - 1;
        let next = self.matches[line..].iter().flatten().next();
        let former = self.matches[..line].iter().flatten().next_back();
        let place = if before_next {
            next.copied().unwrap_or(end)
        } else {
            former.map_or(0, |former| former + 1)
        };
        self.new[place]
    }
}

fn starts(lines: &[Line]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = vec![0];
    for line in lines {
        at += line.bytes;
        starts.push(at);
    }
    starts
}

/// A longest common subsequence, equal lines at both ends first.
fn common(old: &[Line], new: &[Line]) -> Vec<Option<usize>> {
    let pairs = old.iter().zip(new);
    let head = pairs.take_while(|(one, two)| one == two).count();
    let pairs = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = pairs.take_while(|(one, two)| one == two).count();
    let mut matches: Vec<Option<usize>> = (0..head).map(Some).collect();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let middle = longest(old_middle, new_middle);
    matches.extend(
        middle
            .into_iter()
            .map(|place| place.map(|place| place + head)),
    );
    matches.extend((new.len() - tail..new.len()).map(Some));
    matches
}

fn longest(old: &[Line], new: &[Line]) -> Vec<Option<usize>> {
    let mut matches = vec![None; old.len()];
    if old.len().saturating_mul(new.len()) > MOST_COMPARED {
        return matches;
    }
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for (i, one) in old.iter().enumerate().rev() {
        for (j, two) in new.iter().enumerate().rev() {
            lengths[i * width + j] = if one == two {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            matches[i] = Some(j);
            i += 1;
            j += 1;
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_between_the_lines_around_it() {
        let lines = |text: &str| -> Vec<Line> {
            let lines = text.split_inclusive('\n').map(|line| Line {
                identity: line.to_owned(),
                bytes: line.len(),
            });
            lines.collect()
        };
        let check = |old: &str, new: &str, offset: usize, expected: (usize, usize)| {
            let map = LineMap::new(&lines(old), &lines(new));
            let found = (map.place(offset, true), map.place(offset, false));
            assert_eq!(found, expected, "{old:?} {new:?}");
        };
        check("a\nb\n", "a\nb\n", 2, (2, 2));
        check("a\nb\n", "a\nx\nb\n", 2, (4, 2));
        check("a\nb\n", "x\na\ny\nb\nz\n", 4, (10, 8));
        check("a\nb\nc\n", "A\nb\nC\n", 4, (6, 4));
        check("a\n", "", 2, (0, 0));
        check("", "a\n", 0, (2, 0));
    }
}
