import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runStemma, temporaryFolder } from '../run-stemma.ts';
import { asShown, mask } from '../tutorial-page.ts';
import { wordsOf } from './command-lines.ts';
import { sessionsOf, withSessionOutputs } from './sessions.ts';

const ROOT = join(import.meta.dirname, '../../../..');

type Page = {
  /** Commands that a reader has run before, in a home that begins empty. */
  readonly before: readonly string[];
  /** Sessions that are not run here, by how their command begins, and why. */
  readonly notRun?: Readonly<Record<string, string>>;
};

const arm = (name: string, seed: number): readonly string[] => [
  `fork sea --name ${name} --notes ${name}`,
  `config set sea:${name} seed=${seed} --notes ${name}`,
  `run sea:${name} --rounds 20`,
];

const PAGES: Readonly<Record<string, Page>> = {
  'docs/agents.md': { before: [] },
  'docs/analysis.md': {
    before: [
      'pool init sea --messages samples/seeds.txt --sample-size 3 --seed 7',
      'run sea --rounds 10',
      ...['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4'].flatMap((name, i) => arm(name, 20 + i)),
    ],
  },
  'docs/audit.md': {
    before: [
      'import parcel.json --history plain',
      'import parcel.json --history steered',
      "inject steered 'Mind the gap.' --role user --actor ada --notes 'to see what happens'",
      'commit plain',
      'commit steered',
    ],
  },
  'docs/causes.md': {
    before: [
      'import parcel.json --history parcel',
      'fork parcel @c2 --name kinder --notes kinder',
      "replace parcel:kinder m0 --content 'You answer customers of a bicycle shop. A refund needs a return number, unless the parcel never came.' --actor ann --notes 'Name the exception.'",
      'commit parcel:kinder --notes kinder',
    ],
  },
  'docs/pools.md': {
    before: [],
    notRun: {
      'stemma run sea --rounds 100 --checkpoint-every 25 --cost': 'a runner makes its rounds',
      'stemma import session': 'a session of Logosphere: logosphere-branches.int.test.ts imports one',
      'stemma interventions tide': 'the same session',
      'stemma export tide': 'the same session',
      'stemma runner': 'it runs until it is stopped',
      'stemma runs': 'a runner makes its rounds',
      'stemma pool init sea --messages samples/seeds.txt --embedder': 'a server gives its vectors',
      'stemma config set sea embedder': 'a server gives its vectors',
      'stemma pool embed': 'a server gives its vectors, or a file of the reader’s own',
      'stemma fork sea --name again': 'one line with the next, which makes 180 rounds',
      'stemma run sea --rounds 60': 'makes 180 rounds',
      'stemma pool compare': 'compares those 180 rounds',
    },
  },
  'docs/skill/SKILL.md': { before: ['import samples/slow-checkout.steps.jsonl --history slow'] },
  'docs/questions.md': { before: ['import samples/slow-checkout.steps.jsonl --history slow-checkout'] },
};

const back = process.cwd();
let folder: ReturnType<typeof temporaryFolder> | undefined;
afterEach(() => {
  process.chdir(back);
  folder?.[Symbol.dispose]();
});

/** A folder in which the files are that pages name, and a home that is empty. */
const newPlace = (): Record<string, string> => {
  folder = temporaryFolder();
  const here = join(folder.path, 'here');
  mkdirSync(join(here, 'samples'), { recursive: true });
  for (const [from, to] of [
    ['samples/seeds.txt', 'samples/seeds.txt'],
    ['samples/slow-checkout.steps.jsonl', 'samples/slow-checkout.steps.jsonl'],
    ['docs/tutorial/parcel.json', 'parcel.json'],
    ['docs/analysis/before.jsonl', 'before.jsonl'],
    ['docs/analysis/after.jsonl', 'after.jsonl'],
  ] as const)
    copyFileSync(join(ROOT, from), join(here, to));
  process.chdir(here);
  return { STEMMA_ACTOR: 'ann', STEMMA_HOME: join(here, '.stemma') };
};

test.each(Object.entries(PAGES))(
  'every session of %s prints what the page shows (STEMMA_WRITE_PAGES=1 writes it)',
  async (name, { before, notRun = {} }) => {
    const env = newPlace();
    const run = async (line: string) => {
      const { code, stdout, stderr } = await runStemma(wordsOf(line), { env });
      expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
      return { stdout, stderr };
    };
    for (const line of before) await run(line);
    const file = join(ROOT, name);
    const page = readFileSync(file, 'utf8');
    const printed = new Map<number, string>();
    for (const { line, command, output } of sessionsOf(page)) {
      if (Object.keys(notRun).some((each) => command.startsWith(each))) continue;
      const { stdout, stderr } = await run(command.replace(/^(?:\.\/)?stemma /, ''));
      // A page may leave out what is said beside a result; where a result is long, it shows a part.
      const isShown = [stdout + stderr, stdout].some((text) => asShown(text, output) === mask(output));
      if (output !== '' && !isShown) printed.set(line, stdout + stderr);
    }
    if (process.env['STEMMA_WRITE_PAGES'] === '1') writeFileSync(file, withSessionOutputs(page, printed));
    else expect(Object.fromEntries(printed)).toEqual({});
  },
);

test('a session is a command and the lines up to the next, and is written where it stands', () => {
  const page = 'Text\n```\n$ a\none\ntwo\n$ b\n```\n$ c\n```\n$ d\nx\n```\n';
  expect(sessionsOf(page)).toEqual([
    { line: 3, command: 'a', output: 'one\ntwo\n' },
    { line: 6, command: 'b', output: '' },
    { line: 10, command: 'd', output: 'x\n' },
  ]);
  expect(
    withSessionOutputs(
      page,
      new Map([
        [3, '1\n'],
        [6, '2\n3\n'],
      ]),
    ),
  ).toBe('Text\n```\n$ a\n1\n$ b\n2\n3\n```\n$ c\n```\n$ d\nx\n```\n');
});
