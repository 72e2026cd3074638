// Model of the page's JSON: warps, their issues, and the state of each lane.
// Rows have the fields of `data.rs`, in the same order.

/** Indices of the lane states of `LaneState`, and one more for the wait between two issues. */
const STATE = { active: 0, off: 1, masked: 2, join: 3, barrier: 4, exited: 5, stalled: 6 };
const GROUP_STATES = ["runs", "ready", "yielded", "waits at join ", "waits at the reconvergence point", "waits at barrier ", "waits for lanes "];

const has = (mask, lane) => ((mask >>> lane) & 1) === 1;

function count(mask) {
  let n = 0;
  for (let rest = mask >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) n += 1;
  return n;
}

const hex = (mask) => "0x" + (mask >>> 0).toString(16).padStart(8, "0");

/** Formats the lanes of a mask: `0-7, 12`; every fourth as `0, 4, .., 28`. */
function list(mask) {
  const runs = [];
  for (let lane = 0; lane < 32; lane += 1) {
    if (!has(mask, lane)) continue;
    const last = runs[runs.length - 1];
    if (last && last[1] === lane - 1) last[1] = lane;
    else runs.push([lane, lane]);
  }
  const step = runs.length > 3 ? runs[1][0] - runs[0][0] : 0;
  const last = runs[runs.length - 1];
  if (step > 1 && runs.every(([a, b], i) => a === b && a === runs[0][0] + i * step)) return `${runs[0][0]}, ${runs[1][0]}, .., ${last[0]}`;
  return runs.length === 0 ? "none" : runs.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(", ");
}

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;

/** A control state; `running` is the step of the running lanes, which the JSON omits. */
class Control {
  constructor([groups, stack, joins]) {
    this.groups = groups.map(([step, lanes, state, detail]) => ({ step, lanes, state, detail }));
    this.stack = stack.map(([step, lanes, reconverge, call]) => ({ step, lanes, reconverge, call: call === 1 }));
    this.joins = joins.map(([register, participants, arrived]) => ({ register, participants, arrived }));
    this.live = this.groups.reduce((all, g) => all | g.lanes, 0);
    const waiting = (states) => this.groups.reduce((all, g) => (states.includes(g.state) ? all | g.lanes : all), 0);
    this.join = waiting([3, 4, 6]);
    this.barrier = waiting([5]);
    // After an issue, the first group is the one that issues next.
    this.first = this.groups.length > 0 ? this.groups[0].lanes & ~this.join & ~this.barrier : 0;
  }
}

class Warp {
  constructor(row, data) {
    Object.assign(this, { block: row.block, warp: row.warp, sm: row.sm, lanes: row.lanes, more: row.more, first: row.first });
    let cycle = 0;
    let number = row.first;
    this.issues = row.issues.map((r, i) => {
      cycle += r[0];
      if (i > 0 && r[4] > 0) number += 1; // a step that takes no slot has the number of the one before it
      const pairs = (row) => row.flatMap((stall, w) => (w % 2 === 0 ? [[stall, row[w + 1]]] : []));
      const taken = r[6];
      return {
        number, cycle, step: r[1], active: r[2], executed: r[3], slots: r[4], path: r[5], taken,
        diverges: taken !== null && taken !== 0 && taken !== r[2],
        state: data.controls[r[7]], after: data.controls[r[8]], waits: pairs(r[9]), traffic: r[10].length > 0 ? r[10] : null,
        cycles: r[11] || r[4], between: pairs(r[12] || []),
      };
    });
    this.columns = {};
  }

  /** Returns the columns of an axis: `{from, to, issue, wait}`; `wait` is the time after the issue. */
  along(axis) {
    if (!this.columns[axis]) {
      this.columns[axis] = axis === "issue" ? this.byIssue() : this.byCycle();
    }
    return this.columns[axis];
  }

  /** One column per step, including steps that take no slot. */
  byIssue() {
    return this.issues.map((issue, i) => ({ from: i, to: i + 1, issue: i, wait: false }));
  }

  /** Steps that take no time share the cycle of the step before and have no width here. */
  byCycle() {
    const columns = [];
    this.issues.forEach((issue, i) => {
      const next = this.issues[i + 1];
      let to = issue.cycle + Math.max(1, issue.cycles);
      if (next) to = Math.min(to, next.cycle);
      if (issue.slots > 0 || !next || next.cycle > issue.cycle) columns.push({ from: issue.cycle, to, issue: i, wait: false });
      if (next && next.cycle > to) columns.push({ from: to, to: next.cycle, issue: i, wait: true });
    });
    return columns;
  }

  /** Returns the extent of an axis. */
  span(axis) {
    const columns = this.along(axis);
    return columns.length === 0 ? [0, 1] : [columns[0].from, Math.max(columns[columns.length - 1].to, columns[0].from + 1)];
  }

  /** Returns the column at a position of an axis, or the nearest one. */
  at(axis, place) {
    const columns = this.along(axis);
    let low = 0;
    let high = columns.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (columns[middle].from <= place) low = middle;
      else high = middle - 1;
    }
    return columns[low];
  }

  /** Returns the lanes in each state, at an issue or in the wait after it: a partition of a full warp. */
  masks(index, wait) {
    const issue = this.issues[index];
    const control = wait ? issue.after : issue.state;
    const { live, join, barrier } = control;
    if (wait) {
      const rest = live & ~join & ~barrier & ~control.first;
      return [0, 0, rest, join, barrier & ~join, ~live, control.first];
    }
    const alive = live | issue.active;
    const off = alive & ~issue.active;
    return [issue.executed, issue.active & ~issue.executed, off & ~join & ~barrier, off & join, off & barrier & ~join, ~alive, 0];
  }

  state(index, wait, lane) {
    const at = this.masks(index, wait).findIndex((mask) => has(mask, lane));
    return at < 0 ? STATE.exited : at;
  }

  /** Returns the step that a control state's -1 refers to. */
  running(index, wait) {
    const issue = this.issues[wait ? index + 1 : index];
    return issue ? issue.step : -1;
  }
}

class Model {
  constructor(data) {
    data.controls = data.controls.map((row) => new Control(row));
    this.lanes = data.lanes;
    this.states = data.states;
    this.stalls = data.stalls;
    this.ending = data.ending;
    this.steps = data.steps.map(([pc, line, text, source, sourceLine, branch]) => ({ pc, line, text, source, sourceLine, branch: branch === 1 }));
    this.warps = data.warps.map((row) => new Warp(row, data));
  }

  /** Returns the extent of an axis over all warps. */
  span(axis) {
    const spans = this.warps.filter((w) => w.issues.length > 0).map((w) => w.span(axis));
    return [Math.min(...spans.map((s) => s[0])), Math.max(...spans.map((s) => s[1]))];
  }

  stateName(state) {
    return state === STATE.stalled ? "ready, but its warp waits" : this.states[state][1];
  }

  letter(state) {
    return state === STATE.stalled ? ":" : this.states[state][0];
  }
}
