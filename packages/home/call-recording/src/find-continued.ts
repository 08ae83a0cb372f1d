import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { CallAddress } from '@stemma/events';
import { textOfContent } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import {
  callsThatBrought,
  listNewestBranches,
  newestCallUpTo,
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
/** The newest branches of a history that are looked at, besides those that calls began. */
const MOST_BRANCHES = 8;
/** Conversations whose newest answers are read. */
const MOST_ANSWERS = 16;

/**
 * The conversation with the same system message, of at least two calls, that a list may continue which shares nothing else with any: an
 * agent that starts over, with or without a summary. It is the one whose newest answer is the summary that the list is made of, which
 * has half of that answer's text; else, or if several wrote such a summary, it may be the one that was heard last.
 */
export const findContinued = async (
  projection: Projection,
  messages: readonly WideJson[],
  wanted: WantedCall,
): Promise<Continued | undefined> => {
  const { hashes, leading } = wanted;
  const [system] = hashes.messages;
  if (leading === 0 || system === undefined) return undefined;
  const heard = await projection.read((rows) => newestCalls(rows, wanted, system));
  const [newest] = heard;
  if (newest === undefined) return undefined;
  const text = messages.slice(leading).map(textOfMessage).join('\n');
  const summaries: CallInHistory[] = [];
  if (text.length * 2 >= LEAST_SUMMARY)
    for (const call of heard.slice(0, MOST_ANSWERS))
      if (isMadeOf(text, await answerOf(projection, call))) summaries.push(call);
  const [summary, other] = summaries;
  if (summary === undefined || other !== undefined)
    return { call: addressOf(summary ?? newest), summary: null };
  const candidate = await projection.read((rows) => candidateOf({ rows }, summary, 0, null));
  return { call: addressOf(summary), summary: candidate };
};

const addressOf = ({ history, branchId, attemptId }: CallInHistory): CallAddress => ({
  history,
  branchId,
  attemptId,
});

/** The text that a call was answered with; empty while nobody knows it. */
const answerOf = async (projection: Projection, { history, finished }: CallInHistory): Promise<string> => {
  if (finished === null) return '';
  const { seq, index } = finished.location;
  const event = (await projection.payloads.events(history, seq))[index];
  return event?.type === 'CallFinished' ? textOfMessage(event.payload['data_answer'] as WideJson) : '';
};

/** The newest call of each conversation that calls began with the system message, and of its forks, the one that was heard last first. */
const newestCalls = (
  rows: RowReader,
  { session, except }: WantedCall,
  system: Uint8Array,
): readonly CallInHistory[] => {
  const began =
    session === undefined
      ? callsThatBrought(rows, system)
      : [session, NO_SESSION].flatMap((each) => callsThatBrought(rows, system, each));
  const branches = new Map<string, Set<number>>();
  for (const { history, branchId, reassignedTo } of began) {
    if (history === except || reassignedTo !== null) continue;
    const known = branches.get(history) ?? new Set(newestBranches(rows, history));
    branches.set(history, known.add(branchId));
  }
  return [...branches]
    .flatMap(([history, ids]) =>
      [...ids].flatMap((branchId) => newestCallOf(rows, history, branchId, session) ?? []),
    )
    .sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
};

const newestBranches = (rows: RowReader, history: string): readonly number[] =>
  listNewestBranches(rows, history, MOST_BRANCHES).flatMap(({ branchId, abandonedBy }) =>
    abandonedBy === null ? [branchId] : [],
  );

/** @returns undefined of a branch that begins a conversation, or is of another session */
const newestCallOf = (
  rows: RowReader,
  history: string,
  branchId: number,
  session: string | undefined,
): CallInHistory | undefined => {
  const named = session === undefined ? null : sessionOfBranch(rows, history, branchId);
  if (named !== null && named !== session) return undefined;
  const call = newestCallUpTo(rows, history, branchId);
  return call === undefined || call.cycle < 2 ? undefined : { history, ...call };
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
