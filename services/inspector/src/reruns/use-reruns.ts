import type { AnswerOf, QUESTIONS } from '@stemma/api';
import { useQuery, type Query } from '../asking/queries.ts';
import { addressById } from '../page/chosen.ts';

export type RunsAnswer = AnswerOf<typeof QUESTIONS.runs>;
export type RerunOfHistory = RunsAnswer['reruns'][number];

/** The runs of a history, and what came of running them again; the newest last. */
export const useReruns = (history: string): Query<RunsAnswer> =>
  useQuery(`now/h/${history}/runs`, (client) => client.runs({ history }), `runs/${history}`);

/** A recorded call as an address: `@c4` is on the branch that answered, `2@c4` on another one of its history, `h…:2@c4` elsewhere. */
export const callAddress = (
  label: string,
  { history, branchId }: Pick<RerunOfHistory, 'history' | 'branchId'>,
): { readonly history: string; readonly at: string } | null => {
  const [, of, at] = /^(.*)(@[cs]\d+)$/.exec(label) ?? [];
  if (of === undefined || at === undefined) return null;
  if (of === '') return { history: addressById(history, branchId), at };
  return { history: /^\d+$/.test(of) ? addressById(history, Number(of)) : of, at };
};
