import { createInterface } from 'node:readline';
import { holdHome, releaseHome, runStemma } from '../run-stemma.ts';

/*
 * A process that runs command lines one after the other, and says how each ended. Each opens its home afresh, but for the
 * one that a line `{"hold": DIRECTORY}` names: it stays open up to a line `{"hold": null}`.
 */
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as string[] | { readonly hold: string | null };
  if (Array.isArray(asked)) process.stdout.write(`${JSON.stringify(await runStemma(asked))}\n`);
  else {
    await releaseHome();
    if (asked.hold !== null) holdHome(asked.hold);
    process.stdout.write('{"code":0,"stdout":"","stderr":""}\n');
  }
}
