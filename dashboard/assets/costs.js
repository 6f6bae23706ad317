// The costs over the days: a chart of stacked bars, and the sums below it, which say the same in words.
import { api, load } from "./api.js";
import { el } from "./dom.js";

const $ = (id) => document.getElementById(id);
const main = document.querySelector("main"), form = $("costs"), chart = $("chart"), body = document.querySelector("#costs-table tbody");
const shown = 7; // names with a colour of their own; the rest is one
const colours = ["#ff4500", "#3b82c4", "#2e9e6b", "#a566c9", "#d69a1f", "#d0517f", "#5f7f8f", "#9a938a"];
const restName = "Others";
let plot, report;

const query = () => new URLSearchParams(new FormData(form));

// sums adds up what was spent for each name, the most first; those beyond the first few are one.
function sums({ costs, days }) {
  const by = new Map();
  for (const { name, day, amount, unpriced } of costs) {
    const sum = by.get(name) ?? { name, usd: 0, calls: 0, tokens: 0, unpriced: 0, days: new Array(days.length).fill(0) };
    by.set(name, sum);
    const usd = amount.nano_usd / 1e9;
    sum.usd += usd;
    sum.calls += amount.calls;
    sum.tokens += amount.tokens;
    sum.unpriced += unpriced;
    if (days.includes(day)) sum.days[days.indexOf(day)] += usd;
  }
  return [...by.values()].sort((a, b) => b.usd - a.usd || b.calls - a.calls);
}

function stacks(list) {
  if (list.length <= shown + 1) return list;
  const rest = list.slice(shown).reduce((a, b) => ({ ...a, days: a.days.map((n, i) => n + b.days[i]) }), { name: restName, days: list[0].days.map(() => 0) });
  return [...list.slice(0, shown), rest];
}

const usdText = (usd) => usd.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 4 });

function drawChart(list) {
  plot?.destroy();
  plot = null;
  if (!list.some((s) => s.usd > 0)) return;
  const css = getComputedStyle(document.documentElement);
  // uPlot paints on a canvas, which does not know light-dark().
  const probe = el("i", { hidden: true });
  document.body.append(probe);
  const colour = (name) => { probe.style.color = css.getPropertyValue(name); return getComputedStyle(probe).color; };
  const [soft, line] = [colour("--soft"), colour("--line")];
  probe.remove();
  const parts = stacks(list);
  // A bar reaches from the bottom to the sum of its part and those below; the highest is painted first.
  const heights = parts.map((_, n) => report.days.map((_, day) => parts.slice(0, n + 1).reduce((sum, p) => sum + p.days[day], 0)));
  const series = parts.map((p, n) => ({ label: p.name, fill: colours[n], width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 40] }) }));
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui" };
  plot = new uPlot({
    width: chart.clientWidth, height: 240, cursor: { show: false }, legend: { show: false },
    scales: { x: { time: true, range: (_, min, max) => [min - 43_200, max + 43_200] }, y: { range: (_, __, max) => [0, max * 1.08] } },
    axes: [{ ...axis, grid: { show: false }, space: 60, values: "{MMM} {D}", incrs: [1, 2, 5, 10, 20].map((n) => n * 86_400) }, { ...axis, size: 62, values: (_, ticks) => ticks.map(usdText) }],
    series: [{}, ...series.toReversed()],
  }, [report.days.map((day) => new Date(`${day}T12:00`) / 1000), ...heights.toReversed()], chart);
}

function drawTable(list) {
  const coloured = list.length <= shown + 1 ? list.length : shown;
  body.replaceChildren(...list.map((s, n) => {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colours[Math.min(n, coloured)] ?? "";
    const usd = s.unpriced ? `${usdText(s.usd)} and ${s.unpriced} ${s.unpriced === 1 ? "call" : "calls"} without a known price` : usdText(s.usd);
    return el("tr", {}, el("td", {}, swatch, s.name), el("td", {}, usd), el("td", {}, s.calls.toLocaleString()), el("td", {}, s.tokens.toLocaleString()));
  }));
  $("costs-by").textContent = form.elements.by.selectedOptions[0].text;
  $("costs-table").hidden = list.length === 0;
  $("costs-none").hidden = list.length > 0;
}

let asked = 0;
async function draw() {
  const mark = ++asked;
  try {
    const fresh = await api("GET", `/api/costs?${query()}`);
    if (mark !== asked) return; // something else was chosen meanwhile
    report = fresh;
    main.hidden = false; // before it would be moved by what is drawn
    const list = sums(report);
    drawTable(list);
    drawChart(list);
    $("costs-error").textContent = "";
  } catch (error) {
    $("costs-error").textContent = error.message;
    main.hidden = false;
  }
}

form.addEventListener("change", draw);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const href = URL.createObjectURL(await load(`/api/costs.csv?${query()}`));
    el("a", { href, download: `costs-by-${form.elements.by.value}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  } catch (error) {
    $("costs-error").textContent = error.message;
  }
});
new ResizeObserver(() => plot?.setSize({ width: chart.clientWidth, height: 240 })).observe(chart);
new MutationObserver(() => report && drawChart(sums(report))).observe(document.documentElement, { attributeFilter: ["data-theme"] });
draw();
