import { isJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Step } from '@stemma/history';
import { defined } from '@stemma/values';
import { checkNode } from '../check-node.ts';
import type { Importer, ImporterOutput, MakeFirstStep, Unit } from '../importer.ts';
import { addCount } from '../counts.ts';
import { importReport, newTally } from '../tally.ts';
import { newDryRun } from './dry-run.ts';
import { parseLine, stepOf, type StartLine } from './parse-line.ts';

const MAPPING = 'steps@1';

/**
 * A history written step by step, one JSON object per line, for people to read and write: what is inserted with which
 * lifetime, replaced, removed, committed. See docs/formats/import.md.
 */
export const steps: Importer = {
  name: 'steps',
  mapping: MAPPING,
  summary: 'a history step by step: JSON lines of start, insert, replace, move, remove, commit …',
  recognises: (first) => isJsonObject(first) && first['op'] === 'start' && first['steps'] !== undefined,
  read,
};

async function* read(units: AsyncIterable<Unit>): AsyncIterable<ImporterOutput> {
  const tally = newTally();
  const rehearsal = newDryRun();
  let firstStep: MakeFirstStep | null = null;
  let flushed = 0;
  let open: Step[] = [];
  let stepLabels: string[] = [];

  const flush = (): ImporterOutput => {
    const first = flushed > 0 ? null : firstStep;
    const rehearsed = first === null ? open : [first(null, { format: MAPPING, sha256: '' }), ...open];
    rehearsal.run(rehearsed, first === null ? stepLabels : ['the start', ...stepLabels]);
    const output: ImporterOutput = { kind: 'steps', firstStep: first, steps: open };
    flushed += 1;
    open = [];
    stepLabels = [];
    return output;
  };

  for await (const { value, where } of units) {
    const line = parseLine(value, where);
    addCount(tally.read, line.op);
    if (line.op === 'start') {
      if (firstStep !== null) throw fail('E_INPUT_SHAPE', `${where}: a history starts once`);
      firstStep = firstStepOf(line);
      continue;
    }
    if (firstStep === null)
      throw fail('E_INPUT_SHAPE', `${where}: the first line is {"op":"start","steps":1}, not ${line.op}`);
    const step = stepOf(line);
    if (step.op === 'insert') checkNode(step.node, where);
    open.push(step);
    stepLabels.push(where);
    if (step.op === 'commit') yield flush();
  }
  if (open.length > 0 || flushed === 0) yield flush();
  yield { kind: 'report', report: importReport(MAPPING, tally) };
}

const firstStepOf =
  ({ thread }: StartLine): MakeFirstStep =>
  (name, source) => ({ op: 'start', name, source, ...defined({ thread }) });
