import { fail } from '@stemma/errors';
import { findChromium, NO_CHROMIUM } from '@stemma/test-kit';
import { chromium, type Page } from 'playwright-core';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openProcesses } from '../gateway/processes.ts';
import { median } from '../measure.ts';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { NAME, recordLarge, type PageSizes } from './record.ts';

const LARGE: PageSizes = { calls: 10_000, nodes: 100_000, branches: 2_000 };
const SMALL: PageSizes = { calls: 200, nodes: 2_000, branches: 50 };
/** So many steps of each scroll, a frame each. */
const STEPS = 60;
/** Milliseconds. */
const MOST_FIRST_VIEW = 1_000;
const MOST_FRAME = 100;

/** Milliseconds: between two frames at the most, and what the processor worked at the longest task of the page. */
type Frames = { readonly frame: number; readonly task: number };
type Act = (page: Page) => Promise<void>;

/** What runs in the page, as text: this package is compiled without the names of browsers. */
const IN_PAGE = `
  globalThis.bench = {
    frame: 0,
    begin() {
      let last;
      const next = (now) => {
        if (last !== undefined) this.frame = Math.max(this.frame, now - last);
        last = now;
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    },
    find(within) {
      this.boxes = [...document.querySelectorAll(within + ', ' + within + ' *')].filter(
        ({ scrollHeight, clientHeight }) => clientHeight > 80 && scrollHeight > clientHeight + 40,
      );
    },
    drawn: () => new Promise((done) => requestAnimationFrame(done)),
    async across(steps) {
      for (const box of this.boxes)
        for (let n = 0; n < steps; n++) {
          box.scrollLeft = ((box.scrollWidth - box.clientWidth) * n) / (steps - 1);
          await this.drawn();
        }
    },
    async scroll(steps) {
      for (const box of this.boxes) {
        // A wheel goes slowly, a thumb that is dragged jumps.
        for (const step of [120, box.scrollHeight / steps])
          for (let n = 0; n < steps; n++) {
            box.scrollTop += step;
            await this.drawn();
          }
        box.scrollTop = box.scrollHeight / 2;
        await this.drawn();
      }
    },
  };
`;

/** Scrolls every list and pane that a part of the page has, a step each frame, to its end and back to its middle. */
const scroll: Act = (page) => page.evaluate(`bench.scroll(${STEPS})`);

/** Drags along the chart of the calls, then goes on call by call with keys. */
const scrub: Act = async (page) => {
  const chart = page.locator('.time-chart [role="slider"]').first();
  const box = await chart.boundingBox();
  if (box === null) throw fail('E_INTERNAL', 'the chart of the calls has no place on the page');
  await page.mouse.move(box.x + 10, box.y + box.height / 2);
  await page.mouse.down();
  for (let n = 1; n <= STEPS; n++)
    await page.mouse.move(box.x + (box.width * n) / (STEPS + 1), box.y + box.height / 2);
  await page.mouse.up();
  for (let n = 0; n < STEPS; n++) await page.keyboard.press('ArrowLeft');
  await page.waitForTimeout(400);
};

/** Enlarges what has the keys, step by step, goes from its one end across to the other, and makes it smaller again. */
const enlarge: Act = async (page) => {
  await page.locator('[role="list"][aria-label="Branches"]').focus();
  for (const key of ['+', '-']) {
    for (let n = 0; n < 9; n++) {
      await page.keyboard.press(key);
      await page.evaluate('bench.drawn()');
    }
    await page.evaluate(`bench.across(${STEPS})`);
  }
};

const steps: Act = async (page) => {
  for (let n = 0; n < 20; n++) await page.keyboard.press('j');
  await page.waitForTimeout(400);
};

type View = readonly [what: string, address: string, ready: string, act: Act, part?: string];
const viewsOf = ({ calls }: PageSizes): readonly View[] => [
  ['context: cycles, tree and thread scroll', '', '.thread-panel .message', scroll, '.app'],
  ['context: twenty cycles back by keys', '', '.thread-panel .message', steps],
  ['time: scrub', '&show=time', '.time-chart [role="slider"]', scrub],
  ['time: changes and calls scroll', '&show=time', '.time-chart [role="slider"]', scroll, '.main'],
  ['branches: the drawing scrolls', '&show=branches', '.branch', scroll, '.main'],
  ['branches: the drawing is enlarged and goes across', '&show=branches', '.branch', enlarge, '.main'],
  ['branches beside the context', '&side=branches', '.branch', scroll, '.side'],
  ['interventions', '&side=interventions', '.side .scroll button', scroll, '.side'],
  ['calls', '&show=calls', '[role="option"]', scroll, '.main'],
  ['events', '&show=events', '.event-open', scroll, '.main'],
  ['comparison: nodes', `&show=compare&a=@c${calls / 2}&b=@c${0.9 * calls}`, '.main .panel', scroll, '.main'],
];

/** Nothing more comes from the server. */
const settled = (page: Page): Promise<void> =>
  page.locator('.pending, [aria-busy="true"]').first().waitFor({ state: 'detached', timeout: 120_000 });

/** An event of Chromium's trace: of a task of a thread, with the time of the processor in microseconds. */
type Traced = {
  readonly name: string;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
};

/** What the processor worked at the longest task of the thread that runs a page and lays it out, in milliseconds. */
const longestTask = (events: readonly Traced[]): number => {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ tid }) => tid),
  );
  const tasks = events.filter(({ name, tid }) => name.endsWith('RunTask') && mains.has(tid));
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
};

/** The longest frame while something is done to a view that has come to rest. */
const framesOf = async (page: Page, act: Act, part: string): Promise<Frames> => {
  await page.evaluate(IN_PAGE);
  await page.evaluate(`bench.find('${part}')`);
  await page.waitForTimeout(300);
  const devtools = await page.context().newCDPSession(page);
  const events: Traced[] = [];
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as Traced[])));
  const traced = new Promise((done) => devtools.once('Tracing.tracingComplete', done));
  await devtools.send('Tracing.start', {
    traceConfig: { includedCategories: ['toplevel', 'disabled-by-default-devtools.timeline'] },
  });
  await page.evaluate('bench.begin()');
  await act(page);
  await page.waitForTimeout(100);
  const frame = await page.evaluate<number>('bench.frame');
  await devtools.send('Tracing.end');
  await traced;
  await devtools.detach();
  return { frame, task: longestTask(events) };
};

/**
 * The page on a history of 10,000 calls, 100,000 nodes and 2,000 branches: when it shows what the model was shown, and the
 * longest frame while somebody scrolls and scrubs.
 */
export const page = async ({ directory, quick, rounds, only }: BenchmarkOptions): Promise<Report> => {
  const executablePath = findChromium();
  if (executablePath === undefined) throw fail('E_USAGE', NO_CHROMIUM);
  const sizes = quick ? SMALL : LARGE;
  mkdirSync(directory, { recursive: true });
  const home = join(directory, 'home');
  await recordLarge(home, sizes);
  const processes = openProcesses();
  const url = await processes.start(
    'gateway',
    [],
    { STEMMA_HOME: home, STEMMA_PORT: '0' },
    /Stemma is at (\S+)/,
  );
  const browser = await chromium.launchPersistentContext(join(directory, 'browser'), {
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
    ],
    viewport: { width: 1440, height: 900 },
  });
  const first: number[] = [];
  const seen = new Map<string, Frames[]>();
  try {
    const open = async (address: string, ready: string): Promise<Page> => {
      const opened = await browser.newPage();
      await opened.goto(`${url}/?h=${NAME}${address}`);
      await opened.locator(ready).first().waitFor({ timeout: 180_000 });
      return opened;
    };
    // Warm: the server has answered once.
    for (let round = -1; round < rounds; round++) {
      const began = performance.now();
      const opened = await open('', '.thread-panel .message');
      if (round >= 0) first.push(performance.now() - began);
      await opened.close();
    }
    for (const [what, address, ready, act, part = '.main'] of viewsOf(sizes)) {
      if (only !== undefined && !what.startsWith(only)) continue;
      for (let round = 0; round < rounds; round++) {
        const opened = await open(address, ready);
        await settled(opened);
        seen.set(what, [...(seen.get(what) ?? []), await framesOf(opened, act, part)]);
        await opened.close();
      }
    }
  } finally {
    await browser.close();
    await processes.end();
  }
  const rows = [...seen].map(([what, frames]) => ({
    what,
    frame: median(frames.map((each) => each.frame)),
    worst: Math.max(...frames.map((each) => each.frame)),
    task: median(frames.map((each) => each.task)),
  }));
  const firstView = median(first);
  const aims: readonly Aim[] = [
    {
      what: 'first view from a warm server',
      aim: `≤ ${figure(MOST_FIRST_VIEW)} ms`,
      measured: `${figure(firstView)} ms`,
      met: firstView <= MOST_FIRST_VIEW,
    },
    ...rows.map(({ what, frame, task }) => ({
      what: `longest frame, ${what}`,
      aim: `≤ ${MOST_FRAME} ms`,
      measured: `${figure(frame)} ms; ${figure(task)} ms of the processor`,
      met: frame <= MOST_FRAME,
    })),
  ];
  return {
    name: 'page',
    tables: [
      {
        title: `Page: ${figure(sizes.calls)} calls, ${figure(sizes.nodes)} nodes, ${figure(sizes.branches)} branches`,
        columns: ['ms', 'longest frame', 'in the worst round', 'longest task, CPU'],
        rows: rows.map(({ what, frame, worst, task }) => [what, figure(frame), figure(worst), figure(task)]),
        notes: [
          'Chromium without a graphics card, 1440 × 900. Between two frames is all that the page, its painting and other processes of the machine do; the longest task is what the processor worked at one thing for the page.',
          `The first view, a page opened anew until the messages stand there: ${figure(firstView)} ms.`,
        ],
      },
    ],
    aims: quick ? [] : aims,
    figures: { first, seen: Object.fromEntries(seen) },
  };
};
