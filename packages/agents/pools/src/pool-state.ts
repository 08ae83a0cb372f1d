import { messagesOf, tipOf } from '@stemma/agent-loop';
import type { WideJsonObject } from '@stemma/canonical';
import type { BranchRef, TreeView } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { messagesAt, type PoolMessage } from './pool-message.ts';
import { settingsOf, type PoolSettings } from './settings.ts';

/** A pool as it stands at the tip of a branch. */
export type PoolState = {
  readonly settings: PoolSettings;
  /** The newest frame of the branch. */
  readonly seq: number;
  /** The newest round that a snapshot was made of; 0 before the first. */
  readonly round: number;
  readonly messages: readonly PoolMessage[];
  /** So many of the oldest messages are known to have a vector by the pool's embedder, or to need none. */
  readonly embedded: number;
  /** What every round shows first. */
  readonly system: readonly WideJsonObject[];
  /** True if the sample of the next round is drawn: it stands in the draft. */
  readonly isDrawn: boolean;
  /** The messages that the newest sample shows, in its order. */
  readonly sampled: readonly string[];
  /** What the mind of the newest round is shown: of the sample in the draft, if the next one is drawn, else of the newest snapshot. */
  readonly shown: readonly WideJsonObject[];
};

/** Reads it whole. @throws E_NOT_A_POOL, E_CONFIG_INVALID */
export const readPool = async (
  home: Pick<Home, 'position' | 'read' | 'branches'>,
  branchRef: BranchRef,
): Promise<PoolState> => {
  const tip = await tipOf(home, branchRef);
  const { config } = await home.branches.config(tip);
  const settings = settingsOf(config, tip.branch);
  const view = await home.read.view(tip);
  const { tree } = view;
  const indexes = Array.from({ length: tree.count }, (_, index) => index);
  const isInDraft = (index: number): boolean => index >= tree.ah && index < (tree.ends[tree.ah] ?? 0);
  const isDrawn = indexes.some((index) => isInDraft(index) && tree.headers[index]?.kind === 'sample');
  const system = systemOf(view);
  return {
    settings,
    seq: tip.seq,
    round: tree.cycle,
    messages: messagesAt(view),
    embedded: 0,
    system,
    isDrawn,
    sampled: sampledIn(view),
    shown: isDrawn ? [...system, ...preContextIn(view, indexes.filter(isInDraft))] : messagesOf(view),
  };
};

/** What the draft shows before the messages that the next cycle adds: the thread has it once the cycle is committed. */
const preContextIn = ({ tree, payloads }: TreeView, indexes: readonly number[]): readonly WideJsonObject[] =>
  indexes.flatMap((index) => {
    const { nodeType, offset, role } = tree.headers[index] ?? {};
    const ref = tree.payloads[index];
    if (nodeType !== 'cb' || (offset ?? 0) >= 0 || ref === null || ref === undefined) return [];
    return [{ role: role ?? 'user', content: payloads(ref)['content'] ?? null }];
  });

/** The messages of the system header alone. */
const systemOf = (view: TreeView): readonly WideJsonObject[] => {
  const { tree } = view;
  const ids = new Set(tree.ids.slice(tree.sys, tree.ends[tree.sys]));
  if (ids.size <= 1) return [];
  const all = messagesOf(view);
  const blocks = tree.headers
    .slice(tree.sys, tree.ends[tree.sys])
    .filter(({ nodeType }) => nodeType === 'cb');
  return all.slice(0, Math.min(all.length, blocks.length));
};

/** What the newest prompt says of its sample. */
const sampledIn = ({ tree, payloads }: TreeView): readonly string[] => {
  const index = tree.headers.findLastIndex(({ kind }) => kind === 'prompt');
  const ref = tree.payloads[index];
  const ids = ref === undefined || ref === null ? undefined : payloads(ref)['data_sampled_ids'];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
};
