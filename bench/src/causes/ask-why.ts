import { historyId } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { spread, timed, type Spread } from '../measure.ts';

const name = 'causes';
const history = historyId(name, '');
const by = { recorder: 'bench' };

/** How long `why` of one node takes in a history of so many cycles, and a diff of its last two snapshots, plain and explained. */
export type Asked = {
  readonly cycles: number;
  readonly why: Spread;
  readonly diff: Spread;
  readonly explain: Spread;
  readonly entries: number;
};

/** A window of blocks that age and expire, and one node under `^sys` with another priority now and then. */
const record = async (home: Home, cycles: number): Promise<void> => {
  const block = (id: string, parent: string, ttl: number | null) =>
    ({ op: 'insert', parent, node: { id, nodeType: 'cb', ttl, content: `what ${id} says` } }) as const;
  const submit = (id: string, steps: Parameters<Home['submit']>[0]['steps']): Promise<unknown> =>
    home.submit({ id, history, branchId: 0, by, steps });
  await submit('start', [{ op: 'start', name }]);
  await submit('rules', [block('rules', '^sys', null)]);
  // Commands under way at once share what makes them durable; each is decided on the one before.
  const atOnce = 50;
  for (let from = 1; from <= cycles; from += atOnce)
    await Promise.all(
      Array.from({ length: Math.min(atOnce, cycles - from + 1) }, (_, i) => {
        const cycle = from + i;
        const changed = cycle % Math.ceil(cycles / 20) === 0;
        const priority = { op: 'priorities' as const, priorities: [{ id: 'rules', priority: cycle }] };
        return submit(`cycle-${cycle}`, [
          block(`b${cycle}`, '^ah', 20),
          ...(changed ? [priority] : []),
          { op: 'commit' },
        ]);
      }),
    );
};

export const askWhy = async (input: {
  readonly directory: string;
  readonly cycles: number;
}): Promise<Asked> => {
  const { cycles } = input;
  const home = await openHome({ directory: input.directory, create: true });
  await record(home, cycles);
  await home.read.histories();
  const branchRef = await home.find(name);
  const working = await home.position(branchRef);
  const why: number[] = [];
  let entries = 0;
  for (let i = 0; i < 200; i++) {
    const id = i % 4 === 0 ? 'rules' : `b${1 + Math.floor(((cycles - 1) * i) / 200)}`;
    const { ms, value } = await timed(() => home.queries.causes.why(working, id));
    why.push(ms);
    entries = Math.max(entries, value.changes.length + 1);
  }
  const [a, b] = [await home.position(branchRef, '@t-1'), await home.position(branchRef, '@t0')];
  const diff: number[] = [];
  for (let i = 0; i < 200; i++) diff.push((await timed(() => home.read.diff(branchRef, '@t-1', '@t0'))).ms);
  const explain: number[] = [];
  for (let i = 0; i < 50; i++) explain.push((await timed(() => home.queries.causes.explain(a, b))).ms);
  await home.close();
  return { cycles, why: spread(why), diff: spread(diff), explain: spread(explain), entries };
};
