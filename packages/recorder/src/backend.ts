import { createClient, type Client, type Fetch } from '@stemma/api';

/** What a recorder asks of a server or of a home: the same questions, the same answers, the same coded errors. */
export type Backend = Pick<
  Client,
  'start' | 'command' | 'recordCall' | 'select' | 'diff' | 'export' | 'thread'
> & {
  /** The id of the history that a name or an id means. @throws E_HISTORY_NOT_FOUND */
  find(name: string): Promise<string>;
  snapshots(history: string): Promise<readonly Snapshot[]>;
  close(): Promise<void>;
};

/** A snapshot of the lineage, as a list shows it. */
export type Snapshot = {
  readonly label: string;
  readonly cycle: number;
  readonly seq: number;
  readonly treeHash: string;
  readonly threadHash: string;
  readonly blocks: number;
};

/** A server at an address. Nothing of this needs more than `fetch`. */
export const openServer = (url: string, fetch: Fetch): Backend => {
  const client = createClient(fetch, url.replace(/\/+$/, ''));
  return {
    ...client,
    find: async (name) => (await client.history({ history: name })).history,
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
