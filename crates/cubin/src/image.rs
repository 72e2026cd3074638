//! Sections, symbols and relocations of an ELF image.

use object::LittleEndian;
use object::elf::{FileHeader64, SHN_ABS, SHN_LORESERVE, SHT_NOBITS, SHT_SYMTAB};
use object::read::elf::{FileHeader as _, Rel as _, Rela as _, SectionHeader as _, Sym as _};

use crate::CubinError;

/// First bytes of an ELF file.
pub(crate) const MAGIC: &[u8] = b"\x7fELF";
/// First bytes of a fat binary, and of the wrapper that host objects hold.
const FAT: [&[u8]; 2] = [&[0x50, 0xed, 0x55, 0xba], &[0xb1, 0x43, 0x62, 0x46]];
/// `e_machine` of a cubin.
const EM_CUDA: u16 = 190;
/// `e_type` of relocatable files.
const ET_REL: u16 = 1;
/// ABI version (`e_ident`) from which on the architecture stands in bits 8 to 15 of `e_flags`.
const ABI_OF_CUDA_13: u8 = 8;
/// Bit of `st_other` that marks entry functions.
const ENTRY: u8 = 0x10;
/// Functions that launch kernels from the device: of CUDA 12 and 13, and of earlier ones.
const DEVICE_LAUNCH: [&str; 3] = ["__cudaCDP", "cudaLaunchDevice", "cudaGetParameterBuffer"];
/// Relocation of the size of a descriptor of a texture or surface in an instruction.
pub(crate) const DESCRIPTOR: u32 = 55;
/// Relocation that writes a 64-bit address (R_CUDA_64).
pub(crate) const ADDRESS_64: u32 = 2;
/// Relocation that writes a 64-bit generic address.
pub(crate) const GENERIC_64: u32 = 4;
/// Relocation that writes the 64-bit address of a function.
pub(crate) const FUNCTION_64: u32 = 35;
/// Relocation of the lower half of an address in an instruction.
pub(crate) const ADDRESS_LOW: u32 = 56;
/// Relocation of the upper half of an address in an instruction.
pub(crate) const ADDRESS_HIGH: u32 = 57;
/// Relocation of the target of a call.
pub(crate) const ADDRESS_CALL: u32 = 75;

type E = LittleEndian;
const LE: E = LittleEndian;

/// Parsed image.
pub(crate) struct Image<'d> {
    /// Architecture number: 90 for sm_90.
    pub arch: u32,
    /// Sections by index.
    pub sections: Vec<Section<'d>>,
    /// Symbols by index.
    pub symbols: Vec<Symbol<'d>>,
}

/// Section.
pub(crate) struct Section<'d> {
    pub name: &'d str,
    /// Size in bytes; larger than `data` if the section holds only zeros.
    pub size: u64,
    pub data: &'d [u8],
    /// Raw `sh_info`.
    pub info: u32,
    /// Relocations that apply to the section.
    pub relocations: Vec<Relocation>,
}

/// Symbol.
#[derive(Clone, Copy)]
pub(crate) struct Symbol<'d> {
    pub name: &'d str,
    pub kind: SymbolKind,
    /// Index of its section, if it has one.
    pub section: Option<usize>,
    /// Byte offset in the section.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
}

/// Kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    /// Entry function, a kernel.
    Entry,
    /// Other function.
    Function,
    /// Variable.
    Object,
    /// Name of a section.
    Section,
    /// Anything else.
    Other,
}

/// Relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    /// Byte offset in the section.
    pub offset: u64,
    /// Kind, a number of NVIDIA's.
    pub kind: u32,
    /// Index of the symbol.
    pub symbol: usize,
    /// Addend; `None` if it stands in the section's bytes.
    pub addend: Option<i64>,
}

impl<'d> Image<'d> {
    /// Reads an image.
    pub(crate) fn read(bytes: &'d [u8]) -> Result<Image<'d>, CubinError> {
        if FAT.iter().any(|magic| bytes.starts_with(magic)) {
            return Err(CubinError::Container("a fat binary"));
        }
        if !bytes.starts_with(MAGIC) {
            return Err(CubinError::NotElf);
        }
        if bytes.get(4..6) != Some(&[2, 1]) {
            return Err(CubinError::damaged("expected a 64-bit little-endian ELF file"));
        }
        let header = FileHeader64::<E>::parse(bytes).map_err(CubinError::damaged)?;
        let machine = header.e_machine(LE).0;
        let sections = header.sections(LE, bytes).map_err(CubinError::damaged)?;
        let name = |section: &object::elf::SectionHeader64<E>| {
            text(sections.section_name(LE, section).map_err(CubinError::damaged)?)
        };
        if machine != EM_CUDA {
            for section in sections.iter() {
                if matches!(name(section), Ok(".nv_fatbin" | ".nvFatBinSegment")) {
                    return Err(CubinError::Container("a host program or object"));
                }
            }
            return Err(CubinError::Machine(machine));
        }
        let mut image = Image { arch: arch(header), sections: Vec::new(), symbols: Vec::new() };
        for section in sections.iter() {
            let data = section.data(LE, bytes).map_err(CubinError::damaged)?;
            let size = section.sh_size(LE);
            if section.sh_type(LE) != SHT_NOBITS && data.len() as u64 != size && size != 0 {
                return Err(CubinError::damaged(format!("section `{}` is cut", name(section)?)));
            }
            image.sections.push(Section {
                name: name(section)?,
                size,
                data,
                info: section.sh_info(LE),
                relocations: Vec::new(),
            });
        }
        let table = sections.symbols(LE, bytes, SHT_SYMTAB).map_err(CubinError::damaged)?;
        for symbol in table.iter() {
            let name = symbol.name(LE, table.strings()).map_err(CubinError::damaged)?;
            let index = symbol.st_shndx(LE).0;
            let section = (index != 0 && index < SHN_LORESERVE).then_some(usize::from(index));
            if section.is_some_and(|i| i >= image.sections.len()) {
                return Err(CubinError::damaged("a symbol names a section that does not exist"));
            }
            let absolute = index == SHN_ABS.0;
            image.symbols.push(Symbol {
                name: text(name)?,
                kind: match symbol.st_info().0 & 15 {
                    1 if !absolute => SymbolKind::Object,
                    2 if symbol.st_other().0 & ENTRY != 0 => SymbolKind::Entry,
                    2 => SymbolKind::Function,
                    3 => SymbolKind::Section,
                    _ => SymbolKind::Other,
                },
                section,
                value: symbol.st_value(LE),
                size: symbol.st_size(LE),
            });
        }
        if header.e_type(LE).0 == ET_REL {
            let launches = |s: &&Symbol<'_>| DEVICE_LAUNCH.iter().any(|f| s.name.starts_with(f));
            return Err(match image.symbols.iter().find(launches) {
                Some(symbol) => CubinError::DeviceLaunch(symbol.name.to_owned()),
                None => CubinError::Relocatable,
            });
        }
        for section in sections.iter() {
            let mut found = Vec::new();
            if let Some((list, _)) = section.rela(LE, bytes).map_err(CubinError::damaged)? {
                found.extend(list.iter().map(|r| Relocation {
                    offset: r.r_offset(LE),
                    kind: r.r_type(LE, false).0,
                    symbol: r.r_sym(LE, false) as usize,
                    addend: Some(r.r_addend(LE)),
                }));
            }
            if let Some((list, _)) = section.rel(LE, bytes).map_err(CubinError::damaged)? {
                found.extend(list.iter().map(|r| Relocation {
                    offset: r.r_offset(LE),
                    kind: r.r_type(LE).0,
                    symbol: r.r_sym(LE) as usize,
                    addend: None,
                }));
            }
            if found.is_empty() {
                continue;
            }
            let target = section.sh_info(LE) as usize;
            if found.iter().any(|r| r.symbol >= image.symbols.len()) {
                return Err(CubinError::damaged("a relocation names a symbol that does not exist"));
            }
            let target = image.sections.get_mut(target).ok_or_else(|| {
                CubinError::damaged("relocations for a section that does not exist")
            })?;
            target.relocations.extend(found);
        }
        Ok(image)
    }

    /// Returns the section with a name.
    pub(crate) fn section(&self, name: &str) -> Option<&Section<'d>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns the symbols of a kind with their sections, in the order of the table.
    pub(crate) fn symbols_of(
        &self,
        kind: SymbolKind,
    ) -> impl Iterator<Item = (usize, &Symbol<'d>, usize, &Section<'d>)> {
        self.symbols.iter().enumerate().filter(move |(_, symbol)| symbol.kind == kind).filter_map(
            |(i, symbol)| {
                let section = symbol.section?;
                Some((i, symbol, section, self.sections.get(section)?))
            },
        )
    }

    /// Returns the symbol of a relocation.
    pub(crate) fn target(&self, relocation: &Relocation) -> Result<&Symbol<'d>, CubinError> {
        let symbol = self.symbols.get(relocation.symbol);
        symbol.ok_or_else(|| CubinError::damaged("a relocation names no symbol"))
    }
}

/// Returns the architecture number.
fn arch(header: &FileHeader64<E>) -> u32 {
    let flags = header.e_flags(LE).0;
    let byte = if header.e_ident().abi_version >= ABI_OF_CUDA_13 { flags >> 8 } else { flags };
    byte & 0xff
}

fn text(bytes: &[u8]) -> Result<&str, CubinError> {
    std::str::from_utf8(bytes).map_err(|_| CubinError::damaged("a name is no UTF-8 text"))
}

/// Returns a little-endian word of a section.
pub(crate) fn word(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// Returns a number of the image as 32 bits.
pub(crate) fn small(value: u64, what: &str) -> Result<u32, CubinError> {
    u32::try_from(value).map_err(|_| CubinError::damaged(format!("{what} is {value:#x}")))
}
