// Looks at pages with playwright-core and axe-core, as the JSON in process.argv[2] says, and writes what is wrong with
// them, a line each, and at last how often axe, layout shifts and consoles complained.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const job = JSON.parse(process.argv[2]);
const { chromium } = createRequire(`${job.playwright}/`)("playwright-core");
const axe = readFileSync(`${job.axe}/node_modules/axe-core/axe.min.js`, "utf8");
const browser = await chromium.connectOverCDP(job.browser);
const count = { axe: 0, shift: 0, console: 0, other: 0 };
mkdirSync(job.out, { recursive: true });

const looks = [
  { width: 320, colorScheme: "light" }, { width: 768, colorScheme: "dark" },
  { width: 1280, colorScheme: "light", keyboard: true }, { width: 1280, colorScheme: "dark" },
  { width: 2560, colorScheme: "dark", reducedMotion: "reduce" },
];
const watchShifts = () => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const e of list.getEntries()) {
      const what = e.sources.map(({ node }) => (node?.outerHTML ?? node?.textContent ?? "").slice(0, 80)).join(" | ");
      if (!e.hadRecentInput) window.shifts.push(`${e.value.toFixed(4)} ${what}`);
    }
  }).observe({ type: "layout-shift", buffered: true });
};

// settled waits until a page is there, its scripts have run, and nothing has moved for a while.
async function settled(page) {
  await page.waitForFunction(() => document.readyState === "complete" && !document.body.classList.contains("opening") ||
    document.getElementById("open-text")?.dataset.failed !== undefined, null, { timeout: 30_000 });
  await page.evaluate(async () => {
    for (const script of document.querySelectorAll("script[type=module]")) await import(script.src);
    for (let still = 0, was = ""; still < 3; was = document.body.innerHTML) {
      await new Promise((next) => setTimeout(next, 60));
      still = document.body.innerHTML === was ? still + 1 : 0;
    }
  });
}

// withKeys goes through a page by the keyboard: every control is reached, and seen to have the focus.
async function withKeys(page, wrong) {
  await page.evaluate(() => { document.activeElement?.blur(); return new Promise((next) => setTimeout(next, 400)); }); // transitions end
  const all = await page.evaluate(() => {
    const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0 && !e.closest("[inert]");
    window.controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
      .filter((e) => !e.disabled && e.tabIndex >= 0 && e.type !== "hidden" && seen(e));
    const look = (e) => [e, e.parentElement, e.parentElement?.parentElement].filter(Boolean)
      .map((n) => { const s = getComputedStyle(n); return s.borderColor + s.boxShadow + s.backgroundColor; }).join();
    window.before = new Map(window.controls.map((e) => [e, look(e)]));
    window.missed = new Set(window.controls);
    window.look = look;
    return window.controls.length;
  });
  for (let i = 0; i < all + 20; i++) {
    await page.keyboard.press("Tab");
    const unseen = await page.evaluate(async () => {
      const e = document.activeElement;
      window.missed.delete(e);
      if (e === document.body || !window.controls.includes(e)) return "";
      const s = getComputedStyle(e), r = e.getBoundingClientRect();
      const isMarked = () => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1 || window.look(e) !== window.before.get(e);
      if (!isMarked()) await new Promise((next) => setTimeout(next, 300)); // a transition may be under way
      const marked = isMarked();
      const inView = r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
      return marked && inView ? "" : `${marked ? "out of view" : "unmarked"}: ${e.outerHTML.slice(0, 120)}`;
    });
    if (unseen) wrong(`focus ${unseen}`);
    if (await page.evaluate(() => window.missed.size === 0)) break;
  }
  const missed = await page.evaluate(() => [...window.missed].filter((e) => !e.matches("input[type=radio]")).map((e) => e.outerHTML.slice(0, 120)));
  for (const control of missed) wrong(`never has the focus: ${control}`);
  const opener = page.locator("main button[data-ask]:visible").first();
  if (!(await opener.count())) return;
  await opener.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  await complaints(page, wrong, "dialog");
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press("Tab");
    if (!(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog[open]")))) wrong("the focus leaves the dialog");
  }
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog[open]", { state: "detached" });
  if (!(await opener.evaluate((e) => document.activeElement === e))) wrong("the focus does not come back from the dialog");
}

// complaints tells what axe finds wrong.
async function complaints(page, wrong, where = "") {
  const { violations } = await page.evaluate(async (source) => {
    if (!window.axe) (0, eval)(source);
    return window.axe.run({ resultTypes: ["violations"] });
  }, axe).catch(async () => {
    await page.evaluate(axe); // which the policy of the page lets only DevTools do
    return page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  });
  for (const v of violations) {
    count.axe++;
    wrong(`axe ${where} ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
  }
}

let looked = 0;
for (const state of job.states) {
  for (const [name, path] of Object.entries(state.pages)) {
    if (job.only.length && !job.only.some((only) => `${state.name}-${name}`.includes(only))) continue;
    for (const { width, keyboard, ...options } of looks) {
      if (state.failing && ![320, 1280].includes(width)) continue;
      const context = await browser.newContext({
        viewport: { width, height: width < 600 ? 740 : 900 }, reducedMotion: "no-preference", ...options,
        storageState: name === "login" ? undefined : { cookies: [], origins: [{ origin: state.url, localStorage: [{ name: "clank-key", value: state.key }] }] },
      });
      const page = await context.newPage();
      const wrong = (what) => { if (!/^axe|^shift|^console/.test(what)) count.other++; console.log(`${state.name} ${name} ${width} ${options.colorScheme}: ${what}`); };
      page.on("console", (m) => {
        if (state.failing && m.text().startsWith("Failed to load resource")) return;
        count.console++;
        wrong(`console: ${m.text()}`);
      });
      page.on("pageerror", (e) => { count.console++; wrong(`console: ${e}`); });
      await page.addInitScript(watchShifts);
      try {
        if (state.failing) await page.route("**/api/**", (route) => route.fulfill({ status: 500, contentType: "application/json", body: '{"error":"clank could not do that; its log says why"}' }));
        await page.goto(state.url + path);
        await settled(page);
        await page.screenshot({ path: `${job.out}/${state.name}-${name}-${width}-${options.colorScheme}.png` });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) wrong(`it is ${wide} wide`);
        for (const shift of await page.evaluate(() => window.shifts)) { count.shift++; wrong(`shift ${shift}`); }
        await complaints(page, wrong);
        if (keyboard) await withKeys(page, wrong);
      } catch (error) {
        wrong(`${error.message.split("\n")[0]}`);
      }
      looked++;
      await context.close();
    }
  }
}
const pages = new Set(job.states.flatMap((s) => Object.keys(s.pages))).size;
console.log(`pages: pages=${pages} states=${job.states.length} looks=${looked} other=${count.other} axe=${count.axe} shift=${count.shift} console=${count.console}`);
await browser.close();
process.exit(0);
