import { openHome } from '@stemma/test-kit/home';

/* A process that injects into branches of one history, in turns: directory, history, its own name, how often, branches. */
const [directory = '', history = '', name = '', times = '1', ...branches] = process.argv.slice(2);
const home = await openHome({ directory });
const done: Promise<unknown>[] = [];
for (let i = 0; i < Number(times); i++)
  for (const branchId of branches)
    done.push(
      home.submit({
        id: `${name}:${branchId}:${i}`,
        history,
        branchId: Number(branchId),
        by: { actor: name },
        notes: `the ${i}th`,
        steps: [{ op: 'inject', text: `${name} ${i} in ${branchId}` }],
      }),
    );
await Promise.all(done);
await home.close();
