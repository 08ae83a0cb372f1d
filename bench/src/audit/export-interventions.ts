import { openHome } from '@stemma/home';
import { interventionLines } from '@stemma/reports';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** What an export wrote, and the processor time it took. */
export type Exported = { readonly lines: number; readonly bytes: number; readonly cpuSeconds: number };

/** All interventions of a history into a file, as `stemma interventions -o` does. */
export const exportInterventions = async (input: {
  readonly directory: string;
  readonly count: number;
}): Promise<Exported> => {
  const home = await openHome({ directory: input.directory });
  const branchRef = await home.find(`noted-${input.count}`);
  const begun = process.cpuUsage();
  const file = createWriteStream(join(input.directory, `${input.count}.jsonl`));
  let lines = 0;
  for await (const piece of interventionLines(home.queries.audit.eachIntervention(branchRef), 'jsonl')) {
    lines += piece.split('\n').length - 1;
    if (!file.write(piece)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  const { user, system } = process.cpuUsage(begun);
  await home.close();
  return { lines, bytes: file.bytesWritten, cpuSeconds: (user + system) / 1e6 };
};
