import { isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { openHome } from '@stemma/home';
import { writeSync } from 'node:fs';

/*
 * A process that writes to histories until it is killed, and says what it tries and what was acknowledged. Arguments: the
 * home, its own name, the names of the histories.
 */
const [directory = '', name = '', ...histories] = process.argv.slice(2);
const say = (...words: readonly (string | number)[]): void => void writeSync(1, `${words.join(' ')}\n`);
const home = await openHome({ directory, create: true });
for (let i = 0; ; i++) {
  await Promise.all(
    histories.map(async (history) => {
      const id = `${name}-${i}-${history}`;
      say('tries', history, id);
      try {
        const { seq } = await home.submit({
          id,
          history: historyId(history, ''),
          branchId: 0,
          by: { recorder: 'test' },
          steps: [
            { op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content: `${id} said` } },
            ...(i % 3 === 2 ? [{ op: 'commit' as const }] : []),
          ],
        });
        say('wrote', history, id, seq);
      } catch (error) {
        if (!isStemmaError(error) || !error.row.retriable) throw error;
      }
    }),
  );
}
