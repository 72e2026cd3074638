//! Builder of ELF images.

/// Type of `.nv.info` sections.
pub(super) const CUDA: u32 = 0x7000_0000;
/// R_CUDA_64.
pub(super) const REL_64: u32 = 2;
/// Bytes of a kernel's code.
const CODE: usize = 0x60;

/// An image under construction.
pub(super) struct Elf {
    pub abi: u8,
    pub kind: u16,
    pub machine: u16,
    pub flags: u32,
    /// Name, type, bytes, `sh_info` and size of an entry. Index 0 is the null section.
    sections: Vec<(String, u32, Vec<u8>, u32, u64)>,
    /// Name, type, `st_other`, section, value, size. Index 0 is the null symbol.
    symbols: Vec<(String, u8, u8, u16, u64, u64)>,
    /// Attributes of `.nv.info`.
    common: Vec<u8>,
}

impl Elf {
    pub(super) fn new(arch: u32) -> Elf {
        Elf {
            abi: 8,
            kind: 2,
            machine: 190,
            flags: 0x0900_0004 | arch << 8,
            sections: vec![(String::new(), 0, Vec::new(), 0, 0)],
            symbols: vec![(String::new(), 0, 0, 0, 0, 0)],
            common: Vec::new(),
        }
    }

    /// Adds a section; returns its index. Those of type 8 hold only zeros.
    pub(super) fn section(&mut self, name: &str, kind: u32, bytes: Vec<u8>) -> u16 {
        self.sections.push((name.to_owned(), kind, bytes, 0, 0));
        self.sections.len() as u16 - 1
    }

    /// Adds a symbol; returns its index.
    pub(super) fn symbol(
        &mut self,
        name: &str,
        kind: u8,
        other: u8,
        section: u16,
        value: u64,
        size: u64,
    ) -> u32 {
        self.symbols.push((name.to_owned(), kind, other, section, value, size));
        self.symbols.len() as u32 - 1
    }

    /// Adds a kernel; returns the index of its symbol.
    pub(super) fn kernel(&mut self, name: &str, registers: u32) -> u32 {
        let section = self.section(&format!(".text.{name}"), 1, vec![0; CODE]);
        let symbol = self.symbol(name, 2, 0x10, section, 0, CODE as u64);
        self.common.extend(attribute(0x2f, &bytes_of(&[symbol, registers])));
        symbol
    }

    fn index_of(&self, name: &str) -> u32 {
        self.sections.iter().position(|section| section.0 == name).expect("a section") as u32
    }

    /// Adds relocations: offset, symbol, type, addend.
    pub(super) fn relocate(&mut self, section: &str, list: &[(u64, u32, u32, i64)]) {
        let target = self.index_of(section);
        let mut bytes = Vec::new();
        for &(offset, symbol, kind, addend) in list {
            bytes.extend(offset.to_le_bytes());
            bytes.extend((u64::from(symbol) << 32 | u64::from(kind)).to_le_bytes());
            bytes.extend(addend.to_le_bytes());
        }
        self.sections.push((format!(".rela{section}"), 4, bytes, target, 24));
    }

    /// Adds relocations whose addends stand in the section: offset, symbol, type.
    pub(super) fn relocate_in_place(&mut self, section: &str, list: &[(u64, u32, u32)]) {
        let target = self.index_of(section);
        let mut bytes = Vec::new();
        for &(offset, symbol, kind) in list {
            bytes.extend(offset.to_le_bytes());
            bytes.extend((u64::from(symbol) << 32 | u64::from(kind)).to_le_bytes());
        }
        self.sections.push((format!(".rel{section}"), 9, bytes, target, 16));
    }

    /// Adds a line table whose program begins with an address that `symbol` relocates.
    pub(super) fn lines(&mut self, name: &str, files: &[&str], program: &[u8], symbol: u32) {
        let mut rest = vec![1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1];
        rest.extend(b"/src\0\0");
        for file in files {
            rest.extend(file.as_bytes());
            rest.extend([0, 1, 0, 0]);
        }
        rest.push(0);
        let mut unit = vec![2, 0];
        unit.extend((rest.len() as u32).to_le_bytes());
        unit.extend(rest);
        let place = 4 + unit.len() as u64 + 3;
        unit.extend(program);
        let mut bytes = (unit.len() as u32).to_le_bytes().to_vec();
        bytes.extend(unit);
        self.section(name, 1, bytes);
        self.relocate(name, &[(place, symbol, REL_64, 0)]);
    }

    /// Returns the image.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut sections = self.sections.clone();
        sections.push((".nv.info".to_owned(), CUDA, self.common.clone(), 0, 0));
        let (mut names, mut table) = (vec![0], Vec::new());
        for (name, kind, other, section, value, size) in &self.symbols {
            table.extend((names.len() as u32).to_le_bytes());
            table.extend([*kind, *other]);
            table.extend(section.to_le_bytes());
            table.extend(value.to_le_bytes());
            table.extend(size.to_le_bytes());
            names.extend(name.as_bytes());
            names.push(0);
        }
        let strings = sections.len() as u32;
        sections.push((".strtab".to_owned(), 3, names, 0, 0));
        sections.push((".symtab".to_owned(), 2, table, 1, 24));
        let symbols = sections.len() as u32 - 1;
        let mut names = vec![0];
        let mut places = Vec::new();
        sections.push((".shstrtab".to_owned(), 3, Vec::new(), 0, 0));
        for section in &sections {
            places.push(names.len() as u32);
            names.extend(section.0.as_bytes());
            names.push(0);
        }
        if let Some(last) = sections.last_mut() {
            last.2 = names;
        }
        let mut image = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0x41, self.abi, 0, 0, 0, 0, 0, 0, 0];
        image.extend(self.kind.to_le_bytes());
        image.extend(self.machine.to_le_bytes());
        image.extend(bytes_of(&[1]));
        image.extend(halves(&[0, 0, 0]));
        image.extend(bytes_of(&[self.flags]));
        for half in [64, 56, 0, 64, sections.len() as u16, sections.len() as u16 - 1] {
            image.extend(u16::to_le_bytes(half));
        }
        let mut headers = Vec::new();
        for ((_, kind, bytes, info, entry), name) in sections.iter().zip(places) {
            let link = match kind {
                2 => strings,
                4 | 9 => symbols,
                _ => 0,
            };
            headers.extend(bytes_of(&[name, *kind]));
            headers.extend(halves(&[0, 0, image.len() as u64, bytes.len() as u64]));
            headers.extend(bytes_of(&[link, *info]));
            headers.extend(halves(&[32, *entry]));
            if *kind != 8 {
                image.extend(bytes);
            }
        }
        let at = (image.len() as u64).to_le_bytes();
        image[40..48].copy_from_slice(&at);
        image.extend(headers);
        image
    }
}

/// Returns an attribute whose value has bytes of its own.
pub(super) fn attribute(code: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![4, code];
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
    bytes
}

/// Returns the bytes of 32-bit words.
pub(super) fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the bytes of 64-bit words.
pub(super) fn halves(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns an image with one of everything.
pub(super) fn sample() -> Elf {
    let mut elf = Elf::new(90);
    let k = elf.kernel("k", 24);
    elf.symbol("$k$twist", 2, 0, 1, 0x40, 0x20);
    elf.common.extend(attribute(0x11, &bytes_of(&[k, 48])));
    elf.common.extend(attribute(0x12, &bytes_of(&[k, 40])));
    elf.common.extend(attribute(0x2f, &bytes_of(&[k + 1, 99])));
    let own = [
        attribute(0x17, &bytes_of(&[0, 0x0008_0001, 0x0011_f000])),
        attribute(0x17, &bytes_of(&[0, 0, 0x0021_f000])),
        vec![2, 0x4c, 1, 0],
        attribute(0x34, &bytes_of(&[0x10, 0, 2, 0x20, 0x30])),
        attribute(0x10, &bytes_of(&[64, 2, 1])),
        vec![3, 0x19, 12, 0],
        attribute(0x0a, &bytes_of(&[14, 0x000c_0210])),
    ];
    elf.section(".nv.info.k", CUDA, own.concat());
    elf.section(".nv.constant0.k", 1, vec![0; 0x21c]);
    elf.section(".nv.constant2.k", 1, bytes_of(&[0x20, 0x30]));
    elf.section(".nv.shared.k", 8, vec![0; 1024 + 256]);
    let constants = elf.section(".nv.constant3", 1, vec![1, 2, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
    elf.symbol("weights", 1, 0, constants, 0, 8);
    let initial = elf.section(".nv.global.init", 1, [vec![5], vec![0; 15]].concat());
    let table = elf.symbol("table", 1, 0, initial, 0, 16);
    let zero = elf.section(".nv.global", 8, vec![0; 64]);
    let zeros = elf.symbol("zeros", 1, 0, zero, 0, 64);
    elf.relocate(".nv.global.init", &[(8, zeros, REL_64, 4)]);
    elf.section(".nv.constant4", 1, vec![0; 16]);
    elf.relocate(".nv.constant4", &[(8, zeros, REL_64, 16), (0, table, REL_64, 0)]);
    let program = [
        &[0, 9, 2][..],
        &[0; 8],
        &[4, 1, 3, 6, 1],            // file 1, line 7
        &[3, 1, 2, 16, 1, 2, 16, 1], // line 8 at 16 and 32
        &[3, 1, 2, 16, 1],
        &[2, 0x30, 0, 1, 1],
    ];
    elf.lines(".debug_line", &["folder/wave.cu"], &program.concat(), k);
    elf
}
