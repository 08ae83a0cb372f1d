import type { Step } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import { named, open, start, temporaryHome } from '@stemma/test-kit/home';
import { expect, it } from 'vitest';

const block = (content: string): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { nodeType: 'cb', role: 'user', content },
});

it(
  'the position in the answer to a command is the one that the rows give, and stays the same when the command is sent again',
  { tags: ['record§3:commands-remembered'] },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    const history = named('pool');
    await start(home, 'pool');
    let main = 0;
    const commands: { readonly branchId: number; readonly steps: Step[] }[] = [];
    const act = async (branchId: number, ...steps: Step[]): Promise<number> => {
      commands.push({ branchId, steps });
      const outcome = await submit(commands.length - 1);
      expect(outcome.position).toEqual(
        await home.position(branchRefOf(history, outcome.branchId), `@s${outcome.seq}`),
      );
      return outcome.seq;
    };
    const submit = (n: number) => {
      const { branchId, steps } = commands[n] as (typeof commands)[number];
      return home.submit({ id: `c${n}`, history, branchId, by: { actor: 'Ada' }, steps });
    };
    for (let round = 0; round < 3; round++) {
      const before = await act(main, block('one'));
      await act(main, block('two'), { op: 'commit' });
      const newest = await act(main, block('three'));
      const side = await act(main, { op: 'fork', at: { branchId: main, seq: before }, name: null });
      const further = await act(main, { op: 'fork', at: { branchId: side, seq: side }, name: null });
      await act(further, block('four'), { op: 'commit' });
      const at = { branchId: main, seq: newest };
      main = await act(main, { op: 'rollback', to: round === 1 ? { ...at, seq: before } : at });
      await act(main, block('five'));
    }
    const again = await open(folder.directory);
    for (const one of [home, again])
      for (let n = 0; n < commands.length; n++) {
        const { branchId, steps } = commands[n] as (typeof commands)[number];
        const { position, repeated } = await one.submit({
          id: `c${n}`,
          history,
          branchId,
          by: { actor: 'Ada' },
          steps,
        });
        expect(repeated).toBe(true);
        const { seq } = position;
        expect({ ...position, branch: '' }).toEqual({
          ...(await one.position(branchRefOf(history, position.branchId), `@s${seq}`)),
          branch: '',
        });
      }
    await home.close();
    await again.close();
  },
);
