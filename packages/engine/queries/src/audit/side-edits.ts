import type { WideJsonObject } from '@stemma/canonical';
import { splitNode } from '@stemma/history';
import { readNodeHistory, type Segment } from '@stemma/history-store';
import { recordedMessages } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { listInterventions } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { messageKey } from '../threads/message-key.ts';

/** A message that an intervention took from the thread: what it said before, and the frame that did it. */
export type EditedMessage = {
  readonly key: string;
  readonly how: 'replaced' | 'removed';
  readonly seq: number;
};

const PAGE = 1_000;

/** The messages that actors removed or replaced on an ancestor path after a frame, oldest first. */
export const messagesEditedBy = async (
  projection: Projection,
  history: string,
  path: readonly Segment[],
  after: number,
): Promise<readonly EditedMessage[]> => {
  const seqs = await projection.read((rows) => editsOn(rows, history, path, after));
  const edited: EditedMessage[] = [];
  for (const seq of seqs) {
    const ids = { removed: [] as string[], replaced: [] as string[] };
    for (const event of await projection.payloads.events(history, seq)) {
      if (event.type === 'NodeRemoved') ids.removed.push(event.id, ...event.subtree);
      if (event.type === 'NodeReplaced') ids.replaced.push(event.id);
    }
    for (const how of ['removed', 'replaced'] as const)
      for (const { json } of recordedMessages(await blocksBefore(projection, history, path, seq, ids[how])))
        edited.push({ key: messageKey(json), how, seq });
  }
  return edited;
};

const editsOn = (
  rows: RowReader,
  history: string,
  path: readonly Segment[],
  after: number,
): readonly number[] => {
  const limits = new Map(path.map(({ branchId, limit }) => [branchId, limit]));
  const found: number[] = [];
  for (let from: number | null = after + 1; from !== null;) {
    const page = listInterventions(rows, history, { type: 'edit', from, limit: PAGE });
    for (const { seq, branchId } of page.rows) if (seq <= (limits.get(branchId) ?? -1)) found.push(seq);
    from = page.next;
  }
  return found;
};

/** The blocks with these ids as they were before a frame; what is none is left out. */
const blocksBefore = async (
  projection: Projection,
  history: string,
  path: readonly Segment[],
  seq: number,
  ids: readonly string[],
): Promise<Parameters<typeof recordedMessages>[0]> => {
  const blocks = [];
  for (const id of ids) {
    const entries = await projection.read((rows) => readNodeHistory(rows, history, path, id));
    let found:
      | { role: string | null; kind: string | null; payload: ReturnType<typeof splitNode>['payload'] }
      | undefined;
    for (const entry of entries) {
      if (entry.seq >= seq) break;
      for (const event of await projection.payloads.events(history, entry.seq)) {
        if (event.type === 'NodeInserted' && event.node.id === id) {
          const { headers, payload } = splitNode(event.node);
          found = { role: headers.role ?? null, kind: headers.kind ?? null, payload };
        } else if (event.type === 'NodeReplaced' && event.id === id && found !== undefined)
          found = { ...found, payload: event.payload as WideJsonObject };
      }
    }
    if (found?.payload['content'] !== undefined) blocks.push({ id, ...found });
  }
  return blocks;
};
