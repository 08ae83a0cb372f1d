import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, timed } from '../measure.ts';
import { bytes, figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PROGRAM = join(ROOT, 'services/cli/dist/stemma.js');

const MOST_BYTES = 400e6;
const SENTENCE = 'The quick brown fox jumps over the lazy dog. ';

/** What one import took. */
type Imported = {
  readonly seconds: number;
  /** Of all threads. */
  readonly processor: number;
  /** The most bytes in memory at once, with the pages of files that are mapped. */
  readonly most: number;
};

/** A transcript to import: its text, piece by piece. */
type Transcript = {
  readonly what: string;
  readonly name: string;
  readonly pieces: (quick: boolean) => Iterable<string>;
};

const MEGABYTE = 1e6;

const message = (n: number, text: string): object => ({
  role: n % 2 === 0 ? 'user' : 'assistant',
  content: text,
});

/** A line a conversation of 20 messages, until there are so many bytes. */
function* conversations(size: number): Iterable<string> {
  const long = SENTENCE.repeat(77);
  for (let [written, c] = [0, 0]; written < size; c++) {
    const messages = Array.from({ length: 20 }, (_, n) => message(n, `${c} ${n} ${long}`));
    const line = `${JSON.stringify({ messages })}\n`;
    written += line.length;
    yield line;
  }
}

/** One conversation as one JSON value. */
function* conversation(count: number): Iterable<string> {
  const text = SENTENCE.repeat(10);
  for (let n = 0; n < count; n++)
    yield `${n === 0 ? '{"messages":[' : ','}${JSON.stringify(message(n, `${n} ${text}`))}`;
  yield ']}';
}

const TRANSCRIPTS: readonly Transcript[] = [
  {
    what: '75 MB of JSON lines, 20 messages each',
    name: 'lines-75.jsonl',
    pieces: (quick) => conversations((quick ? 2 : 75) * MEGABYTE),
  },
  {
    what: '300 MB of JSON lines, 20 messages each',
    name: 'lines-300.jsonl',
    pieces: (quick) => conversations((quick ? 4 : 300) * MEGABYTE),
  },
  {
    what: 'one conversation of 50,000 messages',
    name: 'one.json',
    pieces: (quick) => conversation(quick ? 500 : 50_000),
  },
];

/** Says on stderr what the process took, when it ends. */
const ACCOUNT = `process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  process.stderr.write('\\n' + JSON.stringify({ maxRSS, cpu: userCPUTime + systemCPUTime }) + '\\n');
});`;

const importFile = async (file: string, home: string): Promise<Imported> => {
  const account = `data:text/javascript,${encodeURIComponent(ACCOUNT)}`;
  const child = spawn(
    process.execPath,
    ['--import', account, PROGRAM, '--home', home, 'import', file, '--history', 'c-{n}'],
    { env: { ...process.env, STEMMA_ACTOR: 'bench' }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(-4_096);
  });
  const { ms, value } = await timed(async () => (await once(child, 'close')) as [number | null]);
  if (value[0] !== 0) throw new Error(`the import of ${file} ended with ${value[0]}: ${said}`);
  const { maxRSS, cpu } = JSON.parse(said.trim().split('\n').at(-1) ?? '') as { maxRSS: number; cpu: number };
  return { seconds: ms / 1_000, processor: cpu / 1e6, most: maxRSS * 1_024 };
};

const write = (file: string, pieces: Iterable<string>): void => {
  const descriptor = openSync(file, 'w');
  try {
    for (const piece of pieces) writeSync(descriptor, piece);
  } finally {
    closeSync(descriptor);
  }
};

/** What an import takes of time and memory, in the program as it is delivered. */
export const importing = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  execFileSync(join(ROOT, 'node_modules/.bin/turbo'), ['run', 'build', '--output-logs=errors-only'], {
    ...{ cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] },
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  });
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} was not built`);
  mkdirSync(directory, { recursive: true });
  const measured: { readonly what: string; readonly all: readonly Imported[] }[] = [];
  for (const { what, name, pieces } of TRANSCRIPTS) {
    const file = join(directory, name);
    write(file, pieces(quick));
    const all: Imported[] = [];
    for (let round = 0; round < rounds; round++) {
      const home = join(directory, 'home');
      all.push(await importFile(file, home));
      rmSync(home, { recursive: true, force: true });
    }
    rmSync(file);
    measured.push({ what, all });
  }
  const mostOf = (all: readonly Imported[]): number => Math.max(...all.map(({ most }) => most));
  const table = {
    title: 'Import: time and memory',
    columns: ['', 's', 'processor time, s', 'resident at most'],
    rows: measured.map(({ what, all }) => [
      what,
      figure(median(all.map(({ seconds }) => seconds))),
      figure(median(all.map(({ processor }) => processor))),
      bytes(mostOf(all)),
    ]),
    notes: [
      `${rounds} rounds, each into a new home on the embedded log; medians, and the largest of what was resident.`,
      'The built program, in a process of its own, with its start. Resident: with the pages of files that it maps.',
    ],
  };
  const aims = measured.map(({ what, all }): Aim => {
    const most = mostOf(all);
    return {
      what: `${what}: resident at most`,
      ...{ aim: `≤ ${bytes(MOST_BYTES)}`, measured: bytes(most), met: most <= MOST_BYTES },
    };
  });
  return { name: 'import', tables: [table], aims, figures: { measured } };
};
