import type { WideJson } from '@stemma/canonical';
import { breakpointsOf, holdOf } from '@stemma/history';
import { readPositionMeta } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
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

/**
 * Holds a call where breakpoints of its branch say so: its draft then shows what would be sent, and may be changed. Of several
 * the longest time counts, and `abort` if one of them says it.
 */
export const holdCall = async (
  { home, projection, settings, writer, say }: HoldParts,
  placed: Placed,
  call: OutgoingCall,
): Promise<Hold | undefined> => {
  const breakpoints = breakpointsOf(await settings.of(placed.branch));
  if (breakpoints.length === 0) return undefined;
  const { brought } = await writer.write(placed, call, false);
  const { branch, place } = placed;
  const tip = await home.position(branch);
  const cycle = await projection.read(
    (rows) => readPositionMeta(rows, tip.history, tip.branchId, tip.seq).meta.cycle + 1,
  );
  const hit = await breakpointsHit(
    home,
    breakpoints,
    {
      branch,
      cycle,
      model: call.said.model,
      brought: brought.map((index) => place.messages[index] as WideJson),
    },
    say,
  );
  if (hit.length === 0) return undefined;
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
  return { until, then };
};
