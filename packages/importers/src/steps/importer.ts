import { isJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Step } from '@stemma/history';
import { checkNode } from '../check-node.ts';
import type { Beginning, Draft, Importer, Unit } from '../importer.ts';
import { count, newTally, reportOf } from '../tally.ts';
import { parseLine, stepOf, type StartLine } from './parse-line.ts';
import { newRehearsal } from './rehearsal.ts';

const MAPPING = 'steps@1';

/**
 * A history written down step by step, one JSON object a line, as a person can read and write it: what is inserted with
 * which lifetime, replaced, removed, committed. See docs/formats/import.md.
 */
export const steps: Importer = {
  name: 'steps',
  mapping: MAPPING,
  summary: 'a history step by step: JSON lines of start, insert, replace, move, remove, commit …',
  recognises: (first) => isJsonObject(first) && first['op'] === 'start' && first['steps'] !== undefined,
  read,
};

async function* read(units: AsyncIterable<Unit>): AsyncIterable<Draft> {
  const tally = newTally();
  const rehearsal = newRehearsal();
  let begin: Beginning | null = null;
  let flushed = 0;
  let open: Step[] = [];
  let places: string[] = [];

  const flush = (): Draft => {
    const first = flushed > 0 ? null : begin;
    const rehearsed = first === null ? open : [first(null, { format: MAPPING, sha256: '' }), ...open];
    rehearsal.run(rehearsed, first === null ? places : ['the start', ...places]);
    const draft: Draft = { kind: 'steps', begin: first, steps: open };
    flushed += 1;
    open = [];
    places = [];
    return draft;
  };

  for await (const { value, where } of units) {
    const line = parseLine(value, where);
    count(tally.read, line.op);
    if (line.op === 'start') {
      if (begin !== null) throw fail('E_INPUT_SHAPE', `${where}: a history starts once`);
      begin = beginning(line);
      continue;
    }
    if (begin === null)
      throw fail('E_INPUT_SHAPE', `${where}: the first line is {"op":"start","steps":1}, not ${line.op}`);
    const step = stepOf(line);
    if (step.op === 'insert') checkNode(step.node, where);
    open.push(step);
    places.push(where);
    if (step.op === 'commit') yield flush();
  }
  if (open.length > 0 || flushed === 0) yield flush();
  yield { kind: 'report', report: reportOf(MAPPING, tally) };
}

const beginning =
  ({ thread }: StartLine): Beginning =>
  (name, source) => ({ op: 'start', name, source, ...(thread === undefined ? {} : { thread }) });
