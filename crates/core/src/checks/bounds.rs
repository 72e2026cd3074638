//! Addresses as variable names and indices.

use crate::event::MemoryKind;
use crate::exec::{Fault, FaultKind, block_shared_bytes};
use crate::isa::Space;
use crate::kernel::{Kernel, plain_name};
use crate::launch::{Launch, Variables};

/// Named piece of memory.
struct Piece {
    name: String,
    /// Type and size, such as `u32[64]`.
    what: String,
    first: u64,
    bytes: u64,
    /// Bytes per element, if known.
    element: Option<u64>,
}

fn pieces(kernel: &Kernel, launch: &Launch, memory: MemoryKind) -> Vec<Piece> {
    match memory {
        MemoryKind::Global | MemoryKind::Const | MemoryKind::Texture | MemoryKind::Surface => {
            let buffers = launch.mapped().map(|b| {
                let element = u64::from(b.element.bytes()).max(1);
                let what = format!("{}[{}]", b.element.name(), b.bytes / element);
                Piece {
                    name: b.name.clone(),
                    what,
                    first: b.address,
                    bytes: b.bytes,
                    element: Some(element),
                }
            });
            let variables = kernel.variables.iter().map(|v| {
                let bytes = v.bytes.len() as u64;
                Piece {
                    name: plain_name(&v.name).to_owned(),
                    what: format!("{bytes} bytes"),
                    first: v.address,
                    bytes,
                    element: None,
                }
            });
            // A buffer in a variable knows its elements; one with variables in it has other bytes.
            match launch.variables {
                Variables::Fresh => buffers.chain(variables).collect(),
                Variables::InBuffers => variables.chain(buffers).collect(),
            }
        }
        MemoryKind::Shared => {
            let all = block_shared_bytes(kernel.shared_bytes, launch.dynamic_shared).into();
            let mut pieces: Vec<Piece> = kernel
                .shared_variables
                .iter()
                .filter(|(.., bytes)| *bytes > 0)
                .map(|(name, first, bytes)| {
                    let (first, bytes) = (u64::from(*first), u64::from(*bytes));
                    Piece {
                        name: plain_name(name).to_owned(),
                        what: format!("{bytes} bytes"),
                        first,
                        bytes,
                        element: None,
                    }
                })
                .collect();
            let end = pieces.iter().map(|p| p.first + p.bytes).max().unwrap_or(0);
            if launch.dynamic_shared > 0 && end < all {
                let (name, bytes) =
                    ("dynamic shared memory".to_owned(), u64::from(launch.dynamic_shared));
                pieces.push(Piece {
                    name,
                    what: format!("{bytes} bytes"),
                    first: all - bytes,
                    bytes,
                    element: None,
                });
            }
            pieces
        }
        MemoryKind::Local => {
            let bytes = kernel.local_size(launch.stack).into();
            let (name, what) = ("local memory".to_owned(), format!("{bytes} bytes a thread"));
            vec![Piece { name, what, first: 0, bytes, element: None }]
        }
    }
}

/// Names an address: `in[5]`, `in[5] byte 2`, `data+12`, or the bare address.
pub(super) fn name(kernel: &Kernel, launch: &Launch, memory: MemoryKind, address: u64) -> String {
    let pieces = pieces(kernel, launch, memory);
    match pieces.iter().find(|p| (p.first..p.first + p.bytes).contains(&address)) {
        // Machine code does not name its shared variables.
        None if memory == MemoryKind::Shared && kernel.native.is_some() => {
            format!("shared[0x{address:x}]")
        }
        None => format!("0x{address:x}"),
        Some(_) if memory == MemoryKind::Local => {
            format!("byte {address} of the thread's local memory")
        }
        Some(Piece { name, first, element: None, .. }) if address == *first => name.clone(),
        Some(Piece { name, first, element: None, .. }) => format!("{name}+{}", address - first),
        Some(Piece { name, first, element: Some(element), .. }) => {
            let (index, byte) = ((address - first) / element, (address - first) % element);
            if byte == 0 {
                format!("{name}[{index}]")
            } else {
                format!("{name}[{index}] byte {byte}")
            }
        }
    }
}

/// Returns the memory of a state space.
const fn memory_of(space: Space) -> Option<MemoryKind> {
    match space {
        Space::Shared => Some(MemoryKind::Shared),
        Space::Local => Some(MemoryKind::Local),
        Space::Global | Space::Generic | Space::Const => Some(MemoryKind::Global),
        Space::Param => None,
    }
}

/// Describes an out-of-bounds access relative to the nearest buffer or variable.
///
/// Returns `None` if that memory has no buffer or variable.
pub fn nearest(
    kernel: &Kernel,
    launch: &Launch,
    space: Space,
    address: u64,
    bytes: u32,
) -> Option<String> {
    let memory = memory_of(space)?;
    if let Some(below) = below_stack(kernel, space, address) {
        let bytes = kernel.local_size(launch.stack);
        return Some(format!("stack overflow: {below} bytes below the {bytes} bytes of a thread"));
    }
    if memory == MemoryKind::Shared && launch.dynamic_shared == 0 {
        if let Some((name, ..)) = kernel.shared_variables.iter().find(|(.., bytes)| *bytes == 0) {
            let name = plain_name(name);
            return Some(format!(
                "`{name}` is dynamic shared memory, and the launch has 0 bytes of it (add \
                 `//! shared = BYTES`)"
            ));
        }
        if kernel.native.is_some() {
            return Some(format!(
                "a block has {} bytes of shared memory (for `extern __shared__` arrays add \
                 `//! shared = BYTES`)",
                kernel.shared_bytes
            ));
        }
    }
    let distance = |p: &Piece| {
        let end = p.first.saturating_add(p.bytes);
        if address < p.first { p.first - address } else { address.saturating_sub(end) }
    };
    let pieces = pieces(kernel, launch, memory);
    let near = pieces.iter().min_by_key(|p| distance(p))?;
    let whole = format!("`{}` ({})", near.name, near.what);
    let end = near.first.saturating_add(near.bytes);
    // At this distance the address is not the result of arithmetic on a pointer to the piece.
    Some(if distance(near) > near.bytes.saturating_mul(64).max(1 << 20) {
        format!("far from any allocation; the nearest is {whole}")
    } else if address < near.first {
        format!("{} bytes before the start of {whole}", near.first - address)
    } else if address < end {
        let over = address.saturating_add(bytes.into()).saturating_sub(end);
        format!("the last {over} bytes are past the end of {whole}")
    } else if let Some(element) = near.element {
        let (index, past) = ((address - near.first) / element, (address - end) / element + 1);
        let past = if past == 1 { "one".to_owned() } else { past.to_string() };
        format!("`{}[{index}]`, {past} past the end", near.name)
    } else {
        let far =
            if address == end { "just".to_owned() } else { format!("{} bytes", address - end) };
        format!("{far} past the end of {whole}")
    })
}

/// Returns how far a local address of machine code is below the stack, which grows towards 0.
fn below_stack(kernel: &Kernel, space: Space, address: u64) -> Option<u32> {
    let address = u32::try_from(address).ok()?;
    let is_stack = space == Space::Local && kernel.native.is_some();
    (is_stack && address > i32::MAX as u32).then(|| address.wrapping_neg())
}

/// Returns the code, message and remedy of a fault that belongs to a check.
pub(super) fn fault(
    kernel: &Kernel,
    launch: &Launch,
    fault: &Fault,
) -> Option<(&'static str, String, &'static str)> {
    let message = fault.kind.to_string();
    Some(match fault.kind {
        FaultKind::OutOfBounds { space, address, bytes } => {
            let near = nearest(kernel, launch, space, address, bytes);
            let place = format!("{bytes}-byte {} access at 0x{address:x}", space.name());
            let message = near.map_or(message, |near| format!("out of bounds: {near}; {place}"));
            if below_stack(kernel, space, address).is_some() {
                return Some((
                    "out-of-bounds",
                    message,
                    "recurse less deeply: a thread has the stack of cudaLimitStackSize, 1 KiB by default",
                ));
            }
            (
                "out-of-bounds",
                message,
                "compare the index with the size before the access, as in `if (i < n)`",
            )
        }
        FaultKind::Misaligned { space, address, .. } => {
            let place = memory_of(space).map(|memory| name(kernel, launch, memory, address));
            let message = place.map_or(message.clone(), |place| format!("{message}, at `{place}`"));
            ("misaligned", message, "align the address to the access size, or use smaller accesses")
        }
        FaultKind::ReadOnly { .. } => {
            ("read-only", message, "write to a buffer or to a variable that is not constant")
        }
        FaultKind::NotInMask { .. } => (
            "mask-without-self",
            message,
            "name every lane that executes the instruction, itself included",
        ),
        FaultKind::GatheredElsewhere { .. } => (
            "mask-absent-lane",
            message,
            "let all lanes named by the mask execute the same instruction",
        ),
        _ => return None,
    })
}
