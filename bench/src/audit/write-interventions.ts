import { historyId } from '@stemma/history';
import { openHome } from '@stemma/home';

/** Commands under way at once: they share what makes them durable. */
const AT_ONCE = 500;

/** A history of this many interventions: each is a note to the one before it, in a frame of its own. */
export const writeInterventions = async (input: {
  readonly directory: string;
  readonly count: number;
}): Promise<{ readonly seconds: number }> => {
  const started = performance.now();
  const home = await openHome({ directory: input.directory, create: true });
  const name = `noted-${input.count}`;
  const history = historyId(name, '');
  const by = { actor: 'bench' };
  await home.submit({
    id: `${name}:start`,
    history,
    branchId: 0,
    by: { recorder: 'bench' },
    steps: [{ op: 'start', name }],
  });
  for (let from = 0; from < input.count; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, input.count - from) }, (_, i) =>
        home.submit({
          id: `${name}:${from + i}`,
          history,
          branchId: 0,
          by,
          notes: `checked, and found as it should be (${from + i})`,
          steps: [{ op: 'annotate', note: `note ${from + i}` }],
        }),
      ),
    );
  // Rows are there before anybody asks.
  await home.read.histories();
  await home.close();
  return { seconds: (performance.now() - started) / 1000 };
};
