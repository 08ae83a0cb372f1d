import { createClient, type ApiClient, type ApiFetch } from '@stemma/api';

/** What a recorder asks of a server or of a home: the same questions, the same answers, the same coded errors. */
export type Backend = Pick<
  ApiClient,
  'start' | 'command' | 'recordCall' | 'select' | 'diff' | 'export' | 'thread'
> & {
  /** The history and the branch that a name or an id means. @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND */
  find(name: string): Promise<RecordingTarget>;
  snapshots(history: string): Promise<readonly Snapshot[]>;
  close(): Promise<void>;
};

/** `branch` names it in the API: the history's id for the main one, else `HISTORY:BRANCH_ID`. */
export type RecordingTarget = { readonly history: string; readonly branch: string };

/** A snapshot of the branch, as a list shows it. */
export type Snapshot = {
  readonly label: string;
  readonly cycle: number;
  readonly seq: number;
  readonly treeHash: string;
  readonly threadHash: string;
  readonly blocks: number;
};

/** A server at an address. Nothing of this needs more than `fetch`. */
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
          ...(before === undefined ? {} : { before }),
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
