// Tests pages of `run --html` and `compare --html` in headless Chromium, without network: they
// load, react to mouse and keys in each timeline, and no script fails. Usage: node
// tests/html/check.mjs [--shots DIR] PAGE..
//
// A file PAGE.lanes has the lane states of the first warp: a line of number and letters per issue.
// The page must agree.
//
// Needs Node and Chromium (CHROMIUM names one that is not on the PATH) and no package: it uses the
// DevTools protocol over a pipe. Exit codes: 0 passed; 1 failed; 77 no Chromium.

import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const args = process.argv.slice(2);
const shots = args[0] === "--shots" ? args.splice(0, 2)[1] : null;

function chromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const folder of (process.env.PATH || "").split(delimiter)) {
    for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch { /* not here */ }
    }
  }
  return null;
}

/** The DevTools protocol over file descriptors 3 and 4: JSON messages, each followed by a zero byte. */
class Browser {
  constructor(program, profile) {
    const flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", `--user-data-dir=${profile}`, "about:blank"];
    this.process = spawn(program, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.events = [];
    this.last = 0;
    let rest = "";
    this.process.stdio[4].on("data", (chunk) => {
      const parts = (rest + chunk.toString("utf8")).split("\0");
      rest = parts.pop();
      for (const part of parts) this.receive(JSON.parse(part));
    });
    this.process.on("exit", () => {
      for (const { reject } of this.waiting.values()) reject(new Error("the browser ended"));
    });
  }

  receive(message) {
    const waits = this.waiting.get(message.id);
    if (!waits) {
      this.events.push(message);
      return;
    }
    this.waiting.delete(message.id);
    if (message.error) waits.reject(new Error(message.error.message));
    else waits.resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    this.last += 1;
    const id = this.last;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
}

class Tab {
  static async open(browser) {
    const tab = new Tab();
    tab.browser = browser;
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    tab.session = sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.send(`${domain}.enable`);
    await tab.send("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
    return tab;
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
    return result.value;
  }

  /** Waits until an expression is true. */
  async until(expression, what) {
    for (let i = 0; i < 400; i += 1) {
      if (await this.evaluate(expression)) return;
      await new Promise((done) => setTimeout(done, 25));
    }
    throw new Error(`never came: ${what}`);
  }

  /** Waits for two frames, so that changes are painted. */
  settle() {
    return this.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
  }

  async size(width, height, dark) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    await this.settle();
  }

  mouse(type, x, y, more = {}) {
    return this.send("Input.dispatchMouseEvent", { type, x, y, ...more });
  }

  async key(key) {
    const text = key.length === 1 ? key : undefined;
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
    await this.settle();
  }

  async shot(path, whole = false) {
    const height = await this.evaluate("document.documentElement.scrollHeight");
    const clip = whole ? { clip: { x: 0, y: 0, width: 1280, height, scale: 1 }, captureBeyondViewport: true } : {};
    const { data } = await this.send("Page.captureScreenshot", { format: "png", ...clip });
    writeFileSync(path, Buffer.from(data, "base64"));
  }
}

let faults = 0;
function expect(holds, what) {
  if (!holds) {
    faults += 1;
    console.error(`  WRONG: ${what}`);
  }
}

/** Hashes the drawing, to detect changes. */
const drawn = (n) => `(() => { const c = document.querySelectorAll("canvas.map")[${n}]; const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  let h = 0; for (let i = 0; i < d.length; i += 1) h = (h * 31 + d[i]) | 0; return h; })()`;
const said = (n) => `document.querySelectorAll("section.explorer")[${n}].querySelector(".moment").innerText`;

/** Tests one timeline of the page: mouse, keys, table. */
async function timeline(tab, n, lanes) {
  await tab.evaluate(`document.querySelectorAll("canvas.map")[${n}].scrollIntoView({ block: "center" })`);
  await tab.settle();
  const box = await tab.evaluate(`(() => { const b = document.querySelectorAll("canvas.map")[${n}].getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()`);
  const [x, y] = [box[0] + box[2] / 2, box[1] + box[3] / 2];
  const whole = await tab.evaluate(drawn(n));
  const painted = await tab.evaluate(`(() => { const c = document.querySelectorAll("canvas.map")[${n}]; const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
    const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; })()`);
  expect(painted > 4, "the lanes are drawn");
  await tab.mouse("mouseMoved", x, y);
  await tab.settle();
  const hovered = await tab.evaluate(said(n));
  for (const word of ["Lane ", "Line ", "warp "]) expect(hovered.includes(word), `hovering tells \`${word}\`: ${hovered}`);
  expect(/stack|Groups of lanes/i.test(hovered), `hovering tells the control state: ${hovered}`);
  expect(await tab.evaluate(`document.querySelectorAll("section.explorer")[${n}].querySelectorAll("tr.now, tr.held").length > 0`), "the source line is marked");
  expect((await tab.evaluate(drawn(n))) !== whole, "hovering marks the cell");
  await tab.mouse("mouseWheel", x, y, { deltaX: 0, deltaY: -300 });
  await tab.settle();
  expect((await tab.evaluate(drawn(n))) !== whole, "the wheel zooms");
  await tab.mouse("mousePressed", x, y, { button: "left", clickCount: 1 });
  await tab.mouse("mouseMoved", x - 60, y, { button: "left", buttons: 1 });
  await tab.mouse("mouseReleased", x - 60, y, { button: "left", clickCount: 1 });
  await tab.evaluate(`document.querySelectorAll("canvas.map")[${n}].focus()`);
  await tab.key("0");
  await tab.key("Home");
  const first = await tab.evaluate(said(n));
  const lane = Number(/Lane (\d+):/.exec(first)[1]);
  await tab.key("ArrowRight");
  expect((await tab.evaluate(said(n))) !== first, "an arrow key moves");
  await tab.key("ArrowDown");
  expect((await tab.evaluate(said(n))).includes(`Lane ${lane + 1}:`), "an arrow key changes the lane");
  await tab.key("Home");
  await tab.key("n");
  const status = await tab.evaluate(`document.querySelectorAll("section.explorer")[${n}].querySelector(".said").textContent`);
  expect(/, diverged: |No (later|earlier) divergent branch/.test(status), `n goes to a divergence: ${status}`);
  const before = await tab.evaluate(drawn(n));
  await tab.key("+");
  await tab.key("a");
  expect((await tab.evaluate(drawn(n))) !== before, "the other axis is drawn");
  await tab.key("a");
  await tab.key("0");
  await tab.evaluate(`document.querySelectorAll("details.alternative")[${n}].open = true`);
  const rows = `[...document.querySelectorAll("details.alternative")[${n}].querySelectorAll("tbody tr")]`;
  await tab.until(`${rows}.length > 0`, "the table instead of the picture");
  if (lanes) {
    await tab.key("PageUp");
    const letters = await tab.evaluate(`${rows}.map((row) => row.children[0].textContent + " " + row.children[4].textContent).join("\\n")`);
    expect(letters === lanes, `the lanes of the first warp are those that the simulator saw:\n${letters}\nand not\n${lanes}`);
  }
  await tab.evaluate(`document.querySelectorAll("details.alternative")[${n}].open = false`);
}

async function page(browser, path) {
  const tab = await Tab.open(browser);
  await tab.send("Emulation.setDeviceMetricsOverride", { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false });
  const url = pathToFileURL(resolve(path)).href;
  await tab.send("Page.navigate", { url });
  await tab.until('document.readyState === "complete" && location.protocol === "file:"', "the page");
  await tab.settle();
  const timelines = await tab.evaluate('document.querySelectorAll("canvas.map").length');
  const lanes = existsSync(`${path}.lanes`) ? readFileSync(`${path}.lanes`, "utf8").trim() : null;
  for (let n = 0; n < timelines; n += 1) await timeline(tab, n, lanes);
  const light = await tab.evaluate("getComputedStyle(document.body).backgroundColor");
  await tab.evaluate('document.querySelector("button.theme").click()');
  await tab.settle();
  expect((await tab.evaluate("getComputedStyle(document.body).backgroundColor")) !== light, "the switch changes the colours");
  await tab.evaluate('document.querySelector("button.theme").click()');
  for (const [width, height] of [[1280, 800], [800, 600]]) {
    for (const dark of [false, true]) {
      await tab.evaluate("delete document.documentElement.dataset.theme");
      await tab.size(width, height, dark);
      const wide = await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      expect(wide <= 0, `${width} pixels are enough (${wide} too wide)`);
      if (shots) {
        await tab.evaluate("scrollTo(0, 0)");
        await tab.settle();
        const name = basename(path).replace(/\.html$/, "");
        await tab.shot(join(shots, `${name}-${width}-${dark ? "dark" : "light"}.png`));
        if (timelines > 0) {
          await tab.evaluate('document.querySelector("section.explorer").scrollIntoView()');
          await tab.settle();
          await tab.shot(join(shots, `${name}-${width}-${dark ? "dark" : "light"}-lanes.png`));
          await tab.evaluate('document.querySelector("canvas.map").focus()');
          await tab.key("a");
          await tab.shot(join(shots, `${name}-${width}-${dark ? "dark" : "light"}-cycles.png`));
          await tab.key("a");
        }
        if (width === 1280 && dark) {
          await tab.shot(join(shots, `${name}-whole.png`), true);
          await tab.send("Emulation.setEmulatedMedia", { media: "print" });
          await tab.settle();
          await tab.shot(join(shots, `${name}-print.png`), true);
          await tab.send("Emulation.setEmulatedMedia", { media: "" });
        }
      }
    }
  }
  for (const { method, params, sessionId } of browser.events.splice(0)) {
    if (sessionId !== tab.session) continue;
    if (method === "Runtime.exceptionThrown") expect(false, `a script failed: ${params.exceptionDetails.exception?.description}`);
    if (method === "Runtime.consoleAPICalled" && params.type === "error") expect(false, `console: ${JSON.stringify(params.args)}`);
    if (method === "Log.entryAdded" && params.entry.level === "error") expect(false, `log: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent" && !/^(file|data):/.test(params.request.url)) expect(false, `it asks for ${params.request.url}`);
  }
  console.log(`${basename(path)}: ${timelines} timeline${timelines === 1 ? "" : "s"} looked at`);
  await tab.send("Page.close");
}

const program = chromium();
if (!program) {
  console.error("skipped: no Chromium on the PATH, and CHROMIUM is not set");
  process.exit(77);
}
if (shots) mkdirSync(shots, { recursive: true });
const profile = mkdtempSync(join(tmpdir(), "simt-sim-html-"));
const browser = new Browser(program, profile);
try {
  for (const path of args) await page(browser, path);
} catch (error) {
  faults += 1;
  console.error(error.stack);
}
browser.send("Browser.close").catch(() => {});
const slow = setTimeout(() => browser.process.kill("SIGKILL"), 5000);
browser.process.on("exit", () => {
  clearTimeout(slow);
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  process.exit(faults > 0 ? 1 : 0);
});
