//! Reads the rows of `isa/ptx.ron`.
//!
//! Two columns resemble the syntax lines of the PTX ISA. In `form`, `.word` is required, `.(a|b)`
//! is one of several words, `.<set>` one of a named set, and `{..}` is optional. In `shape`, `d=..`
//! is written and `a:..` is read; see [`OperandKind`]. The table is part of the program, so an
//! error in it panics; the unit tests read it.

use super::form::{Agreement, Form, Group, Isa, OperandForm, OperandKind, Slot, TypeRef};
use super::{Class, Sem, Type};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawIsa {
    sets: BTreeMap<String, Vec<String>>,
    groups: Vec<RawGroup>,
    unsupported: Vec<RawUnsupported>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGroup {
    title: String,
    manual: String,
    rows: Vec<RawRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRow {
    form: String,
    shape: String,
    sem: Sem,
    class: Class,
    #[serde(default)]
    agrees: Agreement,
    #[serde(default)]
    manual: String,
    doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUnsupported {
    why: String,
    #[serde(default)]
    help: Option<String>,
    opcodes: Vec<String>,
}

impl Isa {
    /// Returns the PTX subset of `isa/ptx.ron`.
    pub fn ptx() -> &'static Isa {
        static ISA: OnceLock<Isa> = OnceLock::new();
        ISA.get_or_init(|| {
            read(simt_isa::PTX).unwrap_or_else(|error| panic!("isa/ptx.ron: {error}"))
        })
    }
}

fn read(text: &str) -> Result<Isa, String> {
    let raw: RawIsa = ron::from_str(text).map_err(|e| e.to_string())?;
    let mut isa = Isa {
        rows: Vec::new(),
        groups: Vec::new(),
        by_opcode: BTreeMap::new(),
        unsupported: BTreeMap::new(),
    };
    for group in raw.groups {
        let start = isa.rows.len();
        for row in group.rows {
            let at = |e: String| format!("row `{}`: {e}", row.form);
            let (opcode, slots) = syntax(&row.form, &raw.sets).map_err(at)?;
            let operands =
                row.shape.split_whitespace().map(operand).collect::<Result<_, _>>().map_err(at)?;
            let heading = if row.manual.is_empty() { &opcode } else { &row.manual };
            let manual = format!("{}: {heading}", group.manual);
            let index = u16::try_from(isa.rows.len()).map_err(|_| "too many rows".to_string())?;
            isa.by_opcode.entry(opcode.clone()).or_default().push(index);
            isa.rows.push(Form {
                syntax: row.form,
                shape: row.shape,
                opcode,
                slots,
                operands,
                sem: row.sem,
                class: row.class,
                agreement: row.agrees,
                manual,
                doc: row.doc,
            });
        }
        isa.groups.push(Group { title: group.title, rows: start..isa.rows.len() });
    }
    for group in raw.unsupported {
        for opcode in group.opcodes {
            isa.unsupported.insert(opcode, (group.why.clone(), group.help.clone()));
        }
    }
    Ok(isa)
}

/// Parses the opcode and slots of a syntax line.
fn syntax(form: &str, sets: &BTreeMap<String, Vec<String>>) -> Result<(String, Vec<Slot>), String> {
    let end = form.find(['.', '{']).unwrap_or(form.len());
    let (opcode, mut rest) = form.split_at(end);
    let mut slots = Vec::new();
    while !rest.is_empty() {
        let (inside, optional) = match rest.strip_prefix('{') {
            Some(inner) => {
                let (inside, after) = inner.split_once('}').ok_or("`{` without `}`")?;
                rest = after;
                (inside, true)
            }
            None => {
                let body = rest
                    .strip_prefix('.')
                    .ok_or_else(|| format!("expected `.` or `{{` at `{rest}`"))?;
                let end = 1 + body.find(['.', '{']).unwrap_or(body.len());
                let (inside, after) = rest.split_at(end);
                rest = after;
                (inside, false)
            }
        };
        let inside =
            inside.strip_prefix('.').ok_or_else(|| format!("expected `.` at `{inside}`"))?;
        let choices = inside.strip_prefix('(').and_then(|s| s.strip_suffix(')')).unwrap_or(inside);
        let mut words = Vec::new();
        for choice in choices.split('|') {
            match choice.strip_prefix('<').and_then(|s| s.strip_suffix('>')) {
                Some(set) => words.extend(
                    sets.get(set).ok_or_else(|| format!("no set `{set}`"))?.iter().cloned(),
                ),
                None if choice.is_empty() => return Err("an empty word".into()),
                None => words.push(choice.to_string()),
            }
        }
        slots.push(Slot { words, optional });
    }
    Ok((opcode.to_string(), slots))
}

/// Parses one word of the `shape` column.
fn operand(text: &str) -> Result<OperandForm, String> {
    let (body, optional) = text.strip_suffix('?').map_or((text, false), |body| (body, true));
    let plain = |name: &str, kind| OperandForm {
        name: name.into(),
        result: false,
        sink: false,
        optional,
        kind,
    };
    if let Some(name) = body.strip_prefix('[').and_then(|s| s.strip_suffix(']')) {
        return Ok(plain(name, OperandKind::Address));
    }
    if let Some(name) = body.strip_prefix("shared[").and_then(|s| s.strip_suffix(']')) {
        return Ok(plain(name, OperandKind::SharedAddress));
    }
    if let Some(name) = body.strip_prefix("image[").and_then(|s| s.strip_suffix(']')) {
        return Ok(plain(name, OperandKind::Image));
    }
    if let Some(name) = body.strip_prefix("tile[").and_then(|s| s.strip_suffix(']')) {
        return Ok(plain(name, OperandKind::Tile));
    }
    if let Some(name) = body.strip_prefix('@') {
        return Ok(plain(name, OperandKind::Label));
    }
    let (result, (name, ty)) = match (body.split_once('='), body.split_once(':')) {
        (Some(parts), _) => (true, parts),
        (None, Some(parts)) => (false, parts),
        (None, None) => return Err(format!("operand `{text}` has neither `=` nor `:`")),
    };
    let braced = name.strip_prefix('{').and_then(|s| s.strip_suffix('}'));
    let paired = name.contains('|');
    let sink = name.contains('_');
    let (ty, suffix) = match ty.strip_suffix(['+', '*']) {
        Some(ty) => (ty, body.chars().last()),
        None => (ty, None),
    };
    let kind = match (ty, suffix) {
        ("pred", _) if paired => OperandKind::PredicatePair,
        ("pred", _) => OperandKind::Predicate,
        ("imm", _) => OperandKind::Immediate,
        ("frag", _) => OperandKind::Fragment,
        ("gradient", _) => OperandKind::Gradient,
        ("u32|pred", _) => OperandKind::ValueOrPredicate,
        (ty, suffix) => {
            let ty = match ty {
                "T" => TypeRef::T,
                "U" => TypeRef::U,
                "W" => TypeRef::W,
                name => TypeRef::Fixed(
                    Type::from_name(name).ok_or_else(|| format!("no type `{name}`"))?,
                ),
            };
            match suffix {
                Some('+') => OperandKind::Wider(ty),
                Some(_) => OperandKind::Moved(ty),
                None if braced.is_some() => OperandKind::Vector(ty),
                None if paired => OperandKind::ValueAndPredicate(ty),
                None => OperandKind::Value(ty),
            }
        }
    };
    let name = braced.unwrap_or(name).replace('_', "");
    Ok(OperandForm { name, result, sink, optional, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Returns every mnemonic of a form, with all combinations of optional words.
    fn mnemonics(form: &Form) -> Vec<String> {
        let mut all = vec![form.opcode.clone()];
        for slot in &form.slots {
            let mut next = if slot.optional { all.clone() } else { Vec::new() };
            for prefix in &all {
                next.extend(slot.words.iter().map(|w| format!("{prefix}.{w}")));
            }
            all = next;
        }
        all
    }

    #[test]
    fn no_mnemonic_has_two_rows_and_each_finds_its_own() {
        let isa = Isa::ptx();
        let mut seen = BTreeMap::new();
        for (index, form) in isa.rows().iter().enumerate() {
            for mnemonic in mnemonics(form) {
                if let Some(other) = seen.insert(mnemonic.clone(), index) {
                    panic!(
                        "`{mnemonic}` is in row `{}` and in row `{}`",
                        isa.rows()[other].syntax,
                        form.syntax
                    );
                }
                assert_eq!(
                    isa.lookup(&mnemonic).map(|m| usize::from(m.index)),
                    Ok(index),
                    "{mnemonic}"
                );
            }
        }
        assert!(seen.len() > 1000, "only {} mnemonics", seen.len());
    }

    #[test]
    fn every_meaning_and_class_is_used_and_every_row_documented() {
        let isa = Isa::ptx();
        let used: BTreeSet<Sem> = isa.rows().iter().map(|r| r.sem).collect();
        for sem in Sem::ALL {
            assert!(used.contains(sem), "no row means {sem:?}");
        }
        let priced: BTreeSet<Class> = isa.rows().iter().map(|r| r.class).collect();
        for class in Class::ALL {
            // The checker assigns `Clock` to `mov` from a clock, the kernel pass assigns `Join`.
            let elsewhere = matches!(class, Class::Clock | Class::Join);
            assert!(elsewhere || priced.contains(class), "no row has class {class:?}");
        }
        for row in isa.rows() {
            assert!(row.doc.len() > 5 && row.doc.ends_with('.'), "{}: doc", row.syntax);
            assert!(!row.manual.is_empty(), "{}: manual", row.syntax);
            assert!(!isa.unsupported.contains_key(&row.opcode), "{}: also unsupported", row.opcode);
            let optional = row.operands.iter().filter(|o| o.optional).count();
            assert!(
                optional <= 1,
                "{}: with two optional operands a count does not say which is left out",
                row.syntax
            );
        }
    }

    #[test]
    fn faults_of_the_table_are_named() {
        let sets = BTreeMap::new();
        for form in ["add.<nothing>", "add{.sat", "add.()", "add{sat}"] {
            assert!(syntax(form, &sets).is_err(), "{form}");
        }
        for shape in ["d", "d=q9", "a:"] {
            assert!(operand(shape).is_err(), "{shape}");
        }
    }
}
