// Page behaviour outside the timelines: theme, filters, printing.

const explorers = [...document.querySelectorAll("section.explorer")].filter((s) => s.querySelector("canvas.map")).map((s) => new Explorer(s));

function repaint() {
  Explorer.made = null;
  for (const explorer of explorers) {
    explorer.samples();
    explorer.paint();
  }
}

const root = document.documentElement;
const system = window.matchMedia("(prefers-color-scheme: dark)");
const button = document.querySelector("button.theme");
const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";

function themed() {
  button.textContent = isDark() ? "Light" : "Dark";
  repaint();
}

button.hidden = false;
button.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  themed();
});
system.addEventListener("change", themed);

// Paper is light: the style sheet switches by itself, canvases must be painted again.
let chosen;
window.addEventListener("beforeprint", () => {
  chosen = root.dataset.theme;
  root.dataset.theme = "light";
  repaint();
});
window.addEventListener("afterprint", () => {
  if (chosen) root.dataset.theme = chosen;
  else delete root.dataset.theme;
  repaint();
});

for (const filter of document.querySelectorAll(".filter")) {
  const rows = filter.parentElement.querySelectorAll("tr.metric");
  filter.hidden = false;
  filter.querySelector("input").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}

themed();
