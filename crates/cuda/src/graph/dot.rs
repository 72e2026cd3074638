//! Pictures of graphs in the language of Graphviz, as the driver draws them.

use std::fmt::Write as _;

use super::Node;
use crate::copy::{ARRAY, End, HOST};
use crate::memory::AddressSpace;
use crate::operation::Operation;
use crate::state::Driver;
use crate::table::Handle;

/// Flags of `CUgraphDebugDot_flags`: everything, shapes of launches, handles.
const VERBOSE: u32 = 1;
const LAUNCHES: u32 = 1 << 2;
const HANDLES: u32 = 1 << 10;

/// Returns the number of an object among those of its kind.
fn number(handle: Handle) -> Handle {
    handle >> 4 & 0xffff_ffff
}

/// Returns the letter of the memory of an end.
fn letter(end: &End) -> char {
    match end.kind {
        ARRAY => 'A',
        HOST if AddressSpace::is_device(end.host) => 'D',
        HOST => 'H',
        _ if AddressSpace::is_device(end.device) => 'D',
        _ => 'H',
    }
}

impl Driver {
    /// Returns the picture of a graph.
    pub(crate) fn dot(&self, graph: Handle, flags: u32) -> String {
        let mut text = "digraph dot {\n".to_owned();
        self.cluster(graph, flags, &mut text);
        text + "}\n"
    }

    fn cluster(&self, graph: Handle, flags: u32, text: &mut String) {
        let id = number(graph);
        let Ok(found) = self.graphs.graph(graph) else { return };
        let _ = writeln!(
            text,
            "subgraph cluster_{id} {{\nlabel=\"graph_{id}\" graph[style=\"dashed\"];"
        );
        let mut inner = Vec::new();
        for (at, &handle) in found.nodes.iter().enumerate() {
            let Ok(node) = self.graphs.node(handle) else { continue };
            let (style, words) = self.words(node, flags);
            let _ = write!(text, "\"graph_{id}_node_{at}\"[{style} label=\"{at}\n{words}\n");
            if flags & (VERBOSE | HANDLES) != 0 {
                let _ = writeln!(text, "node handle: {handle:#018x}");
            }
            text.push_str("\"];\n\n");
            inner.extend_from_slice(node.operation.graphs());
        }
        let place = |node: Handle| found.nodes.iter().position(|other| *other == node);
        for (edge, to) in self.graphs.edges(graph).unwrap_or_default() {
            if let (Some(from), Some(to)) = (place(edge.from), place(to)) {
                let name = format!("graph_{id}_node_");
                let _ = writeln!(text, "\"{name}{from}\" -> \"{name}{to}\";");
            }
        }
        for child in inner {
            self.cluster(child, flags, text);
        }
        text.push_str("}\n");
    }

    /// Returns the shape of a node and the words in it.
    fn words(&self, node: &Node, flags: u32) -> (&'static str, String) {
        const BOX: &str = "style=\"solid\" shape=\"rectangle\"";
        match &node.operation {
            Operation::Launch(request) => {
                let mut words = self.symbol(request.function).unwrap_or("?").to_owned();
                if flags & (VERBOSE | LAUNCHES) != 0 {
                    let [blocks, threads] = [request.grid, request.block]
                        .map(|sides| sides.iter().map(|n| u64::from(*n)).product::<u64>());
                    let _ = write!(words, "<<<{blocks},{threads},{}>>>", request.shared);
                }
                ("style=\"bold\" shape=\"octagon\"", words)
            }
            Operation::Copy(copy) => {
                let (from, to) = (letter(&copy.from), letter(&copy.to));
                let bytes = copy.size.iter().product::<u64>();
                ("style=\"solid\" shape=\"trapezium\"", format!("MEMCPY\n({from}to{to},{bytes})"))
            }
            Operation::Set(fill) => {
                let bytes = fill.columns * fill.rows * u64::from(fill.element);
                let words = format!("MEMSET\n({},{bytes})", fill.value);
                ("style=\"solid\" shape=\"invtrapezium\"", words)
            }
            Operation::Call(..) => (BOX, "HOST".to_owned()),
            Operation::Graph(child) => (BOX, format!("CHILD_GRAPH\ngraph_{}", number(*child))),
            Operation::Empty => (BOX, "EMPTY".to_owned()),
            Operation::Wait(_) => (BOX, "EVENT_WAIT".to_owned()),
            Operation::Record(_) => (BOX, "EVENT_RECORD".to_owned()),
            Operation::Allocate(memory) => (BOX, format!("MEM_ALLOC\n({})", memory.bytes)),
            Operation::Free(_) => (BOX, "MEM_FREE".to_owned()),
            Operation::Choice(choice) => {
                let form = format!("{:?}", choice.form).to_uppercase();
                let bodies = choice.bodies.iter().map(|body| format!("\ngraph_{}", number(*body)));
                (BOX, format!("CONDITIONAL {form}{}", bodies.collect::<String>()))
            }
        }
    }
}
