import { isJsonObject } from '@stemma/canonical';
import { planExport, type ImportPlan } from '@stemma/context-tree';
import type { Importer, ImporterOutput, Unit } from './importer.ts';
import { addCount } from './counts.ts';
import { importReport, newTally } from './tally.ts';

const MAPPING = 'pact@1';

/**
 * Stemma's own export (context-tree §4): a state unchanged, the snapshot of its own cycle. One history per document.
 */
export const pact: Importer = {
  name: 'pact',
  mapping: MAPPING,
  summary: 'an export of Stemma: {spec_version, cycle, root}; JSON lines of them are histories of their own',
  recognises: (first) => isJsonObject(first) && first['root'] !== undefined,
  read,
};

async function* read(units: AsyncIterable<Unit>): AsyncIterable<ImporterOutput> {
  for await (const { text, value } of units) {
    const plan = planExport(value);
    yield {
      kind: 'steps',
      firstStep: (name, source) => ({ op: 'import', name, export: text, source }),
      steps: [],
    };
    yield { kind: 'report', report: importReport(MAPPING, tallyOf(plan)) };
  }
}

const tallyOf = (plan: ImportPlan): ReturnType<typeof newTally> => {
  const tally = newTally();
  addCount(tally.read, 'cycles');
  addCount(tally.read, 'nodes', plan.nodes.length);
  for (const { headers } of plan.nodes) addCount(tally.read, `type ${headers.nodeType}`);
  return tally;
};
