import type { Outcome } from '@stemma/command-handler';
import type { Command, Step } from '@stemma/history';

/**
 * Where the commands of an import stand in their history. The importer counts them from 0, as if nothing else were in it; a file that
 * grew goes on behind what was recorded meanwhile: by its last import, and by observers on other branches.
 */
export type ImportedFrames = {
  /** The command, with what it names by the numbers that its history has; it is to be the next frame, or is recorded already. */
  readonly inHistory: (command: Command, frame: number) => Command;
  /** Learns where a command stands. */
  readonly recorded: (frame: number, outcome: Pick<Outcome, 'seq' | 'repeated'>) => void;
  /** Learns that the command which finishes a call did so before: no frame of its own stands here. */
  readonly finishedBefore: (frame: number) => void;
  /** True while commands are found that were recorded before: where the next one stands is known when it is. */
  readonly isKnown: () => boolean;
  /** True if it is to be known where this command stands before the next one is recorded. */
  readonly waitFor: (about: { readonly finishes: boolean }) => boolean;
  /** The frames before this one are of others: so many more than was known. */
  readonly passed: (frame: number, others: number) => void;
  /** Where a command stands, by the numbers of the conversation. */
  readonly positionOf: (own: { readonly branchId: number; readonly seq: number }) => {
    readonly branchId: number;
    readonly seq: number;
  };
  readonly branchOf: (own: number) => number;
  /** Notes that others changed a branch. */
  readonly changedByOthers: (branchId: number) => void;
  /** True if others changed the branch that a command is on. */
  readonly isChanged: (command: Command) => boolean;
  /** True for a branch of the import, by its id in the history. */
  readonly isOwn: (branchId: number) => boolean;
};

export const openImportedFrames = (): ImportedFrames => {
  /** From a frame on, so many frames of others stand before. */
  const shifts: { readonly from: number; readonly by: number }[] = [{ from: 0, by: 0 }];
  const branches = new Set([0]);
  const changed = new Set<number>();
  let isKnown = true;
  /** The call that was started last may have been finished when less of its answer was there. */
  let mayBeFinished = true;
  const shiftAt = (frame: number): number => (shifts.findLast(({ from }) => from <= frame) ?? { by: 0 }).by;
  const seqOf = (frame: number): number => frame + shiftAt(frame);
  const branchOf = (frame: number): number => (frame === 0 ? 0 : seqOf(frame));
  const finishedBefore = (frame: number): void => {
    shifts.push({ from: frame + 1, by: shiftAt(frame) - 1 });
  };
  const positionOf: ImportedFrames['positionOf'] = ({ branchId, seq }) => ({
    branchId: branchOf(branchId),
    seq: seqOf(seq),
  });
  const stepIn = (step: Step): Step =>
    step.op === 'fork' && step.at !== undefined ? { ...step, at: positionOf(step.at) } : step;
  return {
    inHistory: (command, frame) => {
      branches.add(branchOf(command.branchId));
      return {
        ...command,
        branchId: branchOf(command.branchId),
        next: seqOf(frame),
        steps: command.steps.map(stepIn),
      };
    },
    recorded(frame, { seq, repeated }) {
      if (!repeated) isKnown = false;
      if (repeated && seq < seqOf(frame)) finishedBefore(frame);
      else if (seq !== seqOf(frame)) shifts.push({ from: frame, by: seq - frame });
    },
    finishedBefore,
    isKnown: () => isKnown,
    waitFor({ finishes }) {
      const waits = isKnown || (mayBeFinished && finishes);
      mayBeFinished = isKnown || (mayBeFinished && !finishes);
      return waits;
    },
    passed(frame, others) {
      shifts.push({ from: frame, by: shiftAt(frame) + others });
    },
    positionOf,
    branchOf,
    changedByOthers: (branchId) => void changed.add(branchId),
    isChanged: ({ branchId }) => changed.has(branchOf(branchId)),
    isOwn: (branchId) => branches.has(branchId),
  };
};

/** What others may have written meanwhile, though it stands on a branch of the import: it changes nothing that a model is shown. */
const HARMLESS: ReadonlySet<string> = new Set([
  'ImportRecorded',
  'ImportLinked',
  'ConversationLinked',
  'PositionNamed',
  'PositionAnnotated',
  'HistoryLabelled',
  'ObservationRecorded',
  'BranchStarted',
  'InterventionRecorded',
  // Of a call whose answer was still coming when the file was imported.
  'CallFinished',
]);

/** An event of others, and the branch that it is on. */
type OtherEvent = { readonly branchId: number; readonly event: { readonly type: string } };

/** True if the import goes on behind these events as if they were not there. */
export const areHarmless = (
  events: readonly OtherEvent[],
  { isOwn }: Pick<ImportedFrames, 'isOwn'>,
): boolean => changedBranches(events, isOwn).length === 0;

/** The branches of the import that events change. */
export const changedBranches = (
  events: readonly OtherEvent[],
  isOwn: (branchId: number) => boolean,
): readonly number[] =>
  events.flatMap(({ branchId, event }) => (isOwn(branchId) && !HARMLESS.has(event.type) ? [branchId] : []));
