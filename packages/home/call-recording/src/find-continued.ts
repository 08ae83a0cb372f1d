import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { CallAddress } from '@stemma/events';
import { textOfContent } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import {
  callsThatBrought,
  listCallsAt,
  newestCalledPosition,
  NO_SESSION,
  sessionOfBranch,
  type CallInHistory,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

import { candidateOf, type MatchCandidate, type WantedCall } from './match-call.ts';

/** A conversation that a call may continue although it shares no message with it. */
export type Continued = {
  /** Its newest call. */
  readonly call: CallAddress;
  /** That call, if the list is made of its answer: then it goes on there. */
  readonly summary: MatchCandidate | null;
};

/** Lines of a summary that are shorter stand in many texts. */
const LEAST_LINE = 20;
/** So many characters of long lines a summary has at least. */
const LEAST_SUMMARY = 120;

/**
 * The newest conversation with the same system message, of at least two calls, that a list may continue which shares nothing else with
 * any: an agent that starts over, with or without a summary. The list is made of the summary if half of the newest answer's text is in
 * what it says.
 */
export const findContinued = async (
  projection: Projection,
  messages: readonly WideJson[],
  wanted: WantedCall,
): Promise<Continued | undefined> => {
  const { hashes, leading } = wanted;
  const [system] = hashes.messages;
  if (leading === 0 || system === undefined) return undefined;
  const newest = await projection.read((rows) => newestOf(rows, wanted, system));
  if (newest === undefined) return undefined;
  const { history, branchId, attemptId, finished } = newest;
  const answer =
    finished === null
      ? undefined
      : (await projection.payloads.events(history, finished.location.seq))[finished.location.index];
  const said =
    answer?.type === 'CallFinished' ? textOfMessage(answer.payload['data_answer'] as WideJson) : '';
  const isSummary = isMadeOf(messages.slice(leading).map(textOfMessage).join('\n'), said);
  const call = { history, branchId, attemptId };
  if (!isSummary) return { call, summary: null };
  return { call, summary: await projection.read((rows) => candidateOf({ rows }, newest, 0, null)) };
};

/** The newest call of the conversations that calls began. */
const newestOf = (
  rows: RowReader,
  { session, except }: WantedCall,
  system: Uint8Array,
): CallInHistory | undefined => {
  let newest: CallInHistory | undefined;
  const began =
    session === undefined
      ? callsThatBrought(rows, system)
      : [session, NO_SESSION].flatMap((each) => callsThatBrought(rows, system, each));
  const seen = new Set<string>();
  for (const { history, branchId, reassignedTo } of began) {
    const key = `${history} ${branchId}`;
    if (history === except || reassignedTo !== null || seen.has(key)) continue;
    seen.add(key);
    const named = session === undefined ? null : sessionOfBranch(rows, history, branchId);
    if (named !== null && named !== session) continue;
    const position = newestCalledPosition(rows, history, branchId);
    if (position === undefined) continue;
    const call = listCallsAt(rows, history, { branchId, seq: position }).at(-1);
    if (call === undefined || call.cycle < 2) continue;
    if (newest === undefined || call.at > newest.at) newest = { history, ...call };
  }
  return newest;
};

/** True if half of the long lines of a text, by their characters, are in another. */
const isMadeOf = (text: string, of: string): boolean => {
  const lines = of.split('\n').flatMap((line) => (line.trim().length >= LEAST_LINE ? [line.trim()] : []));
  const size = lines.reduce((sum, { length }) => sum + length, 0);
  if (size < LEAST_SUMMARY) return false;
  const shared = lines.reduce((sum, line) => sum + (text.includes(line) ? line.length : 0), 0);
  return shared * 2 >= size;
};

const textOfMessage = (message: WideJson | undefined): string =>
  isJsonObject(message) ? textOfContent(message['content']) : '';
