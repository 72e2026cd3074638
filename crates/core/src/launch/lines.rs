//! Lines of a [`Plan`]: those that all launches share, and those of one launch.

use super::directive::{Directive, argument, buffer, expectation, once, shape};
use super::expression::{Expr, Parsed, Parser};
use super::image::image;
use super::plan::{LaunchPlan, Plan};
use super::tensor::tensor;
use crate::diag::{Diagnostic, Span};
use crate::ptx::tree::Name;

impl Plan {
    /// Reads one directive.
    pub(super) fn read(&mut self, directive: &Directive, source: &str) -> Parsed<()> {
        let parser = &mut Parser::new(&directive.lexemes, directive.end);
        let keyword = &directive.keyword;
        match keyword.text.as_str() {
            "title" => {
                once(&self.title, keyword)?;
                self.title = Some(directive.rest.text.clone());
                return Ok(());
            }
            "launch" => return self.begin_launch(directive, parser),
            "const" => {
                let name = parser.word("a name")?;
                parser.sign("=")?;
                let value = parser.expression()?;
                self.unused_name(&name)?;
                self.constants.push((name, value));
            }
            "buffer" => {
                let buffer = buffer(parser, keyword.span)?;
                self.unused_name(&buffer.name)?;
                self.buffers.push(buffer);
            }
            "texture" | "surface" => {
                let image = image(parser, keyword)?;
                self.unused_name(&image.name)?;
                self.images.push(image);
            }
            "tensor" => {
                let tensor = tensor(parser, keyword)?;
                self.unused_name(&tensor.name)?;
                self.tensors.push(tensor);
            }
            _ => {
                let Some(launch) = self.launches.last_mut() else { return Ok(()) };
                launch.read(directive, parser, source)?;
            }
        }
        if parser.at_end() { Ok(()) } else { Err(parser.expected("the end of the directive")) }
    }

    /// Begins a launch, to which the lines below belong.
    fn begin_launch(&mut self, directive: &Directive, parser: &Parser<'_>) -> Parsed<()> {
        let mut names = kernels(directive)?;
        if names.iter().any(|name| name.text.is_empty()) {
            return Err(parser.expected("a kernel name"));
        }
        let kernel = if names.is_empty() { None } else { Some(names.remove(0)) };
        let line = directive.keyword.span;
        let launch =
            LaunchPlan { line: Some(line), kernel, other_kernels: names, ..LaunchPlan::default() };
        match self.launches.as_mut_slice() {
            [head] if head.line.is_none() => {
                let stray = head.any_line();
                *head = launch;
                stray.map_or(Ok(()), |stray| {
                    let message = "expected this line below a `launch`";
                    Err(Diagnostic::error("directive-syntax", stray, message)
                        .also(line, "the first launch begins here")
                        .help("move it below; name a launch's kernel by `launch NAME`"))
                })
            }
            _ => {
                self.launches.push(launch);
                Ok(())
            }
        }
    }

    /// Rejects a name already in use.
    /// Constants and buffers share one namespace, so that an expression can name either.
    fn unused_name(&self, name: &Name) -> Parsed<()> {
        let constants = self.constants.iter().map(|(n, _)| n);
        let buffers = self.buffers.iter().map(|b| &b.name);
        let images = self.images.iter().map(|image| &image.name);
        let tensors = self.tensors.iter().map(|tensor| &tensor.name);
        match constants.chain(buffers).chain(images).chain(tensors).find(|n| n.text == name.text) {
            None => Ok(()),
            Some(first) => {
                let message = format!("`{}` is defined twice", name.text);
                Err(Diagnostic::error("duplicate-name", name.span, message)
                    .also(first.span, "first defined here"))
            }
        }
    }
}

impl LaunchPlan {
    fn read(&mut self, directive: &Directive, parser: &mut Parser<'_>, source: &str) -> Parsed<()> {
        let keyword = &directive.keyword;
        match keyword.text.as_str() {
            "kernel" if self.line.is_some() => {
                let message = "unexpected `kernel` below `launch`";
                return Err(Diagnostic::error("directive-syntax", keyword.span, message)
                    .help("write `launch NAME`"));
            }
            "kernel" => {
                once(&self.kernel, keyword)?;
                let mut names = kernels(directive)?;
                if names.is_empty() || names.iter().any(|name| name.text.is_empty()) {
                    return Err(parser.expected("a kernel name"));
                }
                self.kernel = Some(names.remove(0));
                self.other_kernels = names;
            }
            "grid" => {
                once(&self.grid, keyword)?;
                self.grid = Some(shape(parser)?);
            }
            "block" => {
                once(&self.block, keyword)?;
                self.block = Some(shape(parser)?);
            }
            "shared" => {
                once(&self.shared, keyword)?;
                parser.sign("=")?;
                self.shared = Some(parser.expression()?);
            }
            "registers" => {
                once(&self.registers, keyword)?;
                parser.sign("=")?;
                self.registers = Some(parser.expression()?);
            }
            "cooperative" => {
                once(&self.cooperative, keyword)?;
                self.cooperative = Some(keyword.span);
            }
            "arg" => {
                let argument = argument(parser)?;
                self.arguments.push(argument);
            }
            _ => {
                let expectation = expectation(parser, directive, source)?;
                self.expectations.push(expectation);
            }
        }
        Ok(())
    }

    /// Returns the place of a line of the launch, if it has any.
    fn any_line(&self) -> Option<Span> {
        let shapes = [&self.grid, &self.block].into_iter().flatten().map(|shape| shape.span);
        let sizes = [&self.shared, &self.registers].into_iter().flatten().map(Expr::span);
        let arguments = self.arguments.iter().map(|(target, _)| target.span());
        let claims = self.expectations.iter().map(|expectation| expectation.span);
        let kernel = self.kernel.iter().map(|name| name.span);
        let cooperative = self.cooperative.into_iter();
        kernel
            .chain(shapes)
            .chain(sizes)
            .chain(cooperative)
            .chain(arguments)
            .chain(claims)
            .min_by_key(|s| s.start)
    }
}

/// Returns the kernels that a `kernel` or `launch` line names.
fn kernels(directive: &Directive) -> Parsed<Vec<Name>> {
    let list = directive.rest.text.split('#').next().unwrap_or_default();
    if list.starts_with('=') {
        let (keyword, start) = (&directive.keyword.text, directive.rest.span.start as usize);
        let found = Diagnostic::error(
            "directive-syntax",
            Span::new(start, start + 1),
            "expected a kernel name, found `=`",
        );
        return Err(found.help(format!("write `//! {keyword} NAME`, without `=`")));
    }
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    Ok(names(list, directive.rest.span.start as usize))
}

/// Splits a list of kernel names at the commas outside of template arguments.
fn names(list: &str, start: usize) -> Vec<Name> {
    let mut depth = 0i32;
    let is_comma = |c: char| {
        depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
        c == ',' && depth == 0
    };
    let mut at = start;
    let mut name = |text: &str| {
        let from = at + (text.len() - text.trim_start().len());
        at += text.len() + 1;
        let text = text.trim();
        Name { text: text.to_owned(), span: Span::new(from, from + text.len()) }
    };
    list.split(is_comma).map(&mut name).collect()
}
