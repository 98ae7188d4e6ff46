//! Durations as they are written: `30s`, `1.5s`, `250ms`, `2m`.

use std::time::Duration;

/// What a duration looks like, for messages.
pub(super) const EXPECTED: &str = "a duration above 0, like \"30s\", \"250ms\" or \"2m\"";

/// The most a duration may be: longer ones are certainly a mistake, and far from overflows.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// The duration that the text means; `None` where it is none, or not above 0.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (digits, unit) = text.split_at(digits.len());
    let unit_nanos: u64 = match unit {
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos = whole.parse::<u64>().ok()?.checked_mul(unit_nanos)?;
    let scale = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    let part = u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit_nanos);
    let part = u64::try_from(part / u128::from(scale)).ok()?;
    let duration = Duration::from_nanos(nanos.checked_add(part)?);
    (!duration.is_zero() && duration <= LONGEST).then_some(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        let check = |text: &str, millis: Option<u64>| {
            assert_eq!(
                parse_duration(text),
                millis.map(Duration::from_millis),
                "{text}"
            );
        };
        check("30s", Some(30_000));
        check("1.5s", Some(1_500));
        check("0.25m", Some(15_000));
        check("100ms", Some(100));
        check("2m", Some(120_000));
        check("0s", None);
        check("0.0ms", None);
        check("-1s", None);
        check("+1s", None);
        check("1", None);
        check("s", None);
        check(".5s", None);
        check("5.s", None);
        check("1h", None);
        check("1 s", None);
        check("1e3s", None);
        check("99999999999999999999s", None);
        check("9999999999m", None);
        check("", None);
        check("é", None);
    }
}
