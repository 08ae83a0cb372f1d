import { createClient, type ApiClient, type ApiFetch } from '@stemma/api';
import { defined } from '@stemma/values';

/** What a recorder needs of a gateway or of a home. Both give the same answers and the same error codes. */
export type Backend = Pick<
  ApiClient,
  | 'start'
  | 'command'
  | 'recordCall'
  | 'select'
  | 'diff'
  | 'export'
  | 'thread'
  | 'continueBranch'
  | 'retryCall'
> & {
  /** Resolves a name or an id to a history and a branch. @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND */
  find(name: string): Promise<RecordingTarget>;
  snapshots(history: string): Promise<readonly Snapshot[]>;
  close(): Promise<void>;
};

/** `branch` is the branch as the API names it: the history's id for `main`, else `HISTORY:BRANCH_ID`. */
export type RecordingTarget = { readonly history: string; readonly branch: string };

/** A snapshot of the branch. */
export type Snapshot = {
  readonly label: string;
  readonly cycle: number;
  readonly seq: number;
  readonly treeHash: string;
  readonly threadHash: string;
  readonly blocks: number;
};

/** The backend of a gateway at an address. It needs nothing but `fetch`. */
export const openServer = (url: string, fetch: ApiFetch): Backend => {
  const client = createClient(fetch, url.replace(/\/+$/, ''));
  return {
    ...client,
    find: async (name) => {
      const { history, branch } = await client.snapshots({ history: name, limit: 1 });
      return { history, branch };
    },
    snapshots: async (history) => {
      const found: Snapshot[] = [];
      for (let before: number | null | undefined; before !== null;) {
        const page = await client.snapshots({
          history,
          limit: 200,
          ...defined({ before }),
        });
        for (const { label, cycle, seq, treeHash, threadHash, blocks } of page.snapshots)
          found.push({ label, cycle, seq, treeHash, threadHash, blocks });
        before = page.next;
      }
      return found.reverse();
    },
    close: () => Promise.resolve(),
  };
};
