//! The turns of a schedule, as they stand in the file that the agent is given.

/// What a thread runs out of before its turn is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// The method that is so deep in the stack, the outermost being 1, and was entered at this position or before:
    /// another one may follow at the same depth.
    Frame(u32, u32),
    /// The lock that was its so-many-th, the first being 1.
    Lock(u32),
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Who started the thread and in which order: `main/0/2`.
    pub thread: String,
    /// The position up to which it runs.
    pub limit: u32,
    /// What it runs out of after that.
    pub leave: Option<Leave>,
}

/// Reads a line a turn, `thread position`; empty lines and lines that begin with `#` do not count.
pub(super) fn parse(text: &str) -> Result<Vec<Turn>, String> {
    let mut turns = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || format!("{}: a turn is a thread and a position", number + 1);
        let count = |word: &str| {
            word.parse()
                .map_err(|_| format!("{}: {word:?} is no position", number + 1))
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let (thread, limit, leave) = match words[..] {
            [thread, limit] => (thread, limit, None),
            [thread, limit, "frame", depth, "entered", position] => {
                (thread, limit, Some(Leave::Frame(count(depth)?, count(position)?)))
            }
            [thread, limit, "lock", depth] => (thread, limit, Some(Leave::Lock(count(depth)?))),
            _ => return Err(wrong()),
        };
        turns.push(Turn {
            thread: thread.to_string(),
            limit: count(limit)?,
            leave,
        });
    }
    Ok(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_lines_of_thread_and_position() {
        let turns = parse("# two turns\nmain 3\n\nmain/0 12\n").expect("a schedule");
        assert_eq!(turns.len(), 2);
        assert_eq!((turns[1].thread.as_str(), turns[1].limit), ("main/0", 12));
        assert_eq!(parse("main"), Err("1: a turn is a thread and a position".into()));
        assert_eq!(parse("main 1\nmain x"), Err("2: \"x\" is no position".into()));
        assert!(parse("main 1 frame 2 entered 0\nmain 3 lock 1").is_ok());
        assert!(parse("main 1 frame").is_err());
    }
}
