import { sha256 } from '@stemma/canonical';
import type { CallAddress, ImportLinkReason, LinkReason } from '@stemma/events';
import { findRow, listRows, putRow, removeRow, type RowReader, type Rows } from '@stemma/row-store';
import { CALL_LED_TO, CALL_LINKS } from './tables.ts';

/** The call that led to the conversation on a branch; `parent` null: somebody said that none did. */
export type CallLink = {
  readonly branchId: number;
  readonly parent: CallAddress | null;
  /**
   * How it was found; `said`: the imported file says so; `assigned`: by whoever corrected it; `may continue`: it led to nothing, but may be
   * what this goes on from.
   */
  readonly why: LinkReason | ImportLinkReason | 'assigned' | 'may continue';
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
  const branch = { history, branch_id: branchId };
  const before = findRow(rows, CALL_LINKS, branch)?.parent_attempt ?? null;
  if (before !== null)
    removeRow(rows, CALL_LED_TO, { bucket: bucketOfText(before), parent_attempt: before, ...branch });
  putRow(rows, CALL_LINKS, {
    ...branch,
    parent_history: parent?.history ?? null,
    parent_branch_id: parent?.branchId ?? null,
    parent_attempt: parent?.attemptId ?? null,
    why,
  });
  // What may be gone on from led to nothing.
  if (parent === null || why === 'may continue') return;
  const { attemptId } = parent;
  putRow(rows, CALL_LED_TO, { bucket: bucketOfText(attemptId), parent_attempt: attemptId, ...branch });
};

/** Writes what imported files say; what somebody said counts more, and what a file says more than what its texts show. */
export const putImportLink = (
  rows: Rows,
  history: string,
  branchId: number,
  parent: CallAddress,
  why: ImportLinkReason,
): void => {
  const known = findRow(rows, CALL_LINKS, { history, branch_id: branchId })?.why;
  if (known === 'assigned' || (known === 'said' && why !== 'said')) return;
  putLink(rows, history, branchId, parent, why);
};

/** The links of the branches of a history. */
export const listCallLinks = (rows: RowReader, history: string): readonly CallLink[] =>
  listRows(rows, CALL_LINKS, { history }).map((row) => ({
    branchId: row.branch_id,
    parent:
      row.parent_history === null || row.parent_branch_id === null || row.parent_attempt === null
        ? null
        : {
            history: row.parent_history,
            branchId: row.parent_branch_id,
            attemptId: row.parent_attempt,
          },
    why: row.why as CallLink['why'],
  }));

/** The branches whose conversations an attempt led to. */
export const listLedTo = (rows: RowReader, attemptId: string): readonly LinkedBranch[] =>
  listRows(rows, CALL_LED_TO, { bucket: bucketOfText(attemptId), parent_attempt: attemptId }).map(
    ({ history, branch_id }) => ({ history, branchId: branch_id }),
  );
