import { openHome } from '@stemma/home';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { allCommands } from '../src/catalogue.ts';
import { runCli } from '../src/run-cli.ts';
import { temporaryFolder } from './run-stemma.ts';

const COMMANDS = await allCommands();

/*
 * What people see: each command on a terminal of 80 and of 200 columns, and without one. The files are looked at when they
 * change. The clock stands still, so that they are the same everywhere.
 */
const folder = temporaryFolder();
const sample = join(import.meta.dirname, '../../../samples/slow-checkout.steps.jsonl');
const seeds = join(import.meta.dirname, '../../../samples/seeds.txt');
const parcel = join(import.meta.dirname, '../../../docs/tutorial/parcel.json');

type Home = Awaited<ReturnType<typeof openHome>>;

/** A home in which all of it was done, with the directory that it is in. */
type Place = { readonly directory: string; readonly home: Home };
const places: Home[] = [];

const newPlace = async (name: string): Promise<Place> => {
  const directory = join(folder.path, name, 'home');
  /** Each writing command comes a second after the one before. */
  let seconds = 1_790_000_000n;
  const home = await openHome({ directory, create: true, clock: () => seconds++ * 1_000_000_000n });
  places.push(home);
  const place = { directory, home };
  for (const args of WRITES) expect((await show(place, args, undefined)).code, args.join(' ')).toBe(0);
  return place;
};
afterAll(async () => {
  for (const home of places) await home.close();
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
  ['fork', 'sea', '--name', 'other', '--notes', 'another seed'],
  ['config', 'set', 'sea:other', 'seed=8', '--notes', 'another seed'],
  ['run', 'sea', '--rounds', '8', '--notes', 'on'],
  ['run', 'sea:other', '--rounds', '8', '--notes', 'on'],
] as const;

const texts = (name: string): string => join(import.meta.dirname, `../../../docs/analysis/${name}.jsonl`);

const READS: readonly (readonly string[])[] = [
  ['help'],
  ['help', 'diff'],
  ['histories'],
  ['snapshots', 'slow-checkout'],
  ['filmstrip', 'slow-checkout'],
  ['call', 'slow-checkout', 'c9'],
  ['call', 'slow-checkout', 'c9', '--output', 'agent', '--budget', '400'],
  ['grep', 'checkout', '--limit', '2'],
  ['grep', '"latency of each" normal -nowhere'],
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
  ['tools', 'slow-checkout'],
  ['tools'],
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
  ['pool', 'search', 'sea', 'stones', '--like', '--limit', '3'],
  ['pool', 'metrics', 'sea', '--last', '3'],
  ['pool', 'attractors', 'sea'],
  ['pool', 'compare', 'sea', 'main', 'other'],
  ['verdict', 'sea', 'main', 'other'],
  ['report', 'sea', '--branches', 'main,other', '-o', '/dev/null'],
  ['thread', 'slow-chekout'],
  ['show', 'parcel', 'c99'],
  ['select', 'parcel', '.cb['],
  ['import', join(import.meta.dirname, '../package.json')],
  ['nonsense'],
];

/** Each of the others, in an order in which it has something to say. */
const MORE: readonly (readonly string[])[] = [
  ['run', 'sea', '--rounds', '2', '--notes', 'go on'],
  [
    'run',
    'sea',
    '--rounds',
    '50',
    '--tokens',
    '300',
    '--request',
    '--command',
    'run-3',
    '--notes',
    'until it costs',
  ],
  ['runs', '--open'],
  ['runs', 'stop', 'sea', 'run-3', '--notes', 'too long'],
  ['runs', 'resume', 'sea', 'run-3', '--command', 'run-4'],
  ['runs', 'sea'],
  ['runs', 'stop', 'sea', 'no-such-run'],
  ['ask', 'sea', 'What do they agree on?', '--mind', 'offline'],
  ['start', '--name', 'desk'],
  ['start', '--name', 'secret', '--erasable', '--subject', 'jo'],
  ['insert', 'desk', '--id', 'q', '--role', 'user', '--content', 'Where is parcel 7731?'],
  ['commit', 'desk', '--recorder', 'agent'],
  ['continue', 'desk', '--mind', 'offline', '--run', 'run-1'],
  ['calls', 'desk'],
  ['call', 'desk', '@c1'],
  ['retry', 'desk', '@c1', '--mind', 'offline', '--run', 'run-2'],
  ['assign', 'desk@c1', '--new', '--name', 'apart'],
  ['assign', 'desk@c9', '--to', 'parcel'],
  ['edit', 'parcel', 'm0', '--content', 'Be kind.', '--notes', 'kinder'],
  ['replace', 'parcel', 'm0', '--content', 'Be brief.', '--notes', 'shorter'],
  ['insert', 'parcel', '--parent', '^sys', '--id', 'rule', '--content', 'Never guess.'],
  ['move', 'parcel', 'rule', '^ah'],
  ['remove', 'parcel', 'rule'],
  ['remove', 'parcel', 'nothing'],
  ['commit', 'parcel'],
  ['config', 'get', 'parcel'],
  ['config', 'set', 'parcel', 'observe=true'],
  ['configure', 'parcel', '{"max_blocks":200,"keep_turns":4,"pins":[]}'],
  ['name', 'parcel', 'all-facts'],
  ['annotate', 'parcel', 'asked twice', '--at', '@c2'],
  ['label', 'parcel', 'task=parcel', 'owner=desk'],
  ['label', 'parcel'],
  ['load', 'slow-checkout', 'before-fix'],
  ['save', 'parcel', 'end'],
  ['fork', 'parcel', 'c1', '--name', 'again', '--notes', 'once more'],
  ['rollback', 'parcel', 'c1', '--notes', 'back'],
  ['inject', 'parcel', 'Ask for the number.', '--role', 'system'],
  ['steer', 'parcel', 'on'],
  ['break', 'parcel', '--tool', 'refund', '--timeout', '5m'],
  ['breaks', 'parcel'],
  ['unbreak', 'parcel', 'b1'],
  ['breaks', 'parcel'],
  ['held'],
  ['resume', 'parcel'],
  ['abort', 'parcel'],
  ['watch', 'parcel', "@t0 .cb[role='user']"],
  ['open', 'parcel', 'c1', '--print'],
  ['record', '--', process.execPath, '-e', ''],
  ['record', '--', 'no-such-agent'],
  ['rerun', 'parcel', '--', process.execPath, '-e', ''],
  ['up', '--port', '0'],
  ['export', 'parcel', 'c1'],
  ['experiment', 'export', 'desk', '@c1'],
  ['erase', 'secret', '--yes'],
  ['erase', 'parcel', '--yes'],
  ['salvage', 'parcel'],
  ['ack', '0@4711', '--yes'],
  ['checkpoint', '--out', 'HOME/../checkpoint'],
  ['backup', 'HOME/../backup'],
  ['restore', 'HOME/../backup', '--to', 'HOME/../restored'],
  ['quickstart', '--json'],
  ['bundle', 'parcel', '--output', 'HOME/../run.stemma'],
  ['copy', '--from', 'HOME/../restored', '--to', 'HOME/../copied'],
  ['doctor'],
  ['verify'],
  ['replay', '--verify'],
  ['stats'],
  ['mcp', '--allow', 'everything'],
  ['projector', '--read-model', 'nothing'],
  ['relay', '--to', 'nowhere'],
  ['runner', '--at-once', '0'],
  ['completion', 'fish'],
];

const show = async (
  { directory, home }: Place,
  args: readonly string[],
  columns: number | undefined,
): Promise<{ readonly code: number; readonly text: string }> => {
  let text = '';
  const ending = new AbortController();
  const isEndless = ['watch', 'up'].includes(args[0] ?? '');
  const takesNoHome = [
    'help',
    'record',
    'rerun',
    'restore',
    'copy',
    'completion',
    'relay',
    'projector',
    'runner',
  ].includes(args[0] ?? '');
  const given = args.map((arg) => arg.replace('HOME', directory));
  const stream = (): Writable =>
    new Writable({
      write: (piece: Buffer, _encoding, done) => {
        text += piece.toString();
        done();
        // What goes on until Ctrl-C is ended once it has said something.
        if (isEndless && text.includes('\n')) setImmediate(() => ending.abort());
      },
    });
  const stdout = stream();
  if (columns !== undefined) Object.assign(stdout, { isTTY: true, columns });
  const code = await runCli([...given, ...(takesNoHome ? [] : ['--home', directory])], {
    stdin: Readable.from([]),
    stdout,
    stderr: stream(),
    env: {
      STEMMA_ACTOR: 'ada',
      NO_COLOR: '1',
      ...(['record', 'rerun'].includes(args[0] ?? '') ? { STEMMA_HOME: directory } : {}),
    },
    signal: ending.signal,
    openHome: async (options) =>
      options.directory === directory ? { ...home, close: async () => undefined } : openHome(options),
  });
  return { code, text };
};

/** Paths of this machine are none of the page, nor are ids of commands, which chance gives. */
const withoutPaths = (text: string, directory: string): string =>
  text
    .replaceAll(directory, 'HOME')
    .replaceAll(join(directory, '..'), 'FOLDER')
    .replaceAll(process.execPath, 'node')
    .replaceAll(join(import.meta.dirname, '../../..'), 'STEMMA')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/[ \t]+$/gm, '');

/** The same for what else chance and time give. */
const withoutChance = (text: string): string =>
  text
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/public key: .*/g, 'public key: KEY')
    .replace(/as of \S+/g, 'as of <time>')
    // So many as it could read in a second.
    .replace(/\b\d+ of (\d+) frames were searched/g, '<some> of $1 frames were searched')
    .replace(/^(logBytes|rowBytes) .*/gm, '$1 <bytes>')
    .replace(/ {2,}\d+ ms\b/g, '  <ms>')
    .replace(/\b\d+\.\d+ s\b/g, '<duration>');

const beginningOf = (text: string): string => `${text.split('\n').slice(0, 4).join('\n')}\n…\n`;

/** What every command shows is what was looked at. @param columns of the terminal; undefined: there is none */
const lookAll = async (name: string, columns: number | undefined): Promise<void> => {
  const place = await newPlace(name);
  let page = '';
  for (const args of [...READS, ...MORE]) {
    const { code, text } = await show(place, args, columns);
    const line = args.map((arg) => (arg === '' || /[ '#{]/.test(arg) ? JSON.stringify(arg) : arg)).join(' ');
    const printed = withoutPaths(text, place.directory);
    const shown = MORE.includes(args) ? withoutChance(printed) : printed;
    page += `$ stemma ${withoutPaths(line, place.directory)}\n${args[0] === 'completion' ? beginningOf(shown) : shown}[exit ${code}]\n\n`;
  }
  const file = `shown/${name.replaceAll(' ', '-')}.txt`;
  await expect(page).toMatchFileSnapshot(join(import.meta.dirname, file));
};

test('what every command shows without a terminal is what was looked at', () =>
  lookAll('no terminal', undefined));

test.each([
  ['80 columns', 80],
  ['200 columns', 200],
])('what every command shows with %s is what was looked at', { tags: ['long'] }, lookAll);

test('every command of the help is among them', () => {
  const shown = new Set([...READS, ...MORE].map(([name]) => name));
  const known = [...COMMANDS.map(({ name }) => name), 'help'];
  expect(known.filter((name) => !shown.has(name))).toEqual([]);
});

test('no table, list or text to read is wider than a terminal of 80 columns', async () => {
  const place = await newPlace('width');
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
    const { text } = await show(place, args, 80);
    for (const line of text.split('\n'))
      expect(line.length, `${args.join(' ')}: ${line}`).toBeLessThanOrEqual(80);
  }
});
