import { FRAME_VERSION } from '@stemma/events';
import { branchRefOf } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { boundsOf } from '@stemma/log';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runStemma, stemmaJson } from '../run-stemma.ts';

const SAMPLES = join(import.meta.dirname, '../../../../samples');

/** Contents of more than 4 KiB stand in a file of their own here: one of 256 KiB has nothing that one of 6 has not, only more places. */
const INLINE = 4 * 1024;
const LARGE = 'A long report, line by line.\n'.repeat(200);

/**
 * Makes a home of the samples: three histories, a branch, a content that has a file of its own, an open cycle, calls with their
 * bytes, a history that can be erased. Its rows were built in one go, and have what every question folds.
 */
export const makeHome = async (home: string, folder: string): Promise<void> => {
  const bounds = boundsOf(FRAME_VERSION);
  const { inline } = bounds;
  try {
    // Only writers look at it.
    Object.assign(bounds, { inline: INLINE });
    await fillHome(home, folder);
  } finally {
    Object.assign(bounds, { inline });
  }
  rmSync(join(home, 'rows'), { recursive: true });
  for (const question of QUESTIONS) await runStemma([...question, '--home', home]);
};

const fillHome = async (home: string, folder: string): Promise<void> => {
  const at = ['--home', home];
  const must = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await runStemma([...args, ...at]);
    if (code !== 0) throw new Error(`stemma ${args.join(' ')}: ${stderr}`);
  };
  for (const [name, file] of [
    ['tram', 'harbour-tram.chat.json'],
    ['ferry', 'night-ferry.ctree.jsonl'],
    ['checkout', 'slow-checkout.steps.jsonl'],
  ] as const)
    await must('import', join(SAMPLES, file), '--history', name);
  const long = join(folder, 'long.json');
  writeFileSync(
    long,
    JSON.stringify([
      { role: 'user', content: 'Write the report.' },
      { role: 'assistant', content: LARGE },
      { role: 'user', content: 'Thank you.' },
      { role: 'assistant', content: 'With pleasure.' },
    ]),
  );
  await must('import', long, '--history', 'long');
  const { branch } = (await stemmaJson(['fork', 'tram', '@c5', '--name', 'side', ...at])) as {
    branch: string;
  };
  await must('insert', branch, '--content', 'on the side');
  await must('commit', branch);
  await must('name', 'tram', 'kept');
  await must('insert', 'checkout', '--content', 'not committed yet');
  await must('start', '--name', WRITTEN_TO);
  await must('inject', WRITTEN_TO, 'said before');
  // From here on every command is redacted, and a checkpoint signed: the home has all the keys that it can have.
  writeFileSync(join(home, 'redact.json'), '{"labels": true}');
  await must('inject', WRITTEN_TO, `the key is ${SECRET}`);
  await must('checkpoint', '--out', join(folder, 'checkpoint'));
  await must('start', '--name', 'private', '--erasable');
  await must('insert', 'private', '--content', 'for few');
  await must('commit', 'private');
  const { history } = (await stemmaJson(['start', '--name', 'agent', ...at])) as { history: string };
  await recordCalls(home, history);
};

const recordCalls = async (directory: string, history: string): Promise<void> => {
  const home = await openHome({ directory });
  const by = { recorder: 'agent' };
  const messages = [{ role: 'user', content: 'Where is the ferry?' }];
  for (let turn = 1; turn <= 3; turn++) {
    const request = Buffer.from(JSON.stringify({ model: 'm', messages }));
    const facts = { api: 'openai.chat', model: 'm', parameters: {}, tools: null, request } as const;
    await home.calls.recordCall(branchRefOf(history, 0), {
      id: `call-${turn}`,
      by,
      messages: [...messages],
      facts,
    });
    const answer = { role: 'assistant', content: `At sea, ${turn} miles out.` };
    await home.calls.finishCall(branchRefOf(history, 0), {
      by,
      attemptId: `call-${turn}`,
      status: 'answered',
      httpStatus: 200,
      finishReason: 'stop',
      model: 'm',
      usage: { input: turn, output: 5, cached: null, cacheWrite: null, reasoning: null },
      firstByteMs: 3,
      durationMs: 12,
      error: null,
      answer,
      response: Buffer.from(
        JSON.stringify({ choices: [{ index: 0, message: answer, finish_reason: 'stop' }] }),
      ),
    });
    messages.push(answer, { role: 'user', content: `And now, ${turn}?` });
  }
  await home.close();
};

/** Looks like a key of a model API. */
const SECRET = `sk-proj-T3BlbkFJ${'0123456789abcdefghijABCDEFGHIJ'.repeat(2)}`;

/** The history that is written to while the home is damaged; the others stay as they are. */
export const WRITTEN_TO = 'notes';

export const HISTORIES = ['tram', 'ferry', 'checkout', 'long', 'private', 'agent'] as const;

export type Question = readonly string[];

/** The end of a call is recorded behind the snapshot that the call was made with. */
const RESPONSE: Question = ['call', 'agent', '@c3', '--raw', 'response'];

/** Questions whose answers the log fixes for ever: of a position that is named. */
const FIXED = [
  ['thread', 'tram', '@c3'],
  ['thread', 'checkout', '@c9'],
  ['thread', 'ferry', '@c2'],
  ['export', 'tram', '@c5'],
  ['export', 'long', '@c2'],
  ['show', 'checkout', '@c4'],
  ['diff', 'tram', '@c1', '@c7'],
  ['diff', 'checkout', '@c3', '@c12'],
  ['select', 'ferry', '@c3 ^seq .cb'],
  ['stages', 'checkout', '@c7'],
  ['blame', 'tram', '@c6'],
  ['thread', 'private', '@c1'],
  ['thread', 'agent', '@c3'],
  ['call', 'agent', '@c2', '--raw', 'request'],
  RESPONSE,
] as const;

const M7: Question = ['why', 'tram', 'm7'];
const SIDE_BY_SIDE: Question = ['compare', 'tram', 'side', 'main'];

/** The frame with which what a question is about came into its history. */
export const NEEDED: ReadonlyMap<Question, number> = new Map([
  [M7, 3],
  [SIDE_BY_SIDE, 18],
  [RESPONSE, 6],
]);

/** Questions whose answers may be shorter where the log has lost something, but never without a word. */
const NEWEST = [
  ['histories', '--json'],
  ['snapshots', 'tram'],
  ['snapshots', 'checkout'],
  ['snapshots', 'ferry'],
  ['snapshots', 'long'],
  ['branches', 'tram'],
  ['list'],
  ['thread', 'tram'],
  ['thread', 'long'],
  ['show', 'checkout'],
  ['export', 'ferry'],
  ['log', 'tram'],
  ['log', 'ferry'],
  ['log', 'checkout'],
  M7,
  ['interventions', 'tram'],
  SIDE_BY_SIDE,
  ['select', 'checkout', '^seq'],
  ['cache', 'tram'],
  ['stages', 'ferry'],
  ['calls', 'agent'],
  ['log', 'private'],
  ['grep', 'ferry'],
  ['grep', 'report', '--json'],
] as const;

/** Questions about the home as it is now, whose answers nobody compares. */
const OF_NOW = [['doctor'], ['stats']] as const;

export const QUESTIONS: readonly Question[] = [...FIXED, ...NEWEST, ...OF_NOW];

export const isFixed = (question: Question): boolean =>
  FIXED.some((each) => each.join(' ') === question.join(' '));

export const isOfNow = (question: Question): boolean => OF_NOW.some((each) => each === question);
