//! Capture: calls on a stream become nodes of a graph. Other streams join by waiting for an event.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Edge, EdgeData};
use crate::error::Error;
use crate::operation::Operation;
use crate::state::{self, Driver};
use crate::table::Handle;

/// Modes of a capture: which threads must not make calls that a capture does not allow.
const GLOBAL: u32 = 0;
const THREAD_LOCAL: u32 = 1;
pub(crate) const RELAXED: u32 = 2;

/// States of a stream, numbers of `CUstreamCaptureStatus`.
const ACTIVE: u32 = 1;
const INVALIDATED: u32 = 2;

/// Default stream, by two names, and that of the thread.
const LEGACY: [Handle; 2] = [0, 1];
const PER_THREAD: Handle = 2;

/// Threads that have asked for their number.
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Mode of the thread's own calls.
    static MODE: Cell<u32> = const { Cell::new(GLOBAL) };
    /// Number of the thread, from 1.
    static THREAD: u64 = THREADS.fetch_add(1, Ordering::Relaxed) + 1;
}

/// Stream, with context and thread if it is the default stream of a thread.
type Key = (Handle, Handle, u64);

/// Returns the key of a stream for the calling thread.
fn key(stream: Handle) -> Key {
    if stream == PER_THREAD { (stream, state::current(), own_thread()) } else { (stream, 0, 0) }
}

fn own_thread() -> u64 {
    THREAD.with(|thread| *thread)
}

/// Replaces the mode of the thread's own calls and returns the one before.
pub(crate) fn exchange_mode(mode: u32) -> u32 {
    MODE.replace(mode)
}

/// Number of a capture, from 1.
pub(crate) type Id = u64;

/// A capture that has not ended.
#[derive(Debug)]
struct Capture {
    context: Handle,
    graph: Handle,
    /// Stream where it began.
    origin: Key,
    mode: u32,
    /// Thread that began it.
    thread: u64,
    is_valid: bool,
    /// True if the program made the graph.
    is_given: bool,
}

/// A stream in a capture.
#[derive(Debug)]
struct Joined {
    capture: Id,
    /// Edges of the stream's next node.
    tips: Vec<Edge>,
    /// The same as lists that the program may read.
    shown: (Box<[Handle]>, Box<[EdgeData]>),
}

/// Point of a capture at which an event was recorded.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    capture: Id,
    tips: Vec<Edge>,
}

/// Captures and the streams in them.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    made: Id,
    running: BTreeMap<Id, Capture>,
    streams: BTreeMap<Key, Joined>,
}

/// Facts about a stream in a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    pub(crate) status: u32,
    pub(crate) id: Id,
    pub(crate) graph: Handle,
    /// Addresses of the nodes and annotations of the edges of the next node, and their number.
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) count: usize,
    /// True if all edges are ordinary.
    pub(crate) is_plain: bool,
}

impl Captures {
    fn of(&self, stream: Handle) -> Option<(Id, &Capture)> {
        let id = self.streams.get(&key(stream))?.capture;
        self.running.get(&id).map(|capture| (id, capture))
    }

    fn invalidate(&mut self, id: Id) {
        if let Some(capture) = self.running.get_mut(&id) {
            capture.is_valid = false;
        }
    }

    /// Ends a capture: its streams do work again.
    fn end(&mut self, id: Id) -> Option<Capture> {
        self.streams.retain(|_, joined| joined.capture != id);
        self.running.remove(&id)
    }

    /// Returns facts about a stream; `None` if it is not captured.
    pub(crate) fn info(&mut self, stream: Handle) -> Option<Info> {
        let joined = self.streams.get_mut(&key(stream))?;
        let capture = self.running.get(&joined.capture)?;
        let nodes: Box<[Handle]> = joined.tips.iter().map(|edge| edge.from).collect();
        let edges: Box<[EdgeData]> = joined.tips.iter().map(|edge| edge.data).collect();
        joined.shown = (nodes, edges);
        Some(Info {
            status: if capture.is_valid { ACTIVE } else { INVALIDATED },
            id: joined.capture,
            graph: capture.graph,
            nodes: joined.shown.0.as_ptr().expose_provenance(),
            edges: joined.shown.1.as_ptr().expose_provenance(),
            count: joined.tips.len(),
            is_plain: joined.tips.iter().all(|edge| edge.data == EdgeData::default()),
        })
    }

    /// Returns the state of a stream as a number of `CUstreamCaptureStatus`.
    pub(crate) fn status(&self, stream: Handle) -> u32 {
        match self.of(stream) {
            None => 0,
            Some((_, capture)) if capture.is_valid => ACTIVE,
            Some(_) => INVALIDATED,
        }
    }
}

/// Adds edges that a list does not have.
fn merge(tips: &mut Vec<Edge>, more: &[Edge]) {
    for edge in more {
        if !tips.contains(edge) {
            tips.push(*edge);
        }
    }
}

impl Driver {
    /// Begins the capture of a stream, into a graph of the program or a new one.
    ///
    /// # Errors
    /// If the stream is the legacy default stream, or captured already.
    pub(crate) fn begin_capture(
        &mut self,
        stream: Handle,
        mode: u32,
        into: Option<(Handle, Vec<Edge>)>,
    ) -> Result<(), Error> {
        let (context, _) = self.context()?;
        self.stream(stream)?;
        if mode > RELAXED {
            return Err(Error::INVALID_VALUE);
        }
        if LEGACY.contains(&stream) {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        if self.graphs.captures.of(stream).is_some() {
            return Err(Error::ILLEGAL_STATE);
        }
        let is_given = into.is_some();
        let (graph, tips) = match into {
            Some((graph, tips)) => {
                self.graphs.check_edges(graph, &tips)?;
                (graph, tips)
            }
            None => (self.graphs.create(), Vec::new()),
        };
        let captures = &mut self.graphs.captures;
        captures.made += 1;
        let id = captures.made;
        let (origin, thread) = (key(stream), own_thread());
        let new = Capture { context, graph, origin, mode, thread, is_valid: true, is_given };
        captures.running.insert(id, new);
        captures.streams.insert(origin, Joined { capture: id, tips, shown: Default::default() });
        Ok(())
    }

    /// Ends the capture that began in a stream, and returns its graph.
    ///
    /// # Errors
    /// If none began there, if a call invalidated it, if work of other streams was not joined, or
    /// if another thread began it.
    pub(crate) fn end_capture(&mut self, stream: Handle) -> Result<Handle, Error> {
        self.stream(stream)?;
        let captures = &mut self.graphs.captures;
        let (id, capture) = captures.of(stream).ok_or(Error::ILLEGAL_STATE)?;
        if capture.origin != key(stream) {
            captures.invalidate(id);
            return Err(Error::STREAM_CAPTURE_UNMATCHED);
        }
        let graph = capture.graph;
        let of_thread = capture.mode == RELAXED || capture.thread == own_thread();
        let error = if !capture.is_valid {
            Some(Error::STREAM_CAPTURE_INVALIDATED)
        } else if !of_thread {
            Some(Error::STREAM_CAPTURE_WRONG_THREAD)
        } else if self.has_unjoined(id, stream) {
            Some(Error::STREAM_CAPTURE_UNJOINED)
        } else {
            None
        };
        let ended = self.graphs.captures.end(id);
        match error {
            None => Ok(graph),
            Some(error) => {
                if ended.is_some_and(|capture| !capture.is_given) {
                    let _ = self.graphs.destroy(graph);
                }
                Err(error)
            }
        }
    }

    /// Returns true if the last node of a stream in a capture has no node after it, and is not one
    /// of the last in the stream where the capture began.
    fn has_unjoined(&self, id: Id, origin: Handle) -> bool {
        let streams = &self.graphs.captures.streams;
        let last = streams.get(&key(origin)).map_or(&[][..], |joined| &joined.tips);
        let tips = streams.values().filter(|joined| joined.capture == id).flat_map(|j| &j.tips);
        let mut others = tips.filter(|tip| last.iter().all(|own| own.from != tip.from));
        others.any(|tip| self.graphs.dependents(tip.from).is_ok_and(|after| after.is_empty()))
    }

    /// Ends a capture whose first stream is destroyed.
    pub(crate) fn forget_captured(&mut self, stream: Handle) {
        self.forget_captures(|capture| capture.origin == key(stream));
    }

    /// Ends the captures of a context.
    pub(crate) fn forget_captures_of(&mut self, context: Handle) {
        self.forget_captures(|capture| capture.context == context);
    }

    fn forget_captures(&mut self, which: impl Fn(&Capture) -> bool) {
        let all = self.graphs.captures.running.iter();
        let ids: Vec<Id> = all.filter_map(|(id, c)| which(c).then_some(*id)).collect();
        for id in ids {
            if let Some(ended) = self.graphs.captures.end(id)
                && !ended.is_given
            {
                let _ = self.graphs.destroy(ended.graph);
            }
        }
    }

    /// Returns the capture of a stream; `None` if it does its work.
    ///
    /// # Errors
    /// If a call invalidated the capture.
    pub(crate) fn captured(&self, stream: Handle) -> Result<Option<Id>, Error> {
        match self.graphs.captures.of(stream) {
            None => Ok(None),
            Some((id, capture)) if capture.is_valid => Ok(Some(id)),
            Some(_) => Err(Error::STREAM_CAPTURE_INVALIDATED),
        }
    }

    /// Adds a node to the capture of a stream. A wrong launch invalidates the capture.
    ///
    /// Nothing becomes of an operation without effect; the node is then 0.
    pub(crate) fn capture(
        &mut self,
        stream: Handle,
        operation: Operation,
    ) -> Result<Handle, Error> {
        let id = self.captured(stream)?.ok_or(Error::ILLEGAL_STATE)?;
        let (context, _) = self.context()?;
        let checked = match &operation {
            Operation::Copy(copy) if copy.is_empty() => return Ok(0),
            Operation::Set(fill) if fill.is_empty() => return Ok(0),
            Operation::Set(fill) => fill.check_rows(), // its memory when it is instantiated
            operation => self.check(context, operation),
        };
        if checked.is_err() && matches!(operation, Operation::Launch(_)) {
            self.graphs.captures.invalidate(id);
        }
        checked?;
        let graphs = &mut self.graphs;
        let capture = graphs.captures.running.get(&id).ok_or(Error::ILLEGAL_STATE)?;
        let graph = capture.graph;
        let joined = graphs.captures.streams.get(&key(stream)).ok_or(Error::ILLEGAL_STATE)?;
        let tips = joined.tips.clone();
        let node = graphs.add(graph, &tips, context, operation)?;
        if let Some(joined) = graphs.captures.streams.get_mut(&key(stream)) {
            joined.tips = vec![Edge::plain(node)];
        }
        Ok(node)
    }

    /// Changes the edges of the next node of a captured stream: adds some, or replaces all.
    pub(crate) fn set_tips(
        &mut self,
        stream: Handle,
        tips: &[Edge],
        replaces: bool,
    ) -> Result<(), Error> {
        let id = self.captured(stream)?.ok_or(Error::ILLEGAL_STATE)?;
        let graph = self.graphs.captures.running.get(&id).map_or(0, |capture| capture.graph);
        self.graphs.check_edges(graph, tips)?;
        if let Some(joined) = self.graphs.captures.streams.get_mut(&key(stream)) {
            if replaces {
                joined.tips.clear();
            }
            merge(&mut joined.tips, tips);
        }
        Ok(())
    }

    /// Returns the point that a captured stream has reached.
    pub(crate) fn point(&self, stream: Handle) -> Option<Point> {
        let joined = self.graphs.captures.streams.get(&key(stream))?;
        Some(Point { capture: joined.capture, tips: joined.tips.clone() })
    }

    /// Lets a stream wait for an event if a capture has one of them: the stream joins the capture.
    /// Returns false if none has.
    ///
    /// # Errors
    /// If the event or the stream is outside of the capture of the other.
    pub(crate) fn wait_captured(&mut self, stream: Handle, event: Handle) -> Result<bool, Error> {
        let own = self.captured(stream)?;
        let event = self.events.get(event)?;
        let is_new = event.recorded.is_none() && event.pending == 0;
        let point = event.captured.clone();
        let captures = &mut self.graphs.captures;
        match (own, point) {
            (None, None) => Ok(false),
            (Some(_), None) if is_new => Ok(true), // there is nothing to wait for
            (Some(id), None) => {
                captures.invalidate(id);
                Err(Error::STREAM_CAPTURE_ISOLATION)
            }
            (_, Some(point)) if !captures.running.contains_key(&point.capture) => {
                Err(Error::INVALID_VALUE)
            }
            (Some(id), Some(point)) if id != point.capture => {
                captures.invalidate(id);
                captures.invalidate(point.capture);
                Err(Error::STREAM_CAPTURE_MERGE)
            }
            (own, Some(Point { capture, tips })) => {
                if own.is_none() && LEGACY.contains(&stream) {
                    captures.invalidate(capture);
                    return Err(Error::STREAM_CAPTURE_IMPLICIT);
                }
                let new = || Joined { capture, tips: Vec::new(), shown: Default::default() };
                merge(&mut captures.streams.entry(key(stream)).or_insert_with(new).tips, &tips);
                Ok(true)
            }
        }
    }

    /// Refuses a question about an event that was recorded in a capture.
    pub(crate) fn refuse_captured_event(&mut self, event: Handle) -> Result<(), Error> {
        let Some(point) = &self.events.get(event)?.captured else { return Ok(()) };
        let capture = point.capture;
        if !self.graphs.captures.running.contains_key(&capture) {
            return Err(Error::INVALID_VALUE);
        }
        self.graphs.captures.invalidate(capture);
        Err(Error::CAPTURED_EVENT)
    }

    /// Refuses a call that no capture allows while one runs that concerns the thread: calls that
    /// wait, and those that change memory at once. Such a call invalidates the capture.
    pub(crate) fn refuse_captures(&mut self) -> Result<(), Error> {
        let (mode, own) = (MODE.get(), own_thread());
        let concerns = |capture: &Capture| {
            mode != RELAXED
                && capture.mode != RELAXED
                && (capture.thread == own || mode != THREAD_LOCAL && capture.mode == GLOBAL)
        };
        self.refuse(Error::STREAM_CAPTURE_UNSUPPORTED, |_, capture| concerns(capture))
    }

    /// Refuses a call that waits for all work of a context while one of its streams is captured.
    pub(crate) fn refuse_captures_of(&mut self, context: Handle) -> Result<(), Error> {
        self.refuse(Error::STREAM_CAPTURE_UNSUPPORTED, |_, capture| capture.context == context)
    }

    /// Refuses work on the legacy default stream while a stream is captured that it waits for.
    pub(crate) fn refuse_implicit(&mut self, stream: Handle) -> Result<(), Error> {
        let captured = self.implied(stream)?;
        self.refuse(Error::STREAM_CAPTURE_IMPLICIT, |id, _| captured.contains(&id))
    }

    /// Returns the captures whose streams a stream waits for.
    pub(crate) fn implied(&mut self, stream: Handle) -> Result<Vec<Id>, Error> {
        if !LEGACY.contains(&stream) || self.graphs.captures.running.is_empty() {
            return Ok(Vec::new());
        }
        let (context, _) = self.context()?;
        let streams = &self.streams;
        let waits = |(stream, of, _): Key| {
            let own = streams.get(stream).map(|stream| (stream.context, stream.flags & 1));
            if stream == PER_THREAD { of == context } else { own == Ok((context, 0)) }
        };
        let all = self.graphs.captures.streams.iter();
        Ok(all.filter_map(|(key, joined)| waits(*key).then_some(joined.capture)).collect())
    }

    /// Refuses a call that waits for a stream.
    pub(crate) fn refuse_waiting(&mut self, stream: Handle) -> Result<(), Error> {
        self.refuse_on(stream)?;
        self.refuse_implicit(stream)?;
        self.refuse_captures()
    }

    /// Refuses a call that has no node if a stream is captured.
    pub(crate) fn refuse_on(&mut self, stream: Handle) -> Result<(), Error> {
        let own = self.graphs.captures.of(stream).map(|(id, _)| id);
        self.refuse(Error::STREAM_CAPTURE_UNSUPPORTED, |id, _| Some(id) == own)
    }

    /// Returns an error and invalidates captures if there are such.
    fn refuse(
        &mut self,
        error: Error,
        concerns: impl Fn(Id, &Capture) -> bool,
    ) -> Result<(), Error> {
        let mut refused = Ok(());
        for (id, capture) in &mut self.graphs.captures.running {
            if concerns(*id, capture) {
                capture.is_valid = false;
                refused = Err(error);
            }
        }
        refused
    }
}
