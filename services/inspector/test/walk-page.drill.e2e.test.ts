import type { ApiClient } from '@stemma/api';
import { programFile, sendAnswer, startModels } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SHOWS } from '../src/page/address.ts';
import { seriousFaults } from './axe.ts';
import { useStage } from './stage.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TRANSCRIPTS = process.env['STEMMA_TRANSCRIPTS'] ?? join(ROOT, '../shared/data/tau-airline');
const files = existsSync(TRANSCRIPTS)
  ? readdirSync(TRANSCRIPTS)
      .filter((name) => name.endsWith('.json'))
      .toSorted((a, b) => (a < b ? -1 : 1))
      .slice(0, 1)
  : [];

const stage = useStage();

/** Runs the command line on the home of the stage. */
const stemma = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> => {
  const child = spawn(process.execPath, [programFile('stemma'), ...args], {
    env: { ...process.env, STEMMA_HOME: stage.home.directory, STEMMA_ACTOR: 'ann', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, said).toBe(0);
};

const VIEWS = [
  ...['', '&at=open', '&view=bytes', '&view=openai', '&texts=rendered'],
  ...['&side=branches', '&side=interventions'],
  ...SHOWS.map((show) => `&show=${show}`),
  ...['nodes', 'time', 'bytes'].map((part) => `&show=compare&a=@c1&b=@c2&part=${part}`),
];

/** What is wrong with any view of a history: what axe finds serious, and what the page or the browser complains about. */
const faultsOf = async (history: string, width: number, dark = false): Promise<readonly string[]> => {
  const { page, faults, screenshot } = await stage.open({
    ...{ address: `?h=${history}`, width, height: 900, colorScheme: dark ? 'dark' : 'light' },
  });
  const found: string[] = [];
  for (const view of VIEWS) {
    await page.goto(`${stage.url}/?h=${history}${view}`);
    await page.locator('.views, .runs-bar').first().waitFor();
    await page.locator('.pending, [aria-busy="true"]').first().waitFor({ state: 'detached' });
    found.push(...(await seriousFaults(page)).map((one) => `${view}: ${one}`));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) found.push(`${view}: it is ${wide} pixels wider than the window`);
    await screenshot(`walk-${history}-${width}${view.replace(/[^a-z0-9]+/g, '-')}`);
  }
  // A history that is no pool is asked whether it is one, and says no with a status.
  return [...found, ...faults.filter((one) => !/status of 40\d|GPU stall/.test(one))];
};

const callsOf = (messages: readonly { role: string }[]) =>
  messages.flatMap(({ role }, i) => (role === 'assistant' ? [messages.slice(0, i)] : []));

const record = async (client: ApiClient, name: string, messages: readonly { role: string }[]) => {
  await client.start({ body: { id: `start-${name}`, recorder: 'test', name } });
  for (const [n, shown] of callsOf(messages).entries())
    await client.recordCall({
      history: name,
      body: { id: `${name}-${n}`, recorder: 'test', messages: [...shown] },
    });
};

test('axe finds nothing serious in any view of the samples, light and dark, wide and narrow, and nothing complains', async () => {
  await stemma(['import', join(ROOT, 'samples/slow-checkout.steps.jsonl'), '--history', 'sample']);
  expect(await faultsOf('sample', 1440)).toEqual([]);
  expect(await faultsOf('sample', 390, true)).toEqual([]);
});

test('nor in any view of an imported transcript', async ({ skip }) => {
  const [file] = files;
  if (file === undefined) skip('no recorded transcripts lie beside the checkout (STEMMA_TRANSCRIPTS)');
  const messages = JSON.parse(readFileSync(join(TRANSCRIPTS, file ?? ''), 'utf8')) as { role: string }[];
  await record(stage.client, 'transcript', messages);
  expect(await faultsOf('transcript', 1440, true)).toEqual([]);
});

/** Asks twice, the second time with the first answer. */
const AGENT = `
  const messages = [];
  for (const content of ['Where is order 7?', 'Refund it.']) {
    messages.push({ role: 'user', content });
    const body = JSON.stringify({ model: 'gpt-4o', messages });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer none' };
    const url = process.env.OPENAI_BASE_URL + '/chat/completions';
    const { choices } = await (await fetch(url, { method: 'POST', headers, body })).json();
    messages.push(choices[0].message);
  }
`;

test('nor in any view of a run that is recorded while the page is open, whose calls it shows as they come', async () => {
  const models = await startModels((call, n, outgoing) =>
    sendAnswer(call, outgoing, { text: n === 1 ? 'It is on its **way**.' : 'Refunded.' }),
  );
  try {
    const { page } = await stage.open({ address: '' });
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    await stemma(
      ['record', '--history', 'live', '--', process.execPath, '--input-type=module', '-e', AGENT],
      {
        OPENAI_BASE_URL: `${models.url}/v1`,
      },
    );
    await page.getByRole('link', { name: 'live', exact: true }).click();
    await page.getByText('Refund it.').first().waitFor();
    const strip = page.getByRole('slider', { name: 'Filmstrip' });
    await expect.poll(() => strip.getAttribute('aria-valuemax')).toBe('2');
    expect(await faultsOf('live', 1440)).toEqual([]);
  } finally {
    await models.close();
  }
});
