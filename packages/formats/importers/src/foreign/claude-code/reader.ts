import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Unit } from '../../importer.ts';
import { textOf } from '../fields.ts';
import type { ForeignItem } from '../item.ts';
import type { ForeignReader } from '../reader.ts';
import { ClaudeSession } from './session.ts';

/**
 * Sessions of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, with the files of its sub-agents beside it (`agent-*.jsonl`) or
 * below it (`<session>/subagents/`). A line is an event; messages name the one that they follow by `parentUuid`.
 */
export const claudeCode: ForeignReader = {
  name: 'claude-code',
  mapping: 'claude-code@1',
  summary: 'sessions of Claude Code: its JSON lines, with sub-agents, rewinds and compactions',
  versions: '1.0 to 2.1, by the lines that these versions write: no description of the format is published',
  recognises: (first) => isJsonObject(first) && isLine(first),
  read,
};

/** Lines that only this program writes. */
const isLine = (line: WideJsonObject): boolean => {
  const type = textOf(line['type']);
  if (type === undefined) return false;
  if (MESSAGES.has(type))
    return (
      isJsonObject(line['message']) && typeof line['uuid'] === 'string' && line['parentUuid'] !== undefined
    );
  if (type === 'summary') return typeof line['leafUuid'] === 'string' && typeof line['summary'] === 'string';
  if (type === 'file-history-snapshot')
    return line['snapshot'] !== undefined && line['messageId'] !== undefined;
  return typeof line['sessionId'] === 'string' && (typeof line['uuid'] === 'string' || BESIDE.has(type));
};

const MESSAGES: ReadonlySet<string> = new Set(['user', 'assistant']);

/** Lines that stand between messages, and that many versions write first. */
const BESIDE: ReadonlySet<string> = new Set([
  'agent-name',
  'agent-setting',
  'ai-title',
  'attachment',
  'custom-title',
  'last-prompt',
  'mode',
  'permission-mode',
  'pr-link',
  'progress',
  'queue-operation',
  'system',
  'tag',
]);

async function* read(
  units: AsyncIterable<Unit>,
  { mayGrow } = { mayGrow: false },
): AsyncIterable<ForeignItem> {
  const session = new ClaudeSession();
  let fault: Unit | undefined;
  for await (const unit of units) {
    if (fault !== undefined) yield { kind: 'warning', code: 'W_LINE_DAMAGED', where: fault.where };
    fault = undefined;
    if (unit.fault !== undefined) fault = unit;
    else if (!isJsonObject(unit.value))
      throw fail('E_INPUT_SHAPE', `${unit.where} is no line of a session: an object with a type`);
    else yield* session.line(unit.value, unit.where);
  }
  // An answer whose lines may still come, and a line that is being written.
  if (mayGrow) return;
  yield* session.end();
  if (fault !== undefined) yield { kind: 'warning', code: 'W_LINE_CUT', where: fault.where };
}
