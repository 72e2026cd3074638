//! A folder of records.

use std::path::{Path, PathBuf};

use simt_gpu::{H200, Records};

use super::super::{Failure, output, source};

/// A folder that `--record` wrote.
struct Folder(PathBuf);

/// Returns the records of a folder, by default the bundled ones.
pub(super) fn chosen(folder: Option<&Path>) -> Box<dyn Records> {
    folder.map_or(Box::new(H200), |folder| Box::new(Folder(folder.to_path_buf())))
}

/// Writes a record, and its folder if there is none.
pub(super) fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::new(format!("cannot make the folder `{}`: {e}", folder.display())))?;
    output::write_file(file, text.as_bytes())
}

impl Records for Folder {
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        let path = self.0.join(name);
        if !path.exists() {
            return Ok(None);
        }
        source::read_text(&path).map(|(_, text)| Some(text)).map_err(|Failure(text)| text)
    }

    fn place(&self, name: &str) -> String {
        format!("`{}`", self.0.join(name).display())
    }

    fn folder(&self) -> String {
        self.0.display().to_string()
    }

    fn reports(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".csv")).collect();
        names.sort();
        names
    }
}
