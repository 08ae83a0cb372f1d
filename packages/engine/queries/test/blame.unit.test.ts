import { exportTree, flattenRecords } from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import { play, type Played } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { blameThread, parseByteRange } from '../src/prompts/blame.ts';
import type { Blame } from '../src/prompts/types.ts';

const START: Step = { op: 'start', name: null };
const block = (id: string, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', content: id, ...more },
});

/** A history of these frames. */
const recorded = (...frames: readonly (readonly Step[])[]): Played => {
  const played = play([], START);
  for (const steps of frames) expect(played.history.run(0, steps)).toBeDefined();
  return played;
};
const blameOf = ({ projector, positionAt }: Played): Promise<Blame> =>
  blameThread(projector, positionAt(0, Infinity));
/** The event that a part of a block comes from, and its frame. */
const originOf = ({ parts, origins }: Blame, node: string, part: string): unknown => {
  const found = parts.find((each) => each.node === node && each.part === part);
  const origin = origins[found?.origin ?? -1];
  return origin && `${origin.event} ${origin.seq}`;
};

test('a role of its own comes from the event that inserted the block, wherever the block was moved', async () => {
  const move: Step = { op: 'move', id: 'x', parent: '^sys' };
  const role = { role: 'user' };
  expect(originOf(await blameOf(recorded([block('x', role), move])), 'x', 'role')).toBe('NodeInserted 1');
  expect(originOf(await blameOf(recorded([block('x'), move])), 'x', 'role')).toBe('NodeMoved 1');
});

test('the role of a block that never left its region comes from the event that inserted it, though it was moved there', async () => {
  const inSys = (node: Extract<Step, { op: 'insert' }>['node']): Step => ({
    op: 'insert',
    parent: '^sys',
    node,
  });
  const blame = await blameOf(
    recorded(
      [
        inSys({ id: 'x', nodeType: 'cb', content: 'x' }),
        inSys({ id: 'shelf', nodeType: 'mc', children: [] }),
      ],
      [{ op: 'move', id: 'x', parent: 'shelf' }],
    ),
  );
  expect(originOf(blame, 'x', 'role')).toBe('NodeInserted 1');
});

test('an imported block has the cycle in which it was made', async () => {
  const { history } = recorded([block('a'), { op: 'commit' }], [block('b'), { op: 'commit' }]);
  const tree = exportTree(flattenRecords(history.copyAt(0, 2)), history.payload);
  const played = play([], {
    op: 'import',
    name: null,
    export: tree,
    source: { format: 'stemma', sha256: '' },
  } as never);
  const { parts, origins } = await blameOf(played);
  const cycles = ['a', 'b'].map((id) => origins[parts.find(({ node }) => node === id)?.origin ?? -1]?.cycle);
  expect(cycles).toEqual([1, 2]);
});

test.each([
  ['120-480', { from: 120, to: 480 }],
  ['120-', { from: 120, to: Number.MAX_SAFE_INTEGER }],
])('%s is a range of bytes', (text, range) => {
  expect(parseByteRange(text)).toEqual(range);
});
