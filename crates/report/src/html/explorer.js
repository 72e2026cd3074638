// One timeline: selection, description of the selected moment, mouse and keys.

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Makes a table from rows of cells; a cell is a text or an element. */
function table(head, rows) {
  const made = element("table");
  const line = element("tr");
  for (const name of head) {
    const cell = element("th", name);
    cell.scope = "col";
    line.append(cell);
  }
  made.createTHead().append(line);
  const body = made.createTBody();
  for (const { cells, className } of rows) {
    const row = element("tr", undefined, className);
    for (const cell of cells) {
      const td = element("td");
      td.append(cell);
      row.append(td);
    }
    body.append(row);
  }
  return made;
}

const MEMORIES = ["global", "shared", "local", "const"];
const WAYS = ["load", "store", "atomic"];
const SHORTEST = 4;

class Explorer {
  constructor(section) {
    const json = section.querySelector("script[type='application/json']");
    this.section = section;
    this.find = (selector) => section.querySelector(selector);
    this.model = new Model(JSON.parse(json.textContent));
    this.map = new MapCanvas(this.find("canvas.map"), this.model);
    this.overview = new OverviewCanvas(this.find("canvas.overview"), this.model);
    this.chosen = 0;
    this.moment = null;
    this.pinned = false;
    this.view = { axis: "issue", from: 0, to: 1 };
    this.rows = [...section.querySelectorAll(".listing")].map((listing) => {
      const lines = new Map();
      for (const row of listing.querySelectorAll("tr[data-line]")) lines.set(Number(row.dataset.line), row);
      return lines;
    });
    this.own = this.rows.length - 1; // the program itself is the last source
    this.marked = [];
    this.chosen = Math.max(0, this.model.warps.findIndex((warp) => warp.issues.length > 0));
    this.find("select.warp").value = String(this.chosen);
    this.fit();
    this.listen();
  }

  get warp() {
    return this.model.warps[this.chosen];
  }

  // View.

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    const ink = Explorer.ink();
    this.map.draw(ink, this.warp, this.view, this.moment);
    this.overview.draw(ink, this.chosen, this.view);
  }

  static ink() {
    if (!Explorer.made) Explorer.made = new Ink();
    return Explorer.made;
  }

  samples() {
    const ink = Explorer.ink();
    for (const sample of this.section.querySelectorAll("canvas.sample")) {
      const [c, width] = prepare(sample, 14);
      c.fillStyle = ink.fill(Number(sample.dataset.state), 0, false);
      c.fillRect(0, 0, width, 14);
      c.strokeStyle = ink.soft;
      c.strokeRect(0.5, 0.5, width - 1, 13);
      const letter = { 3: "w", 4: "b", 5: "x" }[sample.dataset.state];
      c.fillStyle = ink.ink;
      c.textAlign = "center";
      if (letter) c.fillText(letter, width / 2, 7);
    }
  }

  fit() {
    [this.view.from, this.view.to] = this.model.span(this.view.axis);
    this.draw();
  }

  /** Shows `from..to`, clamped to the axis. */
  show(from, to) {
    const [first, last] = this.model.span(this.view.axis);
    const length = Math.min(Math.max(to - from, SHORTEST), last - first);
    this.view.from = Math.min(Math.max(from, first), last - length);
    this.view.to = this.view.from + length;
    this.draw();
  }

  zoom(factor, around) {
    const { from, to } = this.view;
    this.show(around - (around - from) * factor, around + (to - around) * factor);
  }

  /** Centre of a zoom without a pointer: the selected moment if visible, else the middle. */
  middle() {
    const { from, to } = this.view;
    const at = this.moment && this.place(this.moment);
    return at !== null && at >= from && at <= to ? at : (from + to) / 2;
  }

  place(moment) {
    const issue = this.warp.issues[moment.issue];
    if (!issue) return null;
    return (this.view.axis === "issue" ? moment.issue : issue.cycle) + 0.5;
  }

  // Selection.

  choose(moment, said) {
    const count = this.warp.issues.length;
    if (count === 0) return;
    const issue = Math.max(0, Math.min(count - 1, moment.issue));
    const lane = Math.max(0, Math.min(this.model.lanes - 1, moment.lane));
    const last = this.moment;
    if (last && last.issue === issue && last.lane === lane && last.wait === moment.wait && !said) return;
    this.moment = { issue, lane, wait: moment.wait };
    this.tell();
    this.mark();
    if (said) {
      const at = this.place(this.moment);
      const { from, to } = this.view;
      if (at < from || at > to) this.show(at - (to - from) / 2, at + (to - from) / 2);
      this.find(".said").textContent = this.sentence();
    }
    this.draw();
  }

  pick(chosen) {
    const lane = this.moment ? this.moment.lane : 0;
    const at = this.moment ? this.place(this.moment) : null;
    this.chosen = chosen;
    this.find("select.warp").value = String(chosen);
    this.moment = null;
    if (at !== null && this.warp.issues.length > 0) {
      const column = this.warp.at(this.view.axis, at);
      this.choose({ issue: column.issue, wait: false, lane }, true);
    }
    if (this.find(".alternative").open) this.alternative();
    this.draw();
  }

  axis(name) {
    this.view.axis = name;
    this.find("select.axis").value = name;
    if (this.moment) this.moment.wait = false;
    this.fit();
  }

  /** Selects the next divergent branch in a direction. */
  divergence(direction) {
    const issues = this.warp.issues;
    const start = this.moment ? this.moment.issue + direction : direction > 0 ? 0 : issues.length - 1;
    for (let i = start; i >= 0 && i < issues.length; i += direction) {
      if (issues[i].diverges) {
        this.choose({ issue: i, wait: false, lane: this.moment ? this.moment.lane : 0 }, true);
        return;
      }
    }
    this.find(".said").textContent = direction > 0 ? "No later divergent branch." : "No earlier divergent branch.";
  }

  // Description.

  sentence() {
    const { issue: i, lane, wait } = this.moment;
    const issue = this.warp.issues[i];
    const step = this.model.steps[issue.step];
    const what = this.model.stateName(this.warp.state(i, wait, lane));
    const parts = issue.diverges ? `, diverged: ${count(issue.taken)} taken, ${count(issue.active & ~issue.taken)} fall through` : "";
    return `Warp ${this.warp.warp}, issue ${issue.number}, cycle ${issue.cycle}, line ${step.line}, ${step.text}: ` +
      `${plural(count(issue.executed), "lane")} of ${count(this.warp.lanes)}${parts}. Lane ${lane}: ${what}.`;
  }

  waits(list) {
    const items = element("ul");
    for (const [stall, cycles] of list) {
      const [name, meaning] = this.model.stalls[stall];
      const item = element("li");
      item.append(element("strong", name), ` ${plural(cycles, "cycle")}. `, element("small", meaning));
      items.append(item);
    }
    return items;
  }

  tell() {
    const { issue: i, lane, wait } = this.moment;
    const issue = this.warp.issues[i];
    const next = this.warp.issues[i + 1];
    const shown = wait && next ? next : issue;
    const step = this.model.steps[shown.step];
    const box = this.find(".moment");
    const state = this.warp.state(i, wait, lane);
    const parts = [];
    const title = wait
      ? `Wait before issue ${grouped(shown.number)}`
      : `Issue ${grouped(issue.number)}, cycle ${grouped(issue.cycle)}`;
    parts.push(element("h4", `${title} · warp ${this.warp.warp}`));
    const laneLine = element("p");
    laneLine.append(element("strong", `Lane ${lane}: `), `${this.model.stateName(state)} (${this.model.letter(state)})`, this.because(i, wait, lane, state));
    parts.push(laneLine);
    parts.push(element("h5", `Line ${step.line}, pc ${step.pc}`), element("code", step.text, "code"));
    if (!wait) {
      parts.push(this.lanes(issue));
      if (issue.traffic) parts.push(element("p", this.traffic(issue.traffic)));
    }
    if (shown.waits.length > 0) {
      const total = shown.waits.reduce((sum, w) => sum + w[1], 0);
      parts.push(element("h5", wait ? `Waiting ${plural(total, "cycle")}` : `Waited before this issue: ${plural(total, "cycle")}`), this.waits(shown.waits));
    }
    if (!wait && issue.between.length > 0) {
      const total = issue.between.reduce((sum, w) => sum + w[1], 0);
      parts.push(element("h5", `Waited between its ${issue.slots} machine instructions: ${plural(total, "cycle")}`), this.waits(issue.between));
    }
    parts.push(...this.control(wait ? issue.after : issue.state, this.warp.running(i, wait)));
    box.replaceChildren(...parts);
  }

  /** Reason why a lane does nothing: the wait of its group. */
  because(i, wait, lane, state) {
    const issue = this.warp.issues[i];
    const control = wait ? issue.after : issue.state;
    if (state === STATE.active || state === STATE.exited) return "";
    if (state === STATE.off) return this.model.steps[issue.step].branch ? ": not taken" : ": its guard is false";
    const group = control.groups.find((g) => has(g.lanes, lane));
    if (!group || state === STATE.stalled) return "";
    const step = group.step < 0 ? null : this.model.steps[group.step];
    return `: ${this.doing(group)}${step ? `, continues at line ${step.line}` : ""}`;
  }

  doing(group) {
    const words = GROUP_STATES[group.state];
    if (group.state === 3 || group.state === 5) return words + (group.state === 3 ? "B" : "") + group.detail;
    return group.state === 6 ? words + list(group.detail) : words;
  }

  lanes(issue) {
    const rows = [["active", issue.active], ["executed", issue.executed]];
    if (issue.taken !== null) rows.push([issue.diverges ? "taken (divergent)" : "taken", issue.taken]);
    return table(["mask", "", "lanes"], rows.map(([name, mask]) => ({ cells: [name, element("span", hex(mask), "mask"), `${count(mask)}: ${list(mask)}`] })));
  }

  traffic([memory, way, bytes, sectors, lines, l1, l2, dram, wavefronts, ideal]) {
    const what = `${MEMORIES[memory]} ${WAYS[way]}, ${plural(bytes, "byte")}: `;
    return memory === 1
      ? `${what}${plural(wavefronts, "wavefront")} (at best ${ideal})`
      : `${what}${plural(sectors, "sector")} in ${plural(lines, "line")}; L1 ${l1}, L2 ${l2}, DRAM ${dram}`;
  }

  /** Describes the stack, or the groups and join registers. */
  control(control, running) {
    const line = (step) => {
      const at = step < 0 ? running : step;
      return at < 0 ? "-" : String(this.model.steps[at].line);
    };
    const mask = (m) => element("span", hex(m), "mask");
    if (control.stack.length > 0) {
      const rows = control.stack.map((e, i) => ({
        cells: [i === control.stack.length - 1 ? "top" : String(i), line(e.step), mask(e.lanes), String(count(e.lanes)), e.reconverge < 0 ? (e.call ? "return" : "-") : String(this.model.steps[e.reconverge].line)],
        className: i === control.stack.length - 1 ? "top" : "",
      })).reverse();
      return [element("h5", "Reconvergence stack"), table(["", "line", "mask", "n", "reconverges at"], rows)];
    }
    const groups = control.groups.map((g) => ({ cells: [line(g.step), mask(g.lanes), String(count(g.lanes)), this.doing(g)], className: g.state === 0 ? "top" : "" }));
    const parts = [element("h5", "Groups of lanes"), table(["line", "mask", "n", "state"], groups)];
    if (control.joins.length > 0) {
      const joins = control.joins.map((j) => ({ cells: [`B${j.register}`, mask(j.participants), mask(j.arrived), `${count(j.arrived)} of ${count(j.participants)}`] }));
      parts.push(element("h5", "Join registers"), table(["", "participants", "arrived", ""], joins));
    } else {
      parts.push(element("p", "No join register is in use.", "note"));
    }
    return parts;
  }

  /** Marks the source lines of all groups of lanes at the selected moment. */
  mark() {
    for (const row of this.marked) {
      row.classList.remove("now", "held");
      row.firstElementChild.textContent = "";
    }
    this.marked = [];
    const { issue: i, wait } = this.moment;
    const issue = this.warp.issues[i];
    const control = wait ? issue.after : issue.state;
    const running = this.warp.running(i, wait);
    for (const group of control.groups) {
      const runs = group.step < 0 || group.step === running;
      const step = this.model.steps[group.step < 0 ? running : group.step];
      if (!step) continue;
      const n = count(group.lanes);
      const word = runs && !wait ? `\u25b6 ${n}` : `${n} ${["next", "ready", "yields", "at join", "at join", "at barrier", "sync"][group.state]}`;
      this.markLine(this.own, step.line, runs, word);
      if (step.source >= 0) this.markLine(step.source, step.sourceLine, runs, word);
    }
  }

  markLine(source, line, now, word) {
    const row = this.rows[source] && this.rows[source].get(line);
    if (!row) return;
    row.classList.add(now ? "now" : "held");
    const cell = row.firstElementChild;
    cell.textContent = cell.textContent ? `${cell.textContent}, ${word}` : word;
    this.marked.push(row);
    const box = row.closest(".listing");
    if (now && !box.hidden) {
      const top = row.offsetTop - box.querySelector("thead").offsetHeight;
      if (top - 20 < box.scrollTop || row.offsetTop + 40 > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    }
  }

  /** Shows the selected warp as a table, made when it is opened. */
  alternative() {
    const letters = (i) => {
      const masks = this.warp.masks(i, false);
      let out = "";
      for (let lane = 0; lane < this.model.lanes; lane += 1) out += this.model.letter(masks.findIndex((m) => has(m, lane)));
      return element("code", out);
    };
    const rows = this.warp.issues.map((issue, i) => {
      const step = this.model.steps[issue.step];
      const words = (list) => list.map(([stall, cycles]) => `${this.model.stalls[stall][0]} ${cycles}`).join(", ");
      const waits = [words(issue.waits), words(issue.between) && `within: ${words(issue.between)}`].filter((text) => text).join("; ");
      return { cells: [grouped(issue.number), grouped(issue.cycle), String(step.line), element("code", step.text), letters(i), count(issue.executed) + (issue.diverges ? ", divergent" : ""), waits] };
    });
    this.find(".alternative .scroll").replaceChildren(table(["issue", "cycle", "line", "instruction", "lanes, 0 first", "executing", "waits before; within"], rows));
  }

  // Mouse and keys.

  listen() {
    const { canvas } = this.map;
    const position = (event, of) => {
      const box = of.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const hover = (event) => {
      const [x, y] = position(event, canvas);
      const column = this.warp.at(this.view.axis, this.map.place(this.view, x));
      if (column) this.choose({ issue: column.issue, wait: column.wait, lane: this.map.lane(y) });
    };
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, from: this.view.from, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const by = event.clientX - drag.x;
        drag.moved = drag.moved || Math.abs(by) > 4;
        const length = this.view.to - this.view.from;
        const from = drag.from - (by / (this.map.width - LEFT - 8)) * length;
        if (drag.moved) this.show(from, from + length);
      } else if (!this.pinned) hover(event);
    });
    const up = (event) => {
      if (drag && !drag.moved) {
        this.pin(!this.pinned);
        if (this.pinned) hover(event);
      }
      drag = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const length = this.view.to - this.view.from;
      const pixels = event.deltaMode === 1 ? 16 : 1;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = (((event.deltaX || event.deltaY) * pixels) / this.map.width) * length;
        this.show(this.view.from + by, this.view.to + by);
      } else {
        const by = Math.max(-200, Math.min(200, event.deltaY * pixels));
        this.zoom(Math.exp(by * 0.0025), this.map.place(this.view, position(event, canvas)[0]));
      }
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    const move = (event) => {
      const half = (this.view.to - this.view.from) / 2;
      const at = this.overview.place(position(event, this.overview.canvas)[0]);
      this.show(at - half, at + half);
    };
    let moving = false;
    this.overview.canvas.addEventListener("pointerdown", (event) => {
      moving = true;
      this.overview.canvas.setPointerCapture(event.pointerId);
      this.pick(this.overview.warp(position(event, this.overview.canvas)[1]));
      move(event);
    });
    this.overview.canvas.addEventListener("pointermove", (event) => { if (moving) move(event); });
    this.overview.canvas.addEventListener("pointerup", () => { moving = false; });
    this.find("select.warp").addEventListener("change", (event) => this.pick(Number(event.target.value)));
    this.find("select.axis").addEventListener("change", (event) => this.axis(event.target.value));
    for (const button of this.section.querySelectorAll("button[data-do]")) button.addEventListener("click", () => this.act(button.dataset.do));
    const source = this.find("select.source");
    if (source) source.addEventListener("change", () => {
      this.section.querySelectorAll(".listing").forEach((listing) => { listing.hidden = listing.dataset.source !== source.value; });
      if (this.moment) this.mark();
    });
    this.find(".alternative").addEventListener("toggle", (event) => { if (event.target.open) this.alternative(); });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  pin(on) {
    this.pinned = on;
    this.find(".pinned").hidden = !on;
  }

  act(name) {
    const actions = {
      in: () => this.zoom(0.5, this.middle()),
      out: () => this.zoom(2, this.middle()),
      fit: () => this.fit(),
      next: () => this.divergence(1),
      before: () => this.divergence(-1),
    };
    if (name === "next" || name === "before") this.pin(true);
    actions[name]();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.warp.issues.length - 1;
    const now = this.moment || { issue: -1, lane: 0, wait: false };
    const go = (issue, lane) => {
      this.pin(true);
      this.choose({ issue, wait: false, lane }, true);
    };
    const warp = (by) => this.pick(Math.max(0, Math.min(this.model.warps.length - 1, this.chosen + by)));
    const keys = {
      ArrowRight: () => go(Math.min(now.issue + 1, last), now.lane),
      ArrowLeft: () => go(Math.max(now.issue - 1, 0), now.lane),
      ArrowUp: () => go(Math.max(now.issue, 0), now.lane - 1),
      ArrowDown: () => go(Math.max(now.issue, 0), now.lane + 1),
      Home: () => go(0, now.lane),
      End: () => go(last, now.lane),
      PageUp: () => warp(-1),
      PageDown: () => warp(1),
      Escape: () => this.pin(false),
      "+": () => this.act("in"),
      "=": () => this.act("in"),
      "-": () => this.act("out"),
      0: () => this.act("fit"),
      n: () => this.act("next"),
      p: () => this.act("before"),
      a: () => this.axis(this.view.axis === "issue" ? "cycle" : "issue"),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  }
}
