import { findChromium, NO_CHROMIUM, programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, watch } from './browser.ts';
import { HIT, HOSTILE_TEXTS } from './hostile-texts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ARTIFACTS = join(ROOT, 'artifacts');
const SAMPLE = join(ROOT, '../../samples/slow-checkout.steps.jsonl');
const chromium = findChromium();

let folder: string;
const stemma = async (...args: string[]): Promise<string> => {
  const env = { ...process.env, STEMMA_HOME: join(folder, 'home'), STEMMA_ACTOR: 'ada' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [programFile('stemma'), ...args], {
    env,
  });
  return stdout + stderr;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stemma-run-file-'));
  await mkdir(ARTIFACTS, { recursive: true });
  // `npm test` has built it.
  if (process.env['STEMMA_TEST_BUILT'] !== '1')
    await build({ root: ROOT, configFile: join(ROOT, 'vite.run-file.config.ts'), logLevel: 'error' });
  await stemma('import', SAMPLE, '--history', 'slow');
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const openFile = async (file: string) => {
  const browser = await openBrowser(chromium ?? '');
  const page = await browser.context.newPage();
  const faults = watch(page, 'file://');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`file://${file}`);
  await page.waitForSelector('.shown-row');
  return { page, faults, asked, close: () => browser.close() };
};

test('a page of calls shows filmstrip and cards, and asks for nothing', async ({ skip }) => {
  if (chromium === undefined) skip(NO_CHROMIUM);
  const file = join(folder, 'run.html');
  expect(await stemma('export', 'slow', '@c3..@c9', '-o', file)).toContain('calls 3 to 9');
  const { page, faults, asked, close } = await openFile(file);
  try {
    expect(await page.textContent('.run-head')).toContain('calls 3 to 9 · nothing redacted: no rules');
    expect(await page.textContent('.card-head h2')).toBe('Call 9');
    expect(await page.textContent('.shown-group.is-left h4')).toBe('4 left');
    await page.click('.shown-group.is-left .shown-row');
    await page.waitForSelector('.opened-why b');
    expect(await page.textContent('.opened-why b')).toBe('Rule max_blocks removed it before @c9.');
    await page.screenshot({ path: join(ARTIFACTS, 'run-file.png') });
    for (let step = 0; step < 8; step++) await page.click('button[aria-label="The older call"]');
    await page.waitForFunction(() => document.querySelector('.card-head h2')?.textContent === 'Call 3');
    await page.waitForSelector('.shown-group');
    expect(await page.textContent('.shown-group.is-left h4')).toBe('1 left');
    expect(await page.locator('.failure').count()).toBe(0);
    expect([faults, asked]).toEqual([[], [`file://${file}`]]);
  } finally {
    await close();
  }
}, 120_000);

test('hostile texts are inert on it', async ({ skip }) => {
  if (chromium === undefined) skip(NO_CHROMIUM);
  const texts = HOSTILE_TEXTS.filter((text) => text.isWellFormed());
  const steps = [
    { op: 'start', steps: 1 },
    ...texts.map((content, i) => ({
      ...{ op: 'insert', id: `n${i}`, role: 'user', content },
      // Some of them leave before the next call.
      ...(i < 40 && { ttl: 0 }),
    })),
    { op: 'commit' },
    { op: 'insert', id: 'last', role: 'user', content: 'And?' },
    { op: 'commit' },
  ];
  const input = join(folder, 'hostile.jsonl');
  await writeFile(input, steps.map((step) => `${JSON.stringify(step)}\n`).join(''));
  await stemma('import', input, '--history', 'hostile', '--format', 'steps');
  const file = join(folder, 'hostile.html');
  await stemma('export', 'hostile', '-o', file);
  const { page, faults, asked, close } = await openFile(file);
  try {
    for (const row of (await page.$$('.shown-row')).slice(0, 60)) await row.click();
    expect(await page.evaluate((hit) => hit in globalThis, HIT)).toBe(false);
    expect(await page.locator('#app script, #app img, #app iframe').count()).toBe(0);
    expect([faults, asked]).toEqual([[], [`file://${file}`]]);
  } finally {
    await close();
  }
}, 120_000);

test('rules of redaction are applied, and the page and the command say so', async () => {
  const rules = join(folder, 'rules.json');
  await writeFile(rules, JSON.stringify({ patterns: [{ name: 'service', pattern: 'tax-rates' }] }));
  const file = join(folder, 'redacted.html');
  expect(await stemma('export', 'slow', '@c7', '-o', file, '--redact', rules)).toMatch(
    /redacted by rules: \d+ texts/,
  );
  const text = await readFile(file, 'utf8');
  expect(text).not.toContain('tax-rates');
  expect(text).toContain('[redacted:service]');
}, 60_000);

test.each(['@c9..@c3', '@c3..@c99'])('%s is no range of calls', async (range) => {
  await expect(stemma('export', 'slow', range, '-o', join(folder, 'none.html'))).rejects.toThrow(
    /E_USAGE|E_SNAPSHOT_NOT_FOUND/,
  );
});
