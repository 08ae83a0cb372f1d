import { historyId } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { measureCpu, type CpuTimes } from './cpu.ts';

const name = 'impact';
const history = historyId(name, '');
const AT_ONCE = 50;

/** What the impact of one injection takes: by a process that has asked nothing yet, and asked again. */
export type Asked = {
  readonly cycles: number;
  readonly calls: number;
  readonly blocks: number;
  readonly cold: CpuTimes;
  readonly warm: readonly CpuTimes[];
};

/** A hint that stays, injected into the second of so many cycles of a question, a result that lives for 20 and an answer. */
export const recordInjection = async (input: {
  readonly directory: string;
  readonly cycles: number;
}): Promise<{ readonly cycles: number }> => {
  const { directory, cycles } = input;
  const home = await openHome({ directory, create: true });
  const block = (role: string, content: string, ttl: number | null = null) =>
    ({ op: 'insert', parent: '^ah', node: { nodeType: 'cb', role, content, ttl } }) as const;
  const submit = (
    id: string,
    steps: Parameters<Home['submit']>[0]['steps'],
    actor = false,
  ): Promise<unknown> =>
    home.submit({ id, history, branchId: 0, by: actor ? { actor: 'ana' } : { recorder: 'bench' }, steps });
  await submit('start', [{ op: 'start', name }]);
  await submit('one', [block('user', 'begin'), { op: 'commit' }]);
  await submit('hint', [{ op: 'inject', text: 'look into the other drawer' }], true);
  for (let from = 0; from < cycles; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, cycles - from) }, (_, i) =>
        submit(`cycle-${from + i}`, [
          block('user', `question ${from + i}`),
          block('tool', `result ${from + i}`, 20),
          block('assistant', `answer ${from + i}`),
          { op: 'commit' },
        ]),
      ),
    );
  // Rows are there before anybody asks.
  await home.read.histories();
  await home.close();
  return { cycles };
};

export const askImpact = async (input: {
  readonly directory: string;
  readonly cycles: number;
}): Promise<Asked> => {
  const home = await openHome({ directory: input.directory });
  const found = (await home.find(name)).history;
  const ask = () => measureCpu(() => home.queries.audit.impact(found, 'hint'));
  const first = await ask();
  const warm: CpuTimes[] = [];
  for (let i = 0; i < 15; i++) warm.push((await ask()).spent);
  await home.close();
  const { counts, blocks } = first.value;
  return { cycles: input.cycles, calls: counts.calls, blocks: blocks.length, cold: first.spent, warm };
};
