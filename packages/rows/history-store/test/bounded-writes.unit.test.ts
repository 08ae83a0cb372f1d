import { compareCodePoints } from '@stemma/canonical';
import type { TreeParts } from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import type { RowChange } from '@stemma/row-store';
import {
  HISTORY,
  naiveHistory,
  rowsUnderTest,
  type NaiveHistory,
  type RowsUnderTest,
  sized,
} from '@stemma/test-kit';
import { describe, expect, it } from 'vitest';
import { readAncestorPath, readPosition, readPositionMeta } from '../src/index.ts';
import type { PositionMeta } from '../src/position-meta.ts';
import { readSegments } from '../src/read-position.ts';

const block = (more: object = {}): never =>
  ({ nodeType: 'cb', offset: 0, kind: 'text', content: 'x', ...more }) as never;
const START: Step = { op: 'start', name: null };
const COMMIT: Step = { op: 'commit' };
const insert = (parent: string, node: never): Step => ({ op: 'insert', parent, node });

type Both = { readonly history: NaiveHistory; readonly under: RowsUnderTest };
const both = (steps: readonly Step[] = [START]): Both => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, steps);
  return { history, under };
};

/** The snapshots' own rows of the newest frame, by table; the memory of the command apart. */
const written = ({ under }: Both): Record<string, number> => {
  const counts: Record<string, number> = {};
  const own = new Set([
    'branches',
    'versions',
    'turns',
    'ids',
    'snapshots',
    'position_meta',
    'heads',
    'names',
    'policies',
  ]);
  for (const { table } of under.writes.at(-1) as RowChange[])
    if (own.has(table.name)) counts[table.name] = (counts[table.name] ?? 0) + 1;
  return counts;
};

const idsOf = (parts: TreeParts): string[] =>
  [...parts.nodes].map(({ headers }) => headers.id).sort(compareCodePoints);

/** True if the nodes at every position are the copies', the mark changed by `spoil`. */
const isRight = (
  { history, under }: Both,
  spoil: (meta: PositionMeta) => PositionMeta = (meta) => meta,
): boolean =>
  under.rows.now((view) => {
    for (let seq = 0; seq < history.state.next; seq++) {
      const { meta } = readPositionMeta(view, HISTORY, 0, seq);
      const parts = readSegments(view, HISTORY, readAncestorPath(view, HISTORY, 0, seq), spoil(meta));
      if (JSON.stringify(idsOf(parts)) !== JSON.stringify(idsOf(history.copyAt(0, seq)))) return false;
    }
    return true;
  });

describe('what a frame writes is bounded by what it changes', { tags: ['snapshots:writes'] }, () => {
  it(
    'a commit of one block into a large tree writes seven rows, and a fork writes one',
    { tags: ['snapshots:writes'], timeout: 600_000 },
    () => {
      const nodes = Array.from({ length: sized(4_000, 100_000) }, () => block());
      const tree = both([
        START,
        { op: 'insert', parent: '^ah', node: nodes[0] as never, siblings: nodes.slice(1) },
        COMMIT,
      ]);
      tree.history.run(0, [insert('^ah', block()), COMMIT]);
      expect(written(tree)).toEqual({
        versions: 1,
        ids: 2,
        turns: 1,
        snapshots: 1,
        position_meta: 1,
        heads: 1,
      });
      tree.history.run(0, [COMMIT]);
      expect(written(tree)).toEqual({ snapshots: 1, position_meta: 1, heads: 1 });
      tree.history.branch('fork', 0, 1);
      expect(written(tree)).toEqual({ branches: 1 });
    },
  );

  it(
    'ageing and plain expiry write nothing',
    { tags: ['snapshots:expires', 'record§3:consequences'] },
    () => {
      const tree = both();
      tree.history.run(0, [insert('^ah', block({ ttl: 1 })), insert('^ah', block()), COMMIT]);
      for (let i = 0; i < 3; i++) {
        tree.history.run(0, [COMMIT]);
        expect(written(tree)).toEqual({ snapshots: 1, position_meta: 1, heads: 1 });
      }
      expect(isRight(tree)).toBe(true);
    },
  );

  it(
    'frequent changes under ^sys are compacted now and then, so that the cost of reading ^sys depends on its size alone',
    { tags: ['snapshots:sys-churn'] },
    () => {
      const tree = both();
      let anew = 0;
      let most = 0;
      for (let i = 0; i < 300; i++) {
        const [newest] = idsOf(tree.history.copyAt(0, tree.history.state.next - 1)).slice(-1);
        const steps = newest === undefined ? [] : [{ op: 'remove', id: newest } as Step];
        tree.history.run(0, [...steps, insert('^sys', block()), insert('^sys', block({ ttl: 3 })), COMMIT]);
        const { meta } = tree.under.rows.now((view) =>
          readPositionMeta(view, HISTORY, 0, tree.history.state.next - 1),
        );
        if (meta.sysRows === meta.sysLive) anew++;
        most = Math.max(most, meta.sysRows - 2 * meta.sysLive);
      }
      expect(anew).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(64);
      expect(isRight(tree)).toBe(true);
    },
  );
});

describe('the range of cycles with live nodes', { tags: ['snapshots:oldestLive'] }, () => {
  /** Stragglers every twelve cycles, forty of them; between them blocks that live for two; late attachments far back. */
  const stragglers = (): Both => {
    const tree = both();
    for (let i = 0; i < 520; i++) {
      const lives = i % 12 === 0 ? null : 2;
      tree.history.run(0, [insert('^ah', block({ ttl: lives })), COMMIT]);
      if (i % 50 === 49) {
        const turns = [...tree.history.copyAt(0, tree.history.state.next - 1).turns];
        tree.history.run(0, [
          insert((turns[i % 37] ?? turns[0])?.headers.id ?? '', block({ offset: 1, ttl: 60 })),
        ]);
      }
    }
    return tree;
  };

  it(
    'stays narrow when a few nodes are much older than the rest, since `olderLive` lists those',
    { tags: ['snapshots:oldestLive'] },
    () => {
      const tree = stragglers();
      const { meta } = tree.under.rows.now((view) =>
        readPositionMeta(view, HISTORY, 0, tree.history.state.next - 1),
      );
      expect(meta.olderLive.length).toBe(32);
      expect(meta.cycle - meta.oldestLive).toBeLessThan(12 * 14);
      expect(isRight(tree)).toBe(true);
    },
  );

  it(
    'loses nodes without `olderLive` or with a range that begins or ends one cycle off, and is complete, though slow, from cycle 0',
    { tags: ['snapshots:oldestLive'] },
    () => {
      const tree = stragglers();
      expect(isRight(tree, (meta) => ({ ...meta, olderLive: [] }))).toBe(false);
      expect(isRight(tree, (meta) => ({ ...meta, oldestLive: meta.oldestLive + 1 }))).toBe(false);
      expect(isRight(tree, (meta) => ({ ...meta, cycle: meta.cycle + 1 }))).toBe(false);
      expect(isRight(tree, (meta) => ({ ...meta, olderLive: [], oldestLive: 0 }))).toBe(true);
    },
  );

  it('lets a reader load the 50 live nodes of a long history without reading the rows of dead ones', () => {
    const under = rowsUnderTest();
    const history = naiveHistory((frame) => under.fold(frame), HISTORY, 50);
    history.run(0, [START]);
    for (let i = 0; i < sized(500, 2_000); i++) history.run(0, [insert('^ah', block({ ttl: 50 })), COMMIT]);
    let read = 0;
    const parts = under.rows.now((view) =>
      readPosition(
        {
          ...view,
          range: (table, range) => {
            const rows = view.range(table, range);
            if (table.name === 'versions') read += rows.length;
            return rows;
          },
        },
        HISTORY,
        0,
        history.state.next - 1,
      ),
    );
    expect([...parts.nodes].length).toBe(51);
    expect(read).toBeLessThan(51 + 4 + 16);
  }, 600_000);
});
