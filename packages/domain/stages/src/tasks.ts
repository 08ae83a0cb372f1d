import { isExactObject, member, type ExactJson, type ExactObject } from './exact-json.ts';
import { strip } from './python-text.ts';

/** The fields of a node's task. */
export type TaskFacts = {
  /** As given; trimmed it is the task's id. */
  readonly rawId: string;
  readonly id: string;
  /** The node's trimmed texts; a key is absent where there is none. */
  readonly fields: TaskFields;
};

export type TaskFields = {
  readonly parent_task_id?: string;
  readonly tree_path?: string;
  readonly subagent_type?: string;
};

const FIELDS = ['parent_task_id', 'tree_path', 'subagent_type'] as const;

export const taskFacts = (kind: string, payload: ExactJson): TaskFacts | null => {
  if ((kind !== 'task_event' && kind !== 'subagent') || !isExactObject(payload)) return null;
  const rawId = member(payload, 'task_id');
  const id = trimmed(payload, 'task_id');
  if (typeof rawId !== 'string' || id === null) return null;
  const fields = FIELDS.flatMap((key): readonly [string, string][] => {
    const text = trimmed(payload, key);
    return text === null ? [] : [[key, text]];
  });
  return { rawId, id, fields: Object.fromEntries(fields) };
};

const trimmed = (payload: ExactObject, key: string): string | null => {
  const value = member(payload, key);
  return typeof value === 'string' ? strip(value) || null : null;
};

/** A task of the tree view: over its nodes, the first text of each field. */
export type StageTask = { readonly id: string; readonly fields: TaskFields };

/** The tasks of a stream, in order of first appearance. */
export const tasksOf = (nodes: readonly { readonly task: TaskFacts | null }[]): readonly StageTask[] => {
  const tasks = new Map<string, TaskFields>();
  for (const { task } of nodes)
    // The first text counts.
    if (task !== null) tasks.set(task.id, { ...task.fields, ...tasks.get(task.id) });
  return [...tasks].map(([id, fields]) => ({ id, fields }));
};
