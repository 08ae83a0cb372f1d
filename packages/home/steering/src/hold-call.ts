import { toHex, type WideJson } from '@stemma/canonical';
import { breakpointsOf, holdOf } from '@stemma/history';
import { readPositionMeta, type BranchRef, type SnapshotRow } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listCallsAt } from '@stemma/read-models';
import { breakpointsHit } from './conditions.ts';
import type { BranchWriter, Placed } from './branch-writer.ts';
import type { Settings } from './settings.ts';
import type { OutgoingCall, SteeredHome } from './types.ts';

/** Until when a call is held, in milliseconds since 1970, and what becomes of it then. */
export type Hold = { readonly until: number; readonly then: 'go-on' | 'abort' };

type HoldParts = {
  readonly home: SteeredHome;
  readonly projection: Projection;
  readonly settings: Settings;
  readonly writer: BranchWriter;
  readonly say: (sentence: string) => void;
};

/** A call that breakpoints were asked about. */
export type Asked = {
  /** Undefined: it goes on. */
  readonly hold: Hold | undefined;
  /** The indexes of its messages that the draft of its branch was given for that. */
  readonly drafted: readonly number[];
};

/**
 * Holds a call where breakpoints of its branch say so: its draft then shows what would be sent, and may be changed. Of several
 * the longest time counts, and `abort` if one of them says it.
 */
export const holdCall = async (
  { home, projection, settings, writer, say }: HoldParts,
  placed: Placed,
  call: OutgoingCall,
): Promise<Asked> => {
  const breakpoints = breakpointsOf(await settings.of(placed.branch));
  if (breakpoints.length === 0) return { hold: undefined, drafted: [] };
  const { brought, again } = await writer.write(placed, call, false);
  const { branch, place } = placed;
  const { cycle, indexes } =
    again === null
      ? { cycle: await openCycle(home, projection, branch), indexes: brought }
      : { cycle: again.cycle, indexes: await broughtBefore(projection, placed, again) };
  const hit = await breakpointsHit(
    home,
    breakpoints,
    {
      branch,
      cycle,
      model: call.said.model,
      brought: indexes.map((index) => place.messages[index] as WideJson),
    },
    say,
  );
  if (hit.length === 0) return { hold: undefined, drafted: brought };
  const names = hit.map(({ name }) => name);
  const until = Date.now() + Math.max(...hit.map(({ breakpoint }) => breakpoint.timeout_ms));
  const then = hit.some(({ breakpoint }) => breakpoint.then === 'abort') ? 'abort' : 'go-on';
  const { history, branchId } = branch;
  await home.submit({
    id: holdOf(call.id),
    history,
    branchId,
    by: call.by,
    steps: [
      {
        op: 'hold_call',
        attemptId: call.id,
        api: call.api,
        model: call.said.model,
        breakpoints: names,
        until,
        then,
      },
    ],
  });
  return { hold: { until, then }, drafted: brought };
};

const openCycle = async (home: SteeredHome, projection: Projection, branch: BranchRef): Promise<number> => {
  const { history, branchId, seq } = await home.position(branch);
  return projection.read((rows) => readPositionMeta(rows, history, branchId, seq).meta.cycle + 1);
};

/** The indexes of the messages that the first attempt with a snapshot brought: another one asks for the same. */
const broughtBefore = async (
  projection: Projection,
  { branch: { history }, place: { hashes } }: Placed,
  snapshot: SnapshotRow,
): Promise<readonly number[]> => {
  const [first] = await projection.read((rows) => listCallsAt(rows, history, snapshot));
  if (first === undefined) return [];
  const { seq, index } = first.location;
  const event = (await projection.payloads.events(history, seq))[index];
  const brings = new Set(event?.type === 'CallStarted' ? event.prompt?.brings : []);
  return [...hashes.messages.keys()].filter((at) => brings.has(toHex(hashes.messages[at] as Uint8Array)));
};
