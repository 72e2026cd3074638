//! Functions that a file declares and does not define: those of CUDA's runtime system, and errors.

use super::body::Body;
use super::functions::{Signature, Slot};
use crate::diag::{Diagnostic, Span};
use crate::kernel::SystemFn;
use crate::ptx::tree::Name;

/// Way out of dynamic parallelism.
pub(super) const HOST_LAUNCH: &str = "launch the kernel from the host, one launch after another";

impl Body<'_> {
    /// Resolves a function of the runtime system, if the file declares it as such.
    pub(super) fn system(&self, target: &Name) -> Option<(SystemFn, Signature)> {
        let function = SystemFn::named(&target.text)?;
        let declared = &self.functions.list[self.functions.find(&target.text)?];
        let sizes = |slots: &[Slot]| slots.iter().map(|s| s.shape.bytes).collect::<Vec<_>>();
        let parameters: Vec<u64> = function.parameters().iter().map(|&n| n.into()).collect();
        let results: Vec<u64> =
            Some(u64::from(function.result())).filter(|&n| n > 0).into_iter().collect();
        let signature = &declared.signature;
        // A caller may ignore the result: LLVM programs declare `vprintf` without one.
        let returns = sizes(&signature.returns);
        let fits =
            sizes(&signature.params) == parameters && (returns.is_empty() || returns == results);
        (declared.statements().is_none() && fits).then(|| (function, signature.clone()))
    }

    /// Reports a call of a function without statements.
    pub(super) fn undefined(&mut self, name: &Name, declared: Span) {
        let (missing, help) = match name.text.as_str() {
            name if SystemFn::named(name).is_some() => {
                ("function of that name with these parameters", "declare it as nvcc does")
            }
            // Of CUDA 12 and 13, and of earlier ones: dynamic parallelism.
            other if other.starts_with("__cudaCDP") || other.starts_with("cuda") => {
                ("device-side launch (dynamic parallelism)", HOST_LAUNCH)
            }
            _ => {
                ("", "define it in this file: nvcc without `-rdc=true` puts all code into one file")
            }
        };
        let message = match missing {
            "" => format!("`{}` is called but not defined in this file", name.text),
            missing => format!("`{}` is not supported: the simulator has no {missing}", name.text),
        };
        let error = Diagnostic::error("undefined-function", name.span, message);
        self.report(error.also(declared, "only declared here").help(help));
    }
}
