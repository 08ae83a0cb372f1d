import { eventsFrom } from '@stemma/agent-loop';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { pathLimits } from './path-limits.ts';
import { messagesAt, type PoolMessage } from './pool-message.ts';
import { settingsOf, type PoolSettings } from './settings.ts';

/** A message, and how often a round showed it. */
export type SampledMessage = PoolMessage & {
  readonly sampled: number;
  /** True if a round may still show it. */
  readonly isActive: boolean;
};

/** A pool at a position. */
export type PoolView = {
  readonly position: Position;
  readonly round: number;
  readonly settings: PoolSettings;
  /** The oldest first. */
  readonly messages: readonly SampledMessage[];
};

/**
 * The messages of a pool at a position, with how often rounds up to there showed each.
 *
 * @throws E_NOT_A_POOL, E_SNAPSHOT_NOT_FOUND
 */
export const viewPool = async (home: Home, branchRef: BranchRef, at?: string): Promise<PoolView> => {
  const position = await home.position(branchRef, at);
  const { config } = await home.branches.config(position);
  const settings = settingsOf(config, position.branch);
  const view = await home.read.view(position);
  const messages = messagesAt(view);
  const counts = await samplings(home, position);
  const active = messages.length - settings.active_pool_size;
  return {
    position,
    round: view.tree.cycle,
    settings,
    messages: messages.map((message, i) => ({
      ...message,
      sampled: counts.get(message.id) ?? 0,
      isActive: i >= active,
    })),
  };
};

/** How often each message was shown, on the path that leads to a position. */
const samplings = async (home: Home, position: Position): Promise<ReadonlyMap<string, number>> => {
  const limits = await pathLimits(home, position);
  const counts = new Map<string, number>();
  for await (const { event, branchId, seq } of eventsFrom(home, position.history)) {
    if (event.type !== 'NodeInserted' || event.node.kind !== 'sample') continue;
    if (seq > (limits.get(branchId) ?? -1)) continue;
    for (const id of event.node.refs ?? []) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
};
