//! Linking: images added one by one, then one image of them all.

use simt_core::Program;
use simt_core::kernel::layout::Bases;

use crate::abi::Logs;
use crate::error::Error;

/// Kinds of inputs, as in `CUjitInputType`.
const CUBIN: u32 = 0;
const PTX: u32 = 1;
const FATBIN: u32 = 2;
const LIBRARY: u32 = 4;

/// Inputs of a link, and its result.
#[derive(Debug)]
pub(crate) struct Link {
    /// Places for messages.
    pub(crate) logs: Logs,
    inputs: Vec<(u32, Vec<u8>, String)>,
    /// Result; its address was handed out, so it stays until the end of the link.
    image: Option<Vec<u8>>,
}

impl Link {
    pub(crate) fn new(logs: Logs) -> Link {
        Link { logs, inputs: Vec::new(), image: None }
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
            CUBIN | PTX | FATBIN => {
                self.inputs.push((kind, data, name));
                Ok(())
            }
            // NVIDIA's device runtime; what a text uses of it is named as undefined.
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
    let mut texts = Vec::new();
    for (kind, data, name) in inputs {
        let is_text = *kind == PTX && !data.starts_with(b"\x7fELF");
        let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
        match std::str::from_utf8(&data[..end]) {
            Ok(text) if is_text => texts.push((name.as_str(), text)),
            _ if is_text => return refuse(Error::INVALID_PTX, format!("`{name}` is no PTX")),
            _ if inputs.len() == 1 => return Ok(data.clone()),
            _ => {
                let message = format!(
                    "`{name}` is machine code, which is not linked; add PTX instead (without \
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
            let undefined = Program::link(&texts, Bases::default()).undefined();
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
