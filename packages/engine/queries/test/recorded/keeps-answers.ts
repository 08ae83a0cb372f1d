import { historyId } from '@stemma/history';
import { branchRefOf, readTipSeq, type BranchRef, type Position } from '@stemma/history-store';
import { listBranches, listFrameSummaries } from '@stemma/read-models';
import type { GenerationView } from '@stemma/row-store';
import { expect, test } from 'vitest';
import { positionOf } from '../../src/read.ts';
import { goldenLines, openAnswerLines, type AnswerLines } from './answer-lines.ts';
import { drawFrom, type Draw } from './random-commands.ts';
import { recordedHistories, type RecordedHistories } from './recorded-histories.ts';

/** The recorded histories, and what is drawn from them to be asked about. */
export type Asking = RecordedHistories & {
  readonly ask: AnswerLines['ask'];
  readonly draw: Draw;
  readonly read: <T>(fn: (view: GenerationView) => T) => Promise<T>;
  readonly branchesOf: (history: string) => Promise<readonly BranchRef[]>;
  /** A number of the positions of a history, on any of its branches. */
  readonly positionsOf: (history: string, count: number) => Promise<readonly Position[]>;
  readonly idsOf: (history: string) => Promise<readonly string[]>;
};

export const ALPHA = historyId('alpha', '');
export const BETA = historyId('beta', '');
export const DELTA = historyId('delta', '');
export const GAMMA = historyId('gamma', '');
export const OMEGA = historyId('omega', '');
/** Those of many random commands. */
export const RICH = ['alpha', 'beta', 'delta', 'epsilon', 'zeta'].map((name) => historyId(name, ''));
export const HISTORIES = [...RICH, GAMMA, OMEGA];

const openAsking = async (ask: AnswerLines['ask']): Promise<Asking> => {
  const recorded = await recordedHistories();
  const { projector } = recorded;
  const draw = drawFrom(1);
  const read: Asking['read'] = (fn) => projector.read(fn);
  return {
    ...recorded,
    ask,
    draw,
    read,
    branchesOf: (history) =>
      read((view) => listBranches(view, history).map(({ branchId }) => branchRefOf(history, branchId))),
    positionsOf: (history, count) =>
      read((view) => {
        const frames = listFrameSummaries(view, history).filter(({ observed }) => !observed);
        const tips = listBranches(view, history).map(({ branchId }) => readTipSeq(view, history, branchId));
        const asked = [...tips, ...frames.map(({ seq }) => seq)];
        return Array.from({ length: count }, () =>
          positionOf(view, branchRefOf(history, 0), `@s${draw.of(asked) ?? 0}`),
        );
      }),
    idsOf: async (history) => {
      const ids = new Set<string>();
      for (const { seq } of await read((view) => listFrameSummaries(view, history)))
        for (const event of await projector.payloads.events(history, seq))
          if ('node' in event) ids.add(typeof event.node === 'string' ? event.node : event.node.id);
      return [...ids];
    },
  };
};

/** What is answered about the recorded histories stays as it is in a file. */
export const keepsAnswers = (about: string, questions: (asking: Asking) => Promise<void>): void => {
  test(`what is answered about ${about} of the recorded histories is what it was`, async () => {
    const { lines, ask } = openAnswerLines();
    await questions(await openAsking(ask));
    const golden = goldenLines(about.replaceAll(' ', '-'), lines);
    for (const [i, line] of lines.entries()) expect(line).toBe(golden[i]);
    expect(lines).toHaveLength(golden.length);
  });
};
