import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allCommands } from '../../src/catalogue.ts';
import { runStemma, temporaryFolder } from '../run-stemma.ts';
import { wordsOf } from './command-lines.ts';

const COMMANDS = await allCommands();

const ROOT = join(import.meta.dirname, '../../../..');

/** Examples that are not run here, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  record: 'the test of the README runs it, with an agent',
  rerun: 'the test of the README runs it, with an agent',
  quickstart: 'starts programs: quickstart.long.e2e.test.ts runs it',
  bundle: 'a run must be recorded: bundle.e2e.test.ts bundles one',
  calls: 'the test of the README runs it, on recorded calls',
  call: 'the test of the README runs it, on recorded calls',
  retry: 'the test of the README runs it, on recorded calls',
  resume: 'the test of the README runs it, on a held call',
  abort: 'a call must be held: record.long.e2e.test.ts aborts one',
  assign: 'a call must be recorded: assign-calls.int.test.ts assigns some',
  up: 'serves until it is stopped: other tests start it',
  open: 'opens a browser',
  watch: 'prints until it is stopped: watch.e2e.test.ts starts it',
  copy: 'copies to a broker: kafka.int.test.ts does it',
  mcp: 'serves until its input ends: mcp.e2e.test.ts starts it',
  projector: 'runs until it is stopped, on a broker and a database',
  relay: 'runs until it is stopped, on a broker: relay.drill.e2e.test.ts starts it',
  runner: 'runs until it is stopped',
  ack: 'a record must be damaged: damage.int.test.ts damages some',
  salvage: 'a history must be damaged: damage.int.test.ts damages some',
};

const arm = (name: string): readonly string[] => [
  `fork sea --name ${name} --notes ${name}`,
  `run sea:${name} --rounds 2`,
];

/** The examples in an order in which a reader can try them, each behind what has to be there for it. */
const ORDER: readonly (string | { readonly first: readonly string[]; readonly then: string })[] = [
  'start',
  'import',
  { first: ['import conversation.json --history mine'], then: 'histories' },
  ...[
    'snapshots',
    'filmstrip',
    'thread',
    'show',
    'log',
    'branches',
    'diff',
    'why',
    'select',
    'blame',
    'cache',
    'tools',
    'bisect',
  ],
  ...[
    'stages',
    'fork',
    'compare',
    'continue',
    'save',
    'list',
    'load',
    'name',
    'annotate',
    'label',
    'inject',
    'insert',
  ],
  {
    first: ["insert mine --id note --offset 1 --content 'Travel insurance: ask for a refund.'"],
    then: 'grep',
  },
  ...['move', 'remove', 'replace', 'edit', 'commit', 'config', 'configure', 'experiment', 'export', 'steer'],
  ...['break', 'breaks', 'unbreak', 'held', 'rollback', 'interventions', 'pool', 'run', 'runs', 'ask'],
  { first: ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4'].flatMap(arm), then: 'verdict' },
  { first: [...arm('probe'), 'run sea --rounds 2'], then: 'report' },
  ...['analyse', 'stats', 'doctor', 'verify', 'replay', 'checkpoint', 'backup', 'restore', 'completion'],
  { first: ['import conversation.json --history ada --erasable'], then: 'erase' },
];

/** What a person types on the terminal stands on the command line here. */
const CONFIRMED: Readonly<Record<string, string>> = { erase: ' --yes' };

const folder = temporaryFolder();
const home = join(folder.path, 'here/.stemma');
const back = process.cwd();
let model: Server;
let env: Record<string, string>;

beforeAll(async () => {
  model = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      const message = { role: 'assistant', content: 'It has come.' };
      const usage = { prompt_tokens: 19, completion_tokens: 3, total_tokens: 22 };
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(
        JSON.stringify({
          object: 'chat.completion',
          model: 'gpt-4o',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage,
        }),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  const base = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  env = { STEMMA_ACTOR: 'ada', OPENAI_API_KEY: 'none', OPENAI_BASE_URL: base, STEMMA_HOME: home };
  const here = join(folder.path, 'here');
  mkdirSync(join(here, 'runs'), { recursive: true });
  for (const [from, to] of [
    ['samples/harbour-tram.chat.json', 'conversation.json'],
    ['samples/harbour-tram.chat.json', 'runs/tram.json'],
    ['samples/seeds.txt', 'seeds.txt'],
    ['docs/analysis/before.jsonl', 'before.jsonl'],
    ['docs/analysis/after.jsonl', 'after.jsonl'],
  ] as const)
    copyFileSync(join(ROOT, from), join(here, to));
  process.chdir(here);
});
afterAll(() => {
  process.chdir(back);
  model.closeAllConnections();
  model.close();
  folder[Symbol.dispose]();
});

test('every example of the help does what it says, in a home that begins empty', async () => {
  const failed: string[] = [];
  const run = async (line: string): Promise<void> => {
    const { code, stdout, stderr } = await runStemma(wordsOf(line), { env });
    if (code !== 0) failed.push(`stemma ${line}: ${code}\n${stdout}${stderr}`);
  };
  for (const step of ORDER) {
    const { first, then } = typeof step === 'string' ? { first: [], then: step } : step;
    for (const line of first) await run(line);
    const example = COMMANDS.find(({ name }) => name === then)?.example ?? '';
    await run(`${example.replace(/^.*?stemma /, '')}${CONFIRMED[then] ?? ''}`);
  }
  expect(failed).toEqual([]);
});

test('every command has an example, and each is run or said why not', () => {
  const run = ORDER.map((step) => (typeof step === 'string' ? step : step.then));
  const all = [...run, ...Object.keys(NOT_RUN)].toSorted((a, b) => (a < b ? -1 : 1));
  expect(all).toEqual(COMMANDS.map(({ name }) => name).toSorted((a, b) => (a < b ? -1 : 1)));
});
