//! `simt-sim plot`: pictures of a window.

use std::path::Path;

use simt_sim::report::plot::{self, Kind};

use super::args::{KindArg, PlotArgs};
use super::timeline::{Warps, axis, record};
use super::{Exit, Failure, output};

/// The most pixels of a picture, at 100 %; larger ones no viewer shows.
const MAX_PIXELS: u64 = 60_000_000;

/// Draws one picture, or prints its data.
pub(crate) fn plot(args: &PlotArgs) -> Result<Exit, Failure> {
    let kind = kind(args.kind);
    let default = if kind.is_of_block() { Warps::All } else { Warps::First };
    let picture = |path: &Path| match path.extension().and_then(|e| e.to_str()) {
        Some("svg") => Ok(Picture::Svg),
        Some("png") => Ok(Picture::Png),
        _ => Err(Failure::new(format!("-o {}: a picture's name ends in .svg or .png", path.display()))),
    };
    let format = args.output.as_deref().map(picture).transpose()?; // before the run rather than after it
    let recording = record(&args.program, &args.window, default)?;
    if args.data.is_some() {
        output::print(&plot::data(kind, &recording, axis(args.axis)))?;
    }
    let scene = plot::picture(kind, &recording, axis(args.axis));
    if scene.pixels() > MAX_PIXELS {
        return Err(Failure::new(
            "the picture would be too large\nhelp: choose a smaller window by --warp, --from, --to or --limit",
        ));
    }
    match (&args.output, format) {
        (Some(path), Some(Picture::Png)) => {
            let png = plot::png(&scene).map_err(Failure::new)?;
            output::write_file(path, &png)?;
        }
        (Some(path), _) => output::write_file(path, plot::svg(&scene).as_bytes())?,
        (None, _) if args.data.is_none() => output::print(&plot::svg(&scene))?,
        (None, _) => {}
    }
    Ok(Exit::Ok)
}

#[derive(Clone, Copy)]
enum Picture {
    Svg,
    Png,
}

fn kind(typed: KindArg) -> Kind {
    match typed {
        KindArg::Timeline => Kind::Timeline,
        KindArg::Masks => Kind::Masks,
        KindArg::Lanes => Kind::Lanes,
        KindArg::Stack => Kind::Stack,
        KindArg::Schedule => Kind::Schedule,
        KindArg::Stalls => Kind::Stalls,
        KindArg::Ipc => Kind::Ipc,
    }
}
