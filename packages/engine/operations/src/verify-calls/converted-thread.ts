import { readBodyAt } from '@stemma/call-bodies';
import { positionOfFrame } from '@stemma/history-store';
import { toOpenAIMessages } from '@stemma/importers';
import { comparableMessage, readRequest, writeRequest } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import { viewOf } from '@stemma/queries';
import type { CallRow } from '@stemma/read-models';
import { withoutCoding } from './request-bytes.ts';

/**
 * True if a request says what its thread says in the form of the request's API: a conversation that was recorded in one API and
 * continued in another is given the form of that one, and what it has nothing like is left out (calls §6.3).
 */
export const isThreadConverted = async (
  projection: Projection,
  history: string,
  { api, branchId, position, location }: CallRow,
): Promise<boolean> => {
  if (api === 'other') return false;
  const where = await projection.read((rows) => positionOfFrame(rows, history, branchId, position));
  const { tree, payloads, thread } = await viewOf(projection, where);
  const messages = toOpenAIMessages(tree, payloads, thread);
  const written = writeRequest(api, { model: '', messages, parameters: {}, tools: [] });
  const sent = withoutCoding(await readBodyAt(location, projection.payloads.framesOf(history)));
  const [wanted, found] = [readRequest(api, written), readRequest(api, sent)];
  return (
    wanted.ok &&
    found.ok &&
    comparableMessage([...wanted.messages]) === comparableMessage([...found.messages])
  );
};
