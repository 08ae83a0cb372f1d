import { historyId, type Command } from '@stemma/history';
import { openHome } from '@stemma/home';
import { prose, seeded } from '../text.ts';
import { measureAppends, mostAppends, type Appending, type AppendInput } from './figures.ts';
import { CONTENT_LENGTH } from './records.ts';

/** Blocks in one history before the next one is begun: many agents write for a while, none for ever. */
const HISTORY = 10_000;

const command = (id: string, name: string, steps: Command['steps']): Command => ({
  id,
  history: historyId(name, id),
  branchId: 0,
  by: { recorder: 'bench' },
  steps,
});

/**
 * Commands on a whole Stemma: decided on the state of their history, encoded, checked, appended durably, answered, and
 * folded into all read models in the same process meanwhile.
 */
export const appendToHome = async (input: AppendInput): Promise<Appending> => {
  const home = await openHome({ directory: input.directory, create: true });
  const contents = Array.from({ length: 1_000 }, (_, number) => prose(seeded(number), CONTENT_LENGTH));
  const insertions = (from: number): Command['steps'] =>
    Array.from({ length: input.group }, (_, index) => ({
      op: 'insert',
      parent: '^ah',
      node: {
        nodeType: 'cb',
        role: 'assistant',
        kind: 'text',
        content: contents[(from + index) % contents.length]!,
      },
    }));
  const names = Math.ceil((mostAppends(input) * input.group) / HISTORY);
  for (let number = 0; number < names; number += 1) {
    const name = `agent-${number}`;
    await home.submit(command(`start:${name}`, name, [{ op: 'start', name }]));
  }
  const measured = await measureAppends(input, (before) => {
    const from = before * input.group;
    return home.submit(command(`insert:${before}`, `agent-${Math.floor(from / HISTORY)}`, insertions(from)));
  });
  await home.close();
  return measured;
};
