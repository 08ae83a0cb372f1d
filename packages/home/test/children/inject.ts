import { openHome } from '../../src/index.ts';

/* A process that injects into lineages of one history, in turns: directory, history, its own name, how often, strands. */
const [directory = '', history = '', name = '', times = '1', ...strands] = process.argv.slice(2);
const home = await openHome({ directory });
const done: Promise<unknown>[] = [];
for (let i = 0; i < Number(times); i++)
  for (const strand of strands)
    done.push(
      home.submit({
        id: `${name}:${strand}:${i}`,
        history,
        lineage: Number(strand),
        by: { actor: name },
        notes: `the ${i}th`,
        steps: [{ op: 'inject', text: `${name} ${i} in ${strand}` }],
      }),
    );
await Promise.all(done);
await home.close();
