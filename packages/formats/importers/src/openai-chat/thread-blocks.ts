import {
  roleOf,
  threadIndexes,
  type EventRef,
  type FlatTree,
  type Headers,
  type Payload,
  type PayloadSource,
  type ThreadMode,
} from '@stemma/context-tree';
import { collect } from '@stemma/suspend';
import type { CurrentBlock } from './call-steps.ts';

/**
 * The blocks of the provider thread, in its order.
 *
 * @throws Missing (payloads) for all payloads that are missing at once.
 */
export const threadBlocks = (
  tree: FlatTree,
  payloads: PayloadSource,
  mode: ThreadMode = 'full',
): CurrentBlock[] => {
  const read = (ref: EventRef | null | undefined): Payload =>
    ref === null || ref === undefined ? {} : payloads(ref);
  return collect((attempt) =>
    threadIndexes(tree, mode).map((index): CurrentBlock => {
      const headers = tree.headers[index] as Headers;
      const inSys = index < tree.seq;
      return {
        id: headers.id,
        role: roleOf(headers, inSys),
        kind: headers.kind ?? null,
        payload: attempt(read, tree.payloads[index], {}),
        inSys,
      };
    }),
  );
};
