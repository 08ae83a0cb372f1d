import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { readAncestorPath, type Position } from '@stemma/history-store';
import { requestChanges, type RequestChange, type RequestFacts } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import { findFrameSummary, listCallsAt, newestCallUpTo, type CallRow } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/** The newest call with what a frame's position shows; undefined: none is recorded. */
export const newestCallWith = (
  projection: Projection,
  history: string,
  seq: number,
): Promise<CallRow | undefined> =>
  projection.read((rows) => {
    const { branchId } = findFrameSummary(rows, history, seq);
    return listCallsAt(rows, history, { branchId, seq }).findLast(
      ({ reassignedTo }) => reassignedTo === null,
    );
  });

/** What differs between the tools of two calls of a history: nothing is read where both name the same event. */
export const toolChanges = async (
  projection: Projection,
  history: string,
  before: CallRow,
  after: CallRow,
): Promise<readonly RequestChange[]> => {
  const [a, b] = [before.toolsAt, after.toolsAt];
  if (a?.seq === b?.seq && a?.index === b?.index) return [];
  const facts = async (at: EventRef | null): Promise<RequestFacts> => ({
    tools: await toolsAt(projection, history, at),
    parameters: {},
  });
  return requestChanges(await facts(a), await facts(b));
};

/**
 * What differs between the requests of the newest calls with two positions, besides their messages: tools and parameters.
 *
 * @returns undefined if no call is recorded with one of them
 */
export const diffRequests = async (
  projection: Projection,
  history: string,
  a: number,
  b: number,
): Promise<readonly RequestChange[] | undefined> => {
  const [before, after] = [
    await newestCallWith(projection, history, a),
    await newestCallWith(projection, history, b),
  ];
  if (before === undefined || after === undefined) return undefined;
  return requestChanges(
    await factsOf(projection, history, before),
    await factsOf(projection, history, after),
  );
};

/**
 * The same for the newest calls on the ways to two positions, of one history or of two: what a branch says last.
 *
 * @returns undefined if no call is recorded on one of the ways
 */
export const diffRequestsUpTo = async (
  projection: Projection,
  a: Position,
  b: Position,
): Promise<readonly RequestChange[] | undefined> => {
  const [before, after] = await projection.read((rows) => [
    newestCallOnWay(rows, a),
    newestCallOnWay(rows, b),
  ]);
  if (before === undefined || after === undefined) return undefined;
  return requestChanges(
    await factsOf(projection, a.history, before),
    await factsOf(projection, b.history, after),
  );
};

const newestCallOnWay = (rows: RowReader, { history, branchId, seq }: Position): CallRow | undefined => {
  const path = readAncestorPath(rows, history, branchId, seq);
  for (const segment of path.toReversed()) {
    const call = newestCallUpTo(rows, history, segment.branchId, segment.limit);
    if (call !== undefined) return call;
  }
  return undefined;
};

const factsOf = async (projection: Projection, history: string, call: CallRow): Promise<RequestFacts> => ({
  tools: await toolsAt(projection, history, call.toolsAt),
  parameters: ((await payloadAt(projection, history, call.location, 'data_parameters')) ??
    {}) as WideJsonObject,
});

const toolsAt = async (
  projection: Projection,
  history: string,
  at: EventRef | null,
): Promise<readonly WideJson[]> =>
  at === null
    ? []
    : (((await payloadAt(projection, history, at, 'data_tools')) ?? []) as readonly WideJson[]);

const payloadAt = async (
  projection: Projection,
  history: string,
  { seq, index }: EventRef,
  name: string,
): Promise<WideJson> => {
  const event = (await projection.payloads.events(history, seq))[index];
  return ((event?.type === 'CallStarted' ? event.payload[name] : undefined) ?? null) as WideJson;
};
