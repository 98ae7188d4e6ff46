//! ISO 8601 dates and date-times, as `annotations.lastModified` has them.

/// Whether a text is a calendar date or a date-time of ISO 8601, in the extended format
/// (`2025-01-12T15:00:58.5+01:00`) or the basic one (`20250112T150058Z`). Time, seconds, fraction
/// and offset are each optional.
pub(super) fn is_iso_8601(text: &str) -> bool {
    let mut rest = Digits(text.as_bytes());
    date_and_time(&mut rest).is_some() && rest.0.is_empty()
}

fn date_and_time(rest: &mut Digits<'_>) -> Option<()> {
    let year = rest.number(4)?;
    let extended = rest.skip(b"-");
    let month = rest.number(2)?;
    if rest.skip(b"-") != extended {
        return None;
    }
    let day = rest.number(2)?;
    if !(1..=12).contains(&month) || !(1..=days(year, month)).contains(&day) {
        return None;
    }
    if rest.0.is_empty() {
        return Some(());
    }
    if !rest.skip(b"T") {
        return None;
    }
    let hour = rest.number(2)?;
    if rest.skip(b":") != extended {
        return None;
    }
    let minute = rest.number(2)?;
    let mut second = 0;
    let more = if extended {
        rest.skip(b":")
    } else {
        rest.0.first().is_some_and(u8::is_ascii_digit)
    };
    if more {
        second = rest.number(2)?;
        if rest.skip(b".,") {
            rest.number(1)?;
            while rest.number(1).is_some() {}
        }
    }
    // 24:00 is the end of a day, and 60 a leap second.
    let end_of_day = hour == 24 && minute == 0 && second == 0;
    if (hour > 23 && !end_of_day) || minute > 59 || second > 60 {
        return None;
    }
    offset(rest)
}

fn offset(rest: &mut Digits<'_>) -> Option<()> {
    if rest.0.is_empty() || rest.skip(b"Z") {
        return Some(());
    }
    if !rest.skip(b"+-") {
        return None;
    }
    let hour = rest.number(2)?;
    // Many formatters write `+0100` behind an extended time: both forms are taken everywhere.
    let minute = if rest.skip(b":") || !rest.0.is_empty() {
        rest.number(2)?
    } else {
        0
    };
    (hour < 24 && minute < 60).then_some(())
}

const fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What is still to be read.
struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    /// The number of exactly so many digits.
    fn number(&mut self, digits: usize) -> Option<u32> {
        let (head, tail) = self.0.split_at_checked(digits)?;
        let number = head.iter().try_fold(0, |number, byte| {
            Some(number * 10 + char::from(*byte).to_digit(10)?)
        })?;
        self.0 = tail;
        Some(number)
    }

    /// Skips one byte if it is one of these.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if bytes.contains(first) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_date_times_are_told_from_other_texts() {
        for good in [
            "2025-01-12",
            "2024-02-29",
            "2000-02-29",
            "2025-01-12T15:00",
            "2025-01-12T15:00:58",
            "2025-01-12T15:00:58.123456789",
            "2025-01-12T15:00:58,5",
            "2025-01-12T15:00Z",
            "2025-01-12T15:00:58Z",
            "2025-01-12T15:00:58+01:00",
            "2025-01-12T15:00:58.5-0100",
            "2025-01-12T15:00:58+01",
            "2025-01-12T24:00:00Z",
            "2016-12-31T23:59:60Z",
            "20250112",
            "20250112T1500",
            "20250112T150058.5Z",
            "20250112T150058+0100",
        ] {
            assert!(is_iso_8601(good), "{good}");
        }
        for bad in [
            "",
            "2025",
            "2025-01",
            "2025-1-2",
            "2025-13-01",
            "2025-00-01",
            "2025-02-29",
            "1900-02-29",
            "2025-04-31",
            "2025-0112",
            "202501-12",
            "2025-01-12T",
            "2025-01-12 15:00",
            "2025-01-12T15",
            "2025-01-12T25:00",
            "2025-01-12T24:01",
            "2025-01-12T15:60",
            "2025-01-12T15:00:61",
            "2025-01-12T15:00:58.",
            "2025-01-12T15:00:58+24:00",
            "2025-01-12T15:00:58+01:60",
            "2025-01-12T15:00:58Zx",
            "2025-01-12T1500",
            "yesterday",
            "Sun, 12 Jan 2025",
            "2025-01-12T15:00:58 Z",
            "２０２５-01-12",
            "2025-01-12Z",
        ] {
            assert!(!is_iso_8601(bad), "{bad}");
        }
    }
}
