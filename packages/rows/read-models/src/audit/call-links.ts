import { sha256 } from '@stemma/canonical';
import type { CallAddress, LinkReason } from '@stemma/events';
import type { RowReader, Rows } from '@stemma/row-store';
import { CALL_LED_TO, CALL_LINKS } from './call-tables.ts';

/** The call that led to the conversation on a branch; `parent` null: somebody said that none did. */
export type CallLink = {
  readonly branchId: number;
  readonly parent: CallAddress | null;
  /** How it was found; `assigned`: by whoever corrected it. */
  readonly why: LinkReason | 'assigned';
};

/** A branch of any history. */
export type LinkedBranch = { readonly history: string; readonly branchId: number };

/** One byte, so that rows of all histories lie in as many ranges, of which nobody reads all. */
export const bucketOfText = (text: string): number => sha256(new TextEncoder().encode(text))[0] ?? 0;

export const putLink = (
  rows: Rows,
  history: string,
  branchId: number,
  parent: CallAddress | null,
  why: CallLink['why'],
): void => {
  const before = rows.get(CALL_LINKS, [history, branchId])?.[2];
  if (typeof before === 'string') rows.remove(CALL_LED_TO, [bucketOfText(before), before, history, branchId]);
  rows.put(
    CALL_LINKS,
    [history, branchId],
    [parent?.history ?? null, parent?.branchId ?? null, parent?.attemptId ?? null, why],
  );
  if (parent !== null)
    rows.put(CALL_LED_TO, [bucketOfText(parent.attemptId), parent.attemptId, history, branchId], []);
};

/** The links of the branches of a history. */
export const listCallLinks = (rows: RowReader, history: string): readonly CallLink[] =>
  rows.range(CALL_LINKS, { prefix: [history] }).map(({ key, value: [of, branchId, attemptId, why] }) => ({
    branchId: key[1],
    parent:
      typeof of === 'string' && typeof branchId === 'number' && typeof attemptId === 'string'
        ? { history: of, branchId, attemptId }
        : null,
    why: why as CallLink['why'],
  }));

/** The branches whose conversations an attempt led to. */
export const listLedTo = (rows: RowReader, attemptId: string): readonly LinkedBranch[] =>
  rows
    .range(CALL_LED_TO, { prefix: [bucketOfText(attemptId), attemptId] })
    .map(({ key }) => ({ history: key[2], branchId: key[3] }));
