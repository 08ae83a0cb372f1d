import { createClient, type ApiClient } from '@stemma/api';
import { serveGateway, type Gateway } from '@stemma/gateway';
import { openHome, type Home } from '@stemma/home';
import { NO_CHROMIUM } from '@stemma/test-kit';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findChromium, openBrowser, watch } from './browser.ts';
import { COMMIT, insert, recorderOf, recordHistories, type Recorder } from './record-histories.ts';
import { builtPage } from './stage.ts';

const executable = findChromium();

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ARTIFACTS = join(ROOT, 'artifacts');

let directory: string;
let dist: string;
let home: Home;
let gateway: Gateway;
let client: ApiClient;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let page: Page;
let faults: readonly string[];
let recorder: Recorder;

/** Waits for a value, as long as a busy machine may need. */
const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 120_000, interval: 30 });

const record: Recorder = (history, ...steps) => recorder(history, ...steps);

beforeAll(async () => {
  if (executable === undefined) return;
  directory = await mkdtemp(join(tmpdir(), 'stemma-page-'));
  await mkdir(ARTIFACTS, { recursive: true });
  dist = await builtPage(join(directory, 'dist'));
  home = await openHome({ directory: join(directory, 'home'), create: true });
  gateway = await serveGateway({ home, port: 0, page: dist });
  client = createClient((url, options) => fetch(url, options), gateway.url);
  recorder = recorderOf(client);
  await recordHistories(client, recorder);
  browser = await openBrowser(executable);
});

afterAll(async () => {
  if (executable === undefined) return;
  await browser.close();
  await gateway.close();
  await home.close();
  await rm(directory, { recursive: true, force: true });
});

const open = async (
  address = '',
  size = { width: 1280, height: 800 },
  colorScheme: 'light' | 'dark' = 'light',
): Promise<void> => {
  page = await browser.context.newPage();
  faults = watch(page, gateway.url);
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme });
  await page.goto(`${gateway.url}/${address}`);
};
/** With the table of cycles beside the view. */
const CYCLES = '&side=cycles';
const screenshot = (name: string) => page.screenshot({ path: join(ARTIFACTS, `${name}.png`) });
const chosenCycle = () => page.getByRole('option', { selected: true }).locator('.cycle-number').innerText();
const newInThread = () => page.locator('.message.is-new .message-id').allInnerTexts();

describe('the page in a browser', () => {
  beforeEach(({ skip }) => {
    if (executable === undefined) skip(NO_CHROMIUM);
  });
  afterEach(async () => {
    if (executable === undefined) return;
    for (const one of browser.context.pages().slice(1)) await one.close();
  });

  test('the page opens with the history that changed last, at its newest cycle, and sends requests only to its own server', async () => {
    await open('?side=cycles');
    await expect
      .poll(() => page.locator('.history-name').allInnerTexts())
      .toEqual(['support', 'hostile', 'long']);
    await soon(chosenCycle).toBe('4');
    await soon(newInThread).toEqual(['yes', 'please']);
    expect(
      await page
        .getByRole('treeitem')
        .filter({ hasText: 'Yes, until tomorrow.' })
        .locator('.badge.new')
        .count(),
    ).toBe(1);
    await soon(() => page.getByRole('status').innerText()).toBe('live');
    expect(await page.locator('.history-preview').first().innerText()).toBe('Where is my order 1042?');
    for (const [role, name] of [
      ['navigation', 'Histories'],
      ['region', 'Cycles'],
      ['main', 'Context at the chosen cycle'],
      ['tree', 'Context tree at @c4'],
    ] as const)
      expect(await page.getByRole(role, { name, exact: true }).count()).toBe(1);
    await screenshot('light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await screenshot('dark');
    expect(faults).toEqual([]);
  });

  test('the keyboard moves through cycles, the page shows what is new, aged or left, and the address follows', async () => {
    await open(`?h=support${CYCLES}`);
    await soon(chosenCycle).toBe('4');
    await page.keyboard.press('j');
    await soon(chosenCycle).toBe('3');
    expect(new URL(page.url()).searchParams.get('at')).toBe('@c3');
    await soon(newInThread).toEqual(['answer', 'more']);
    expect(await page.locator('.message', { hasText: 'on its way' }).locator('.badge.ttl').innerText()).toBe(
      'ttl 0 ↓',
    );
    await page.keyboard.press('k');
    await expect
      .poll(() => page.getByRole('region', { name: 'Removed nodes' }).innerText())
      .toMatch(/1 removed since @c3[\s\S]*on its way[\s\S]*expired/);
    await page.keyboard.press('ArrowUp');
    await soon(chosenCycle).toBe('open');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press(']');
    await soon(() => new URL(page.url()).searchParams.get('h')).not.toBe('support');
    await page.keyboard.press('?');
    await soon(() => page.getByRole('dialog').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await soon(() => page.getByRole('dialog').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a selected node is shown with all its headers and its content, also when it is selected in the tree by keyboard', async () => {
    await open('?h=support&at=@c2');
    await page.getByRole('treeitem').filter({ hasText: 'on its way' }).click();
    const detail = page.getByRole('complementary', { name: 'Selected node' });
    await soon(() => detail.innerText()).toContain('created_at_ns');
    for (const word of ['content_hash', 'ttl', 'creation_index', 'in cycle 4', '"eta":"Friday"'])
      expect(await detail.innerText()).toContain(word);
    expect(new URL(page.url()).searchParams.get('node')).toBe('found');
    await screenshot('detail');
    await page.keyboard.press('Escape');
    await soon(() => detail.count()).toBe(0);
    await page.getByRole('treeitem').first().focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await soon(() => new URL(page.url()).searchParams.get('node')).toBe('policy');
    expect(faults).toEqual([]);
  });

  test('the page shows the same bytes and message list as the server gives', async () => {
    await open('?h=support&at=@c2&view=bytes');
    const pane = page.getByRole('region', { name: 'Provider thread, content' });
    const bytes = await client.thread({ history: 'support', at: '@c2' });
    await soon(() => pane.locator('pre').innerText()).toBe(bytes);
    await page.keyboard.press('v');
    await expect
      .poll(async () => JSON.parse(await pane.locator('pre').innerText()) as unknown)
      .toEqual(JSON.parse(await client.thread({ history: 'support', at: '@c2', provider: 'openai' })));
    expect(faults).toEqual([]);
  });

  test('new events appear without a reload, and a page that shows an old cycle stays there', async () => {
    await client.start({ body: { id: 'start-live', recorder: 'test', name: 'live' } });
    await record('live', insert('one', 'user', 'first words'), COMMIT);
    await open(`?h=live${CYCLES}`);
    await soon(chosenCycle).toBe('1');
    await soon(() => page.getByRole('status').innerText()).toBe('live');
    await record('live', insert('two', 'assistant', 'second words'), COMMIT);
    await soon(chosenCycle).toBe('2');
    await soon(newInThread).toEqual(['two']);
    await page.keyboard.press('j');
    await soon(chosenCycle).toBe('1');
    await record('live', insert('three', 'user', 'third words'), COMMIT);
    await soon(() => page.locator('.cycle-number').allInnerTexts()).toEqual(['open', '3', '2', '1']);
    expect(await chosenCycle()).toBe('1');
    await page.keyboard.press('o');
    await record('live', insert('four', 'user', 'not committed'));
    await soon(newInThread).toEqual(['four']);
    await client.start({ body: { id: 'start-other', recorder: 'test', name: 'other' } });
    await soon(() => page.locator('.history-name').first().innerText()).toBe('other');
    expect(faults).toEqual([]);
  });

  test('hostile contents are text: nothing of them runs, hides or breaks the page', async () => {
    await open('?h=hostile&at=@c1');
    await soon(() => page.locator('.message').count()).toBe(3);
    expect(await page.locator('.message script, .message img, .message b, .tree img').count()).toBe(0);
    expect(await page.locator('.message').first().innerText()).toContain('<script>alert(2)</script>');
    expect(await page.locator('.message').first().locator('.hidden-character').allInnerTexts()).toEqual([
      '202E',
      '202C',
      '0000',
      '001B',
    ]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await screenshot('hostile');
    expect(faults).toEqual([]);
  });

  test(
    'of a long history only the part in view is in the document, and every cycle can be reached',
    { tags: ['long'] },
    async () => {
      await open(`?h=long${CYCLES}`);
      await soon(chosenCycle).toBe('400');
      expect(await page.locator('.cycle').count()).toBeLessThan(60);
      await page.getByRole('listbox').evaluate((list) => (list.scrollTop = list.scrollHeight));
      await soon(() => page.locator('.cycle-number', { hasText: /^1$/ }).count()).toBe(1);
      expect(await page.locator('.cycle').count()).toBeLessThan(60);
      await page.locator('.cycle-number', { hasText: /^1$/ }).click();
      await soon(newInThread).toEqual([]);
      await open(`?h=long&at=@c200${CYCLES}`);
      await soon(chosenCycle).toBe('200');
      await soon(newInThread).toEqual(['q200']);
      expect(await page.locator('.gap').count()).toBe(2);
      await page.locator('.tree .gap button').click();
      await soon(() => page.locator('.gap').count()).toBe(0);
      expect(faults).toEqual([]);
    },
  );

  test('the page fits a narrow window, where the tree replaces the thread', async () => {
    await open('?h=support&at=@c3', { width: 600, height: 800 });
    await soon(newInThread).toEqual(['answer', 'more']);
    expect(await page.getByRole('tree').isVisible()).toBe(false);
    await screenshot('narrow');
    await page.getByRole('button', { name: 'Tree', exact: true }).click();
    await soon(() => page.getByRole('tree').isVisible()).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(600);
    await screenshot('narrow-tree');
    expect(faults).toEqual([]);
  });

  test('in a window of 1,200 pixels the marks of a tree row stay whole, however many it has', async () => {
    await client.start({ body: { id: 'start-marks', recorder: 'test', name: 'marks' } });
    const aging = { kind: 'retrieved-document', ttl: 5 };
    await record('marks', insert('found', 'system', 'words '.repeat(40), aging), COMMIT);
    const changes = { content: 'other words '.repeat(40), data_source: 'a search' };
    await record('marks', { op: 'replace', id: 'found', set: changes }, COMMIT);
    await open('?h=marks&at=@c2', { width: 1200, height: 800 });
    const row = page.locator('.tree [data-node="found"]');
    await soon(() => row.locator('.node-marks .badge').count()).toBeGreaterThan(1);
    const cut = await row.evaluate((node) => {
      const edge = node.getBoundingClientRect().right;
      return [...node.querySelectorAll('.node-marks, .node-marks .badge')]
        .filter((mark) => mark.getBoundingClientRect().right > edge || mark.scrollWidth > mark.clientWidth)
        .map((mark) => mark.textContent);
    });
    expect(cut).toEqual([]);
    const tree = page.getByRole('tree');
    expect(await tree.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    expect(faults).toEqual([]);
  });

  test('the page shows the code of what does not exist', async () => {
    await open('?h=support&at=@c99');
    await soon(() => page.getByRole('alert').first().innerText()).toContain('E_SNAPSHOT_NOT_FOUND');
    await page.goto(`${gateway.url}/?h=nobody`);
    await soon(() => page.getByRole('alert').first().innerText()).toContain('E_HISTORY_NOT_FOUND');
  });

  test(
    'a page that loses its server says so, and continues when the server is back',
    { tags: ['long'] },
    async () => {
      const again = await serveGateway({ home, port: 0, page: dist });
      await open();
      await page.goto(`${again.url}/?h=support${CYCLES}`);
      await soon(() => page.getByRole('status').innerText()).toBe('live');
      await again.close();
      await soon(() => page.getByRole('status').innerText()).toBe('offline');
      await record('support', insert('late', 'user', 'while you were away'), COMMIT);
      const back = await serveGateway({ home, port: again.port, page: dist });
      await soon(chosenCycle).toBe('5');
      expect(await page.getByRole('status').innerText()).toBe('live');
      await back.close();
    },
  );
});
