import { notKept, readBodyAt } from '@stemma/call-bodies';
import { toHex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { isBodyKept } from '@stemma/events';
import { NOT_KEPT } from '@stemma/history';
import { readAncestorPath, readTipSeq, type BranchRef } from '@stemma/history-store';
import { priceOf, type CallPrice, type PriceTable } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import {
  findProviderCallRow,
  historiesOfRun,
  listProviderCallRows,
  type ProviderCallRow,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import type { CallAttempt } from './attempts.ts';
import type { Prices } from './prices.ts';

/** A call of a provider's API that carries no messages: `POST /v1/embeddings`. It belongs to no cycle, and has no label. */
export type ProviderCall = Pick<
  CallAttempt,
  | ('attemptId' | 'branchId' | 'seq' | 'at' | 'model' | 'run' | 'status' | 'httpStatus' | 'origin' | 'path')
  | ('requestHead' | 'responseHead' | 'retryAfter' | 'request' | 'response' | 'usage' | 'error')
  | ('firstByteMs' | 'durationMs')
> & {
  readonly history: string;
  readonly method: string;
  readonly cost: CallPrice | null;
};

/** A call without messages, and which of its bodies are not kept, as nobody could surely take secrets out of them. */
export type WholeProviderCall = ProviderCall & { readonly notKept: readonly ('request' | 'response')[] };

/** What was asked of providers besides models. */
export type ProviderCalls = {
  /** The calls without messages that lie on the ancestor path of a branch, in the order they were recorded; `from`: a frame. */
  providerCalls(
    branch: BranchRef,
    page: { readonly from: number; readonly limit: number },
  ): Promise<{ readonly calls: readonly ProviderCall[]; readonly next: number | null }>;
  /** Those of a run, wherever they lie, in order of time. */
  providerCallsOfRun(run: string): Promise<readonly ProviderCall[]>;
  /** Undefined: the history has no such call without messages. */
  findProviderCall(history: string, attemptId: string): Promise<WholeProviderCall | undefined>;
  /** The bytes of a body on the wire. @throws E_CALL_NOT_FOUND, E_CALL_BODY_NOT_KEPT, E_CALL_BODY_DAMAGED */
  providerCallBody(history: string, attemptId: string, which: 'request' | 'response'): Promise<Uint8Array>;
};

export const openProviderCalls = (
  projection: Projection,
  catchUp: (history: string) => Promise<void>,
  prices: Prices,
): ProviderCalls => {
  const rowOf = async (history: string, attemptId: string): Promise<ProviderCallRow | undefined> => {
    await catchUp(history);
    return projection.read((rows) => findProviderCallRow(rows, history, attemptId));
  };
  const withheldOf = async (
    history: string,
    { location }: ProviderCallRow,
  ): Promise<WholeProviderCall['notKept']> => {
    const events = await projection.payloads.events(history, location.seq);
    const fields = events.flatMap((event) =>
      event.type === 'ContentRedacted'
        ? event.redactions.filter(({ rule }) => rule === NOT_KEPT).map(({ field }) => field)
        : [],
    );
    return (['request', 'response'] as const).filter((which) => fields.includes(which));
  };
  return {
    async providerCalls({ history, branchId }, { from, limit }) {
      await catchUp(history);
      const table = await prices();
      return projection.read((rows) => {
        const path = readAncestorPath(rows, history, branchId, readTipSeq(rows, history, branchId));
        const limits = new Map(path.map((segment) => [segment.branchId, segment.limit] as const));
        const calls: ProviderCall[] = [];
        for (const row of providerCallsFrom(rows, history, from)) {
          if (row.location.seq > (limits.get(row.branchId) ?? -1)) continue;
          if (calls.length === limit) return { calls, next: row.location.seq };
          calls.push(providerCallOf(history, row, table));
        }
        return { calls, next: null };
      });
    },
    async providerCallsOfRun(run) {
      await projection.catchUp();
      const table = await prices();
      const calls = await projection.read((rows) =>
        historiesOfRun(rows, run).flatMap((history) =>
          [...providerCallsFrom(rows, history, 0)]
            .filter((row) => row.run === run)
            .map((row) => providerCallOf(history, row, table)),
        ),
      );
      return calls.sort((a, b) => a.at - b.at || (a.attemptId < b.attemptId ? -1 : 1));
    },
    async findProviderCall(history, attemptId) {
      const row = await rowOf(history, attemptId);
      if (row === undefined) return undefined;
      const call = providerCallOf(history, row, await prices());
      return { ...call, notKept: await withheldOf(history, row) };
    },
    async providerCallBody(history, attemptId, which) {
      const row = await rowOf(history, attemptId);
      const named = attemptId.slice(0, 200);
      if (row === undefined)
        throw fail('E_CALL_NOT_FOUND', `the history has no call ${named}`, { attempt: attemptId });
      const { location, [which]: body } = row;
      if (body === null) {
        const isWithheld = (await withheldOf(history, row)).includes(which);
        const why = isWithheld
          ? `is not kept: nobody could surely take secrets out of its bytes`
          : 'is not recorded: there was none, or whoever recorded the call did not have it';
        throw fail('E_CALL_BODY_NOT_KEPT', `the ${which} of ${named} ${why}`, { attempt: attemptId });
      }
      if (!isBodyKept(body)) throw notKept({ sha256: toHex(body.sha256), size: body.size });
      return readBodyAt(location, projection.payloads.framesOf(history), { which });
    },
  };
};

/** Rows that are read at a time. */
const CHUNK = 500;

/** The calls without messages of a history in the order they were recorded, read as they are wanted. */
function* providerCallsFrom(rows: RowReader, history: string, from: number): Generator<ProviderCallRow> {
  for (let next = from; ;) {
    const page = listProviderCallRows(rows, history, { from: next, limit: CHUNK });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < CHUNK) return;
    next = last.location.seq + 1;
  }
}

const providerCallOf = (history: string, row: ProviderCallRow, prices: PriceTable | null): ProviderCall => {
  const { location, at, request, response, ...facts } = row;
  return {
    ...facts,
    history,
    seq: location.seq,
    at: millisecondsOf(at),
    request: hexOf(request),
    response: hexOf(response),
    cost: prices === null ? null : priceOf(prices, row.model, row.usage),
  };
};

const hexOf = (
  body: ProviderCallRow['request'],
): { readonly sha256: string; readonly size: number } | null =>
  body === null ? null : { sha256: toHex(body.sha256), size: body.size };
