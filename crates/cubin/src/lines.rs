//! Line tables: CUDA lines (`.debug_line`) and PTX lines (`.nv_debug_line_sass`).
//!
//! Both are DWARF line programs. Their addresses are relocated by function symbols; here a code
//! section's addresses begin at its index shifted by [`SECTION_SHIFT`].

use gimli::{
    DebugLine, DebugLineOffset, EndianSlice, LineInstruction, LineRow, LittleEndian, Relocate,
    RelocateReader,
};

use crate::CubinError;
use crate::image::{Image, Section};

/// Position of the section's index in an address.
const SECTION_SHIFT: u32 = 40;
/// Bytes of an address.
const ADDRESS: u8 = 8;
/// Extended opcode of NVIDIA: the following rows were inlined at a row of the table.
const INLINED_CALL: u8 = 0x90;
/// Deepest chain of inlined calls that is followed.
const DEEPEST: u32 = 64;

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// Addresses of a line section, relocated.
#[derive(Clone, Copy, Debug)]
struct Places<'r>(&'r [(usize, u64)]);

impl Relocate<usize> for Places<'_> {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        let found = self.0.binary_search_by_key(&offset, |(at, _)| *at).ok();
        let base = found.and_then(|i| self.0.get(i)).map_or(0, |(_, base)| *base);
        Ok(base.wrapping_add(value))
    }

    fn relocate_offset(&self, _: usize, value: usize) -> gimli::Result<usize> {
        Ok(value)
    }
}

/// Row of a line table.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Relocated address.
    address: u64,
    /// Number of the file.
    file: u32,
    line: u32,
    /// One-based row of the call that was inlined; 0 for none.
    context: u32,
    /// True if no code follows.
    end: bool,
}

/// One line program.
struct Table {
    rows: Vec<Row>,
    /// Names of files by number, without folders; PTX tables have none.
    files: Vec<String>,
}

impl Table {
    /// Returns the name of a row's file; empty if it has none.
    fn file(&self, row: &Row) -> &str {
        self.files.get(row.file as usize).map_or("", String::as_str)
    }

    /// Returns the rows of a code section, each with the row that it was inlined into.
    fn outer_rows(&self, section: usize) -> impl Iterator<Item = (u64, &Row)> {
        let of_section = move |row: &&Row| row.address >> SECTION_SHIFT == section as u64;
        self.rows.iter().filter(of_section).map(|row| {
            let mut outer = row;
            for _ in 0..DEEPEST {
                match outer.context.checked_sub(1).and_then(|i| self.rows.get(i as usize)) {
                    Some(call) => outer = call,
                    None => break,
                }
            }
            (row.address & ((1 << SECTION_SHIFT) - 1), outer)
        })
    }
}

/// Line tables of a module.
pub(crate) struct Tables {
    cuda: Vec<Table>,
    ptx: Vec<Table>,
}

impl Tables {
    /// Reads both tables; a missing one is empty.
    pub(crate) fn read(image: &Image<'_>) -> Result<Tables, CubinError> {
        let table = |name| image.section(name).map_or(Ok(Vec::new()), |s| programs(image, s));
        Ok(Tables { cuda: table(".debug_line")?, ptx: table(".nv_debug_line_sass")? })
    }

    /// Returns the lines of a code section of `size` bytes.
    pub(crate) fn of(&self, section: usize, size: u64) -> Lines {
        let names = self.cuda.iter().flat_map(|table| {
            let rows = table.outer_rows(section).filter(|(_, row)| !row.end);
            rows.map(|(_, row)| table.file(row))
        });
        let source = names.into_iter().find(|name| !name.is_empty()).map(str::to_owned);
        let cuda = pairs(&self.cuda, section, size, source.as_deref().unwrap_or_default());
        Lines { source, cuda, ptx: pairs(&self.ptx, section, size, "") }
    }
}

/// Lines of one code section.
pub(crate) struct Lines {
    /// Name of the CUDA source file, without its folder.
    pub source: Option<String>,
    /// CUDA line by address, ascending.
    pub cuda: Vec<(u32, u32)>,
    /// PTX line by address, ascending.
    pub ptx: Vec<(u32, u32)>,
}

/// Returns address and line of the rows of a code section that belong to a file.
fn pairs(tables: &[Table], section: usize, size: u64, source: &str) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for table in tables {
        for (address, row) in table.outer_rows(section) {
            if row.end || row.line == 0 || table.file(row) != source || address >= size {
                continue;
            }
            if let Ok(address) = u32::try_from(address) {
                found.push((address, row.line));
            }
        }
    }
    // The last of several rows at an address counts.
    found.reverse();
    found.sort_by_key(|(address, _)| *address);
    found.dedup_by_key(|(address, _)| *address);
    found.dedup_by_key(|(_, line)| *line);
    found
}

/// Returns the rows of each line program of a section.
fn programs(image: &Image<'_>, section: &Section<'_>) -> Result<Vec<Table>, CubinError> {
    let damaged = |e: gimli::Error| CubinError::damaged(format!("`{}`: {e}", section.name));
    let mut places = Vec::new();
    for relocation in &section.relocations {
        let symbol = image.target(relocation)?;
        let (Ok(offset), Some(code)) = (usize::try_from(relocation.offset), symbol.section) else {
            continue;
        };
        let inner = symbol.value.wrapping_add_signed(relocation.addend.unwrap_or(0));
        places.push((offset, ((code as u64) << SECTION_SHIFT).wrapping_add(inner)));
    }
    places.sort_unstable();
    let bytes = EndianSlice::new(section.data, LittleEndian);
    let reader = RelocateReader::new(bytes, Places(&places));
    let table = DebugLine::from(reader);
    let mut programs = Vec::new();
    let mut offset = 0;
    while offset < section.data.len() {
        let place = DebugLineOffset(offset);
        let mut program = table.program(place, ADDRESS, None, None).map_err(damaged)?;
        let header = program.header().clone();
        let rows = rows(&header, &mut program).map_err(damaged)?;
        programs.push(Table { rows, files: file_names(&header) });
        // The length does not count itself.
        let head = usize::from(header.format().initial_length_size());
        let next = header.unit_length().checked_add(head).and_then(|n| n.checked_add(offset));
        offset = next.unwrap_or(section.data.len());
    }
    Ok(programs)
}

type Reader<'d, 'r> = RelocateReader<Slice<'d>, Places<'r>>;

/// Runs a line program.
fn rows<'d, 'r>(
    header: &gimli::LineProgramHeader<Reader<'d, 'r>>,
    program: &mut gimli::IncompleteLineProgram<Reader<'d, 'r>>,
) -> gimli::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut instructions = header.instructions();
    let mut state = LineRow::new(header);
    let mut context = 0;
    while let Some(instruction) = instructions.next_instruction(header)? {
        if let LineInstruction::UnknownExtended(opcode, operands) = &instruction {
            if opcode.0 == INLINED_CALL {
                let mut operands = operands.clone();
                context = gimli::Reader::read_uleb128(&mut operands)
                    .ok()
                    .and_then(|n| u32::try_from(n).ok())
                    .unwrap_or(0);
            }
            continue;
        }
        if !state.execute(instruction, program)? {
            continue;
        }
        // A call stands before the rows inlined into it, so following contexts ends.
        let before = context as usize <= rows.len();
        rows.push(Row {
            address: state.address(),
            file: u32::try_from(state.file_index()).unwrap_or(u32::MAX),
            line: state.line().and_then(|n| u32::try_from(n.get()).ok()).unwrap_or(0),
            context: if before { context } else { 0 },
            end: state.end_sequence(),
        });
        if state.end_sequence() {
            context = 0;
        }
        state.reset(header);
    }
    Ok(rows)
}

/// Returns the names of files by number, without folders. Number 0 stands for no file.
fn file_names(header: &gimli::LineProgramHeader<Reader<'_, '_>>) -> Vec<String> {
    let name = |entry: &gimli::FileEntry<Reader<'_, '_>>| {
        let gimli::AttributeValue::String(name) = entry.path_name() else { return String::new() };
        let name = String::from_utf8_lossy(name.inner().slice()).into_owned();
        name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
    };
    // Files are numbered from 1 up to DWARF 4, from 0 since DWARF 5.
    let none = (header.version() < 5).then(String::new);
    none.into_iter().chain(header.file_names().iter().map(name)).collect()
}
