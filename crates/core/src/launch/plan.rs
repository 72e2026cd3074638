//! The directives of a file, parsed but not evaluated.

use super::expression::Expr;
use super::image::ImagePlan;
use super::tensor::TensorPlan;
use crate::diag::Span;
use crate::isa::Type;
use crate::ptx::tree::Name;

/// The directives of a file, parsed. [`Plan::resolve`] turns it into a [`super::Launch`].
///
/// Constants and buffers are shared by the launches, which run in order.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) title: Option<String>,
    pub(super) constants: Vec<(Name, Expr)>,
    pub(super) buffers: Vec<BufferPlan>,
    /// Textures and surfaces; their objects are 1, 2 and so on.
    pub(super) images: Vec<ImagePlan>,
    /// Tensors that bulk copies take tiles of.
    pub(super) tensors: Vec<TensorPlan>,
    /// At least one; a file without `launch` lines has one.
    pub(super) launches: Vec<LaunchPlan>,
}

/// One launch: the lines below a `launch`, or those of a file without any.
#[derive(Clone, Debug, Default)]
pub(super) struct LaunchPlan {
    /// The `launch` line; `None` in a file without one.
    pub(super) line: Option<Span>,
    pub(super) kernel: Option<Name>,
    /// Kernels that the directives serve as well.
    pub(super) other_kernels: Vec<Name>,
    pub(super) grid: Option<Shape>,
    pub(super) block: Option<Shape>,
    pub(super) shared: Option<Expr>,
    pub(super) registers: Option<Expr>,
    /// The `cooperative` line.
    pub(super) cooperative: Option<Span>,
    pub(super) arguments: Vec<(Target, ArgumentValue)>,
    pub(super) expectations: Vec<ExpectationPlan>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            title: None,
            constants: Vec::new(),
            buffers: Vec::new(),
            images: Vec::new(),
            tensors: Vec::new(),
            launches: vec![LaunchPlan::default()],
        }
    }
}

impl Plan {
    /// Returns the kernel that the file names for its first launch, with its place in the source.
    pub fn kernel(&self) -> Option<&Name> {
        self.kernel_at(0)
    }

    /// Returns the kernel that the file names for a launch, counted from 0.
    pub fn kernel_at(&self, launch: usize) -> Option<&Name> {
        self.launches.get(launch)?.kernel.as_ref()
    }

    /// Returns the number of launches, at least 1.
    pub fn launches(&self) -> usize {
        self.launches.len()
    }

    /// Returns the title that the file gives itself.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns the names of the constants in order; `--set` can change them.
    pub fn constants(&self) -> impl Iterator<Item = &str> {
        self.constants.iter().map(|(name, _)| name.text.as_str())
    }
}

/// `x`, `(x, y)` or `(x, y, z)`
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) sizes: Vec<Expr>,
    pub(super) span: Span,
}

/// `buffer NAME: TYPE[COUNT] = SEQUENCE`
#[derive(Clone, Debug)]
pub(super) struct BufferPlan {
    pub(super) name: Name,
    pub(super) element: Type,
    pub(super) count: Expr,
    pub(super) fill: Option<Sequence>,
    pub(super) span: Span,
}

/// A parameter by name or by position.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Name(Name),
    Position(u64, Span),
}

impl Target {
    pub(super) fn span(&self) -> Span {
        match self {
            Target::Name(name) => name.span,
            Target::Position(_, span) => *span,
        }
    }
}

/// A scalar, the elements of an array parameter, or the fields of a structure.
#[derive(Clone, Debug)]
pub(super) enum ArgumentValue {
    Scalar(Expr),
    List(Vec<Expr>, Span),
    Fields(Vec<Field>, Span),
}

/// A field of a structure: a value, an array, or a structure.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Name,
    /// Type of the value or of the array's elements; without meaning for a structure.
    pub(super) element: Type,
    pub(super) value: ArgumentValue,
}

impl ArgumentValue {
    /// Returns the expressions of the value.
    pub(super) fn expressions(&self) -> Vec<&Expr> {
        match self {
            ArgumentValue::Scalar(expr) => vec![expr],
            ArgumentValue::List(values, _) => values.iter().collect(),
            ArgumentValue::Fields(fields, _) => {
                fields.iter().flat_map(|field| field.value.expressions()).collect()
            }
        }
    }
}

/// A sequence of values.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    pub(super) kind: SequenceKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum SequenceKind {
    Fill(Expr),
    Iota(Option<Expr>, Option<Expr>),
    Random {
        seed: Expr,
        low: Expr,
        high: Expr,
    },
    /// A linear congruential generator, from a seed.
    Lcg(Expr),
    List(Vec<Expr>),
    /// Data of a file, or what the program in it leaves in a buffer.
    File {
        path: Name,
        result: Option<String>,
    },
    BlockSum {
        buffer: Expr,
        size: Expr,
    },
    /// An expression, possibly of an index.
    Formula {
        value: Expr,
        each: Option<Each>,
    },
}

/// `for i`, `for i in lo..hi`
#[derive(Clone, Debug)]
pub(super) struct Each {
    pub(super) variable: Name,
    pub(super) range: Option<(Expr, Expr)>,
}

/// `expect ..`
#[derive(Clone, Debug)]
pub(super) struct ExpectationPlan {
    pub(super) span: Span,
    pub(super) text: String,
    pub(super) mode: Option<String>,
    pub(super) claim: Claim,
}

#[derive(Clone, Debug)]
pub(super) enum Claim {
    Finish(Vec<Name>),
    Metric { name: Name, relation: Relation, value: Expr },
    Values(Box<ValuesClaim>),
}

impl Claim {
    /// Returns the buffer whose size bounds the number of expected values.
    /// `None` if one value is enough for all elements.
    pub(super) fn packs(&self) -> Option<&str> {
        let Claim::Values(claim) = self else { return None };
        let (Expr::Name(name) | Expr::Slice(name, ..) | Expr::Index(name, ..)) = &claim.left else {
            return None;
        };
        let one = |value: &Expr| !matches!(value, Expr::Name(_) | Expr::Slice(..));
        match &claim.right.kind {
            SequenceKind::Fill(_) => None,
            SequenceKind::Formula { value, each: None } if one(value) => None,
            _ => Some(&name.text),
        }
    }
}

/// `LEFT RELATION RIGHT [within TOLERANCE]`
#[derive(Clone, Debug)]
pub(super) struct ValuesClaim {
    pub(super) left: Expr,
    pub(super) relation: Relation,
    pub(super) right: Sequence,
    pub(super) within: Option<Expr>,
}

/// Relation between the two sides of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Relation {
    pub(super) const SIGNS: [(&'static str, Relation); 6] = [
        ("==", Relation::Equal),
        ("!=", Relation::NotEqual),
        ("<=", Relation::LessEqual),
        (">=", Relation::GreaterEqual),
        ("<", Relation::Less),
        (">", Relation::Greater),
    ];

    /// Returns the relation as written.
    pub fn sign(self) -> &'static str {
        Relation::SIGNS.iter().find(|(_, r)| *r == self).map_or("==", |(sign, _)| sign)
    }

    /// Returns true if the relation holds for this ordering of left and right.
    /// `None` means not comparable (a NaN).
    pub(super) fn holds(self, order: Option<std::cmp::Ordering>) -> bool {
        match (self, order) {
            (Relation::NotEqual, None) => true,
            (_, None) => false,
            (Relation::Equal, Some(o)) => o.is_eq(),
            (Relation::NotEqual, Some(o)) => o.is_ne(),
            (Relation::Less, Some(o)) => o.is_lt(),
            (Relation::LessEqual, Some(o)) => o.is_le(),
            (Relation::Greater, Some(o)) => o.is_gt(),
            (Relation::GreaterEqual, Some(o)) => o.is_ge(),
        }
    }
}
