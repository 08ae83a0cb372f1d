import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Unit } from '../../importer.ts';
import { objectOf, textOf } from '../fields.ts';
import type { ForeignItem } from '../item.ts';
import type { ForeignReader } from '../reader.ts';
import { Rollout } from './rollout.ts';

/**
 * Rollouts of Codex CLI: `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`. Lines are `{timestamp, type, payload}`; old ones are the
 * items of the Responses API themselves, behind a line with the session's id.
 */
export const codex: ForeignReader = {
  name: 'codex',
  mapping: 'codex@1',
  summary: 'rollouts of Codex CLI: its JSON lines, the flat old ones too',
  versions:
    'flat lines of 2025 (Codex CLI 0.2 and about) to 0.171, by its source and by what these versions write',
  recognises: (first) => isJsonObject(first) && (isLine(first) || isFlatBeginning(first)),
  read,
};

const TYPES: ReadonlySet<string> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
]);

const isLine = (line: WideJsonObject): boolean =>
  TYPES.has(textOf(line['type']) ?? '') && isJsonObject(line['payload']);

/** The first line of an old rollout: a session, and nothing that another format has. */
const isFlatBeginning = (line: WideJsonObject): boolean =>
  typeof line['id'] === 'string' &&
  typeof line['timestamp'] === 'string' &&
  line['instructions'] !== undefined &&
  line['type'] === undefined;

async function* read(
  units: AsyncIterable<Unit>,
  { mayGrow } = { mayGrow: false },
): AsyncIterable<ForeignItem> {
  const rollout = new Rollout();
  let fault: Unit | undefined;
  for await (const unit of units) {
    if (fault !== undefined) yield { kind: 'warning', code: 'W_LINE_DAMAGED', where: fault.where };
    fault = undefined;
    if (unit.fault !== undefined) fault = unit;
    else if (!isJsonObject(unit.value))
      throw fail('E_INPUT_SHAPE', `${unit.where} is no line of a rollout: an object with a type`);
    else yield* rollout.line(wholeLine(unit.value), unit.where);
  }
  // An answer whose lines may still come, and a line that is being written.
  if (mayGrow) return;
  yield* rollout.end();
  if (fault !== undefined) yield { kind: 'warning', code: 'W_LINE_CUT', where: fault.where };
}

/** A line of an old rollout in the form of the new ones. */
const wholeLine = (line: WideJsonObject): WideJsonObject => {
  if (isJsonObject(line['payload'])) return line;
  if (isFlatBeginning(line))
    return { type: 'session_meta', timestamp: line['timestamp'] ?? null, payload: line };
  const type = textOf(line['record_type']);
  if (type !== undefined) return { type: `record ${type}`, payload: {} };
  return { type: 'response_item', timestamp: line['timestamp'] ?? null, payload: objectOf(line) };
};
