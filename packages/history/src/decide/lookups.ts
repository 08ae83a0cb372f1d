import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { Command } from '../command.ts';
import { LookupNeeded, type LineageState, type Lookups } from '../state.ts';
import { nodeIdAt, turnIdAt } from './draft.ts';

/**
 * Asks for everything at once that the command is going to look up, so that a caller who fetches on demand is not asked
 * id by id. Ids that are made are guessed as if all steps succeed; a wrong guess costs another round, nothing else.
 *
 * @throws LookupNeeded
 */
export const askAhead = (command: Command, lineage: LineageState, lookups: Lookups): void => {
  const ids: string[] = [];
  const names: string[] = [];
  const ask = (look: () => unknown): void => {
    try {
      look();
    } catch (error) {
      if (!(error instanceof LookupNeeded)) throw error;
      ids.push(...error.ids);
      names.push(...error.names);
    }
  };
  for (const id of idsOf(command, lineage)) ask(() => lookups.idTaken(id));
  for (const step of command.steps)
    if (step.op === 'name' || (step.op === 'save' && step.name !== undefined)) {
      const { name } = step;
      ask(() => lookups.nameTaken(name as string));
    }
  if (ids.length + names.length > 0) throw new LookupNeeded(ids, names);
};

/** Deeper nodes are refused anyway. */
const MAX_GUESSED = 128;

const idsOf = (command: Command, lineage: LineageState): string[] => {
  const ids: string[] = [];
  let index = lineage.nextIndex;
  let cycle = lineage.tree.open;
  const visit = (value: WideJson, level: number): void => {
    if (!isJsonObject(value) || level > MAX_GUESSED) return;
    const { id, children } = value;
    ids.push(typeof id === 'string' ? id : nodeIdAt(lineage.strand, cycle, index));
    index++;
    if (Array.isArray(children)) for (const child of children as WideJson[]) visit(child, level + 1);
  };
  for (const step of command.steps) {
    if (step.op === 'inject') visit(step.id === undefined ? {} : { id: step.id }, 0);
    if (step.op === 'insert') for (const node of [step.node, ...(step.siblings ?? [])]) visit(node, 0);
    if (step.op !== 'commit') continue;
    ids.push(step.turn_id ?? turnIdAt(lineage.strand, cycle));
    cycle++;
    index = 0;
  }
  return ids;
};
