//! What a GPU made of a program, as a file, and a simulated run held against it.

use super::content::{Content, elements, words_digest};
use super::text::{digest, source_digest};
use super::{DeviceRun, Tolerance};
use serde::{Deserialize, Serialize};
use simt_core::isa::Type;
use simt_core::launch::Launch;
use simt_core::oracle::{FirstDifference, ulps_apart};

/// How a run on a device ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finish {
    /// Every thread ended.
    Ok,
    /// It did not end within the time given.
    Timeout,
    /// The device stopped it, for this reason.
    Fault(String),
}

/// What one buffer held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferRecord {
    /// Its name in the directives.
    pub name: String,
    /// Its element type.
    pub element: String,
    /// What it held.
    pub content: Content,
}

/// A run on a device, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The device.
    pub gpu: String,
    /// The driver.
    pub driver: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// [`source_digest`] of the program, in hexadecimal.
    pub source: String,
    /// The kernel.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// The named constants in force: give them to `--set` and the launch is the same.
    pub constants: Vec<(String, i64)>,
    /// Digest of the launch: shape, arguments and what the buffers held before.
    pub launch: String,
    /// How it ended.
    pub finish: Finish,
    /// Microseconds the kernel ran.
    pub micros: Option<f32>,
    /// What the buffers held afterwards; empty unless it ended well.
    pub buffers: Vec<BufferRecord>,
}

/// Why a run cannot be held against an observation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// The program has changed.
    #[error("the observation was made of another text")]
    OtherText,
    /// The launch has changed.
    #[error("the observation was made of another launch")]
    OtherLaunch,
    /// The file is damaged.
    #[error("buffer `{buffer}`: {reason}")]
    Damaged {
        /// The buffer.
        buffer: String,
        /// What is wrong.
        reason: String,
    },
}

/// One buffer, simulated and observed.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferComparison {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub element: Type,
    /// Elements.
    pub elements: usize,
    /// Elements that do not agree; `None`: some, of a buffer that is kept as a digest.
    pub differing: Option<usize>,
    /// The first that does not.
    pub first: Option<FirstDifference>,
    /// The widest distance in units in the last place between two numbers of a float buffer, and its element.
    pub widest: Option<(u64, usize)>,
}

impl BufferComparison {
    /// Whether all elements agree.
    pub fn agrees(&self) -> bool {
        self.differing == Some(0)
    }
}

/// A run held against an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The tolerance.
    pub tolerance: Tolerance,
    /// The buffers that the device or the simulator wrote.
    pub buffers: Vec<BufferComparison>,
    /// Buffers left out, because they are kept as a digest and need not agree bit by bit.
    pub skipped: Vec<String>,
}

impl Comparison {
    /// Whether everything that was compared agrees.
    pub fn agrees(&self) -> bool {
        self.buffers.iter().all(BufferComparison::agrees)
    }
}

impl Observation {
    /// The observation of a run on a device. `launch` holds the buffers as they were before.
    pub fn of(run: &DeviceRun, text: &str, launch: &Launch, date: &str) -> Observation {
        let mut buffers: Vec<BufferRecord> = Vec::new();
        for (buffer, after) in launch.buffers.iter().zip(&run.buffers) {
            let element = buffer.element.name().to_string();
            let content = Content::of(&buffer.words, after, buffer.bytes, buffer.element);
            let twin = buffers.iter().find(|b| b.element == element && b.content == content);
            let content = match twin {
                Some(twin) if content != Content::Unchanged => Content::Same(twin.name.clone()),
                _ => content,
            };
            buffers.push(BufferRecord { name: buffer.name.clone(), element, content });
        }
        Observation {
            gpu: run.gpu.clone(),
            driver: run.driver.clone(),
            date: date.to_string(),
            source: format!("{:016x}", source_digest(text)),
            kernel: launch.kernel.clone(),
            grid: launch.grid,
            block: launch.block,
            constants: launch.constants.clone(),
            launch: launch_digest(launch),
            finish: run.finish.clone(),
            micros: run.micros,
            buffers,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<Observation, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// The file: RON, a line for each buffer and for each row of its elements.
    ///
    /// # Errors
    /// Never in practice: every field can be written.
    pub fn to_text(&self) -> Result<String, String> {
        let head = Observation { buffers: Vec::new(), ..self.clone() };
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n");
        let head = ron::ser::to_string_pretty(&head, pretty).map_err(|e| e.to_string())?;
        let mut out = head.trim_end_matches("[],\n)").to_string() + "[\n";
        for BufferRecord { name, element, content } in &self.buffers {
            let written = match content {
                Content::Elements(lines) => {
                    let each = lines.iter().map(|line| ron::to_string(line).map(|line| format!("   {line},\n")));
                    let lines = each.collect::<Result<String, _>>().map_err(|e| e.to_string())?;
                    format!("Elements([\n{lines}  ])")
                }
                other => ron::to_string(other).map_err(|e| e.to_string())?,
            };
            let name = ron::to_string(name).map_err(|e| e.to_string())?;
            let element = ron::to_string(element).map_err(|e| e.to_string())?;
            out += &format!("  (name: {name}, element: {element}, content: {written}),\n");
        }
        Ok(out + " ],\n)\n")
    }

    /// Holds the buffers `after` a simulated run of `before` against what the device left. Only for observations of runs
    /// that ended well.
    ///
    /// # Errors
    /// The text or the launch is another, or the file is damaged.
    pub fn compare(
        &self,
        text: &str,
        before: &Launch,
        after: &Launch,
        tolerance: Tolerance,
    ) -> Result<Comparison, NotComparable> {
        if self.source != format!("{:016x}", source_digest(text)) {
            return Err(NotComparable::OtherText);
        }
        if self.launch != launch_digest(before) || self.buffers.len() != before.buffers.len() {
            return Err(NotComparable::OtherLaunch);
        }
        let mut done = Comparison { tolerance, buffers: Vec::new(), skipped: Vec::new() };
        for ((record, before), after) in self.buffers.iter().zip(&before.buffers).zip(&after.buffers) {
            let simulated = elements(&after.words, after.bytes, after.element);
            let mut compared = BufferComparison {
                name: record.name.clone(),
                element: after.element,
                elements: simulated.len(),
                differing: Some(0),
                first: None,
                widest: None,
            };
            let content = match &record.content {
                Content::Same(name) => {
                    self.buffers.iter().find(|b| b.name == *name).map_or(&Content::Unchanged, |b| &b.content)
                }
                content => content,
            };
            let observed = match content {
                Content::Unchanged if before.words == after.words => continue,
                Content::Unchanged => elements(&before.words, before.bytes, before.element),
                Content::Digest(_) if !tolerance.is_exact() => {
                    done.skipped.push(record.name.clone());
                    continue;
                }
                Content::Digest(digest) => {
                    compared.differing = (*digest == words_digest(&after.words)).then_some(0);
                    done.buffers.push(compared);
                    continue;
                }
                content => {
                    let read = content.read().unwrap_or_else(|| Err("no elements".to_string()));
                    read.map_err(|reason| NotComparable::Damaged { buffer: record.name.clone(), reason })?
                }
            };
            compared.hold(&observed, &simulated, tolerance);
            done.buffers.push(compared);
        }
        Ok(done)
    }
}

impl BufferComparison {
    fn hold(&mut self, observed: &[u64], simulated: &[u64], tolerance: Tolerance) {
        for index in 0..observed.len().max(simulated.len()) {
            let pair = FirstDifference {
                index,
                expected: observed.get(index).copied(),
                actual: simulated.get(index).copied(),
            };
            if let (Some(e), Some(a)) = (pair.expected, pair.actual)
                && let Some(n) = ulps_apart(e, a, self.element)
                && self.widest.is_none_or(|(most, _)| n > most)
            {
                self.widest = Some((n, index));
            }
            if !tolerance.holds(&pair, self.element) {
                self.differing = self.differing.map(|n| n + 1);
                self.first.get_or_insert(pair);
            }
        }
    }
}

/// Digest of all that a kernel is given.
pub(super) fn launch_digest(launch: &Launch) -> String {
    let shape = launch.grid.iter().chain(&launch.block).chain(std::iter::once(&launch.dynamic_shared));
    let shape = shape.flat_map(|n| n.to_le_bytes());
    let buffers = launch.buffers.iter().flat_map(|b| {
        b.address
            .to_le_bytes()
            .into_iter()
            .chain(b.bytes.to_le_bytes())
            .chain(b.words.iter().flat_map(|w| w.to_le_bytes()))
    });
    format!("{:016x}", digest(shape.chain(launch.params.iter().copied()).chain(buffers)))
}
