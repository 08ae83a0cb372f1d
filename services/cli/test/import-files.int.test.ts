import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asName } from '../src/import-files.ts';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const USER = { role: 'user', content: 'Hi.' };
const talk = (answer: string) => [USER, { role: 'assistant', content: answer }];

type Imported = {
  readonly imported: readonly {
    readonly name: string | null;
    readonly history: string;
    readonly file: string;
    /** Where the file has several conversations. */
    readonly histories?: readonly { readonly name: string | null; readonly history: string }[];
  }[];
  readonly refused: readonly { readonly file: string; readonly code: string; readonly message: string }[];
};

const folder = temporaryFolder();
const directory = join(folder.path, 'home');
// Hooks of the end run in reverse order: the home is closed before its folder goes.
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(directory);
const home = ['--home', directory];
const at = (...parts: readonly string[]): string => join(folder.path, ...parts);
const write = (path: string, value: unknown): string => {
  writeFileSync(at(path), JSON.stringify(value));
  return at(path);
};
const namesOf = ({ imported }: Imported): readonly (string | null)[] =>
  imported.flatMap((one) => (one.histories ?? [one]).map(({ name }) => name));

beforeAll(() => {
  mkdirSync(at('runs/inner'), { recursive: true });
  write('runs/b.json', talk('b'));
  writeFileSync(at('runs/inner/a.json.gz'), gzipSync(JSON.stringify(talk('a'))));
  writeFileSync(at('runs/LICENSE'), 'Do what you like.');
  writeFileSync(at('runs/cut.json.gz'), gzipSync(JSON.stringify(talk('cut'))).subarray(0, 30));
  write('runs/other.json', { n: 1 });
  symlinkSync(at('runs'), at('runs/loop'));
});
describe('import', () => {
  it('takes a folder, compressed files in it too, names histories after files, and continues after those it refuses', async () => {
    const { code, stdout, stderr } = await runStemma(['import', at('runs'), '--json', ...home]);
    const found = JSON.parse(stdout) as Imported;

    expect(code).toBe(1);
    expect(namesOf(found)).toEqual(['b', 'a']);
    expect(found.refused.map(({ file, code: why }) => [file, why])).toEqual([
      [at('runs/cut.json.gz'), 'E_INPUT_TRUNCATED'],
      [at('runs/other.json'), 'E_FORMAT_UNKNOWN'],
    ]);
    expect(stderr).toContain('LICENSE');
    expect(stderr).toContain('other.json: refused: ');
    const thread = await runStemma(['thread', 'a', '@c1', '--provider', 'openai', ...home]);
    expect(JSON.parse(thread.stdout)).toEqual([USER]);
  });

  it(
    'imports what is good of a list and of lines, and names the items and lines that are not; --strict refuses the file',
    { tags: ['context-tree§9'] },
    async () => {
      mkdirSync(at('partly'), { recursive: true });
      const bad = [USER, { role: 'bot', content: 'Hm.' }];
      const list = write('partly/list.json', [
        { messages: talk('one') },
        { n: 1 },
        { messages: bad },
        talk('two'),
      ]);
      writeFileSync(
        at('partly/lines.jsonl'),
        `${JSON.stringify(talk('three'))}\n${JSON.stringify(bad)}\n{"messages"\n`,
      );
      const strict = await runStemma(['import', list, '--strict', '--json', ...home]);
      expect([strict.code, JSON.parse(strict.stdout)]).toMatchObject([
        1,
        { error: { code: 'E_INPUT_SHAPE' } },
      ]);

      const { code, stdout, stderr } = await runStemma(['import', at('partly'), '--json', ...home]);
      const { imported, refused } = JSON.parse(stdout) as Imported;
      expect(code).toBe(1);
      expect(namesOf({ imported, refused })).toEqual(['lines-1', 'list-1', 'list-4']);
      expect(refused).toEqual([
        {
          file: at('partly/lines.jsonl'),
          place: 'line 2',
          code: 'E_ROLE_UNKNOWN',
          message: expect.anything(),
        },
        {
          file: at('partly/lines.jsonl'),
          place: 'line 3',
          code: 'E_INPUT_TRUNCATED',
          message: expect.anything(),
        },
        { file: list, place: 'line 1, item 1', code: 'E_INPUT_SHAPE', message: expect.anything() },
        { file: list, place: 'line 1, item 2', code: 'E_ROLE_UNKNOWN', message: expect.anything() },
      ]);
      expect(stderr).toContain('lines.jsonl: refused: line 2, message 1 ');
      const again = await runStemma(['import', at('partly'), ...home]);
      expect(again.stdout).toContain(
        'already there: 3 conversations\n4 of 7 conversations of the imported files could not be read',
      );
    },
  );

  it(
    'records nothing twice: the same content under the same name is the same history, compressed or not',
    { tags: ['record§3:imports'] },
    async () => {
      const plain = write('a.json', talk('a'));
      const [again] = ((await stemmaJson(['import', plain, ...home])) as Imported).imported;
      const [first] = ((await stemmaJson(['import', at('runs/inner/a.json.gz'), ...home])) as Imported)
        .imported;
      expect(again?.history).toBe(first?.history);
    },
  );

  it('puts a number behind a name that another history has, each time the same', async () => {
    mkdirSync(at('others'), { recursive: true });
    const file = write('others/b.json', talk('another b'));
    expect(namesOf((await stemmaJson(['import', file, ...home])) as Imported)).toEqual(['b-2']);
    expect(namesOf((await stemmaJson(['import', file, ...home])) as Imported)).toEqual(['b-2']);
    const taken = await runStemma(['import', file, '--history', 'b', ...home]);
    expect(taken.stderr).toContain('E_HISTORY_EXISTS');
  });

  it('takes the name that the file gives a conversation, else its number', async () => {
    const file = write('several.json', [
      { name: 'Order 4711!', messages: talk('x') },
      { messages: talk('y') },
    ]);
    expect(namesOf((await stemmaJson(['import', file, ...home])) as Imported)).toEqual([
      'Order-4711',
      'several-2',
    ]);
  });

  it('names a history after any file: by its letters, else by a hash of the name', async () => {
    const names = ['Вопрос 7', '会議', '…', '——', 'a b..c', 'n'.repeat(200)];
    const files = names.map((name) => write(`${name}.json`, talk(name)));
    expect(namesOf((await stemmaJson(['import', ...files, ...home])) as Imported)).toEqual([
      'Вопрос-7',
      '会議',
      expect.stringMatching(/^file-[0-9a-f]{8}$/),
      expect.stringMatching(/^file-[0-9a-f]{8}$/),
      'a-b..c',
      'n'.repeat(100),
    ]);
    // A system may write the same letters in another form.
    const composed = write('é 会.json', talk('e'));
    const apart = write(`${'é 会'.normalize('NFD')}.json`, talk('e'));
    const [one, other] = namesOf((await stemmaJson(['import', composed, apart, ...home])) as Imported);
    expect([one, other]).toEqual(['é-会', 'é-会']);
    // And so may whoever types them.
    const { stdout } = await runStemma(['thread', 'é-会'.normalize('NFD'), '@c1', ...home]);
    expect(stdout).toContain('Hi.');
  });

  it('names what comes from a pipe after what is said first, the same again for the same, else with a number', async () => {
    const piped = async (messages: readonly object[], ...more: readonly string[]) => {
      const { stdout } = await runStemma(['import', '-', '--json', ...more, ...home], {
        input: JSON.stringify(messages),
      });
      return namesOf(JSON.parse(stdout) as Imported);
    };
    const ask = (content: string) => [
      { role: 'user', content },
      { role: 'assistant', content: 'Yes.' },
    ];
    expect(await piped(ask('Where is my parcel, please?'))).toEqual(['Where-is-my-parcel-please']);
    expect(await piped(ask('Where is my parcel, please?'))).toEqual(['Where-is-my-parcel-please']);
    expect(await piped(ask('Where is my parcel, please? Hurry!'))).toEqual([
      'Where-is-my-parcel-please-Hurry',
    ]);
    expect(await piped([...ask('Where is my parcel, please?'), USER])).toEqual([
      'Where-is-my-parcel-please-2',
    ]);
    expect(await piped([{ role: 'assistant', content: 'Hello?' }])).toEqual(['stdin']);
    expect(await piped(ask('What ails me now?'), '--erasable')).toEqual(['stdin-2']);
  });

  it('names several files by a pattern, and refuses one name for several', async () => {
    const files = [write('p.json', talk('p')), write('q.json', talk('q'))];
    const named = (await stemmaJson(['import', ...files, '--history', 'run-{file}', ...home])) as Imported;
    expect(namesOf(named)).toEqual(['run-p', 'run-q']);
    const counted = (await stemmaJson(['import', ...files, '--history', 'n{n}', ...home])) as Imported;
    expect(namesOf(counted)).toEqual(['n1', 'n2']);
    const { code, stderr } = await runStemma(['import', ...files, '--history', 'one', ...home]);
    expect([code, stderr]).toEqual([64, expect.stringContaining('one-{file}')]);
  });

  it.each([
    ['a folder without a transcript', ['empty'], 'E_IO', 74],
    ['files of which none is one', ['runs/other.json', 'runs/cut.json.gz'], 'E_FORMAT_UNKNOWN', 1],
    ['a file that is not there among others', ['runs/gone.json', 'runs/gone-too.json'], 'E_IO', 74],
  ])('refuses %s', async (_what, paths, error, exit) => {
    mkdirSync(at('empty'), { recursive: true });
    const { code, stderr } = await runStemma(['import', ...paths.map((path) => at(path)), ...home]);
    expect([code, stderr]).toEqual([exit, expect.stringContaining(error)]);
  });
});

it.each([
  ['task-00', 'task-00'],
  ['Order 4711!', 'Order-4711'],
  ['../../etc/passwd', 'etc-passwd'],
  ['‮evil', 'evil'],
  ['', undefined],
  ['…', undefined],
  ['_', undefined],
  ['Gespräch über Äpfel', 'Gespräch-über-Äpfel'],
  ['Straße nach Łódź, Ørsted', 'Straße-nach-Łódź-Ørsted'],
  ['Вопрос о возврате', 'Вопрос-о-возврате'],
  ['会議 2026-03', '会議-2026-03'],
  ['é'.normalize('NFD'), 'é'],
  ['ab\u200bcd\u3164ef', 'ab-cd-ef'],
  ['会'.repeat(40), '会'.repeat(33)],
  ['v1.2 (final)', 'v1.2-final'],
  ['.hidden', 'hidden'],
  [`${'x'.repeat(99)} y`, 'x'.repeat(99)],
  ['x'.repeat(300), 'x'.repeat(100)],
])(
  'the name of a history is made of letters of any script, digits and . _ -: %j becomes %j',
  { tags: ['context-tree§5:positions'] },
  (text, name) => {
    expect(asName(text)).toBe(name);
  },
);

describe('every format is the same conversation however it comes', () => {
  const samples = join(import.meta.dirname, '../../../samples');
  const question = { role: 'user', content: 'Where is it?' };
  const FILES: Readonly<Record<string, () => Promise<Buffer | string>>> = {
    'harbour-tram.chat.json': async () => readFileSync(join(samples, 'harbour-tram.chat.json')),
    'night-ferry.ctree.jsonl': async () => readFileSync(join(samples, 'night-ferry.ctree.jsonl')),
    'slow-checkout.steps.jsonl': async () => readFileSync(join(samples, 'slow-checkout.steps.jsonl')),
    'export.pact.json': async () => (await runStemma(['export', 'a', '@c1', ...home])).stdout,
    'anthropic.json': async () =>
      JSON.stringify({ system: 'Be brief.', messages: [question, { role: 'assistant', content: 'Here.' }] }),
    'responses.json': async () =>
      JSON.stringify({
        instructions: 'Be brief.',
        input: [question, { type: 'message', role: 'assistant', content: 'Here.' }],
      }),
    'gemini.json': async () =>
      JSON.stringify({
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [
          { role: 'user', parts: [{ text: 'Where is it?' }] },
          { role: 'model', parts: [{ text: 'Here.' }] },
        ],
      }),
  };
  const hashesOf = async (...args: readonly string[]): Promise<readonly unknown[][]> => {
    const { imported } = (await stemmaJson(['import', ...args, ...home])) as Imported;
    const all: unknown[][] = [];
    for (const { history } of imported.flatMap((one) => one.histories ?? [one])) {
      const found = (await stemmaJson(['snapshots', history, ...home])) as { treeHash: string }[];
      all.push(found.map(({ treeHash }) => treeHash));
    }
    return all;
  };

  it.each(Object.entries(FILES))(
    '%s: alone, compressed, in a folder, through a pipe, among several, as pieces of a gzip file',
    { tags: ['context-tree§9'] },
    async (file, bytesOf) => {
      const bytes = await bytesOf();
      const name = file.replace(/\..*$/, '');
      for (const place of ['alone', `in-${name}`, `gz-${name}`]) mkdirSync(at(place), { recursive: true });
      writeFileSync(at('alone', file), bytes);
      writeFileSync(at(`in-${name}`, file), bytes);
      writeFileSync(at(`gz-${name}`, `${file}.gz`), gzipSync(bytes));
      const half = Math.floor(bytes.length / 2);
      const pieces = [Buffer.from(bytes).subarray(0, half), Buffer.from(bytes).subarray(half)];
      writeFileSync(at('alone', `pieces-${file}.gz`), Buffer.concat(pieces.map((piece) => gzipSync(piece))));

      const [alone, another] = await hashesOf(at('alone', file), '--history', `alone-${name}`);
      expect([alone?.length === 0, another]).toEqual([false, undefined]);
      expect(await hashesOf(at(`in-${name}`))).toEqual([alone]);
      expect(await hashesOf(at(`gz-${name}`), '--history', `gz-{file}`)).toEqual([alone]);
      expect(await hashesOf(at('alone', `pieces-${file}.gz`))).toEqual([alone]);
      const several = [at('alone', file), at(`gz-${name}`, `${file}.gz`)];
      expect(await hashesOf(...several, '--history', '{file}-of-{n}')).toEqual([alone, alone]);
      const piped = await runStemma(['import', '-', '--history', `piped-${name}`, '--json', ...home], {
        input: gzipSync(bytes),
      });
      expect(JSON.parse(piped.stdout)).toMatchObject({ refused: [] });
      expect(await hashesOf(at('alone', file), '--history', `piped-${name}`)).toEqual([alone]);
    },
  );

  it.each(Object.entries(FILES))(
    '%s, cut: refused by its name, and the others go on',
    async (file, bytesOf) => {
      const bytes = Buffer.from(await bytesOf());
      mkdirSync(at(`cut-${file}`), { recursive: true });
      // In the last line, where there are several.
      writeFileSync(at(`cut-${file}`, file), bytes.subarray(0, bytes.length - 3));
      writeFileSync(at(`cut-${file}`, `${file}.gz`), gzipSync(bytes).subarray(0, -12));
      write(`cut-${file}/whole.json`, talk('whole'));
      const { code, stdout } = await runStemma(['import', at(`cut-${file}`), '--json', ...home]);
      const { imported, refused } = JSON.parse(stdout) as Imported;
      expect(code).toBe(1);
      expect(imported.map((one) => one.file)).toContain(at(`cut-${file}`, 'whole.json'));
      // A line that is cut is a line that the engine of C-Trees skips; the report says so.
      const isSkipped = file.includes('ctree');
      expect(refused.map((one) => [one.file, one.code])).toEqual([
        ...(isSkipped ? [] : [[at(`cut-${file}`, file), 'E_INPUT_TRUNCATED']]),
        [at(`cut-${file}`, `${file}.gz`), 'E_INPUT_TRUNCATED'],
      ]);
    },
  );
});
