import type { Step } from '@stemma/history';
import { lineOf } from '@stemma/history-store';
import { expect, it } from 'vitest';
import { named, open, start, temporaryHome } from './small-home.ts';

const block = (content: string): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { nodeType: 'cb', role: 'user', content },
});

it('the position in an answer is the one that the rows tell, and the same when the command is sent again [record §3: commands remembered]', async () => {
  using folder = temporaryHome();
  const home = await open(folder.directory);
  const history = named('pool');
  await start(home, 'pool');
  let main = 0;
  const commands: { readonly lineage: number; readonly steps: Step[] }[] = [];
  const act = async (lineage: number, ...steps: Step[]): Promise<number> => {
    commands.push({ lineage, steps });
    const outcome = await submit(commands.length - 1);
    expect(outcome.position).toEqual(
      await home.position(lineOf(history, outcome.strand), `@s${outcome.seq}`),
    );
    return outcome.seq;
  };
  const submit = (n: number) => {
    const { lineage, steps } = commands[n] as (typeof commands)[number];
    return home.submit({ id: `c${n}`, history, lineage, by: { actor: 'Ada' }, steps });
  };
  for (let round = 0; round < 3; round++) {
    const before = await act(main, block('one'));
    await act(main, block('two'), { op: 'commit' });
    const newest = await act(main, block('three'));
    const side = await act(main, { op: 'fork', at: { strand: main, seq: before }, name: null });
    const further = await act(main, { op: 'fork', at: { strand: side, seq: side }, name: null });
    await act(further, block('four'), { op: 'commit' });
    const at = { strand: main, seq: newest };
    main = await act(main, { op: 'rollback', to: round === 1 ? { ...at, seq: before } : at });
    await act(main, block('five'));
  }
  const again = await open(folder.directory);
  for (const one of [home, again])
    for (let n = 0; n < commands.length; n++) {
      const { lineage, steps } = commands[n] as (typeof commands)[number];
      const { position, repeated } = await one.submit({
        id: `c${n}`,
        history,
        lineage,
        by: { actor: 'Ada' },
        steps,
      });
      expect(repeated).toBe(true);
      const { seq, strand } = position;
      expect({ ...position, lineage: '' }).toEqual({
        ...(await one.position(lineOf(history, strand), `@s${seq}`)),
        lineage: '',
      });
    }
  await home.close();
  await again.close();
});
