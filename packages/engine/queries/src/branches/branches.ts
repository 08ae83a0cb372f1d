import type { Outcome } from '@stemma/command-handler';
import { fail } from '@stemma/errors';
import type { Command } from '@stemma/history';
import {
  branchAddressOf,
  branchRefOf,
  findCommand,
  positionOfFrame,
  readAncestorPath,
  readConfig,
  readTipSeq,
  type BranchRef,
  type Position,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { findHistory, findIntervention, listObservations } from '@stemma/read-models';
import type { GenerationView } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import { areResolved, resolveSteps } from './resolve-steps.ts';
import { configAt, savedPositions } from './saved.ts';
import { listOpenedHistories } from '../list-opened.ts';
import { findPosition } from '../audit/find-position.ts';
import { catchUpWith, readOf } from '../catch-up-with.ts';
import { findMergeBase } from '../merge-base.ts';
import { findServedPosition } from '../served-histories.ts';
import { ancestorsOf, listBranchNodes } from './tree.ts';
import type { Branches } from './types.ts';

export const openBranches = (
  projection: Projection,
  submit: (command: Command) => Promise<Outcome>,
): Branches => {
  const isObserved = (branchRef: BranchRef): Promise<boolean> =>
    readOf(projection, branchRef.history, (rows) => isObserving(rows, branchRef));
  return {
    tree: (history) => readOf(projection, history, (rows) => listBranchNodes(rows, history)),
    ancestors: (branchRef, at) =>
      readOf(projection, branchRef.history, (rows) => ancestorsOf(rows, findPosition(rows, branchRef, at))),
    mergeBase: (a, b) =>
      readOf(projection, a.history, (rows) => {
        const tipOf = ({ history, branchId }: BranchRef) => ({
          branchId,
          seq: readTipSeq(rows, history, branchId),
        });
        const { branchId, seq } = findMergeBase(rows, a.history, tipOf(a), tipOf(b)).mergeBase;
        return positionOfFrame(rows, a.history, branchId, seq);
      }),
    saved: async (history) => {
      await (history === undefined ? projection.catchUp() : catchUpWith(projection, history));
      return projection.read((rows) => {
        if (history !== undefined && findHistory(rows, history) === undefined)
          throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
        const asked = history === undefined ? listOpenedHistories(rows).map((row) => row.history) : [history];
        return asked.flatMap((each) => savedPositions(rows, each));
      });
    },
    config: (position) =>
      readOf(projection, position.history, (rows) => ({ position, config: configAt(rows, position) })),
    howToContinue: (branchRef, at) =>
      readOf(projection, branchRef.history, (rows) => continuationOf(rows, branchRef, at)),
    findExact: (name, steps) => {
      const [, history, branchId] = /^(h[a-z2-7]{20}):(0|[1-9][0-9]{0,14})$/.exec(name) ?? [];
      if (history === undefined || branchId === undefined || !areResolved(steps)) return undefined;
      return branchRefOf(history, Number(branchId));
    },
    resolveSteps: (branchRef, command, steps) =>
      resolveSteps(
        {
          projection,
          position: (from, ref) => projection.read((rows) => findServedPosition(rows, from, ref)),
          howToContinue: (from, at) => projection.read((rows) => continuationOf(rows, from, at)),
        },
        branchRef,
        command,
        steps,
      ),
    interventionPosition: (history, id) =>
      readOf(projection, history, (rows) => {
        const seq = findCommand(rows, history, id)?.seq;
        const found = seq === undefined ? undefined : findIntervention(rows, history, seq);
        if (found === undefined)
          throw fail('E_NOT_FOUND', `the history ${history} has no intervention ${JSON.stringify(id)}`, {
            history,
            id,
          });
        return { branchId: found.branchId, seq: found.seq };
      }),
    isObserved,
    observe: async (branchRef, actor, seen, command) => {
      if (seen.length === 0 || !(await isObserved(branchRef))) return null;
      return submit({
        id: command,
        history: branchRef.history,
        branchId: branchRef.branchId,
        by: { actor },
        steps: [
          {
            op: 'observe',
            observations: seen.map(({ kind, what, position, times, firstAt, lastAt }) => ({
              kind,
              what,
              at: { branchId: position.branchId, seq: position.seq },
              times,
              first_at: firstAt,
              last_at: lastAt,
            })),
          },
        ],
      });
    },
    observations: (history, page = {}) =>
      readOf(projection, history, (rows) =>
        listObservations(rows, history, page).map(
          ({ seq, actor, kind, what, at, times, firstAt, lastAt }) => ({
            seq,
            actor,
            kind,
            what,
            position: {
              branch: branchAddressOf(rows, history, at.branchId),
              branchId: at.branchId,
              seq: at.seq,
            },
            times,
            first_at: millisecondsOf(firstAt),
            last_at: millisecondsOf(lastAt),
          }),
        ),
      ),
  };
};

const isObserving = (rows: GenerationView, { history, branchId }: BranchRef): boolean =>
  readConfig(rows, history, branchId, readTipSeq(rows, history, branchId)).config['observe'] === true;

const continuationOf = (
  rows: GenerationView,
  { history, branchId }: BranchRef,
  position: Position,
): 'current' | 'rollback' | 'fork' => {
  const tip = readTipSeq(rows, history, branchId);
  if (position.branchId === branchId && position.seq === tip) return 'current';
  const link = readAncestorPath(rows, history, branchId, tip).find(
    (each) => each.branchId === position.branchId,
  );
  return link !== undefined && position.seq <= link.limit ? 'rollback' : 'fork';
};
