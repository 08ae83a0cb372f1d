import { addNodes, idsText, type NodeFacts } from '@stemma/stages';
import { CHUNK, type Running } from './running.ts';

/** What a stream comes to with further nodes. `filled` is told of each chunk of ids that they fill. */
export const takeNodes = (
  { stream, openIds }: Running,
  nodes: readonly NodeFacts[],
  filled: (chunk: number, ids: string) => void,
): Running => {
  let ids = openIds;
  let count = stream.selected;
  for (const { id, kind } of nodes) {
    if (kind !== 'message') continue;
    ids += `${ids === '' ? '' : ','}${idsText([id])}`;
    if (++count % CHUNK !== 0) continue;
    filled(count / CHUNK - 1, ids);
    ids = '';
  }
  return { stream: addNodes(stream, nodes), openIds: ids };
};
