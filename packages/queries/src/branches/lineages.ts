import type { Outcome } from '@stemma/command-handler';
import { fail } from '@stemma/errors';
import type { Command } from '@stemma/history';
import {
  lineageName,
  lineageNamed,
  lineOf,
  readChain,
  readConfig,
  readHead,
  rememberedCommand,
  type Line,
  type Position,
} from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { findHistory, findIntervention, listHistories, listObservations } from '@stemma/read-models';
import type { GenerationView } from '@stemma/row-store';
import { arePlaced, placeSteps } from './place-steps.ts';
import { configAt, savedPositions } from './saved.ts';
import { ancestorsOf, lineageTree } from './tree.ts';
import type { Lineages } from './types.ts';

export const lineagesOf = (
  projector: ServedRows,
  submit: (command: Command) => Promise<Outcome>,
  position: (line: Line, ref: string) => Promise<Position>,
): Lineages => {
  const current = async <T>(fn: (rows: GenerationView) => T): Promise<T> => {
    await projector.catchUp();
    return projector.read(fn);
  };
  const way: Lineages['way'] = (line, at) => current((rows) => wayTo(rows, line, at));
  const isObserved = (line: Line): Promise<boolean> => current((rows) => observes(rows, line));
  return {
    tree: (history) => current((rows) => lineageTree(rows, history)),
    ancestors: (position) => current((rows) => ancestorsOf(rows, position)),
    saved: (history) =>
      current((rows) => {
        if (history !== undefined && findHistory(rows, history) === undefined)
          throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
        const asked = history === undefined ? listHistories(rows).map((row) => row.history) : [history];
        return asked.flatMap((each) => savedPositions(rows, each));
      }),
    config: (position) => current((rows) => ({ position, config: configAt(rows, position) })),
    way,
    exact: async (name, steps) => {
      const [, history, strand] = /^(h[a-z2-7]{20}):(0|[1-9][0-9]{0,14})$/.exec(name) ?? [];
      if (history === undefined || strand === undefined || !arePlaced(steps)) return undefined;
      // A number can be a lineage's name.
      const named = await projector.read((rows) => lineageNamed(rows, history, strand));
      return named === undefined ? lineOf(history, Number(strand)) : undefined;
    },
    place: (line, command, steps) => placeSteps({ projector, position, way }, line, command, steps),
    intervention: (history, id) =>
      current((rows) => {
        const seq = rememberedCommand(rows, history, id)?.seq;
        const found = seq === undefined ? undefined : findIntervention(rows, history, seq);
        if (found === undefined)
          throw fail('E_NOT_FOUND', `the history ${history} has no intervention ${JSON.stringify(id)}`, {
            history,
            id,
          });
        return { strand: found.strand, seq: found.seq };
      }),
    isObserved,
    observe: async (line, actor, seen, command) => {
      if (seen.length === 0 || !(await isObserved(line))) return null;
      return submit({
        id: command,
        history: line.history,
        lineage: line.strand,
        by: { actor },
        steps: [
          {
            op: 'observe',
            observations: seen.map(({ kind, what, position, times, firstAt, lastAt }) => ({
              kind,
              what,
              at: { strand: position.strand, seq: position.seq },
              times,
              first_at: firstAt,
              last_at: lastAt,
            })),
          },
        ],
      });
    },
    observations: (history, page = {}) =>
      current((rows) =>
        listObservations(rows, history, page).map(
          ({ seq, actor, kind, what, at, times, firstAt, lastAt }) => ({
            seq,
            actor,
            kind,
            what,
            position: { lineage: lineageName(rows, history, at.strand), seq: at.seq },
            times,
            first_at: Number(firstAt / 1_000_000n),
            last_at: Number(lastAt / 1_000_000n),
          }),
        ),
      ),
  };
};

const observes = (rows: GenerationView, { history, strand }: Line): boolean =>
  readConfig(rows, history, strand, readHead(rows, history, strand)).config['observe'] === true;

const wayTo = (
  rows: GenerationView,
  { history, strand }: Line,
  position: Position,
): 'here' | 'rollback' | 'fork' => {
  const head = readHead(rows, history, strand);
  if (position.strand === strand && position.seq === head) return 'here';
  const link = readChain(rows, history, strand, head).find((each) => each.strand === position.strand);
  return link !== undefined && position.seq <= link.limit ? 'rollback' : 'fork';
};
