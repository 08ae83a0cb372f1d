import type { Unit } from '../importer.ts';
import type { ForeignWarning } from './item.ts';

/** The units that are JSON; of one that is none a warning: it is cut off if it is the last one, else damaged. */
export async function* wholeUnits(
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
