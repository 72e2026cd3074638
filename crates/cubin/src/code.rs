//! Code of an image, and comparison with a listing.

use crate::CubinError;
use crate::image::Image;
use crate::kernels::TEXT;

/// Start of a line of a listing that names a function.
pub(crate) const FUNCTION: &str = "Function : ";

/// Returns the machine code of a kernel of an image.
///
/// # Errors
/// Returns an error if the bytes are no cubin, are damaged, or have no such kernel.
pub fn code<'d>(image: &'d [u8], kernel: &str) -> Result<&'d [u8], CubinError> {
    let image = Image::read(image)?;
    let section = image.section(&format!("{TEXT}{kernel}"));
    let section = section.ok_or_else(|| CubinError::damaged(format!("no code of `{kernel}`")))?;
    Ok(section.data)
}

/// Returns the part of a listing that has a function, with what stands before the first one.
pub fn part(listing: &str, name: &str) -> String {
    let mut is_wanted = true;
    let mut lines = String::new();
    for line in listing.lines() {
        if let Some(function) = line.trim_start().strip_prefix(FUNCTION) {
            is_wanted = function.trim_end() == name;
        }
        if is_wanted {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

/// Returns true if an image has the code of each function of a listing of `cuobjdump -sass`.
pub fn has_code(image: &[u8], listing: &str) -> bool {
    let mut functions: Vec<Vec<u8>> = Vec::new();
    for line in listing.lines() {
        if line.trim_start().starts_with(FUNCTION) {
            functions.push(Vec::new());
        } else if let (Some(code), Some(word)) = (functions.last_mut(), encoding(line)) {
            code.extend(word.to_le_bytes());
        }
    }
    let has = |code: &Vec<u8>| image.windows(code.len().max(1)).any(|part| part == code);
    !functions.is_empty() && functions.iter().all(has)
}

/// Returns the half of an encoding at the end of a line: `/* 0x000078e00ff60000 */`.
fn encoding(line: &str) -> Option<u64> {
    let (_, digits) = line.trim_end().strip_suffix(" */")?.rsplit_once("/* 0x")?;
    u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\t\tFunction : k\n\
        \t.headerflags\t@\"EF_CUDA_SM90\"\n\
        \x20       /*0000*/   EXIT ;   /* 0x000000000000794d */\n\
        \x20                           /* 0x000fea0003800000 */\n";

    #[test]
    fn a_part_of_a_listing_has_one_function() {
        let other = LISTING.replace("Function : k", "Function : kk");
        let all = format!("\tcode for sm_90\n{other}{LISTING}");
        assert_eq!(part(&all, "k"), format!("\tcode for sm_90\n{LISTING}"));
        assert_eq!(part(&all, "other"), "\tcode for sm_90\n");
    }

    #[test]
    fn an_image_has_the_code_of_its_own_listing_only() {
        let words = [0x0000_0000_0000_794d_u64, 0x000f_ea00_0380_0000];
        let image: Vec<u8> = [7].into_iter().chain(words.map(u64::to_le_bytes).concat()).collect();
        assert!(has_code(&image, LISTING));
        assert!(!has_code(&image[..16], LISTING));
        assert!(!has_code(&image, &LISTING.replace("794d", "7918")));
        assert!(!has_code(&image, ""), "no function");
    }
}
