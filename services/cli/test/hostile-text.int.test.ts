import { HIDDEN_CHARACTERS } from '@stemma/errors';
import { sized } from '@stemma/test-kit';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allCommands } from '../src/catalogue.ts';
import type { CommandSpec } from '../src/command.ts';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder, type Run } from './run-stemma.ts';

const COMMANDS = await allCommands();

/** Directions, zero widths, a separator, a tag: every text may hold them. */
const SLY = 'sly\u202e\u2066\u200f\u061c\u200b\u200d\u2060\ufeff\u2028\u{e0041}text';
/** What an actor's name may hold of it. */
const WHO = 'ana\u200b\u200d\u2060\ufeff\u061c\u{e0041}';
/** And what a terminal obeys, where the text may be anything. */
const LOUD = `${SLY}\u001b[31m\u009b2J\u0007\r\u0000\nforged: line`;

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(join(folder.path, 'home'));
const at = ['--home', join(folder.path, 'home')];
const file = (name: string, text: string): string => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};
const steps = (): string =>
  [
    { op: 'start', steps: 1, about: LOUD },
    { op: 'insert', parent: '^sys', id: `s${SLY}`, ttl: 9, role: 'system', content: LOUD },
    {
      op: 'insert',
      id: `u${LOUD}`,
      role: SLY,
      kind: LOUD,
      content: LOUD,
      [`data_${SLY}`]: { [LOUD]: [LOUD] },
    },
    { op: 'commit' },
    { op: 'insert', id: `a${LOUD}`, ttl: 1, role: 'assistant', content: [LOUD, { [LOUD]: LOUD }] },
    { op: 'replace', id: `s${SLY}`, content: `${LOUD} again` },
    { op: 'commit' },
    { op: 'remove', id: `s${SLY}` },
    { op: 'annotate', note: `${SLY}\nforged: line` },
  ]
    .map((step) => JSON.stringify(step) + '\n')
    .join('');
const events = (): string =>
  [
    { _type: 'ctree_eventlog_header', schema_version: '0.1' },
    { kind: 'message', payload: { role: 'user', content: LOUD }, turn: 1, node_id: `n${LOUD}` },
    { kind: LOUD, payload: { [LOUD]: LOUD }, turn: 1 },
    LOUD,
  ]
    .map((line) => JSON.stringify(line) + '\n')
    .join('');

let intervention = '';
beforeAll(async () => {
  const shared = [...at, '--actor', WHO, '--notes', `${SLY}\nsecond line`];
  await stemmaJson(['import', file('steps.jsonl', steps()), '--history', 'h', '--format', 'steps', ...at]);
  await stemmaJson(['config', 'set', 'h', `k=${JSON.stringify({ [LOUD]: LOUD })}`, ...shared]);
  await stemmaJson(['inject', 'h', `${SLY} injected`, ...shared]);
  await stemmaJson(['insert', 'h', '--content', LOUD.replaceAll('\u0000', ''), '--recorder', SLY, ...at]);
  await stemmaJson(['commit', 'h', '--command', `c${SLY}`, '--recorder', SLY, ...at]);
  await stemmaJson(['save', 'h', 'saved', '@c2', '--description', SLY, ...shared]);
  await stemmaJson(['fork', 'h', '@c1', '--description', SLY, '--name', 'other', ...shared]);
  const found = await runStemma(['interventions', 'h', '--json', ...at]);
  intervention = (JSON.parse(found.stdout.split('\n')[0] ?? '') as { id: string }).id;
}, 60_000);

/** Command lines of every command: what it prints when it succeeds, and what it repeats when it fails. */
const LINES: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  import: () => [
    [file('again.jsonl', steps()), '--dry-run'],
    [file(`name\u202e\u009b.jsonl`, '[{"role":"user","content":1,"x\u202e":2}]'), '--dry-run'],
    [file('log.jsonl', events())],
    [`/nowhere/${SLY}\n`],
    [file('role.json', JSON.stringify([{ role: LOUD }]))],
    [file('steps2.jsonl', `${JSON.stringify({ op: 'start', steps: 1, [LOUD]: 1 })}\n`), '--format', 'steps'],
    [file('any.json', '[]'), '--format', LOUD],
  ],
  record: () => [[`/nowhere/${SLY}`], ['--history', LOUD, 'true']],
  rerun: () => [
    ['h', '--', `/nowhere/${SLY}`],
    [LOUD, '--', 'true'],
    ['h', '--on-difference', LOUD, '--', 'true'],
    ['h', '--mask', LOUD, '--', 'true'],
    ['h', '--run', LOUD, '--', 'true'],
  ],
  quickstart: () => [['--json'], [file(`there\u202e.txt`, 'a file')]],
  bundle: () => [
    ['h', '--output', LOUD],
    [LOUD, '--output', 'x.stemma'],
    ['h', '--output', 'x.stemma', '--run', LOUD],
  ],
  histories: () => [[]],
  snapshots: () => [['h'], [LOUD]],
  filmstrip: () => [['h'], [LOUD]],
  calls: () => [['h'], [LOUD]],
  grep: () => [['injected'], ['again'], [LOUD], ['x', '--in', LOUD], ['x', '--kind', LOUD]],
  call: () => [
    ['h', '@c1'],
    ['h', LOUD],
    ['h', LOUD, '--raw', LOUD],
  ],
  thread: () => [
    ['h'],
    ['h', '@*'],
    ['h', '@*', '--provider', 'openai'],
    ['h', '--provider', 'openai'],
    ['h', `@${LOUD}`],
  ],
  show: () => [['h'], ['h', '@c1', `#u${LOUD}`], ['h', `#${LOUD}`]],
  diff: () => [
    ['h', '@c1', '@c2'],
    ['h', '@c1', '@c2', '--explain'],
    ['h', LOUD, '@c1'],
  ],
  compare: () => [
    ['h', '@c1', '@c3'],
    ['h', 'other', 'h'],
    ['h', LOUD, '@c1'],
  ],
  why: () => [
    ['h', `u${LOUD}`, '@c1'],
    ['h', LOUD],
  ],
  interventions: () => [[], ['h', '--format', 'csv'], ['h', '--format', 'jsonl'], ['h', '--actor', LOUD]],
  'interventions show': () => [[intervention], [intervention, '--impact'], [LOUD]],
  'experiment export': () => [['h'], [LOUD]],
  'experiment run': () => [[file('experiment.json', JSON.stringify({ [LOUD]: LOUD }))]],
  select: () => [
    ['h', '@c1 ^seq .cb'],
    ['h', '@* .cb', '--include-content'],
    ['h', LOUD],
    ['h', `[${SLY}`],
  ],
  analyse: () => [[LOUD]],
  'analyse cluster': () => [
    [
      file(
        'texts.jsonl',
        [1, 2, 3, 4].map((i) => `${JSON.stringify({ text: `${LOUD} ${i % 2}` })}\n`).join(''),
      ),
    ],
    [file('vectors.json', JSON.stringify([[1], [LOUD]]))],
    [`/nowhere/${SLY}`],
  ],
  'analyse compare': () => [
    [file('a.csv', '1,2\n3,4\n'), file('b.csv', `1,${SLY}\n`)],
    [file('a.csv', '1,2\n3,4\n'), file('c.csv', '5,6\n'), '--permutations', '9'],
  ],
  'analyse map': () => [[file('map.csv', '1,2\n3,4\n')], [file('map.csv', '1,2\n3,4\n'), '--seed', LOUD]],
  stages: () => [['h'], ['h', '--stage', 'RAW'], ['h', '--stage', LOUD], ['h', '--profile', LOUD]],
  'stages diff': () => [['h', '@c1', '@c2']],
  'stages events': () => [['h']],
  'stages compile': () => [[file('compile.jsonl', events())], [file('none.jsonl', JSON.stringify(LOUD))]],
  'stages tree': () => [[file('tree.jsonl', events())]],
  'stages verify': () => [
    [file('verify.jsonl', events()), '--snapshot', file('snap.json', JSON.stringify({ node_hash: LOUD }))],
  ],
  blame: () => [
    ['h', '@c2'],
    ['h', '@c2', '--bytes', '0-400'],
    ['h', '@c2', '--bytes', LOUD],
  ],
  cache: () => [['h', '--all']],
  tools: () => [['h']],
  bisect: () => [
    ['h', '--good', '@c1', '--bad', '@c2', '--when', '.cb'],
    ['h', '--good', LOUD, '--bad', '@c2', '--when', LOUD],
  ],
  watch: () => [['h', LOUD]],
  log: () => [['h'], [LOUD]],
  export: () => [
    ['h'],
    ['h', LOUD],
    ...['openai', 'chat-jsonl', 'atif', 'inspect', 'otlp', 'vcr'].map((format) => ['h', '--format', format]),
  ],
  up: () => [['--port', LOUD]],
  open: () => [[LOUD, LOUD]],
  continue: () => [
    ['h', '--mind', 'offline', '--calls', '1', '--name', 'on', '--actor', WHO, '--notes', SLY],
    [LOUD, '--mind', LOUD],
  ],
  retry: () => [
    ['h', '@c1', '--mind', 'offline', '--actor', WHO, '--notes', SLY],
    ['h', LOUD, '--mind', LOUD],
  ],
  steer: () => [['h'], [LOUD, LOUD]],
  break: () => [
    ['h', '--cycle', '900', '--actor', WHO, '--notes', SLY],
    ['h', '--when', LOUD],
  ],
  breaks: () => [['h'], [LOUD]],
  unbreak: () => [['h', LOUD]],
  held: () => [[], [LOUD]],
  resume: () => [[LOUD]],
  abort: () => [[LOUD, '--message', LOUD]],
  assign: () => [
    ['h@c1', '--to', LOUD],
    [LOUD, '--new'],
  ],
  edit: () => [['h', LOUD, '--content', LOUD]],
  pool: () => [['h'], [LOUD, LOUD]],
  'pool init': () => [
    [
      'p',
      '--messages',
      file('seeds.json', JSON.stringify([LOUD, LOUD])),
      '--prompt',
      LOUD,
      '--actor',
      WHO,
      '--notes',
      SLY,
    ],
    [LOUD, '--mind', LOUD],
  ],
  'pool embed': () => [
    [
      'p',
      file('vectors.jsonl', `${JSON.stringify({ vector: [1, 2], text: LOUD })}\n`),
      '--embedder',
      'outside:mine',
      '--actor',
      WHO,
      '--notes',
      SLY,
    ],
    ['p', file('ids.jsonl', `${JSON.stringify({ vector: [1], message: LOUD })}\n`), '--embedder', LOUD],
    [LOUD, LOUD],
  ],
  'pool messages': () => [['p'], [LOUD, LOUD]],
  'pool search': () => [
    ['p', LOUD],
    [LOUD, LOUD],
  ],
  'pool metrics': () => [
    ['p', '--branch', LOUD],
    [LOUD, LOUD],
  ],
  'pool attractors': () => [['p'], [LOUD, LOUD]],
  'pool compare': () => [
    ['p', LOUD, LOUD],
    [LOUD, 'a', 'b'],
  ],
  verdict: () => [
    ['p', LOUD, LOUD],
    [LOUD, 'a', 'b', '--runs', LOUD],
  ],
  report: () => [
    ['p', '--branches', `${LOUD},${LOUD}`, '-o', LOUD],
    [LOUD, '--branches', 'a,b', '-o', LOUD],
  ],
  run: () => [
    ['p', '--rounds', LOUD],
    [LOUD],
    ['p', '--rounds', '2', '--request', '--command', SLY, '--actor', WHO, '--notes', SLY],
  ],
  runs: () => [['p'], [LOUD]],
  'runs stop': () => [
    ['p', LOUD, '--actor', WHO, '--notes', SLY],
    [LOUD, LOUD],
  ],
  'runs resume': () => [
    ['p', LOUD, '--actor', WHO, '--notes', SLY],
    [LOUD, LOUD],
  ],
  ask: () => [
    ['p', LOUD, '--mind', 'offline', '--actor', WHO, '--notes', SLY],
    [LOUD, LOUD, '--mind', LOUD],
  ],
  completion: () => [['bash'], ['zsh'], ['fish'], [LOUD]],
  start: () => [['n', '--recorder', SLY], [LOUD]],
  branches: () => [['h']],
  list: () => [['h']],
  save: () => [
    ['h', '@c1', '--description', SLY, '--actor', WHO],
    ['h', LOUD],
  ],
  load: () => [
    ['h', 'saved', '--actor', WHO],
    ['h', LOUD],
  ],
  fork: () => [
    ['h', '@c1', '--actor', WHO],
    ['h', LOUD],
  ],
  rollback: () => [
    ['h', '@c2', '--actor', LOUD],
    ['h', LOUD],
  ],
  inject: () => [
    ['h', LOUD, '--actor', WHO],
    ['h', 'x', '--actor', LOUD],
  ],
  config: () => [
    ['get', 'h'],
    ['set', 'h', `${LOUD}=1`],
    ['get', 'h', LOUD],
    [LOUD, 'h'],
  ],
  insert: () => [
    ['h', '--id', `i${SLY}`, '--content', LOUD, '--recorder', 'r'],
    ['h', '--node', LOUD.replaceAll('\u0000', '')],
    ['h', '--data', LOUD],
  ],
  replace: () => [['h', `#${LOUD}`, '--content', LOUD, '--recorder', 'r']],
  move: () => [['h', LOUD, '--to', LOUD, '--recorder', 'r']],
  remove: () => [['h', LOUD, '--recorder', 'r']],
  commit: () => [
    ['h', '--recorder', SLY],
    ['h', '--recorder', LOUD],
  ],
  name: () => [['h', LOUD, '--recorder', 'r']],
  annotate: () => [
    ['h', SLY, '--recorder', 'r'],
    ['h', LOUD, '--intervention', LOUD, '--recorder', 'r'],
  ],
  label: () => [['h'], ['h', `task=${SLY}`, '--recorder', 'r'], ['h', `${LOUD}=x`, LOUD, '--recorder', 'r']],
  configure: () => [['h', JSON.stringify({ [LOUD]: LOUD }), '--recorder', 'r']],
  replay: () => [[]],
  verify: () => [[]],
  salvage: () => [['h'], [LOUD]],
  ack: () => [[LOUD]],
  copy: () => [[LOUD]],
  backup: () => [[join(folder.path, 'backup')], [file('no-backup', LOUD)]],
  restore: () => [
    [join(folder.path, 'backup'), '--to', join(folder.path, `again${SLY}`)],
    [LOUD.replaceAll('\u0000', ''), '--to', join(folder.path, 'none')],
  ],
  checkpoint: () => [[], ['--key', file('key', LOUD)]],
  'checkpoint prove': () => [
    ['--frame', LOUD],
    ['--consistency', file('a', LOUD), file('b', LOUD)],
  ],
  'checkpoint check': () => [[file('proof.json', JSON.stringify({ [LOUD]: LOUD }))]],
  erase: () => [
    ['h', '--yes', '--actor', WHO],
    ['--subject', SLY, '--yes', '--actor', WHO],
    [LOUD, '--yes', '--actor', WHO],
  ],
  mcp: () => [['--allow', LOUD]],
  projector: () => [['--read-model', LOUD]],
  runner: () => [
    ['--once', '--name', LOUD],
    ['--at-once', LOUD],
  ],
  relay: () => [['--to', LOUD, '--once']],
  doctor: () => [[]],
  stats: () => [[]],
};

const paths = (specs: readonly CommandSpec[], before = ''): string[] =>
  specs.flatMap(({ name, subcommands = [] }) => [
    ...(subcommands.length > 0 && name === 'experiment' ? [] : [`${before}${name}`]),
    ...paths(subcommands, `${before}${name} `),
  ]);

/** What a terminal was sent that it may not be sent. CSV ends its lines as its RFC has it. */
const hidden = ({ stdout, stderr }: Run, csv: boolean): string[] =>
  [csv ? stdout.replaceAll('\r\n', '\n') : stdout, stderr].flatMap(
    (text) => text.match(HIDDEN_CHARACTERS) ?? [],
  );

test('the test covers every command of the catalogue', () => {
  expect(new Set(Object.keys(LINES))).toEqual(new Set(paths(COMMANDS)));
});

test.each(Object.keys(LINES))(
  '%s prints no hidden character of a history that is full of them, nor of its arguments',
  async (command) => {
    for (const [i, line] of (LINES[command]?.() ?? []).entries()) {
      const env = {
        STEMMA_ROWS: command === 'projector' ? `postgres://${encodeURIComponent(SLY)}@127.0.0.1:1/x` : '',
      };
      for (const json of i < sized(JSON_FIRST.includes(command) ? 1 : 0, 10) ? [false, true] : [false]) {
        const args = [...command.split(' '), ...line, ...at, ...(json ? ['--json'] : [])];
        const run = await runStemma(args, { env: { ...env, NO_COLOR: '1' }, columns: 70 });
        const told = `stemma ${command} ${JSON.stringify(line)}: ${run.stderr}`;
        expect(hidden(run, line.includes('csv')), told).toEqual([]);
        expect(run.stderr, told).not.toContain('E_INTERNAL');
        // No line of its own for what came in.
        expect(run.stderr, told).not.toMatch(/^forged:/m);
        expect(run.stdout, told).not.toMatch(/^forged:/m);
        // Whoever asks for CSV or a cassette gets it.
        const isJson = json && !line.includes('csv') && !line.includes('vcr');
        if (isJson) for (const document of jsonOf(run.stdout)) JSON.parse(document);
      }
    }
  },
  60_000,
);

/** Commands whose JSON has contents; the others follow in a long run. */
const JSON_FIRST = ['show', 'log', 'interventions', 'compare', 'import', 'config'];

/** One document, or one a line; a list without lines is none. */
const jsonOf = (stdout: string): string[] => {
  if (stdout === '') return [];
  try {
    JSON.parse(stdout);
    return [stdout];
  } catch {
    return stdout.trim().split('\n');
  }
};

test('JSON that is safe to print has the exact values', async () => {
  const nodes = (await stemmaJson(['show', 'h', '@c1', ...at])) as {
    nodes: { id: string; content?: unknown }[];
  };
  expect(nodes.nodes.find(({ id }) => id === `u${LOUD}`)?.content).toBe(LOUD);
  const { stdout } = await runStemma(['thread', 'h', '@c1', '--provider', 'openai', ...at]);
  expect((JSON.parse(stdout) as { content: unknown }[]).map(({ content }) => content)).toEqual([LOUD, LOUD]);
  const { stdout: lines } = await runStemma(['interventions', 'h', '--format', 'jsonl', ...at]);
  expect(lines).toContain('sly\\u202e');
  expect(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { actor: string }).actor),
  ).toContain(WHO);
});

test('no command repeats more than 200 characters of an argument in an error', async () => {
  const long = 'a long argument '.repeat(1_000);
  const inputs = [long, 'w'.repeat(10_000), JSON.stringify({ [long]: long })];
  for (const given of inputs.slice(0, sized(1, 3))) {
    for (const [command, lines] of Object.entries(LINES)) {
      for (const line of lines().slice(1)) {
        const args = line.map((arg) => (arg.includes('sly') ? given : arg));
        if (!args.includes(given) || line.includes('--recorder')) continue;
        const run = await runStemma([...command.split(' '), ...args, ...at]);
        if (run.code === 0) continue;
        const told = `stemma ${command}: ${run.stderr.slice(0, 300)}`;
        expect(longestShared(run.stderr, given), told).toBeLessThanOrEqual(200);
        expect(run.stderr.length, told).toBeLessThan(1_200);
      }
    }
  }
}, 240_000);

/** The length of the longest beginning of `input` that stands in `text`. */
const longestShared = (text: string, input: string): number => {
  let length = 0;
  while (
    length < 1_000 &&
    (text.includes(input.slice(0, length + 1)) ||
      text.includes(JSON.stringify(input.slice(0, length + 1)).slice(1, -1)))
  )
    length++;
  return length;
};
