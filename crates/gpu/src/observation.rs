//! Results of a program on a GPU, as a file, and their comparison with a simulated run.

use super::content::{Content, elements, words_digest};
use super::text::{digest, source_digest};
use super::{DeviceRun, Tolerance};
use serde::{Deserialize, Serialize};
use simt_core::isa::Type;
use simt_core::launch::Launch;
use simt_core::oracle::{FirstDifference, ulps_apart};

/// Outcome of a run on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceFinish {
    /// Every thread ended.
    Ok,
    /// The run exceeded the time limit.
    Timeout,
    /// The device stopped the run, for this reason.
    Fault(String),
}

/// Content of one buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferRecord {
    /// Name in the directives.
    pub name: String,
    /// Element type.
    pub element: String,
    /// Content.
    pub content: Content,
}

/// A recorded run on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Name of the device.
    pub gpu: String,
    /// Driver version.
    pub driver: String,
    /// Date, `YYYY-MM-DD`.
    pub date: String,
    /// [`source_digest`] of the program, in hexadecimal.
    pub source: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Named constants in force; `--set` with these reproduces the launch.
    pub constants: Vec<(String, i64)>,
    /// Digest of the launch: shape, arguments and initial buffers.
    pub launch: String,
    /// Outcome.
    pub finish: DeviceFinish,
    /// Run time of the kernel in microseconds.
    pub micros: Option<f32>,
    /// Final contents of the buffers; empty unless the run ended normally.
    pub buffers: Vec<BufferRecord>,
}

/// Reason why a run cannot be compared with an observation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// The program has changed.
    #[error("the observation belongs to another text")]
    OtherText,
    /// The launch has changed.
    #[error("the observation belongs to another launch")]
    OtherLaunch,
    /// The file is damaged.
    #[error("buffer `{buffer}`: {reason}")]
    Damaged {
        /// Name of the buffer.
        buffer: String,
        /// Fault.
        reason: String,
    },
}

/// One buffer, simulated and observed.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferComparison {
    /// Name.
    pub name: String,
    /// Element type.
    pub element: Type,
    /// Number of elements.
    pub elements: usize,
    /// Number of elements that disagree; `None` if only a digest differs.
    pub differing: Option<usize>,
    /// First difference.
    pub first: Option<FirstDifference>,
    /// Largest distance between two numbers of a float buffer, in ulp, and its element.
    pub widest: Option<(u64, usize)>,
}

impl BufferComparison {
    /// Returns true if all elements agree.
    pub fn agrees(&self) -> bool {
        self.differing == Some(0)
    }
}

/// Comparison of a run with an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Tolerance.
    pub tolerance: Tolerance,
    /// Buffers written by the device or the simulator.
    pub buffers: Vec<BufferComparison>,
    /// Buffers skipped: they differ from a digest, and there is a tolerance.
    pub skipped: Vec<String>,
}

impl Comparison {
    /// Returns true if everything compared agrees.
    pub fn agrees(&self) -> bool {
        self.buffers.iter().all(BufferComparison::agrees)
    }
}

impl Observation {
    /// Creates the observation of a run on a device. `launch` holds the initial buffers.
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

    /// Parses a file.
    ///
    /// # Errors
    /// If the text is not an observation; the message has place and reason.
    pub fn parse(text: &str) -> Result<Observation, String> {
        ron::from_str(text).map_err(|e| e.to_string())
    }

    /// Serializes the observation as RON. A line per buffer and per row of its elements.
    ///
    /// # Errors
    /// Never in practice: every field is serializable.
    pub fn to_text(&self) -> Result<String, String> {
        let head = Observation { buffers: Vec::new(), ..self.clone() };
        let pretty = ron::ser::PrettyConfig::new().indentor(" ").new_line("\n");
        let head = ron::ser::to_string_pretty(&head, pretty).map_err(|e| e.to_string())?;
        let mut out = head.trim_end_matches("[],\n)").to_string() + "[\n";
        for BufferRecord { name, element, content } in &self.buffers {
            let written = match content {
                Content::Elements(lines) => {
                    let each = lines
                        .iter()
                        .map(|line| ron::to_string(line).map(|line| format!("   {line},\n")));
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

    /// Compares the buffers `after` a simulated run of `before` with the observation. Only for
    /// observations of runs that ended normally.
    ///
    /// # Errors
    /// If the text or the launch differs, or the file is damaged.
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
        for ((record, before), after) in
            self.buffers.iter().zip(&before.buffers).zip(&after.buffers)
        {
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
                Content::Same(name) => self
                    .buffers
                    .iter()
                    .find(|b| b.name == *name)
                    .map_or(&Content::Unchanged, |b| &b.content),
                content => content,
            };
            let observed = match content {
                Content::Unchanged if before.words == after.words => continue,
                Content::Unchanged => elements(&before.words, before.bytes, before.element),
                Content::Digest(digest) => {
                    compared.differing = (*digest == words_digest(&after.words)).then_some(0);
                    if compared.agrees() || tolerance.is_exact() {
                        done.buffers.push(compared);
                    } else {
                        done.skipped.push(record.name.clone());
                    }
                    continue;
                }
                content => {
                    let read =
                        content.read().unwrap_or_else(|| Err("missing elements".to_string()));
                    read.map_err(|reason| NotComparable::Damaged {
                        buffer: record.name.clone(),
                        reason,
                    })?
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

/// Digest of all inputs of a kernel.
pub(super) fn launch_digest(launch: &Launch) -> String {
    let shape =
        launch.grid.iter().chain(&launch.block).chain(std::iter::once(&launch.dynamic_shared));
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
