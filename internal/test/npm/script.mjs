// Works a Chromium over CDP with playwright-core, as told by lines of JSON on stdin: {id, op, …}. Answers {id, out} or
// {id, error}. What is repeated n times answers with the milliseconds of each round: those of the awaited call alone, without what
// comes before it.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

const { chromium } = createRequire(process.argv[1] + '/')('playwright-core');
const browser = await chromium.connectOverCDP(process.argv[2]);
const context = browser.contexts()[0];
const page = await context.newPage();

async function rounds(n, act, before) {
  const ms = [];
  await page.bringToFront();
  for (let i = 0; i < n; i++) {
    await before?.(i);
    const begin = performance.now();
    await act(i);
    ms.push(performance.now() - begin);
  }
  return ms;
}

const snapshot = (of = page) => of.ariaSnapshot({ mode: 'ai', timeout: 120_000 });

async function refOf(role, name, of = page) {
  const text = await snapshot(of);
  const line = text.split('\n').find(l => l.includes(`- ${role} "${name}"`));
  return /\[ref=(\w+)\]/.exec(line)[1];
}

const at = (ref, of = page) => of.locator('aria-ref=' + ref);

const ops = {
  goto: async ({ url }) => { await page.goto(url); return []; },
  click: async ({ n }) => {
    const ref = await refOf('button', 'Save');
    return rounds(n, () => at(ref).click());
  },
  type: async ({ n }) => {
    const ref = await refOf('textbox', 'Name');
    return rounds(n, i => at(ref).fill('Ada ' + i));
  },
  press: async ({ n }) => {
    const ref = await refOf('textbox', 'Name');
    await at(ref).focus();
    return rounds(n, () => page.keyboard.press('a'));
  },
  // pressAwaited also waits until the messages and timers that the keys set off have run.
  pressAwaited: async ({ n }) => {
    const ref = await refOf('textbox', 'Name');
    await at(ref).focus();
    return rounds(n, async () => {
      await page.keyboard.press('a');
      await page.evaluate(() => new Promise(done => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => setTimeout(done);
        port2.postMessage(0);
      }));
    });
  },
  hover: async ({ n }) => {
    const ref = await refOf('button', 'Save');
    return rounds(n, () => at(ref).hover());
  },
  select: async ({ n }) => {
    const ref = await refOf('combobox', 'Country');
    return rounds(n, i => at(ref).selectOption(i % 2 ? 'Norway' : 'Peru'));
  },
  evaluate: async ({ n }) => rounds(n, () => page.evaluate('1 + 1')),
  tabs: async ({ n }) => rounds(n, async () => {
    for (const p of context.pages()) { p.url(); await p.title(); }
  }),
  navigate: async ({ n, url }) => rounds(n, i => page.goto(url + '?' + i)),
  screenshot: async ({ n }) => rounds(n, () => page.screenshot({ scale: 'device' })),
  snapshot: async ({ n }) => rounds(n, () => snapshot()),
  first: async ({ n, url }) => rounds(n, () => snapshot(), i => page.goto(url + '?' + i)),
  text: () => snapshot(),
  loop: async ({ n, url }) => rounds(n, async i => {
    await page.goto(url + '?' + i);
    await at(await refOf('textbox', 'Name')).fill('Ada');
    await at(await refOf('button', 'Save')).click();
    await snapshot();
  }),
  // loops has n tabs do the loop side by side for so many milliseconds, and answers how often they did it.
  loops: async ({ n, url, ms }) => {
    const tabs = await Promise.all(Array.from({ length: n }, () => context.newPage()));
    const until = performance.now() + ms;
    let done = 0;
    await Promise.all(tabs.map(async (tab, k) => {
      for (let i = 0; ; i++) {
        await tab.goto(`${url}?playwright-${k}-${i}`);
        const text = await snapshot(tab);
        const ref = line => at(/\[ref=(\w+)\]/.exec(text.slice(text.indexOf(line)))[1], tab);
        await ref('textbox "Name"').fill('Ada ' + i);
        await ref('button "Save"').click();
        if (!(await snapshot(tab)).includes('saved Ada ' + i)) throw new Error('the page does not say that it saved');
        if (performance.now() > until) return;
        done++;
      }
    }));
    await Promise.all(tabs.map(tab => tab.close()));
    return done;
  },
  tabsSeen: async () => context.pages().map(p => p.url()),
  // screencast shows a page at the port that it answers with: server-sent events, each a JPEG in base64.
  screencast: async ({ url }) => {
    const size = { width: 1280, height: 720 }, viewers = new Set();
    await page.setViewportSize(size);
    await page.goto(url);
    const server = createServer((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream', 'access-control-allow-origin': '*' });
      viewers.add(answer);
    }).unref();
    await page.screencast.start({ size, onFrame: ({ data }) => {
      for (const viewer of viewers) viewer.write(`data: ${data.toString('base64')}\n\n`);
    } });
    await new Promise(up => server.listen(0, '127.0.0.1', up));
    return server.address().port;
  },
  see: async ({ url, look }) => {
    const other = context.pages().find(p => p.url() === url);
    return other ? other.evaluate(look) : null;
  },
  work: async ({ url, name }) => {
    const other = context.pages().find(p => p.url() === url);
    await other.getByLabel('Name').fill(name);
    await other.getByRole('button', { name: 'Save' }).click();
    await other.context().addCookies([{ name: 'peer', value: name, url }]);
    return null;
  },
  snapshotOf: async ({ url }) => {
    const other = context.pages().find(p => p.url() === url);
    return other.ariaSnapshot({ mode: 'ai' });
  },
  // elements answers with what look says of each element to which the snapshot gives a ref, and of the role that it gives it;
  // of what went away meanwhile, nothing.
  elements: async ({ url, look }) => {
    const shown = p => p.waitForURL(url, { waitUntil: 'commit' }).then(() => p);
    const other = await Promise.any(context.pages().map(shown));
    const lines = (await other.ariaSnapshot({ mode: 'ai' })).matchAll(/^ *- '?(\w+).*?\[ref=(\w+)\]/gm);
    const fn = new Function('element', 'role', `return (${look})(element, role)`);
    const ask = async ([, role, ref]) => {
      const element = other.locator('aria-ref=' + ref);
      return await element.count() ? element.evaluate(fn, role) : '';
    };
    return Promise.all(Array.from(lines, ask));
  },
};

console.log(JSON.stringify({ id: 0, ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  try {
    console.log(JSON.stringify({ id: order.id, out: await ops[order.op](order) }));
  } catch (e) {
    console.log(JSON.stringify({ id: order.id, error: String(e) }));
  }
}
await browser.close();
