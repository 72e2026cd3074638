//! Linker: several PTX texts to one module, as `cuLinkAddData` takes them.
//!
//! `.visible`, `.weak`, `.common` and `.extern` names are shared; all others belong to their text.
//! A definition replaces declarations, and a strong definition weak ones; of several weak ones the
//! first counts, of several `.common` ones the largest. The names of private items that occur in
//! two texts get the number of their text: `helper` of the second becomes `helper$in1`.
//!
//! The texts stand one after another in one text, so that every span has its place.

use std::collections::{BTreeMap, BTreeSet};

use super::parse;
use super::tree::{
    Function, FunctionKind, Init, Instruction, Item, Module, Name, Operand, Statement, Variable,
};
use crate::diag::Diagnostic;

/// Links texts. Returns the common text, its module, the findings, and the first line of each text.
pub fn link(texts: &[&str]) -> (String, Module, Vec<Diagnostic>, Vec<u32>) {
    let whole = texts.join("\n");
    let mut first_lines = Vec::new();
    let mut findings = Vec::new();
    let mut modules = Vec::new();
    let (mut start, mut line) = (0, 1);
    for text in texts {
        first_lines.push(line);
        // Blanks in place of the texts before it give every span its place in the whole.
        let (module, found) = parse(&format!("{}{text}", " ".repeat(start)));
        modules.push(module);
        findings.extend(found);
        start += text.len() + 1;
        line += text.bytes().filter(|&byte| byte == b'\n').count() as u32 + 1;
    }
    let renamed = private_names(&modules);
    let mut linked = Module::default();
    for (number, (mut module, names)) in modules.into_iter().zip(renamed).enumerate() {
        let rename = Rename { names: &names, number, files: last_file(&linked) };
        module.items.iter_mut().for_each(|item| rename.item(item));
        let files = module.files.into_iter();
        linked.files.extend(files.map(|(index, path)| (rename.file(index), path)));
        linked.version = linked.version.max(module.version);
        linked.address_size = linked.address_size.or(module.address_size);
        if linked.target.is_empty() {
            linked.target = module.target;
        }
        linked.items.extend(module.items);
        linked.directives.extend(module.directives);
    }
    linked.items = resolved(linked.items);
    (whole, linked, findings, first_lines)
}

/// Returns the names that the code of a module uses but nothing defines, in order.
///
/// Functions of CUDA's runtime system are not among them.
pub fn undefined(module: &Module, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut defined = BTreeSet::new();
    let mut declared = BTreeSet::new();
    for item in &module.items {
        let name = name_of(item);
        if is_declaration(item) {
            declared.insert(name)
        } else {
            defined.insert(name)
        };
    }
    let mut used = BTreeSet::new();
    for item in &module.items {
        match item {
            Item::Function(function) => {
                names_in(function.body.as_deref().unwrap_or_default(), &mut used)
            }
            Item::Variable(Variable { init: Some(init), .. }) => names_in_init(init, &mut used),
            Item::Variable(_) | Item::Alias(_) => {}
        }
    }
    let missing = declared.into_iter().filter(|name| !defined.contains(name));
    missing.filter(|name| used.contains(*name) && !is_known(name)).map(str::to_owned).collect()
}

fn name_of(item: &Item) -> &str {
    match item {
        Item::Function(function) => &function.name.text,
        Item::Variable(variable) => &variable.name.text,
        Item::Alias(alias) => &alias.name.text,
    }
}

fn linkage(item: &Item) -> &[Name] {
    match item {
        Item::Function(function) => &function.linkage,
        Item::Variable(variable) => &variable.linkage,
        Item::Alias(_) => &[],
    }
}

fn has(item: &Item, word: &str) -> bool {
    linkage(item).iter().any(|name| name.text == word)
}

/// Returns true for `.extern` variables and for functions without statements.
///
/// An `.extern .shared` array is no declaration: the launch gives it its memory.
fn is_declaration(item: &Item) -> bool {
    match item {
        Item::Function(function) => function.body.is_none(),
        Item::Variable(variable) => has(item, "extern") && variable.space.text != "shared",
        Item::Alias(_) => false,
    }
}

/// Returns true if an item belongs to its text alone.
fn is_private(item: &Item) -> bool {
    let is_entry = matches!(item, Item::Function(f) if f.kind == FunctionKind::Entry);
    linkage(item).is_empty() && !is_entry
}

/// Returns for each module the private names to be changed.
///
/// They are those that another module has as well. Of several private items the first keeps its
/// name.
fn private_names(modules: &[Module]) -> Vec<BTreeSet<String>> {
    let mut holders: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut public: BTreeSet<&str> = BTreeSet::new();
    for (number, module) in modules.iter().enumerate() {
        for item in &module.items {
            holders.entry(name_of(item)).or_default().insert(number);
            if !is_private(item) {
                public.insert(name_of(item));
            }
        }
    }
    let of = |(number, module): (usize, &Module)| {
        // A private declaration may precede a public definition in one text.
        let own_public: BTreeSet<&str> =
            module.items.iter().filter(|item| !is_private(item)).map(name_of).collect();
        let private = module.items.iter().map(name_of).filter(|name| !own_public.contains(name));
        let changes = |name: &&str| {
            let shared = holders.get(name).is_some_and(|all| all.len() > 1);
            shared && (public.contains(name) || holders[name].first() != Some(&number))
        };
        private.filter(changes).map(str::to_owned).collect()
    };
    modules.iter().enumerate().map(of).collect()
}

fn last_file(module: &Module) -> u32 {
    module.files.iter().map(|(index, _)| *index).max().unwrap_or(0)
}

/// Keeps one definition of each name, and declarations of names without one.
fn resolved(items: Vec<Item>) -> Vec<Item> {
    let mut best: BTreeMap<String, (u8, u64, usize)> = BTreeMap::new();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| !is_declaration(item)) {
        let strength = match () {
            () if has(item, "weak") => 1,
            () if has(item, "common") => 2,
            () => 3,
        };
        let size = match item {
            Item::Variable(variable) if strength == 2 => elements(variable),
            _ => 0,
        };
        let best = best.entry(name_of(item).to_owned()).or_insert((strength, size, at));
        if (strength, size) > (best.0, best.1) {
            *best = (strength, size, at);
        }
    }
    let mut seen = BTreeSet::new();
    let mut keep = |(at, item): &(usize, Item)| match best.get(name_of(item)) {
        // Functions may be declared any number of times; a variable once.
        None => matches!(item, Item::Function(_)) || seen.insert(name_of(item).to_owned()),
        Some(_) if is_declaration(item) => matches!(item, Item::Function(_)),
        Some((.., kept)) if at == kept => true,
        // A second strong definition stays, so that the check reports it.
        Some((3, ..)) => !has(item, "weak") && !has(item, "common") && !has(item, "extern"),
        Some(_) => false,
    };
    let items = items.into_iter().enumerate();
    items.filter(|pair| keep(pair)).map(|(_, item)| item).collect()
}

fn elements(variable: &Variable) -> u64 {
    variable.dims.iter().map(|dim| dim.unwrap_or(1)).fold(1, u64::saturating_mul)
}

/// Renames private items of one text and numbers its files.
struct Rename<'n> {
    names: &'n BTreeSet<String>,
    number: usize,
    /// Last index of the files of earlier texts.
    files: u32,
}

impl Rename<'_> {
    fn file(&self, index: u32) -> u32 {
        index.saturating_add(self.files)
    }

    fn name(&self, name: &mut Name, own: &BTreeSet<String>) {
        if self.names.contains(&name.text) && !own.contains(&name.text) {
            name.text = format!("{}$in{}", name.text, self.number);
        }
    }

    fn item(&self, item: &mut Item) {
        let none = BTreeSet::new();
        match item {
            Item::Function(function) => {
                self.name(&mut function.name, &none);
                let own = declared_in(function);
                self.statements(function.body.as_deref_mut().unwrap_or_default(), &own);
            }
            Item::Variable(variable) => {
                self.name(&mut variable.name, &none);
                if let Some(init) = &mut variable.init {
                    self.init(init, &none);
                }
            }
            Item::Alias(alias) => {
                self.name(&mut alias.name, &none);
                self.name(&mut alias.target, &none);
            }
        }
    }

    fn init(&self, init: &mut Init, own: &BTreeSet<String>) {
        match init {
            Init::Value(operand) | Init::Generic(operand) => self.operand(operand, own),
            Init::List(list) => list.iter_mut().for_each(|init| self.init(init, own)),
        }
    }

    fn statements(&self, statements: &mut [Statement], own: &BTreeSet<String>) {
        for statement in statements {
            match statement {
                Statement::Instruction(Instruction { operands, .. }) => {
                    operands.iter_mut().for_each(|operand| self.operand(operand, own));
                }
                Statement::Block(inner, _) => self.statements(inner, own),
                Statement::Variable(Variable { init: Some(init), .. }) => self.init(init, own),
                Statement::Targets(targets) => {
                    targets.names.iter_mut().for_each(|name| self.name(name, own));
                }
                Statement::Loc { file, rest, .. } => {
                    *file = self.file(*file);
                    self.inlined(rest);
                }
                _ => {}
            }
        }
    }

    /// Numbers the file of `inlined_at FILE LINE COLUMN`.
    fn inlined(&self, rest: &mut String) {
        const AT: &str = "inlined_at ";
        let Some(at) = rest.find(AT).map(|at| at + AT.len()) else { return };
        let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(index) = rest[at..at + digits].parse() {
            rest.replace_range(at..at + digits, &self.file(index).to_string());
        }
    }

    fn operand(&self, operand: &mut Operand, own: &BTreeSet<String>) {
        match operand {
            Operand::Name(name)
            | Operand::Address { base: Some(name), .. }
            | Operand::Symbol { name, .. }
            | Operand::Element { name, .. } => self.name(name, own),
            Operand::Vector(list, _) | Operand::List(list, _) | Operand::Coordinates(list, _) => {
                list.iter_mut().for_each(|operand| self.operand(operand, own));
            }
            _ => {}
        }
    }
}

/// Returns the names that a function declares itself.
fn declared_in(function: &Function) -> BTreeSet<String> {
    fn add(statements: &[Statement], names: &mut BTreeSet<String>) {
        for statement in statements {
            match statement {
                Statement::Label(name) => _ = names.insert(name.text.clone()),
                Statement::Registers(registers) => {
                    names.extend(registers.names.iter().map(|(name, _)| name.text.clone()));
                }
                Statement::Variable(variable) => _ = names.insert(variable.name.text.clone()),
                Statement::Block(inner, _) => add(inner, names),
                _ => {}
            }
        }
    }
    let parameters = function.returns.iter().chain(&function.params);
    let mut names = parameters.map(|variable| variable.name.text.clone()).collect();
    add(function.body.as_deref().unwrap_or_default(), &mut names);
    names
}

fn names_in<'s>(statements: &'s [Statement], names: &mut BTreeSet<&'s str>) {
    for statement in statements {
        match statement {
            Statement::Instruction(inst) => {
                inst.operands.iter().for_each(|operand| names_in_operand(operand, names));
            }
            Statement::Block(inner, _) => names_in(inner, names),
            Statement::Targets(targets) => {
                names.extend(targets.names.iter().map(|name| name.text.as_str()));
            }
            _ => {}
        }
    }
}

fn names_in_operand<'s>(operand: &'s Operand, names: &mut BTreeSet<&'s str>) {
    match operand {
        Operand::Name(name)
        | Operand::Address { base: Some(name), .. }
        | Operand::Symbol { name, .. }
        | Operand::Element { name, .. } => _ = names.insert(&name.text),
        Operand::Vector(list, _) | Operand::List(list, _) => {
            list.iter().for_each(|operand| names_in_operand(operand, names));
        }
        _ => {}
    }
}

fn names_in_init<'s>(init: &'s Init, names: &mut BTreeSet<&'s str>) {
    match init {
        Init::Value(operand) | Init::Generic(operand) => names_in_operand(operand, names),
        Init::List(list) => list.iter().for_each(|init| names_in_init(init, names)),
    }
}
