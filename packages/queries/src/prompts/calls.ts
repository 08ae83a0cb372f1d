import { toHex } from '@stemma/canonical';
import { blockJson } from '@stemma/context-tree';
import { readThreadTimeline, readTipSeq, type BranchRef, type ThreadEntry } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { countCallsAt, firstCallRow } from '@stemma/read-models';
import type { CallPrompt, CallsOptions } from './calls-types.ts';
import { readMessageContent } from './measure.ts';

/**
 * Yields the prompts of the calls on a branch's ancestor path, oldest first. A prompt repeats most of the one before,
 * so each says how many messages it shares with that, and gives the others: all of them together are as large as what the branch
 * ever showed, not as the sum of its prompts. Contents are read when they are yielded.
 */
export async function* listCalls(
  projection: Projection,
  { history, branchId }: BranchRef,
  { after: from = -1 }: CallsOptions = {},
): AsyncGenerator<CallPrompt> {
  const { threadTimeline, hasCalls } = await projection.read((rows) => ({
    threadTimeline: [...readThreadTimeline(rows, history, branchId, readTipSeq(rows, history, branchId))],
    hasCalls: firstCallRow(rows, history) !== undefined,
  }));
  const messageOf = async (entry: ThreadEntry): Promise<string> =>
    blockJson(entry.headers, await readMessageContent(projection, history, entry), entry.inSys);
  const isSame = async (a: ThreadEntry, b: ThreadEntry): Promise<boolean> =>
    a === b ||
    (envelopeOf(a) === envelopeOf(b) &&
      (isOneEvent(a, b) ||
        (await readMessageContent(projection, history, a)) ===
          (await readMessageContent(projection, history, b))));

  /** Messages before each slice, and after the last. */
  const sums = [0];
  for (const { snapshot, firstChanged, before, after } of threadTimeline) {
    sums.length = firstChanged + 1;
    const unchanged = sums.at(-1) as number;
    for (const slice of after) sums.push((sums.at(-1) as number) + slice.length);
    const { cycle, seq, threadHash } = snapshot;
    if (cycle <= from) continue;
    const [old, fresh] = [before.flat(), after.flat()];
    let same = 0;
    while (
      same < Math.min(old.length, fresh.length) &&
      (await isSame(old[same] as ThreadEntry, fresh[same] as ThreadEntry))
    )
      same++;
    const following: string[] = [];
    for (const entry of fresh.slice(same)) following.push(await messageOf(entry));
    yield {
      label: `@c${cycle}`,
      cycle,
      seq,
      threadHash: toHex(threadHash),
      calls: hasCalls
        ? await projection.read((rows) => countCallsAt(rows, history, { branchId: snapshot.branchId, seq }))
        : null,
      messages: unchanged + fresh.length,
      shared: unchanged + same,
      following,
    };
  }
}

/** A message without its content. */
const envelopeOf = ({ headers, inSys }: ThreadEntry): string => blockJson(headers, '', inSys);

/** Whether one event wrote both contents. */
const isOneEvent = ({ payload: a }: ThreadEntry, { payload: b }: ThreadEntry): boolean =>
  a.seq === b.seq && a.index === b.index;
