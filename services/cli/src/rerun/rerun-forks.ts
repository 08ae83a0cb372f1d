import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { ReadRun, RunCall } from '@stemma/reruns';
import { randomUUID } from 'node:crypto';

/** The branches on which calls are recorded that went to their providers. */
export type RerunForks = {
  /** The branch for calls of the conversation that left the recording at a call. @param of its label; null: at none */
  readonly placeOf: (of: string | null) => Promise<string>;
  /** Their names, as `HISTORY:NAME`. */
  readonly names: () => readonly string[];
};

/**
 * Forks the history of a conversation where it leaves the recording, once for each: at the position before the call that differs. One
 * that leaves at its first call, or is in no recording, begins a branch of its own.
 */
export const openForks = (
  home: Home,
  { calls }: Pick<ReadRun, 'calls'>,
  { history, name, actor, notes }: Record<'history' | 'name' | 'actor' | 'notes', string>,
): RerunForks => {
  const places = new Map<string | null, Promise<string>>();
  const names: string[] = [];
  const fork = async (call: RunCall | undefined): Promise<string> => {
    const own = names.length === 0 ? name : `${name}-${names.length + 1}`;
    const place = `${call?.history ?? history}:${own}`;
    names.push(place);
    const before = call?.before ?? null;
    if (before === null) return place;
    const branch = branchRefOf(before.history, before.branchId);
    const id = randomUUID();
    const { branchRef, steps } = await home.branches.resolveSteps(branch, id, [
      { op: 'fork', name: own, at: `@s${before.seq}` },
    ]);
    const { history: where, branchId } = branchRef;
    await home.submit({ id, history: where, branchId, by: { actor }, notes, steps: [...steps] });
    return place;
  };
  return {
    placeOf: (of) => {
      const known = places.get(of) ?? fork(of === null ? undefined : calls.get(of));
      places.set(of, known);
      return known;
    },
    names: () => [...names],
  };
};
