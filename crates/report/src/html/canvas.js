// Drawing: the lanes of a warp over time, and an overview of all warps below.
// Colours come from the style sheet.

const PATHS = 7;
const LEFT = 52;

/** Colours of the style sheet, and patterns made from them; rebuilt when the theme changes. */
class Ink {
  constructor() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue("--" + name).trim();
    this.ink = of("ink");
    this.soft = of("soft");
    this.line = of("line");
    this.page = of("page");
    this.raised = of("raised");
    this.focus = of("focus");
    this.masked = of("masked");
    this.waits = of("waits");
    this.exited = of("exited");
    this.pattern = of("pattern");
    this.paths = Array.from({ length: PATHS }, (_, i) => [of("path" + i), of(`path${i}-ink`)]);
    this.fills = new Map();
  }

  /** Colours of a path; path 0 is the whole warp and shares its colour with no other. */
  path(path) {
    return this.paths[path === 0 ? 0 : 1 + ((path - 1) % (PATHS - 1))];
  }

  /** Fill of a cell; flat where the cell is too small for a pattern. */
  fill(state, path, small) {
    const colour = this.path(path)[0];
    switch (state) {
      case STATE.active: return colour;
      case STATE.exited: return this.exited;
      case STATE.off: return this.hatch("off" + colour, this.page, colour, small, 0.45, (c) => { c.fillRect(0, 1, 8, 2); c.fillRect(0, 5, 8, 2); });
      case STATE.stalled: return this.hatch("stalled" + colour, this.page, colour, small, 0.3, (c) => { c.fillRect(1, 0, 2, 8); c.fillRect(5, 0, 2, 8); }, 0.45);
      case STATE.masked: return this.hatch("masked", this.masked, this.pattern, small, 0.1, (c) => { c.fillRect(2, 2, 1.5, 1.5); c.fillRect(6, 6, 1.5, 1.5); });
      case STATE.join: return this.hatch("join", this.waits, this.pattern, small, 0.3, (c) => this.stroke(c, [[-1, 9, 9, -1], [-1, 1, 1, -1], [7, 9, 9, 7]]));
      default: return this.hatch("barrier", this.waits, this.pattern, small, 0.45, (c) => this.stroke(c, [[0, 0, 8, 8], [8, 0, 0, 8]]));
    }
  }

  stroke(c, lines) {
    c.beginPath();
    for (const [x1, y1, x2, y2] of lines) { c.moveTo(x1, y1); c.lineTo(x2, y2); }
    c.stroke();
  }

  hatch(key, ground, colour, small, tint, draw, strength = 1) {
    const name = key + small;
    if (!this.fills.has(name)) {
      const tile = document.createElement("canvas");
      tile.width = 8;
      tile.height = 8;
      const c = tile.getContext("2d");
      c.fillStyle = ground;
      c.fillRect(0, 0, 8, 8);
      c.fillStyle = colour;
      c.strokeStyle = colour;
      if (small) {
        c.globalAlpha = tint;
        c.fillRect(0, 0, 8, 8);
      } else {
        c.globalAlpha = strength;
        draw(c);
      }
      this.fills.set(name, c.createPattern(tile, "repeat"));
    }
    return this.fills.get(name);
  }
}

/** Sizes a canvas in CSS pixels, sharp on any screen, and returns its drawing context. */
function prepare(canvas, height) {
  const width = canvas.clientWidth;
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.round(height * scale);
  const c = canvas.getContext("2d");
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "middle";
  return [c, width];
}

/** Round tick positions of an axis. */
function ticks(from, to, most) {
  const raw = Math.max(1, (to - from) / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || 1;
  const found = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) found.push(t);
  return found;
}

/**
 * Lanes of one warp over time.
 * `view` has `from`, `to`, `axis`; `moment` has the selected `issue`, `wait`, `lane`.
 */
class MapCanvas {
  constructor(canvas, model) {
    this.canvas = canvas;
    this.model = model;
    this.row = Math.max(9, Math.min(16, Math.floor(300 / model.lanes)));
    this.top = 30;
    this.height = this.top + this.row * model.lanes + 22;
  }

  x(view, place) {
    return LEFT + ((place - view.from) / (view.to - view.from)) * (this.width - LEFT - 8);
  }

  place(view, x) {
    return view.from + ((x - LEFT) / (this.width - LEFT - 8)) * (view.to - view.from);
  }

  lane(y) {
    return Math.max(0, Math.min(this.model.lanes - 1, Math.floor((y - this.top) / this.row)));
  }

  draw(ink, warp, view, moment) {
    const [c, width] = prepare(this.canvas, this.height);
    this.width = width;
    const bottom = this.top + this.row * this.model.lanes;
    c.fillStyle = ink.raised;
    c.fillRect(LEFT, this.top, width - LEFT - 8, bottom - this.top);
    c.save();
    c.beginPath();
    c.rect(LEFT, 0, width - LEFT - 8, this.height);
    c.clip();
    this.cells(c, ink, warp, view);
    this.heads(c, ink, warp, view);
    this.axis(c, ink, warp, view, bottom);
    this.chosen(c, ink, warp, view, moment);
    c.restore();
    c.fillStyle = ink.soft;
    c.textAlign = "right";
    for (let lane = 0; lane < this.model.lanes; lane += this.row >= 12 ? 1 : 4) {
      c.fillText(String(lane), LEFT - 6, this.top + (lane + 0.5) * this.row);
    }
    c.fillText("line", LEFT - 6, 21);
    c.fillText(view.axis, LEFT - 6, bottom + 12);
    c.save();
    c.translate(9, this.top + (this.row * this.model.lanes) / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText("lane", 0, 0);
    c.restore();
  }

  visible(warp, view) {
    return warp.along(view.axis).filter((column) => column.to > view.from && column.from < view.to);
  }

  cells(c, ink, warp, view) {
    let drawn = -1;
    for (const column of this.visible(warp, view)) {
      const x0 = Math.max(drawn, Math.round(this.x(view, column.from)));
      const x1 = Math.max(x0 + 1, Math.round(this.x(view, column.to)));
      if (this.x(view, column.to) < drawn) continue; // this pixel is already painted
      drawn = x1;
      const issue = warp.issues[column.issue];
      const next = warp.issues[column.issue + 1];
      const path = column.wait && next ? next.path : issue.path;
      const wide = x1 - x0;
      const w = Math.max(1, wide - (wide > 6 ? 1 : 0));
      const masks = warp.masks(column.issue, column.wait);
      masks.forEach((mask, state) => {
        if (mask === 0) return;
        c.fillStyle = ink.fill(state, path, wide < 4);
        for (let lane = 0; lane < this.model.lanes; lane += 1) {
          if (!has(mask, lane)) continue;
          let end = lane + 1;
          while (end < this.model.lanes && has(mask, end)) end += 1;
          c.fillRect(x0, this.top + lane * this.row, w, (end - lane) * this.row - (this.row > 8 ? 1 : 0));
          lane = end;
        }
      });
      if (wide >= 11) this.letters(c, ink, masks, path, x0 + w / 2);
    }
    if (this.row > 8) {
      c.fillStyle = ink.page;
      for (let lane = 1; lane < this.model.lanes; lane += 1) c.fillRect(LEFT, this.top + lane * this.row - 1, this.width, 1);
    }
  }

  letters(c, ink, masks, path, x) {
    c.textAlign = "center";
    c.font = `${Math.min(10, this.row)}px system-ui, sans-serif`;
    for (const state of [STATE.active, STATE.join, STATE.barrier, STATE.exited]) {
      if (state === STATE.active && path === 0) continue; // the whole warp needs no number
      const text = state === STATE.active ? String(path) : this.model.letter(state);
      c.fillStyle = state === STATE.active ? ink.path(path)[1] : ink.ink;
      for (let lane = 0; lane < this.model.lanes; lane += 1) {
        if (has(masks[state], lane)) c.fillText(text, x, this.top + (lane + 0.5) * this.row);
      }
    }
    c.font = "11px system-ui, sans-serif";
  }

  /** Draws source lines above the lanes, and a mark at each divergent branch. */
  heads(c, ink, warp, view) {
    c.textAlign = "center";
    let free = -Infinity;
    let marked = -Infinity;
    for (const column of this.visible(warp, view)) {
      if (column.wait) continue;
      const issue = warp.issues[column.issue];
      const middle = (this.x(view, column.from) + this.x(view, column.to)) / 2;
      if (issue.diverges && middle > marked + 3) {
        c.fillStyle = ink.ink;
        c.beginPath();
        c.moveTo(middle - 4, 3);
        c.lineTo(middle + 4, 3);
        c.lineTo(middle, 10);
        c.fill();
        marked = middle;
      }
      const text = String(this.model.steps[issue.step].line);
      const half = c.measureText(text).width / 2;
      if (middle - half > free && middle - half > LEFT) {
        c.fillStyle = ink.soft;
        c.fillText(text, middle, 21);
        free = middle + half + 5;
      }
    }
  }

  axis(c, ink, warp, view, bottom) {
    c.fillStyle = ink.soft;
    c.textAlign = "center";
    for (const t of ticks(view.from, view.to, (this.width - LEFT) / 80)) {
      const issue = view.axis === "issue" ? warp.issues[t] : null;
      if (view.axis === "issue" && !issue) continue; // after the last
      const x = this.x(view, t + (issue ? 0.5 : 0));
      c.fillRect(x, bottom, 1, 4);
      c.fillText(grouped(issue ? issue.number : t), x, bottom + 12);
    }
  }

  chosen(c, ink, warp, view, moment) {
    if (!moment) return;
    const column = warp.along(view.axis).find((col) => col.issue === moment.issue && col.wait === moment.wait) || warp.along(view.axis).find((col) => col.issue >= moment.issue);
    if (!column) return;
    const x0 = this.x(view, column.from);
    const w = Math.max(2, this.x(view, column.to) - x0);
    const height = this.row * this.model.lanes;
    const narrow = w < 7 ? 4 : 0; // a frame must not hide the cell inside it
    c.strokeStyle = ink.ink;
    c.fillStyle = ink.ink;
    c.lineWidth = 1.5;
    if (narrow === 0) c.strokeRect(x0 - 0.5, this.top - 1, w, height + 1);
    for (const [tip, foot] of [[this.top - 1, this.top - 8], [this.top + height, this.top + height + 7]]) {
      c.beginPath();
      c.moveTo(x0 + w / 2, tip);
      c.lineTo(x0 + w / 2 - 4, foot);
      c.lineTo(x0 + w / 2 + 4, foot);
      c.fill();
    }
    c.lineWidth = 2.5;
    c.strokeRect(x0 - 1 - narrow, this.top + moment.lane * this.row - 1, w + 1 + 2 * narrow, this.row + 1);
    c.lineWidth = 1;
  }
}

/**
 * All warps of the window: number of executing lanes (pale: ready, the warp waits) and their path.
 * Shows and moves the section that the map shows.
 */
class OverviewCanvas {
  constructor(canvas, model) {
    this.canvas = canvas;
    this.model = model;
    this.row = Math.max(3, Math.min(22, Math.floor(88 / model.warps.length)));
    this.height = model.warps.length * this.row + 4;
  }

  x(place) {
    return LEFT + ((place - this.from) / (this.to - this.from)) * (this.width - LEFT - 8);
  }

  place(x) {
    return this.from + ((x - LEFT) / (this.width - LEFT - 8)) * (this.to - this.from);
  }

  warp(y) {
    return Math.max(0, Math.min(this.model.warps.length - 1, Math.floor((y - 2) / this.row)));
  }

  draw(ink, chosen, view) {
    const [c, width] = prepare(this.canvas, this.height);
    this.width = width;
    [this.from, this.to] = this.model.span(view.axis);
    this.model.warps.forEach((warp, i) => {
      const y = 2 + i * this.row;
      c.fillStyle = ink.raised;
      c.fillRect(LEFT, y, width - LEFT - 8, this.row - 1);
      this.strip(c, ink, warp, view.axis, y);
      c.fillStyle = i === chosen ? ink.ink : ink.soft;
      c.textAlign = "right";
      if (i === chosen || this.row >= 11) c.fillText(`${i === chosen ? "\u25b8 " : ""}w${warp.warp}`, LEFT - 6, Math.min(Math.max(y + this.row / 2, 6), this.height - 6));
    });
    const x0 = this.x(view.from);
    const x1 = this.x(view.to);
    c.fillStyle = ink.page;
    c.globalAlpha = 0.6;
    c.fillRect(LEFT, 0, Math.max(0, x0 - LEFT), this.height);
    c.fillRect(x1, 0, Math.max(0, width - 8 - x1), this.height);
    c.globalAlpha = 1;
    c.strokeStyle = ink.focus;
    c.lineWidth = 2;
    c.strokeRect(Math.max(LEFT, x0) + 1, 1, Math.max(4, Math.min(x1, width - 8) - Math.max(LEFT, x0) - 2), this.height - 2);
    c.lineWidth = 1;
  }

  strip(c, ink, warp, axis, y) {
    const inside = this.row - 2;
    let drawn = -1;
    for (const column of warp.along(axis)) {
      const x0 = this.x(column.from);
      const x1 = Math.max(x0 + 0.75, this.x(column.to));
      if (x1 - drawn < 0.5) continue;
      drawn = x1;
      const issue = warp.issues[column.issue];
      const next = warp.issues[column.issue + 1];
      const lanes = column.wait ? issue.after.first : issue.executed;
      const h = Math.max(1, (inside * count(lanes)) / this.model.lanes);
      c.fillStyle = ink.path(column.wait && next ? next.path : issue.path)[0];
      c.globalAlpha = column.wait ? 0.3 : 1;
      c.fillRect(x0, y + inside - h, x1 - x0, h);
      c.globalAlpha = 1;
    }
  }
}
