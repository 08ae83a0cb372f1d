import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { objectOf, textOf } from '../fields.ts';
import type { ForeignReader } from '../reader.ts';
import { eachLine } from '../whole-units.ts';
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
  read: (units, about) => {
    const rollout = new Rollout();
    return eachLine(
      units,
      {
        called: 'line of a rollout',
        line: (line, where) => rollout.line(wholeLine(line), where),
        end: () => rollout.end(),
      },
      about,
    );
  },
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

/** A line of an old rollout in the form of the new ones. */
const wholeLine = (line: WideJsonObject): WideJsonObject => {
  if (isJsonObject(line['payload'])) return line;
  if (isFlatBeginning(line))
    return { type: 'session_meta', timestamp: line['timestamp'] ?? null, payload: line };
  const type = textOf(line['record_type']);
  if (type !== undefined) return { type: `record ${type}`, payload: {} };
  return { type: 'response_item', timestamp: line['timestamp'] ?? null, payload: objectOf(line) };
};
