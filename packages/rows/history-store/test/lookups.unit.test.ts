import type { Step } from '@stemma/history';
import { exportOf, HISTORY, naiveHistory, referenceHistory, rowsUnderTest } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { readAncestorPath } from '../src/ancestor-path.ts';
import { newestTurn, readBlockVersions } from '../src/block-versions.ts';
import { findCommand, isFromFirstFrame, isIdTaken } from '../src/lookups.ts';
import { readNodeHistory } from '../src/node-history.ts';
import { readPosition, readPositionMeta } from '../src/index.ts';

const block = (id: string, parent = '^ah'): Step => ({ op: 'insert', parent, node: { id, nodeType: 'cb' } });

/** The rows of a history whose commands are these lists of steps, one frame each. */
const rowsOf = (...commands: readonly (readonly Step[])[]) => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  for (const steps of commands)
    if (history.run(0, steps) === undefined) throw new Error('the command was refused');
  return under.rows;
};

const START: Step = { op: 'start', name: null };
const IMPORT: Step = {
  op: 'import',
  name: null,
  export: exportOf({
    id: 'r',
    nodeType: '^root',
    children: [{ id: 's', nodeType: '^sys', children: [{ id: 'rule', nodeType: 'cb' }] }],
  }),
};

test(
  'an id is taken by every node that is or was there, and is from the first frame if an import brought it',
  { tags: ['context-tree§2:ids'] },
  () => {
    const rows = rowsOf([IMPORT], [block('a')], [{ op: 'remove', id: 'a' }]);
    rows.now((view) => {
      expect(['rule', 'a', 'b'].map((id) => isIdTaken(view, HISTORY, id))).toEqual([true, true, false]);
      expect(['rule', 'a', 'b'].map((id) => isFromFirstFrame(view, HISTORY, id))).toEqual([
        true,
        false,
        false,
      ]);
    });
  },
);

test(
  'the newest turn at a position is the one that its own commit sealed, and none before the first',
  { tags: ['context-tree§5:positions'] },
  () => {
    const commit: Step = { op: 'commit' };
    const rows = rowsOf([START], [block('a'), commit], [block('b')], [block('c'), commit]);
    rows.now((view) => {
      const cycles = [0, 1, 2, 3].map((seq) => newestTurn(view, HISTORY, { branchId: 0, seq }));
      expect(cycles).toEqual([0, 1, 1, 2]);
    });
  },
);

test(
  'the history of a node tells where it is after each frame: under ^sys, in a turn, a region, a turn itself, or gone',
  { tags: ['snapshots:ids'] },
  () => {
    const rows = rowsOf(
      [IMPORT],
      [block('a')],
      [{ op: 'commit', turn_id: 't' }],
      [{ op: 'remove', id: 'rule' }],
    );
    rows.now((view) => {
      const path = readAncestorPath(view, HISTORY, 0, 3);
      const locations = (id: string) =>
        readNodeHistory(view, HISTORY, path, id).map(({ location }) => location);
      expect(['r', 's', 'rule', 'a', 't'].map(locations)).toEqual([
        ['fixed'],
        ['fixed'],
        ['sys', null],
        ['turn'],
        ['turnItself'],
      ]);
    });
  },
);

test(
  'the metadata of a position counts the living nodes and the rows under ^sys',
  { tags: ['snapshots:sys-churn'] },
  () => {
    const rows = rowsOf(
      [START],
      [block('x', '^sys'), block('y', '^sys'), block('a')],
      [{ op: 'remove', id: 'a' }],
      [{ op: 'remove', id: 'x' }],
      [{ op: 'replace', id: 'y', set: { data_x: 1 } }],
    );
    rows.now((view) => {
      const counts = [0, 1, 2, 3, 4].map((seq) => {
        const { meta } = readPositionMeta(view, HISTORY, 0, seq);
        return [meta.sysLive, meta.sysRows];
      });
      expect(counts).toEqual([
        [0, 0],
        [2, 2],
        [2, 2],
        [1, 3],
        [1, 4],
      ]);
    });
  },
);

test(
  'a version of a block says whether it is the assistant’s, whatever its kind and key are',
  { tags: ['pool:impact'] },
  () => {
    const said = (id: string, headers: object): Step => ({
      op: 'insert',
      parent: '^ah',
      node: { id, nodeType: 'cb', ...headers },
    });
    const rows = rowsOf(
      [START],
      [
        said('a', { role: 'assistant', kind: 'user', key: 'user' }),
        said('b', { role: 'user', kind: 'assistant' }),
      ],
    );
    rows.now((view) => {
      const versions = readBlockVersions(view, HISTORY, 0, 0, 'full');
      expect(versions.map(({ id, state }) => [id, state?.assistant])).toEqual([
        ['a', true],
        ['b', false],
      ]);
    });
  },
);

test('an imported turn is read until the cycle in which it expires', { tags: ['snapshots:expires'] }, () => {
  const turn = { id: 't', nodeType: 'mt', ttl: 1, children: [{ id: 'x', nodeType: 'cb' }] };
  const older = { id: 'older', nodeType: 'mt', children: [{ id: 'y', nodeType: 'cb' }] };
  const sequence = { id: 'q', nodeType: '^seq', children: [older, turn] };
  const text = exportOf({ id: 'r', nodeType: '^root', children: [sequence] });
  const commit: Step = { op: 'commit' };
  const rows = rowsOf([{ op: 'import', name: null, export: text }], [commit], [commit], [commit]);
  rows.now((view) => {
    const turns = [0, 1, 2, 3].map((seq) =>
      [...readPosition(view, HISTORY, 0, seq).turns].map(({ headers }) => headers.id),
    );
    const both = ['older', 't'];
    expect(turns).toEqual([both, both, ['older'], ['older']]);
  });
});

test(
  'the command of an observation is remembered like every other',
  { tags: ['record§3:commands-remembered'] },
  () => {
    const under = rowsUnderTest();
    const history = referenceHistory(HISTORY);
    const look = { kind: 'opened', what: 'it', times: 1, first_at: 1n, last_at: 1n } as const;
    const observe: Step = { op: 'observe', observations: [{ ...look, at: { branchId: 0, seq: 0 } }] };
    for (const steps of [[START], [{ op: 'config', set: { observe: true } }], [observe]] as const)
      under.fold(history.submit(0, steps, 1n, { actor: 'ann' }));
    const seqs = under.rows.now((view) =>
      history.frames.map(({ body }) => findCommand(view, HISTORY, body.command)?.seq),
    );
    expect(seqs).toEqual([0, 1, 2]);
  },
);
