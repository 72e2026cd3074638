//! The front end as a whole: what programs mean, what faults cost, and the laws that tie parser and printer.

mod faults;
mod laws;
mod programs;
mod trees;
