import { parseExport } from '@stemma/context-tree';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { recordSnapshot } from '../decide/snapshot.ts';
import { checkName } from '../history-id.ts';
import { joinNode } from '../recorded-node.ts';
import { count, erasable, source } from './fields.ts';
import { defineStep } from './step.ts';

/**
 * Starts a history with the state of an export, unchanged, which is the snapshot of its own cycle (context-tree §10.17).
 *
 * @throws E_NAME_INVALID, E_EXPORT_INVALID and the other errors of `parseExport`
 */
export const importExport = defineStep({
  op: 'import',
  schema: z.strictObject({
    op: z.literal('import'),
    name: z.string().nullable(),
    /** The text of the export. */
    export: z.string(),
    thread: z.enum(['full', 'pre']).optional(),
    source: source.nullable().optional(),
    salvaged: z.strictObject({ history: z.string(), seq: count }).nullable().optional(),
    erasable: erasable.optional(),
  }),
  on: 'the start',
  kind: 'edit',
  snapshot: true,
  secrets: {
    name: 'name',
    export: 'export',
    thread: 'none',
    source: 'none',
    salvaged: 'none',
    erasable: 'none',
  },
  *decide(pending, step) {
    const { ids, cycle, nodes } = parseExport(step.export);
    yield {
      type: 'HistoryStarted',
      name: step.name === null ? null : checkName(step.name),
      ids,
      thread: step.thread ?? 'full',
      cycle,
      source: step.source ?? null,
      salvaged: step.salvaged ?? null,
      ...defined({ erasable: step.erasable }),
    };
    for (const { headers, payload, parent, expires, ordinal } of nodes) {
      pending.ids.add(headers.id);
      yield {
        type: 'NodeImported',
        parent,
        node: joinNode(headers, payload),
        expires,
        ...defined({ ordinal }),
      };
    }
    yield* recordSnapshot(pending, 'SnapshotImported', pending.branch.tree.cycle);
  },
});
