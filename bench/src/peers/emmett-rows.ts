type Fields = { readonly [name: string]: unknown };
type Statements = Readonly<Record<string, (history: string, data: Fields) => readonly string[]>>;

/** Tables, and what each event writes into them. */
export type Projection = {
  readonly schema: readonly string[];
  readonly statements: Statements;
  /** The tables that get exactly one row for each event of a type. */
  readonly oneEach: readonly (readonly [table: string, type: string])[];
};

const quoted = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`;
const numbered = (value: unknown): number => Number(value);

const nodes =
  'CREATE TABLE nodes (history TEXT, id TEXT, parent TEXT, born INTEGER, died INTEGER, content TEXT, PRIMARY KEY (history, id)) WITHOUT ROWID';
const snapshots =
  'CREATE TABLE snapshots (history TEXT, cycle INTEGER, tree_hash TEXT, nodes INTEGER, PRIMARY KEY (history, cycle)) WITHOUT ROWID';

const snapshot = (history: string, { cycle, treeHash, counts }: Fields): string =>
  `INSERT INTO snapshots VALUES (${quoted(history)}, ${numbered(cycle)}, ${quoted(treeHash)}, ${numbered((counts as Fields)['nodes'])})`;

/** One table of nodes and one of snapshots: one statement an event. */
export const small: Projection = {
  schema: [nodes, snapshots],
  statements: {
    NodeInserted: (history, { node, parent }) => {
      const { id, cycle, content } = node as Fields;
      return [
        `INSERT INTO nodes VALUES (${quoted(history)}, ${quoted(id)}, ${quoted(parent)}, ${numbered(cycle)}, NULL, ${quoted(content)})`,
      ];
    },
    TurnSealed: (history, { turn }) => {
      const { id, cycle } = turn as Fields;
      return [
        `INSERT INTO nodes VALUES (${quoted(history)}, ${quoted(id)}, 'seq', ${numbered(cycle)}, NULL, NULL)`,
      ];
    },
    NodeExpired: (history, { id }) => [
      `UPDATE nodes SET died = 1 WHERE history = ${quoted(history)} AND id = ${quoted(id)}`,
    ],
    SnapshotCommitted: (history, data) => [snapshot(history, data)],
  },
  oneEach: [['snapshots', 'SnapshotCommitted']],
};

const keyed = (table: string): string =>
  `CREATE TABLE ${table} (history TEXT, key TEXT, a TEXT, b INTEGER, c INTEGER, PRIMARY KEY (history, key)) WITHOUT ROWID`;

const put = (table: string, history: string, key: unknown, a: unknown, b: unknown, c: unknown): string =>
  `INSERT OR REPLACE INTO ${table} VALUES (${quoted(history)}, ${quoted(key)}, ${quoted(a)}, ${numbered(b)}, ${numbered(c)})`;

const headers = ({ nodeType, role, kind, created_at_ns }: Fields): string =>
  JSON.stringify([nodeType, role, kind, created_at_ns]);

/** As many rows as ours for each event, of about the same size, in as many tables; contents stay in the events. */
export const same: Projection = {
  schema: [
    ...['versions', 'ids', 'turns', 'marks', 'commands', 'acts', 'commits', 'frames'].map(keyed),
    ...['histories', 'branch_summaries', 'heads', 'branches'].map(keyed),
    snapshots,
  ],
  statements: {
    HistoryStarted: (history, { name }) =>
      ['histories', 'branch_summaries', 'heads', 'branches'].map((table) =>
        put(table, history, '', name, 0, 0),
      ),
    NodeInserted: (history, { node, expires }) => {
      const { id, cycle } = node as Fields;
      return [
        put('versions', history, id, headers(node as Fields), cycle, expires),
        put('ids', history, id, '', cycle, 0),
      ];
    },
    TurnSealed: (history, { turn }) => {
      const { id, cycle } = turn as Fields;
      return [
        put('turns', history, cycle, headers(turn as Fields), cycle, 0),
        put('ids', history, id, '', cycle, 0),
      ];
    },
    SnapshotCommitted: (history, data) => [
      snapshot(history, data),
      ...['marks', 'commands', 'acts', 'frames'].map((table) =>
        put(table, history, data['cycle'], 'bench', data['cycle'], 0),
      ),
      put(
        'commits',
        history,
        data['cycle'],
        `${String(data['treeHash'])}${String(data['threadHash'])}`,
        0,
        0,
      ),
      ...['histories', 'branch_summaries', 'heads'].map((table) =>
        put(table, history, '', '', data['cycle'], 0),
      ),
    ],
  },
  oneEach: [
    ['snapshots', 'SnapshotCommitted'],
    ['versions', 'NodeInserted'],
  ],
};
