import { openHome } from '@stemma/home';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../src/run-cli.ts';
import { temporaryFolder } from './run-stemma.ts';

/*
 * What people see: each command on a terminal of 80 and of 200 columns, and without one. The files are looked at when they
 * change. The clock stands still, so that they are the same everywhere.
 */
const folder = temporaryFolder();
const directory = join(folder.path, 'home');
const sample = join(import.meta.dirname, '../../../samples/slow-checkout.steps.jsonl');
const seeds = join(import.meta.dirname, '../../../samples/seeds.txt');
const parcel = join(import.meta.dirname, '../../../docs/tutorial/parcel.json');

let home: Awaited<ReturnType<typeof openHome>> | undefined;

/** Each writing command comes a second after the one before. */
let seconds = 1_790_000_000n;

beforeAll(async () => {
  home = await openHome({ directory, create: true, clock: () => seconds++ * 1_000_000_000n });
  for (const args of WRITES) expect((await show(args, undefined)).code, args.join(' ')).toBe(0);
});
afterAll(async () => {
  await home?.close();
  folder[Symbol.dispose]();
});

const WRITES = [
  ['import', sample, '--history', 'slow-checkout'],
  ['import', parcel],
  ['save', 'slow-checkout', 'before-fix', '@c6', '--description', 'all facts are in'],
  ['fork', 'slow-checkout', '7', '--name', 'fix-first', '--notes', 'what if the fix comes first?'],
  [
    'inject',
    'slow-checkout:fix-first',
    'Roll back v412 before you ask on.',
    '--role',
    'system',
    '--notes',
    'try',
  ],
  ['commit', 'slow-checkout:fix-first', '--notes', 'look'],
  ['rollback', 'parcel', 'c2', '--notes', 'too soon'],
  ['pool', 'init', 'sea', '--messages', seeds, '--sample-size', '3', '--seed', '7', '--notes', 'a start'],
  ['run', 'sea', '--rounds', '5', '--notes', 'warm up'],
] as const;

const texts = (name: string): string => join(import.meta.dirname, `../../../docs/analysis/${name}.jsonl`);

const READS: readonly (readonly string[])[] = [
  ['help'],
  ['help', 'diff'],
  ['histories'],
  ['snapshots', 'slow-checkout'],
  ['calls', 'slow-checkout'],
  ['thread', 'parcel', 'c2', '--text'],
  ['thread', 'parcel', '2', '--bytes'],
  ['show', 'parcel', 'c2'],
  ['show', 'parcel', 'c2', 'm1'],
  ['log', 'parcel'],
  ['branches', 'slow-checkout'],
  ['branches', 'parcel'],
  ['list'],
  ['diff', 'slow-checkout', 'c6', 'c9'],
  ['diff', 'slow-checkout', 'c6', 'c7', '--explain'],
  ['compare', 'slow-checkout', 'main', 'fix-first'],
  ['why', 'slow-checkout', 'call-04'],
  ['select', 'slow-checkout', "@c9 .cb[role='tool']"],
  ['select', 'slow-checkout', "@c6..@c8 .cb[role='tool']"],
  ['blame', 'parcel', 'c2'],
  ['cache', 'slow-checkout'],
  ['bisect', 'slow-checkout', '--good', '6', '--bad', '18', '--when-not', '#call-04'],
  ['stages', 'parcel', 'c2'],
  ['interventions', 'slow-checkout'],
  ['interventions', 'show', '@s20', '--history', 'slow-checkout', '--impact'],
  ['analyse', 'cluster', texts('before')],
  ['analyse', 'compare', texts('before'), texts('after'), '--permutations', '199'],
  ['rollback', 'parcel', 'c2'],
  ['pool', 'sea'],
  ['pool', 'messages', 'sea'],
  ['pool', 'search', 'sea', 'the', 'sea'],
  ['thread', 'slow-chekout'],
  ['show', 'parcel', 'c99'],
  ['select', 'parcel', '.cb['],
  ['import', join(import.meta.dirname, '../package.json')],
  ['nonsense'],
];

const show = async (
  args: readonly string[],
  columns: number | undefined,
): Promise<{ readonly code: number; readonly text: string }> => {
  let text = '';
  const stream = (): Writable =>
    new Writable({
      write: (piece: Buffer, _encoding, done) => {
        text += piece.toString();
        done();
      },
    });
  const stdout = stream();
  if (columns !== undefined) Object.assign(stdout, { isTTY: true, columns });
  const code = await runCli([...args, ...(args[0] === 'help' ? [] : ['--home', directory])], {
    stdin: Readable.from([]),
    stdout,
    stderr: stream(),
    env: { STEMMA_ACTOR: 'ada', NO_COLOR: '1' },
    signal: new AbortController().signal,
    openHome: async () => ({ ...(home as NonNullable<typeof home>), close: async () => undefined }),
  });
  return { code, text };
};

/** Paths of this machine are none of the page. */
const withoutPaths = (text: string): string =>
  text
    .replaceAll(directory, 'HOME')
    .replaceAll(join(import.meta.dirname, '../../..'), 'STEMMA')
    // The ids of commands are chance's.
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/[ \t]+$/gm, '');

test.each([
  ['80 columns', 80],
  ['200 columns', 200],
  ['no terminal', undefined],
])('what every command shows with %s is what was looked at', async (name, columns) => {
  let page = '';
  for (const args of READS) {
    const { code, text } = await show(args, columns);
    const shown = withoutPaths(text);
    page += `$ stemma ${withoutPaths(args.map((arg) => (/[ '#]/.test(arg) ? JSON.stringify(arg) : arg)).join(' '))}\n${shown}[exit ${code}]\n\n`;
  }
  const file = `shown/${name.replaceAll(' ', '-')}.txt`;
  await expect(page).toMatchFileSnapshot(join(import.meta.dirname, file));
});

test('no table, list or text to read is wider than a terminal of 80 columns', async () => {
  const fitting = [
    'histories',
    'snapshots',
    'calls',
    'log',
    'list',
    'diff',
    'select',
    'interventions',
    'bisect',
  ];
  for (const args of READS.filter(([name = ''], i) => fitting.includes(name) && i < 24)) {
    const { text } = await show(args, 80);
    for (const line of text.split('\n'))
      expect(line.length, `${args.join(' ')}: ${line}`).toBeLessThanOrEqual(80);
  }
});
