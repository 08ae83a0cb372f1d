import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAsker, type Ended } from './matrix/asker.ts';
import { runStemma, temporaryFolder } from './run-stemma.ts';

const SAMPLE = join(import.meta.dirname, '../../../samples/harbour-tram.chat.json');
/** Milliseconds of one command: who waits for a pipe waits for ever. */
const DEADLINE = 60_000;

/** What may be in the place of a file, or of a folder. */
const KINDS: Readonly<Record<string, (path: string) => void>> = {
  'a pipe': (path) => expect(spawnSync('mkfifo', [path]).status).toBe(0),
  'a folder, or a file in the place of one': (path) => mkdirSync(path),
  'a link to a file that never ends': (path) => symlinkSync('/dev/zero', path),
  'a link to what is not there': (path) => symlinkSync(join(path, '..', 'not-there'), path),
};

const READ = ['thread', 'tram', '@c3'];
const READ_CONTENT = ['thread', 'long'];
const READ_SEALED = ['thread', 'private', '@c1'];
const WRITE = ['inject', 'notes', 'said later'];
const SEARCH = ['grep', 'harbour'];
const SIGN = ['checkpoint'];
const VERIFY = ['verify'];

type Expected = {
  /** The beginning of a path in the home. */
  readonly place: RegExp;
  /** Commands that are refused, with this exit code and code: the message names the place. */
  readonly refused?: readonly (readonly string[])[];
  readonly exit?: number;
  readonly code?: RegExp;
  /** Commands that answer as if nothing was. */
  readonly whole?: readonly (readonly string[])[];
};

/** The first that fits a place counts. Of what can be made again, none is refused. */
const EXPECTED: readonly Expected[] = [
  { place: /^log$/, refused: [READ, WRITE], code: /E_IO|E_LOG_GONE/ },
  { place: /^log.lock.1/, whole: [READ, WRITE] },
  { place: /^log/, refused: [READ, WRITE] },
  { place: /^rows$/, refused: [READ], whole: [SIGN] },
  { place: /^rows/, whole: [READ, WRITE, SEARCH] },
  { place: /^search$/, refused: [SEARCH], whole: [READ] },
  { place: /^search/, whole: [SEARCH, READ] },
  { place: /^contents(.tmp)?$/, refused: [READ, WRITE] },
  { place: /^contents/, refused: [VERIFY], whole: [READ, WRITE] },
  { place: /^keys.histories.*erased$/, whole: [READ, WRITE] },
  {
    place: /^keys.histories/,
    refused: [READ_SEALED],
    exit: 5,
    code: /E_HISTORY_SEALED/,
    whole: [READ, WRITE],
  },
  // A link to no folder is no folder: only who writes needs a key of it.
  { place: /^keys$/, refused: [WRITE], code: /E_IO|E_FILE_GONE/ },
  { place: /^(redact.json|keys)/, refused: [READ, WRITE], code: /E_IO|E_FILE_GONE/ },
  { place: /^noted.checkpoint.key$/, refused: [SIGN], whole: [READ] },
  { place: /^noted/, refused: [READ, WRITE] },
  { place: /^checkpoint.key$/, refused: [SIGN], whole: [READ, WRITE] },
  { place: /^prices.json$/, refused: [READ], whole: [WRITE] },
  { place: /^(calls|runs|server.json)/, whole: [READ, WRITE] },
];

/** Makes a home that has each kind of file, but those of a gateway. */
const makeHome = async (home: string, folder: string): Promise<void> => {
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await runStemma([...args, '--home', home]);
    if (code !== 0) throw new Error(`stemma ${args.join(' ')}: ${stderr}`);
  };
  const long = join(folder, 'long.json');
  writeFileSync(
    long,
    JSON.stringify([
      { role: 'user', content: 'Write the report.' },
      { role: 'assistant', content: 'A long report, line by line.\n'.repeat(10_000) },
    ]),
  );
  await run('import', SAMPLE, '--history', 'tram');
  await run('import', long, '--history', 'long');
  await run('start', '--name', 'notes');
  for (const name of ['gone', 'private']) {
    await run('start', '--name', name, '--erasable');
    await run('inject', name, 'for few');
    await run('commit', name);
  }
  await run('erase', 'gone', '--yes');
  writeFileSync(join(home, 'redact.json'), '{"labels": true}');
  writeFileSync(join(home, 'prices.json'), JSON.stringify({ currency: 'USD', models: {} }));
  writeFileSync(join(home, 'server.json'), '{"url": "http://127.0.0.1:9"}');
  await run(...WRITE);
  await run(...SIGN);
  await run(...SEARCH);
};

const placesOf = (home: string): readonly string[] =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
    .sort((a, b) => (a < b ? -1 : 1));

/** What is wrong with how commands end; empty if nothing is. */
const faultsOf = async (
  ask: (line: readonly string[]) => Promise<Ended>,
  place: string,
  { refused = [], whole = [], exit = 74, code = /E_IO/ }: Expected,
  answers: ReadonlyMap<string, string>,
): Promise<readonly string[]> => {
  const faults: string[] = [];
  // The command that is refused last, so that it is not the one which makes something anew.
  for (const line of [...whole, ...refused]) {
    const ended = await ask(line);
    const said = 'died' in ended ? ended.died : `${ended.code}: ${ended.stderr}`;
    const names = said.includes(place.split(sep).join('/')) || said.includes(place.split(sep)[0] ?? place);
    const isRight =
      !('died' in ended) &&
      (whole.includes(line)
        ? ended.code === 0 && (answers.get(line.join(' ')) ?? ended.stdout) === ended.stdout
        : ended.code === exit && code.test(ended.stderr) && names);
    if (!isRight) faults.push(`${place}: ${line.join(' ')}: ${said.slice(0, 300)}`);
  }
  return faults;
};

const folder = temporaryFolder();
const home = join(folder.path, 'home');
const answers = new Map<string, string>();
const asker = openAsker(DEADLINE, true);
beforeAll(async () => {
  await makeHome(home, folder.path);
  for (const line of [READ, READ_CONTENT, SEARCH]) {
    const { code, stdout, stderr } = await runStemma([...line, '--home', home]);
    expect({ code, stderr }, line.join(' ')).toEqual({ code: 0, stderr: '' });
    answers.set(line.join(' '), stdout);
  }
}, 120_000);
afterAll(async () => {
  await asker[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

it.each(Object.entries(KINDS))(
  '%s in the place of any file of a home is refused by name, or made again, and no command waits for it',
  async (kind, make) => {
    const copy = join(folder.path, 'copy');
    const faults: string[] = [];
    const places = placesOf(home);
    expect(places.length).toBeGreaterThan(35);
    for (const place of places) {
      const expected = EXPECTED.find((each) => each.place.test(place));
      if (expected === undefined) throw new Error(`nothing is expected of ${place}`);
      rmSync(copy, { recursive: true, force: true });
      cpSync(home, copy, { recursive: true, preserveTimestamps: true });
      const path = join(copy, place);
      const isFolder = statSync(path).isDirectory();
      rmSync(path, { recursive: true });
      if (isFolder && kind.startsWith('a folder')) writeFileSync(path, 'a file');
      else make(path);
      faults.push(
        ...(await faultsOf((line) => asker.ask([...line, '--home', copy]), place, expected, answers)),
      );
    }
    expect(faults).toEqual([]);
  },
  600_000,
);
