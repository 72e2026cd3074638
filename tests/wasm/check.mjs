// Runs the three reductions in the WebAssembly build of the core and compares its counters with the command line's.
//
//   cargo build --release
//   cargo build -p simt-wasm --target wasm32-unknown-unknown --release
//   node tests/wasm/check.mjs [target folder]
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const target = process.argv[2] ?? "target";
const programs = ["reduce_neighbored", "reduce_neighbored_less", "reduce_interleaved"];
const modes = ["pre-volta", "volta"];
const counters = ["inst_executed", "thread_inst_executed", "not_predicated_off_thread_inst_executed"];
const n = 65536;

const wasm = readFileSync(`${target}/wasm32-unknown-unknown/release/simt_wasm.wasm`);
const { exports } = (await WebAssembly.instantiate(wasm)).instance;
let differing = 0;
programs.forEach((program, p) => modes.forEach((mode, m) => {
  const args = ["run", `programs/${program}.ir`, "--mode", mode, "--set", `n=${n}`, "--format", "json"];
  const run = JSON.parse(execFileSync(`${target}/release/simt-sim`, args, { maxBuffer: 1 << 28 }));
  const expected = [run.cycles, ...counters.map((name) => run.metrics[name]), run.slots.used];
  const found = Array.from({ length: exports.run(p, m, n) }, (_, i) => Number(exports.counter(i)));
  const same = found.length === expected.length && found.every((value, i) => value === expected[i]);
  differing += same ? 0 : 1;
  console.log(`${same ? "same" : "DIFFERS"}  ${program} ${mode}: ${found.join(" ")}${same ? "" : ` expected ${expected.join(" ")}`}`);
}));
process.exit(differing ? 1 : 0);
