//! A day of the calendar: suppressions end on one. Small enough not to need a library.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day, in the calendar of the whole world (UTC).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Day {
    year: i32,
    month: u8,
    day: u8,
}

impl Day {
    /// A day that exists.
    pub fn new(year: i32, month: u8, day: u8) -> Option<Day> {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        (1..=length).contains(&day).then_some(Day { year, month, day })
    }

    /// Today.
    pub fn today() -> Day {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        Day::of_days(seconds / 86_400)
    }

    /// The day that many days after 1970-01-01.
    fn of_days(mut days: u64) -> Day {
        let mut year = 1970;
        loop {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = if leap { 366 } else { 365 };
            if days < length {
                break;
            }
            days -= length;
            year += 1;
        }
        for month in 1..=12 {
            for day in 1..=31 {
                if let Some(found) = Day::new(year, month, day) {
                    if days == 0 {
                        return found;
                    }
                    days -= 1;
                }
            }
        }
        Day {
            year,
            month: 12,
            day: 31,
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Day {
    type Err = ();

    fn from_str(text: &str) -> Result<Day, ()> {
        let mut parts = text.split('-');
        let mut part = || parts.next().filter(|p| p.bytes().all(|b| b.is_ascii_digit()));
        let (year, month, day) = (part().ok_or(())?, part().ok_or(())?, part().ok_or(())?);
        let day = Day::new(
            year.parse().map_err(|_| ())?,
            month.parse().map_err(|_| ())?,
            day.parse().map_err(|_| ())?,
        );
        day.filter(|_| text.len() == 10).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_right() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_772, "2026-11-15"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(Day::of_days(days).to_string(), text);
            assert_eq!(text.parse(), Ok(Day::of_days(days)));
        }
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for text in [
            "2026-02-29",
            "2026-13-01",
            "2026-1-1",
            "2026-00-10",
            "tomorrow",
            "",
            "2026-11-15-1",
            "+026-11-15",
        ] {
            assert_eq!(text.parse::<Day>(), Err(()), "{text}");
        }
    }
}
