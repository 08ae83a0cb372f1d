import { openHome } from '@stemma/home';
import { historyId } from '@stemma/history';
import { writeSync } from 'node:fs';

/*
 * Writes snapshots to two histories until it is killed, and says after each how many it has written. Arguments: the home,
 * a name for its histories.
 */
const [directory = '', name = ''] = process.argv.slice(2);
const home = await openHome({ directory, create: true });
const histories = [`${name}-1`, `${name}-2`].map((each) => ({ name: each, id: historyId(each, '') }));
const by = { recorder: 'load' };
for (const { name: each, id } of histories)
  await home.submit({
    id: `${each}:start`,
    history: id,
    branchId: 0,
    by,
    steps: [{ op: 'start', name: each }],
  });
for (let i = 0; ; i++) {
  await Promise.all(
    histories.map(({ name: each, id }) =>
      home.calls.recordCall(
        { history: id, branch: id, branchId: 0 },
        { id: `${each}:${i}`, by, messages: [{ role: 'user', content: `question ${i} ${'x'.repeat(500)}` }] },
      ),
    ),
  );
  writeSync(1, `${i + 1}\n`);
}
