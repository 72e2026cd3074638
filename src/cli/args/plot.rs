//! Arguments of `simt-sim plot`, and of `run --plot`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use simt_report::plot::Kind;

use super::{AxisArg, RunsChoice, WindowChoice};

/// Draw a run as SVG or PNG, or print the figures of the picture
///
/// Draw one run, or several on common axes: name several programs, or several values of an option
/// as in --mode pre-volta,volta.
#[derive(clap::Args, Debug)]
pub(crate) struct PlotArgs {
    /// The kind of picture
    #[arg(value_parser = kinds())]
    pub(crate) kind: Kind,
    #[command(flatten)]
    pub(crate) runs: RunsChoice,
    #[command(flatten)]
    pub(crate) window: WindowChoice,
    /// Choose the horizontal axis
    #[arg(long, value_enum, default_value_t = AxisArg::Issue)]
    pub(crate) axis: AxisArg,
    /// banks, sectors: draw an access of this source line [default: the worst of the window]
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    /// banks, sectors: draw the access with this issue number of its warp
    #[arg(long, value_name = "N")]
    pub(crate) issue: Option<u64>,
    /// cfg: count all blocks of the grid instead of one
    #[arg(long)]
    pub(crate) whole_run: bool,
    /// sweep: draw over this swept name [default: the one with the most numbers]
    #[arg(long, value_name = "NAME")]
    pub(crate) x: Option<String>,
    /// sweep: draw this metric, by nvprof or Nsight Compute name
    #[arg(long, value_name = "METRIC", default_value = "elapsed_cycles")]
    pub(crate) y: String,
    /// Simulate SMs on N host threads [default: 0, all]; figures depend on N only where blocks race
    /// through plain loads and stores
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Choose the format [default: by the ending of --output, else svg]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PlotFormat>,
    /// Write to FILE (.svg, .png or .csv) instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    /// A vector picture
    Svg,
    /// A raster picture; needs --output
    Png,
    /// The figures of the picture as comma-separated values with a header line
    Csv,
}

impl PlotFormat {
    /// Returns the format of a file name's ending.
    pub(crate) fn of_name(file: &Path) -> Option<PlotFormat> {
        PlotFormat::from_str(file.extension()?.to_str()?, false).ok()
    }
}

/// Parses a kind by its name.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    let values = Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.about()));
    PossibleValuesParser::new(values).try_map(|name| Kind::named(&name).ok_or("no such kind"))
}

/// A kind of picture and the file to draw it to.
#[derive(Clone, Debug)]
pub(crate) struct PictureFile {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
}

impl PictureFile {
    /// Parses `KIND=FILE`.
    pub(crate) fn parse(text: &str) -> Result<PictureFile, String> {
        let (kind, path) =
            text.split_once('=').ok_or("expected KIND=FILE, as in timeline=lanes.svg")?;
        let of_a_run = |kind: &Kind| !matches!(kind, Kind::Compare | Kind::Sweep);
        let kind = Kind::named(kind).filter(of_a_run).ok_or_else(|| {
            let names: Vec<&str> = Kind::ALL.into_iter().filter(of_a_run).map(Kind::name).collect();
            format!("unknown kind `{kind}`: expected one of {}", names.join(", "))
        })?;
        Ok(PictureFile { kind, path: picture_name(path)? })
    }
}

/// Parses the file name of a picture, whose ending gives its format.
pub(super) fn picture_name(text: &str) -> Result<PathBuf, String> {
    if is_picture(Path::new(text)) {
        Ok(PathBuf::from(text))
    } else {
        Err("expected a file name that ends in .svg or .png".to_owned())
    }
}

/// Parser of the file name of text: refuses the name of a picture.
pub(super) fn text_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if is_picture(&path) {
            Err("the command writes text; pictures are drawn by `simt-sim plot` and by --plot of \
                 run, exec and sweep")
        } else {
            Ok(path)
        }
    })
}

fn is_picture(path: &Path) -> bool {
    matches!(path.extension().and_then(|ending| ending.to_str()), Some("svg" | "png"))
}
