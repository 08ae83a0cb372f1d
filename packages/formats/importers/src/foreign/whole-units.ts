import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Unit } from '../importer.ts';
import type { ForeignItem, ForeignWarning } from './item.ts';

/** The units that are JSON; of one that is none a warning: it is cut off if it is the last one, else damaged. */
async function* wholeUnits(
  units: AsyncIterable<Unit>,
): AsyncIterable<Unit | { readonly warning: ForeignWarning }> {
  let faulty: Unit | null = null;
  for await (const unit of units) {
    if (faulty !== null) yield { warning: { kind: 'warning', code: 'W_LINE_DAMAGED', where: faulty.where } };
    faulty = null;
    if (unit.fault === undefined) yield unit;
    else faulty = unit;
  }
  if (faulty !== null) yield { warning: { kind: 'warning', code: 'W_LINE_CUT', where: faulty.where } };
}

/** What a reader gives for each unit that is JSON, and a warning for any other. */
export async function* eachUnit(
  units: AsyncIterable<Unit>,
  read: (unit: Unit) => Iterable<ForeignItem>,
): AsyncIterable<ForeignItem> {
  for await (const unit of wholeUnits(units))
    if ('warning' in unit) yield unit.warning;
    else yield* read(unit);
}

/** A session whose lines are read one by one. */
export type SessionLines = {
  /** What a line is called in errors: `line of a session`. */
  readonly called: string;
  readonly line: (line: WideJsonObject, where: string) => Iterable<ForeignItem>;
  /** What is still open. */
  readonly end: () => Iterable<ForeignItem>;
};

/**
 * What a session gives for its lines, and at its end. Of a file that is being written the end is left for later: an answer whose lines
 * may still come, and a line that is cut off.
 *
 * @throws E_INPUT_SHAPE with the place of a line that is no object
 */
export async function* eachLine(
  units: AsyncIterable<Unit>,
  { called, line, end }: SessionLines,
  { mayGrow } = { mayGrow: false },
): AsyncIterable<ForeignItem> {
  let cut: ForeignWarning | undefined;
  for await (const unit of wholeUnits(units)) {
    if (!('warning' in unit)) {
      if (!isJsonObject(unit.value))
        throw fail('E_INPUT_SHAPE', `${unit.where} is no ${called}: an object with a type`);
      yield* line(unit.value, unit.where);
    } else if (unit.warning.code === 'W_LINE_CUT') cut = unit.warning;
    else yield unit.warning;
  }
  if (mayGrow) return;
  yield* end();
  if (cut !== undefined) yield cut;
}
