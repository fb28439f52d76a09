//! The control flow of a list of instructions: who can come after whom.

use crate::list::{CodeList, Label};

/// The control flow between the instructions of a [`CodeList`], by their places in it.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Where the successors of each instruction start in `edges`; one more entry for the end.
    starts: Vec<u32>,
    edges: Vec<u32>,
    /// Protected range, handler and class caught, in the order in which they are searched.
    handlers: Vec<(std::ops::Range<usize>, usize, u16)>,
    /// The instruction that has a label, by the label's number.
    places: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Flow {
    /// The control flow of `list`. Jumps to labels that no instruction has are left out.
    pub fn of(list: &CodeList) -> Flow {
        let labels = list.nodes.iter().filter_map(|node| node.label);
        let most = labels.chain([list.end()]).map(Label::pc).max().unwrap_or(0);
        let mut flow = Flow {
            starts: Vec::with_capacity(list.nodes.len() + 1),
            edges: Vec::with_capacity(list.nodes.len() + 16),
            handlers: Vec::with_capacity(list.handlers.len()),
            places: vec![NOWHERE; most as usize + 1],
        };
        let ends = [(list.nodes.len(), Some(list.end()))];
        let labels = list.nodes.iter().map(|node| node.label).enumerate().chain(ends);
        for (index, label) in labels {
            if let Some(place) = label.and_then(|label| flow.places.get_mut(label.pc() as usize)) {
                *place = index as u32;
            }
        }
        for (index, node) in list.nodes.iter().enumerate() {
            flow.starts.push(flow.edges.len() as u32);
            if node.falls_through() && index + 1 < list.nodes.len() {
                flow.edges.push(index as u32 + 1);
            }
            for target in node.targets() {
                let first = flow.starts.last().map_or(0, |start| *start as usize);
                if let Some(target) = flow.index_of(target).map(|target| target as u32)
                    // Switches often have many cases with one target; looking back a little drops most of them.
                    && !flow.edges.iter().skip(first).rev().take(8).any(|edge| *edge == target)
                {
                    flow.edges.push(target);
                }
            }
        }
        flow.starts.push(flow.edges.len() as u32);
        for handler in &list.handlers {
            let places = (
                flow.index_of(handler.start),
                flow.index_of(handler.end),
                flow.index_of(handler.handler),
            );
            if let (Some(start), Some(end), Some(target)) = places {
                flow.handlers.push((start..end, target, handler.catch_type));
            }
        }
        flow
    }

    /// The place of the instruction with this label; for the end label the number of instructions.
    pub fn index_of(&self, label: Label) -> Option<usize> {
        self.places
            .get(label.pc() as usize)
            .filter(|place| **place != NOWHERE)
            .map(|place| *place as usize)
    }

    /// The instructions that can come after the one at `index`, exceptions aside: the next one first, then jump targets.
    pub fn successors(&self, index: usize) -> &[u32] {
        match (self.starts.get(index), self.starts.get(index + 1)) {
            (Some(start), Some(end)) => self.edges.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The handlers that an exception thrown at `index` can go to, with the class each catches (0 for all), in the
    /// order in which they are searched.
    pub fn handlers(&self, index: usize) -> impl Iterator<Item = (usize, u16)> + '_ {
        let covering = self.handlers.iter().filter(move |(range, ..)| range.contains(&index));
        covering.map(|(_, handler, catch_type)| (*handler, *catch_type))
    }
}
