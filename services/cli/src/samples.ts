import type { Home } from '@stemma/home';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importFile } from './import-file.ts';
import type { Output } from './output.ts';
import { recordSampleInterventions } from './sample-interventions.ts';

/** The samples, from the sources and from the built programs. */
const SAMPLES = join(import.meta.dirname, '../../../samples');

/** A small project with a fault, an agent that mends it, and the recording of how it did. */
export const QUICKSTART = join(SAMPLES, 'quickstart');

/**
 * Imports the samples that come with Stemma into a home without histories, each under the name of its file, and
 * records a story of interventions on one of them.
 */
export const importSamples = async (home: Home, output: Output): Promise<void> => {
  if ((await home.read.histories()).length > 0) return;
  const files = readdirSync(SAMPLES)
    .filter((file) => /\.jsonl?$/.test(file))
    .sort((a, b) => (a < b ? -1 : 1));
  const nameOf = (file: string): string => file.replace(/\..*$/, '');
  for (const file of files) {
    const name = nameOf(file);
    const { signal } = new AbortController();
    await importFile(home, join(SAMPLES, file), { format: 'auto', name, signal });
  }
  output.say(`imported the samples ${files.map(nameOf).join(', ')}`);
  await recordSampleInterventions(home);
};
