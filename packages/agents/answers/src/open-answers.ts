import type { AnswerOf, InputOf, Question, QUESTIONS } from '@stemma/api';
import { fail, issueText } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { z } from 'zod';
import type { AnswerSources, WholeQuestion } from './answer.ts';
import { ANSWERS } from './answers/all.ts';
import { openPathHider, type PathHider } from './hide-paths.ts';
import { openPreviews } from './preview.ts';
import { sharedFor } from './shared-for.ts';
import { openSnapshotPages } from './snapshot-page.ts';
import { openTreeCache } from './tree-cache.ts';

/** What reads the whole log is made once: who asks within so many milliseconds of its end is given the same. */
const READ_INTERVAL = 2_000;

type Contracts = typeof QUESTIONS;

/** Answers what is asked of one home. */
export type Answers = {
  /**
   * The answer of a question: what a `GET` gives over HTTP.
   *
   * @throws E_USAGE for what is not of the contract, and what the contract says
   */
  readonly ask: <Q extends Contracts[WholeQuestion]>(question: Q, input: InputOf<Q>) => Promise<AnswerOf<Q>>;
  /** The same by name, for input that was checked. */
  readonly byName: {
    readonly [Name in WholeQuestion]: (input: InputOf<Contracts[Name]>) => Promise<AnswerOf<Contracts[Name]>>;
  };
};

/** @param hider hides where the home is. Default: all of this machine's folders */
export const openAnswers = (home: Home, hider: PathHider = openPathHider(home.directory)): Answers => {
  const reading: AnswerSources = {
    home,
    previews: openPreviews(home),
    trees: openTreeCache(home),
    snapshotPages: openSnapshotPages(home),
    examine: sharedFor(READ_INTERVAL, () => home.operations.doctor()),
    signed: sharedFor(READ_INTERVAL, () => home.operations.checkpoint()),
    hider,
  };
  type Untyped = (reading: AnswerSources, input: unknown) => Promise<unknown>;
  const byName = Object.fromEntries(
    Object.entries(ANSWERS).map(([name, answer]) => [
      name,
      (input: unknown) => (answer as Untyped)(reading, input),
    ]),
  );
  return {
    ask: (async (question: Contracts[WholeQuestion], input: unknown) =>
      byName[question.name]?.(checked(question, input))) as Answers['ask'],
    byName: byName as unknown as Answers['byName'],
  };
};

const checked = (question: Question, input: unknown): unknown => {
  const shape = { ...question.params?.shape, ...question.query?.shape };
  const { success, data, error } = z.strictObject(shape).safeParse(input);
  if (success) return data;
  const { at, sentence } = issueText(error.issues, 'the question');
  throw fail('E_USAGE', sentence, { at });
};
