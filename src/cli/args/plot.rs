//! Arguments of `simt-sim plot`, and of `run --plot`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use simt_report::plot::Kind;

use super::{AxisArg, Data, RunsChoice, WindowChoice};

/// Draws a picture of one run, or of several on common axes: name several programs, or several values of an option as in
/// --mode pre-volta,volta.
#[derive(clap::Args, Debug)]
pub(crate) struct PlotArgs {
    /// What to draw
    #[arg(value_parser = kinds())]
    pub(crate) kind: Kind,
    #[command(flatten)]
    pub(crate) runs: RunsChoice,
    #[command(flatten)]
    pub(crate) window: WindowChoice,
    /// What runs along the picture
    #[arg(long, value_enum, default_value_t = AxisArg::Issue)]
    pub(crate) axis: AxisArg,
    /// banks, sectors: an access at this source line [default: the worst of the window]
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    /// banks, sectors: the access with this issue number of its warp
    #[arg(long, value_name = "N")]
    pub(crate) issue: Option<u64>,
    /// cfg: count all blocks instead of one
    #[arg(long)]
    pub(crate) whole_run: bool,
    /// sweep: the swept name that runs along [default: the one with the most numbers]
    #[arg(long, value_name = "NAME")]
    pub(crate) x: Option<String>,
    /// sweep: the metric that goes up, by nvprof or Nsight Compute name
    #[arg(long, value_name = "METRIC", default_value = "elapsed_cycles")]
    pub(crate) y: String,
    /// Host threads for pictures of whole runs [default: all]; figures do not depend on it
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// The picture: a name that ends in .svg or .png [default: SVG to standard output]
    #[arg(long, short, value_name = "FILE", value_parser = picture_name)]
    pub(crate) output: Option<PathBuf>,
    /// Print the figures that the picture shows
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) data: Option<Data>,
}

/// The kinds, by name.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    let values = Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.about()));
    PossibleValuesParser::new(values).try_map(|name| Kind::named(&name).ok_or("no such kind"))
}

/// A kind of picture and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct PictureFile {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
}

impl PictureFile {
    /// Reads `KIND=FILE`.
    pub(crate) fn parse(text: &str) -> Result<PictureFile, String> {
        let (kind, path) = text.split_once('=').ok_or("write KIND=FILE, as in timeline=lanes.svg")?;
        let of_a_run = |kind: &Kind| !matches!(kind, Kind::Compare | Kind::Sweep);
        let kind = Kind::named(kind).filter(of_a_run).ok_or_else(|| {
            let names: Vec<&str> = Kind::ALL.into_iter().filter(of_a_run).map(Kind::name).collect();
            format!("there is no kind `{kind}`: one of {}", names.join(", "))
        })?;
        Ok(PictureFile { kind, path: picture_name(path)? })
    }
}

/// A file name whose ending says which sort of picture it is.
pub(super) fn picture_name(text: &str) -> Result<PathBuf, String> {
    match Path::new(text).extension().and_then(|ending| ending.to_str()) {
        Some("svg" | "png") => Ok(PathBuf::from(text)),
        _ => Err("a picture's name ends in .svg or .png".to_owned()),
    }
}
