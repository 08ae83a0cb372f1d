import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { LiveStart } from '@stemma/rerun';
import type { LiveBranch, LiveSettings, ReadRun, RunCall, WhatIf } from '@stemma/reruns';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';

/** The branches on which calls are recorded that went to their providers. */
export type RerunForks = {
  /** The branch for the calls of a conversation that left the recording. */
  readonly placeOf: (start: LiveStart) => Promise<LiveBranch>;
  /** Those there are so far, the first one first. */
  readonly all: () => readonly RerunFork[];
};

/** A branch with live calls. `name`: as `HISTORY:NAME`. */
export type RerunFork = { readonly name: string; readonly branch: BranchRef };

/** Whose forks they are, and what is asked in them. */
export type RerunForkOptions = {
  /** That of conversations that have nothing to do with the recorded run. */
  readonly history: string;
  /** As the command named that history. */
  readonly named: string;
  readonly name: string;
  readonly actor: string;
  readonly notes: string;
  readonly whatIf: WhatIf | null;
  readonly settings: LiveSettings | null;
};

/** The first position of a history: before everything, or that of its first call. */
const BEGINNING = { branchId: 0, seq: 0 };

/**
 * Forks a history where a conversation leaves the recording, once for each: before the call that it leaves at, or behind it if that
 * is what it goes on from. One that begins has a branch that begins, too.
 */
export const openForks = (
  home: Home,
  { calls }: Pick<ReadRun, 'calls'>,
  options: RerunForkOptions,
): RerunForks => {
  const places = new Map<number, Promise<LiveBranch>>();
  const forks: RerunFork[] = [];
  let started = 0;
  const fork = async ({ of, how }: LiveStart): Promise<LiveBranch> => {
    const number = ++started;
    const name = number === 1 ? options.name : `${options.name}-${number}`;
    const call = of === null ? undefined : calls.get(of);
    const history = call?.history ?? options.history;
    const question = how === 'before' && of === options.whatIf?.from ? options.whatIf : null;
    const isBehind = how === 'behind' || (question !== null && question.answer !== null);
    const from = how === 'begins' ? null : isBehind ? (call ?? null) : (call?.before ?? null);
    const branch = await startFork(home, history, from, { name, question, options });
    if (question !== null && question.answer !== null && call !== undefined)
      await addAnswer(home, branch, call, question.answer, options);
    // A person reads the history by the name that was given.
    const known = history === options.history ? options.named : history;
    forks.push({ name: `${known}:${name}`, branch });
    return { place: `${history}:${name}`, isShared: from === null };
  };
  return {
    placeOf: (start) => {
      const known = places.get(start.root) ?? fork(start);
      places.set(start.root, known);
      return known;
    },
    all: () => [...forks],
  };
};

type Fork = { readonly name: string; readonly question: WhatIf | null; readonly options: RerunForkOptions };

/** @param from the call behind which it starts; null: the beginning of the history */
const startFork = async (
  home: Home,
  history: string,
  from: RunCall | null,
  { name, question, options }: Fork,
): Promise<BranchRef> => {
  const { actor, notes, settings } = options;
  const by = { by: { actor }, ...defined({ notes }) };
  const at = from === null ? BEGINNING : { branchId: from.branchId, seq: from.seq };
  const description = question?.description ?? 'rerun';
  const step = { op: 'fork', name, description, at } as const;
  const started = await home.submit({
    id: randomUUID(),
    ...{ history, branchId: at.branchId, ...by, steps: [step] },
  });
  const set = {
    // What is changed of one call stays in the later ones.
    ...(question !== null && question.edit !== null ? { steer: true } : {}),
    ...(settings === null ? {} : { 'rerun.set': settings.set }),
    ...(settings === null || settings.mind === null ? {} : { 'rerun.mind': settings.mind.spec }),
  };
  const { branchId } = started;
  if (Object.keys(set).length > 0)
    await home.submit({ id: randomUUID(), history, branchId, ...by, steps: [{ op: 'config', set }] });
  return branchRefOf(history, branchId);
};

/** The answer that a question gives stands behind the call, where the recorded one would. */
const addAnswer = async (
  home: Home,
  branch: BranchRef,
  { history, branchId, seq }: RunCall,
  answer: NonNullable<WhatIf['answer']>,
  { actor, notes }: RerunForkOptions,
): Promise<void> => {
  const { appendAnswer, messagesOf } = await import('@stemma/agent-loop');
  const view = await home.read.view(await home.position(branchRefOf(history, branchId), `@s${seq}`));
  const ordinal = messagesOf(view).length;
  await appendAnswer(home, branch, answer, {
    id: randomUUID(),
    by: { actor },
    ordinal,
    ...defined({ notes }),
  });
};
