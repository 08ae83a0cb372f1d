import { createInterface } from 'node:readline';
import { runStemma } from '../run-stemma.ts';

/* A process that runs command lines one after the other, each on homes opened afresh, and says how each ended. */
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const run = await runStemma(JSON.parse(line) as string[]);
  process.stdout.write(`${JSON.stringify(run)}\n`);
}
