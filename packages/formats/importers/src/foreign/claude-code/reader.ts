import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { textOf } from '../fields.ts';
import type { ForeignReader } from '../reader.ts';
import { eachLine } from '../whole-units.ts';
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
  read: (units, about) => {
    const session = new ClaudeSession();
    return eachLine(
      units,
      {
        called: 'line of a session',
        line: (line, where) => session.line(line, where),
        end: () => session.end(),
      },
      about,
    );
  },
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
