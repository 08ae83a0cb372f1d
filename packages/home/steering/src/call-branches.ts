import { toHex } from '@stemma/canonical';
import { BEGINNING, type FoundBranch, type RequestRecorder } from '@stemma/call-recording';
import { isSteered } from '@stemma/history';
import { mainBranchId, type BranchRef } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listUnreleasedCalls } from '@stemma/read-models';
import { defined } from '@stemma/values';
import type { Placed } from './branch-writer.ts';
import type { Settings, SteeringSettings } from './settings.ts';
import type { OutgoingCall, SteeredHome } from './types.ts';

/** Finds and opens the branches of calls that observers steer. */
export type CallBranches = {
  /** Undefined: nobody steers it. */
  open(call: OutgoingCall): Promise<Placed | undefined>;
  /** The call is held: another list of its branch belongs to another branch until it is let go. */
  hold(placed: Placed): void;
  release(placed: Placed): void;
};

type BranchParts = {
  readonly home: SteeredHome;
  readonly projection: Projection;
  readonly requests: RequestRecorder;
  readonly settings: Settings;
};

export const openCallBranches = ({ home, projection, requests, settings }: BranchParts): CallBranches => {
  /** The lists of the calls that are held here, by branch. */
  const heldLists = new Map<string, string>();
  /** The settings that hold for a call, and the branch that they come from; undefined: nobody steers it. */
  const sourceOf = async (
    { within, steer, change }: OutgoingCall,
    { from }: FoundBranch,
  ): Promise<
    | { readonly history: string; readonly branchId: number | null; readonly settings: SteeringSettings }
    | undefined
  > => {
    const asked: SteeringSettings = steer ? { steer: true } : {};
    const branch =
      from ??
      (within !== undefined && 'history' in within
        ? {
            history: within.history,
            branchId: await projection.read((rows) => mainBranchId(rows, within.history)),
          }
        : undefined);
    if (branch === undefined) return steer ? { history: '', branchId: null, settings: asked } : undefined;
    const found = { ...(await settings.of(branch)), ...asked };
    const { history, branchId } = branch;
    return isSteered(found) || change !== undefined ? { history, branchId, settings: found } : undefined;
  };

  /** A branch that starts from a position before it was steered is steered all the same. */
  const carry = async (
    branch: BranchRef,
    wanted: SteeringSettings,
    { id, by }: OutgoingCall,
  ): Promise<void> => {
    const there = await settings.of(branch);
    const set = Object.fromEntries(Object.entries(wanted).filter(([key]) => there[key] === undefined));
    if (Object.keys(set).length === 0) return;
    const { history, branchId } = branch;
    await home.submit({ id: `${id}.steer`, history, branchId, by, steps: [{ op: 'config', set }] });
  };

  const open = async (call: OutgoingCall): Promise<Placed | undefined> => {
    const place = await requests.find(unplaced(call));
    const source = await sourceOf(call, place);
    if (source === undefined) return undefined;
    const list = listOf(place);
    const { from, match } = place;
    const busy = async (history: string, branchId: number): Promise<boolean> => {
      const known = heldLists.get(`${history} ${branchId}`);
      if (known !== undefined) return known !== list;
      const waiting = await projection.read((rows) => listUnreleasedCalls(rows, history));
      return waiting.some((each) => each.branchId === branchId && each.until > Date.now());
    };
    const target =
      match === 'forked' || match === 'named'
        ? undefined
        : (from ??
          (source.branchId === null ? undefined : { ...source, branchId: source.branchId, at: BEGINNING }));
    const branch =
      target !== undefined && (await busy(target.history, target.branchId))
        ? await requests.fork(unplaced(call), target.history, target.at)
        : await requests.open(unplaced(call), place);
    await carry(branch, source.settings, call);
    return { branch, place };
  };

  return {
    open,
    hold: ({ branch, place }) => void heldLists.set(branchKey(branch), listOf(place)),
    release: ({ branch }) => void heldLists.delete(branchKey(branch)),
  };
};

const listOf = ({ hashes }: FoundBranch): string => toHex(hashes.lists.at(-1) as Uint8Array);

const branchKey = ({ history, branchId }: BranchRef): string => `${history} ${branchId}`;

const unplaced = ({
  id,
  by,
  within,
  api,
  said,
  body,
}: OutgoingCall): Parameters<RequestRecorder['find']>[0] => ({
  id,
  by,
  messages: said.messages,
  facts: {
    ...{ api, model: said.model, parameters: said.parameters, tools: said.tools, request: body },
    ...defined({ session: said.session }),
  },
  ...defined({ within }),
});
