//! Linking: images added one by one, then one image of them all.

use simt_core::Program;
use simt_core::kernel::layout::Bases;

use crate::abi::Logs;
use crate::error::Error;
use crate::fatbin::{self, FatbinError, Taken};

/// Kinds of inputs, as in `CUjitInputType`.
const CUBIN: u32 = 0;
const PTX: u32 = 1;
const FATBIN: u32 = 2;
const LIBRARY: u32 = 4;

/// PTX of the functions of CUDA's device runtime that are simulated, and its name.
const RUNTIME: (&str, &str) = ("device runtime", include_str!("../data/device_runtime.ptx"));
/// Functions that [`RUNTIME`] defines.
const RUNTIME_FUNCTIONS: [&str; 3] =
    ["cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaGraphSetConditional"];

/// Links PTX texts with their names, and with the device runtime if they declare functions of it.
pub(crate) fn program(texts: &[(&str, &str)], bases: Bases) -> Program {
    let mut texts = texts.to_vec();
    if texts.iter().any(|(_, text)| RUNTIME_FUNCTIONS.iter().any(|name| text.contains(name))) {
        texts.push(RUNTIME);
    }
    match texts.as_slice() {
        [(name, text)] => Program::parse_at(name, text, bases),
        _ => Program::link(&texts, bases),
    }
}

/// Inputs of a link, and its result.
#[derive(Debug)]
pub(crate) struct Link {
    /// Places for messages.
    pub(crate) logs: Logs,
    /// Architecture for which a fat binary's code is chosen.
    arch: u32,
    inputs: Vec<(u32, Vec<u8>, String)>,
    /// Result; its address was handed out, so it stays until the end of the link.
    image: Option<Vec<u8>>,
}

impl Link {
    /// Begins a link for devices of an architecture, as in 90.
    pub(crate) fn new(logs: Logs, arch: u32) -> Link {
        Link { logs, arch, inputs: Vec::new(), image: None }
    }

    /// Adds an input.
    ///
    /// # Errors
    /// If inputs of the kind cannot be linked.
    pub(crate) fn add(&mut self, kind: u32, data: Vec<u8>, name: String) -> Result<(), Error> {
        if self.image.is_some() {
            return Err(Error::INVALID_VALUE);
        }
        match kind {
            FATBIN => {
                // Machine code of a fat binary stays whole: it may be the only input.
                let (kind, data) = match fatbin::choose(&data, self.arch, Taken::Ptx) {
                    Ok(fatbin::Code::Ptx(text)) => (PTX, text),
                    Ok(fatbin::Code::Cubin(_)) | Err(FatbinError::NoCode(_)) => (FATBIN, data),
                    Err(FatbinError::Damaged(_)) => return Err(Error::INVALID_IMAGE),
                };
                self.inputs.push((kind, data, name));
                Ok(())
            }
            CUBIN | PTX => {
                self.inputs.push((kind, data, name));
                Ok(())
            }
            // NVIDIA's device runtime, for which [`RUNTIME`] stands.
            LIBRARY => Ok(()),
            3 | 5 => Err(Error::NOT_SUPPORTED),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    /// Links the inputs and keeps the result.
    ///
    /// # Errors
    /// If they cannot be linked: code and explanation.
    pub(crate) fn complete(&mut self) -> Result<&[u8], (Error, String)> {
        if self.image.is_none() {
            self.image = Some(linked(&self.inputs)?);
        }
        Ok(self.image.as_deref().unwrap_or_default())
    }
}

fn linked(inputs: &[(u32, Vec<u8>, String)]) -> Result<Vec<u8>, (Error, String)> {
    let refuse = |error, message: String| Err((error, format!("error: {message}\n")));
    // A part without PTX, such as CUDA's own device library, is left out: what the others miss is
    // named below.
    let has_text = inputs.iter().any(|(kind, ..)| *kind == PTX);
    let inputs: Vec<_> = inputs.iter().filter(|(kind, ..)| *kind != FATBIN || !has_text).collect();
    let mut texts = Vec::new();
    for (kind, data, name) in &inputs {
        let is_text = *kind == PTX && !data.starts_with(b"\x7fELF");
        let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
        match std::str::from_utf8(&data[..end]) {
            Ok(text) if is_text => texts.push((name.as_str(), text)),
            _ if is_text => return refuse(Error::INVALID_PTX, format!("`{name}` is no PTX")),
            _ if inputs.len() == 1 => return Ok(data.clone()),
            _ => {
                let which = if name.is_empty() { "an input" } else { &format!("`{name}`") };
                let message = format!(
                    "{which} is machine code, which is not linked; add PTX instead (without \
                     `-dlto`, `-rdc=true` for PTX: `-gencode arch=compute_75,code=compute_75`)"
                );
                return refuse(Error::NOT_SUPPORTED, message);
            }
        }
    }
    match texts.as_slice() {
        [] => return refuse(Error::INVALID_VALUE, "nothing to link".to_owned()),
        [_] => {}
        _ => {
            let undefined = program(&texts, Bases::default()).undefined();
            if !undefined.is_empty() {
                let names = undefined.join("`, `");
                return refuse(Error::INVALID_IMAGE, format!("undefined in all inputs: `{names}`"));
            }
        }
    }
    let mut image = joined(&texts).into_bytes();
    image.push(0);
    Ok(image)
}

/// Start of the line before each text of a linked image; its name follows.
const PART: &str = "//@ simt-sim part ";

/// Joins PTX texts to one; [`parts`] takes them apart.
fn joined(texts: &[(&str, &str)]) -> String {
    if let [(_, only)] = texts {
        return (*only).to_owned();
    }
    let part = |(name, text): &(&str, &str)| {
        format!("{PART}{}\n{text}\n", name.replace(['\n', '\r'], " "))
    };
    texts.iter().map(part).collect()
}

/// Returns the texts of a linked image with their names; `None` for other texts.
pub(crate) fn parts(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.strip_prefix(PART)?;
    let mut parts = Vec::new();
    loop {
        let (name, after) = rest.split_once('\n')?;
        let end = after.find(&format!("\n{PART}"));
        parts.push((name, &after[..end.map_or(after.len(), |end| end + 1)]));
        match end {
            Some(end) => rest = &after[end + 1 + PART.len()..],
            None => return Some(parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fat binary with one entry of uncompressed code.
    fn fat(kind: u16, arch: u32, code: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; 64];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[4..8].copy_from_slice(&64_u32.to_le_bytes());
        entry[8..16].copy_from_slice(&(code.len() as u64).to_le_bytes());
        entry[28..32].copy_from_slice(&arch.to_le_bytes());
        entry.extend(code);
        let mut bytes = fatbin::MAGIC.to_le_bytes().to_vec();
        bytes.extend([1, 0, 16, 0]);
        bytes.extend((entry.len() as u64).to_le_bytes());
        bytes.extend(entry);
        bytes
    }

    #[test]
    fn parts_of_a_program_are_linked_without_its_device_library() {
        let module = |body: &str| {
            format!(".version 7.0\n.target sm_75\n.address_size 64\n{body}\n").into_bytes()
        };
        let kernel = ".extern .func f();\n.visible .entry k() { call f; ret; }";
        let parts = [
            fat(1, 75, &module(kernel)),
            fat(2, 90, b"\x7fELF of the device library"),
            fat(1, 75, &module(".visible .func f() { ret; }")),
        ];
        let mut link = Link::new(Logs::default(), 90);
        for part in &parts {
            link.add(FATBIN, part.clone(), String::new()).expect("a fat binary");
        }
        let image = link.complete().expect("a module");
        let text = std::str::from_utf8(&image[..image.len() - 1]).expect("text");
        assert_eq!(super::parts(text).expect("several texts").len(), 2);

        let mut link = Link::new(Logs::default(), 90);
        for part in &parts[..2] {
            link.add(FATBIN, part.clone(), String::new()).expect("a fat binary");
        }
        assert!(link.complete().is_ok(), "one text is left as it is");
        assert_eq!(link.add(FATBIN, b"text".to_vec(), String::new()), Err(Error::INVALID_VALUE));
        let mut link = Link::new(Logs::default(), 90);
        assert_eq!(link.add(FATBIN, b"text".to_vec(), String::new()), Err(Error::INVALID_IMAGE));
        link.add(FATBIN, parts[1].clone(), String::new()).expect("a fat binary");
        assert_eq!(link.complete().expect("the only input"), parts[1]);
    }

    #[test]
    fn linked_texts_are_taken_apart_again() {
        let texts = [("a", "// first\n.version 7.0"), ("", ".version 7.1\n"), ("c", "")];
        let joined = joined(&texts);
        let found = parts(&joined).expect("a linked text");
        let found: Vec<_> = found.iter().map(|(name, text)| (*name, text.trim_end())).collect();
        assert_eq!(found, [("a", "// first\n.version 7.0"), ("", ".version 7.1"), ("c", "")]);
        assert_eq!(parts(".version 7.0"), None);
        assert_eq!(super::joined(&texts[..1]), texts[0].1);
    }
}
