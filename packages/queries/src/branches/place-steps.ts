import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import type { Step, StepOf } from '@stemma/history';
import { lineOf, rememberedCommand, type Line, type Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { findLineage } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { parseRef } from '@stemma/selectors';
import { lineageIn } from '../find.ts';

type At = { readonly strand: number; readonly seq: number };

/** To go on from a position: a rollback where it lies in the lineage's past, else a fork. */
export type LoadStep = {
  readonly op: 'load';
  readonly from: string;
  readonly name: string | null;
  readonly description?: string;
};

/** A step whose positions may be references yet (`@t-1`); its form is checked where the command is parsed. */
export type StepToPlace = { readonly op: string } & { readonly [key: string]: unknown };

export type Placing = {
  readonly projector: ServedRows;
  readonly position: (line: Line, ref: string) => Promise<Position>;
  readonly way: (line: Line, position: Position) => Promise<'here' | 'rollback' | 'fork'>;
};

/**
 * The lineage and the positions that a command means. Those of one that was accepted before are what they were then: a
 * rollback may have moved the name since, and `@t-1` may be another snapshot by now. So a command that is sent again is
 * the same command.
 *
 * @throws what a reference that names nothing throws; E_USAGE for a load of where the lineage stands
 */
export const placeSteps = async (
  placing: Placing,
  found: Line,
  command: string,
  steps: readonly StepToPlace[],
): Promise<{ readonly line: Line; readonly steps: readonly Step[] }> => {
  const { projector, position, way } = placing;
  await projector.catchUp();
  const seq = (await projector.read((rows) => rememberedCommand(rows, found.history, command)))?.seq;
  const done: Step[] = [];
  if (seq === undefined) {
    const now = async (ref: string): Promise<At> => atOf(await position(found, ref));
    for (const step of steps) {
      if (!isLoad(step)) done.push((await withPositions(step, now)) as Step);
      else done.push(loaded(step, await way(found, await position(found, step.from)), await now(step.from)));
    }
    return { line: found, steps: done };
  }
  const events = await projector.payloads.events(found.history, seq);
  const line = await projector.read((rows) => lineAsOf(rows, found, seq));
  const recorded = recordedFor(events);
  for (const step of steps) {
    const own = recorded(step);
    const then = (ref: string): Promise<At> => positionThen(placing, line, seq, ref, own);
    if (!isLoad(step)) done.push((await withPositions(step, then)) as Step);
    else done.push(loaded(step, own?.how ?? 'fork', await then(step.from)));
  }
  return { line, steps: done };
};

/** True if nothing in the steps has to be looked up: no position is a reference, and where to go on is said. */
export const arePlaced = (steps: readonly StepToPlace[]): boolean =>
  !steps.some((step) => isLoad(step) || PLACES.some((key) => typeof step[key] === 'string'));

/** What may be a reference in a step. */
const PLACES = ['position', 'at', 'to', 'since'] as const;

const isLoad = (step: StepToPlace): step is LoadStep => step.op === 'load';

const atOf = ({ strand, seq }: At): At => ({ strand, seq });

/** The lineage that had the name when a frame came: a rollback behind that frame has passed it on since. */
const lineAsOf = (rows: RowReader, line: Line, seq: number): Line => {
  let { strand } = line;
  while (strand >= seq) {
    const row = findLineage(rows, line.history, strand);
    if (row?.how !== 'rollback' || row.parent === null) break;
    strand = row.parent.strand;
  }
  return strand === line.strand ? line : lineOf(line.history, strand);
};

/** What a reference meant: where it counts from the newest, what was recorded; else what it still means. */
const positionThen = async (
  { projector, position }: Placing,
  line: Line,
  seq: number,
  ref: string,
  own: Recorded | undefined,
): Promise<At> => {
  const { lineage, at } = parseRef(ref);
  if (own !== undefined && (at.kind === 't' || at.kind === 'working'))
    return own.how === 'rollback' ? atOf(await position(line, `@s${own.seq}`)) : atOf(own);
  const named = await projector.read((rows) => {
    const known = lineage === null ? undefined : lineageIn(rows, line.history, lineage);
    return known && lineAsOf(rows, known, seq);
  });
  return atOf(
    await (named === undefined ? position(line, ref) : position(named, ref.slice(lineage?.length ?? 0))),
  );
};

type Recorded = At & { readonly how?: string };

/** The positions that a frame's events name, a step after the other. */
const recordedFor = (events: readonly HistoryEvent[]): ((step: StepToPlace) => Recorded | undefined) => {
  const names = events.filter((event) => event.type === 'PositionNamed');
  const notes = events.filter((event) => event.type === 'PositionAnnotated');
  return ({ op, description }) => {
    switch (op) {
      case 'fork':
      case 'rollback':
      case 'load': {
        const started = events.find((event) => event.type === 'LineageStarted');
        return started && { strand: started.parent, seq: started.at, how: started.how };
      }
      case 'name':
        return names.shift();
      case 'save':
        if (description !== undefined && description !== '') notes.shift();
        return names.shift();
      case 'annotate':
        return notes.shift();
      case 'run': {
        const act = events.find((event) => event.type === 'InterventionRecorded');
        return (act?.content as { readonly since?: At } | undefined)?.since;
      }
      default:
        return undefined;
    }
  };
};

/** A step with the positions that its references mean. */
const withPositions = async (
  step: StepToPlace,
  placed: (ref: string) => Promise<At>,
): Promise<StepToPlace> => {
  const done: Record<string, unknown> = { ...step };
  for (const key of PLACES) {
    const ref = done[key];
    if (typeof ref === 'string') done[key] = await placed(ref);
  }
  return done as StepToPlace;
};

const loaded = (
  { from, name, description }: LoadStep,
  how: string,
  at: At,
): StepOf<'fork'> | StepOf<'rollback'> => {
  if (how === 'here')
    throw fail('E_USAGE', `the lineage stands at ${from} already: there is nothing to load`);
  const said = description === undefined ? {} : { description };
  return how === 'rollback' ? { op: 'rollback', to: at, ...said } : { op: 'fork', at, name, ...said };
};
