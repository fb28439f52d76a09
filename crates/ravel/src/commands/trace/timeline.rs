//! A timeline of the threads that fits a terminal: when each was busy, over the events of the whole trace.

use ravel_trace::ThreadId;

/// The most cells of a line.
const CELLS: usize = 48;

/// Counts events per thread and stretch of the trace. The stretches double as the trace grows, so that nothing need
/// be known of its length.
#[derive(Default)]
pub(super) struct Timeline {
    threads: Vec<[u64; CELLS]>,
    cells: usize,
    width: u64,
    in_cell: u64,
}

impl Timeline {
    pub fn count(&mut self, thread: ThreadId) {
        if self.width == 0 {
            (self.width, self.cells) = (1, 1);
        }
        if self.in_cell == self.width {
            if self.cells == CELLS {
                self.halve();
            } else {
                self.cells += 1;
                self.in_cell = 0;
            }
        }
        self.in_cell += 1;
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, [0; CELLS]);
        }
        self.threads[thread.index()][self.cells - 1] += 1;
    }

    fn halve(&mut self) {
        for cells in &mut self.threads {
            for index in 0..CELLS / 2 {
                cells[index] = cells[2 * index] + cells[2 * index + 1];
            }
            cells[CELLS / 2..].fill(0);
        }
        self.cells = CELLS / 2 + 1;
        self.width *= 2;
        self.in_cell = 0;
    }

    /// Events of a thread.
    pub fn total(&self, thread: ThreadId) -> u64 {
        self.threads.get(thread.index()).map_or(0, |cells| cells.iter().sum())
    }

    /// A thread's line: the busier, the higher.
    pub fn line(&self, thread: ThreadId) -> String {
        const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let Some(cells) = self.threads.get(thread.index()) else {
            return String::new();
        };
        let cells = &cells[..self.cells];
        cells
            .iter()
            .enumerate()
            .map(|(index, &count)| {
                let whole = if index + 1 == self.cells {
                    self.in_cell
                } else {
                    self.width
                };
                if count == 0 {
                    ' '
                } else {
                    LEVELS[(count * 7 / whole.max(1)).min(7) as usize]
                }
            })
            .collect::<String>()
            .trim_end()
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_counts_everything_and_never_outgrows_its_line() {
        let mut timeline = Timeline::default();
        for event in 0..10_000u32 {
            timeline.count(ThreadId(event / 5_000));
        }
        assert_eq!(
            (timeline.total(ThreadId(0)), timeline.total(ThreadId(1))),
            (5_000, 5_000)
        );
        let (first, second) = (timeline.line(ThreadId(0)), timeline.line(ThreadId(1)));
        assert!(first.chars().count() <= CELLS && second.chars().count() <= CELLS);
        assert!(first.starts_with('█') && second.starts_with(' ') && second.ends_with('█'));
        assert_eq!(timeline.line(ThreadId(2)), "");
    }
}
