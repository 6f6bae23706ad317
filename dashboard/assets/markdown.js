// Markdown as nodes: what a model wrote becomes elements of a few kinds, and all of its text is set as text. HTML in it stays
// what it is, words. Links lead to http and https only.
import { el, linked } from "./dom.js";

const link = (address, ...words) => el("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow" }, ...words);
const marks = [
  [/`([^`\n]+)`/, (m) => el("code", {}, m[1])],
  [/\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*/, (m) => el("strong", {}, ...inline(m[1]))],
  [/(?<![\w*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])/, (m) => el("em", {}, ...inline(m[1]))],
  [/(?<!!)\[([^\]\n]{1,500})\]\((https?:\/\/[^\s<>"'`]{1,2000})\)/i, (m) => URL.canParse(m[2]) ? link(m[2], m[1]) : m[0]],
];

// inline returns the nodes of a line.
function inline(text) {
  const nodes = [];
  for (let rest = text; ; ) {
    let first;
    for (const [shape, make] of marks) {
      const m = rest.match(shape);
      if (m && (!first || m.index < first.m.index)) first = { m, make };
    }
    if (!first) return [...nodes, ...linked(rest)];
    const { m, make } = first;
    nodes.push(...linked(rest.slice(0, m.index)), make(m));
    rest = rest.slice(m.index + m[0].length);
  }
}

const item = /^ {0,3}(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
const rule = /^ *\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$/;

function table(lines, at) {
  const row = (tag, line) => el("tr", {}, ...cells(line).map((cell) => el(tag, {}, ...inline(cell))));
  const body = [];
  let end = at + 2;
  for (; end < lines.length && lines[end].includes("|"); end++) body.push(row("td", lines[end]));
  return [el("div", { class: "table" }, el("table", {}, el("thead", {}, row("th", lines[at])), el("tbody", {}, ...body))), end];
}

function list(lines, at) {
  const [, number] = lines[at].match(item);
  const items = [];
  let end = at;
  for (let m; end < lines.length && (m = lines[end].match(item)) && Boolean(m[1]) === Boolean(number); end++) items.push(el("li", {}, ...inline(m[2])));
  return [el(number ? "ol" : "ul", number ? { start: number } : {}, ...items), end];
}

function code(lines, at) {
  let end = at + 1;
  while (end < lines.length && !lines[end].startsWith("```")) end++;
  return [el("pre", {}, el("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

// markdown returns the nodes of a text. Line breaks stay.
export function markdown(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n"), nodes = [];
  let paragraph = [];
  const flush = () => {
    const words = paragraph.join("\n").trim();
    if (words) nodes.push(el("p", { class: "text" }, ...inline(words)));
    paragraph = [];
  };
  for (let at = 0; at < lines.length;) {
    const line = lines[at], heading = line.match(/^(#{1,6}) +(.+)$/);
    let block;
    if (line.startsWith("```")) block = code(lines, at);
    else if (heading) block = [el("h3", {}, ...inline(heading[2])), at + 1];
    else if (item.test(line)) block = list(lines, at);
    else if (line.includes("|") && rule.test(lines[at + 1] ?? "")) block = table(lines, at);
    if (block) {
      flush();
      nodes.push(block[0]);
      [, at] = block;
      continue;
    }
    if (line.trim() === "") flush();
    else paragraph.push(line);
    at++;
  }
  flush();
  return nodes;
}
