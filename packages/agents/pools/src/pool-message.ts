import type { Payload } from '@stemma/context-tree';
import type { TreeView } from '@stemma/history-store';

/** A message of a pool. */
export type PoolMessage = {
  /** The id of its node. */
  readonly id: string;
  /** Its number on the branch, from 0; null if whoever added it gave none. */
  readonly vectorId: number | null;
  /** The round in which it was added; null: unknown. */
  readonly round: number | null;
  /** Which of the minds of the configuration said it; -1: it came from outside. */
  readonly mindId: number;
  /** Where it came from: `seed`, `mind`, `manual`, or what its author said. */
  readonly source: string;
  /** The command of the intervention that added it, or null. */
  readonly intervention: string | null;
  readonly text: string;
};

/** The messages of a pool at a position, the oldest first (pool: One model). */
export const messagesAt = ({ tree, payloads }: TreeView): PoolMessage[] => {
  const found: PoolMessage[] = [];
  for (let index = 0; index < tree.count; index++) {
    const headers = tree.headers[index];
    if (headers === undefined || index < tree.seq || headers.nodeType !== 'cb') continue;
    if (headers.offset !== 0 || headers.kind !== 'text') continue;
    const ref = tree.payloads[index];
    if (ref === null || ref === undefined) continue;
    found.push(messageOf(headers.id, payloads(ref)));
  }
  return found;
};

const whole = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The message that a node with this content and these attributes is. */
const messageOf = (id: string, payload: Payload): PoolMessage => ({
  id,
  vectorId: whole(payload['data_vector_id']),
  round: whole(payload['data_round']),
  mindId: whole(payload['data_mind_id']) ?? -1,
  source: text(payload['data_source']) ?? 'unknown',
  intervention: text(payload['data_intervention']),
  text: text(payload['content']) ?? '',
});
