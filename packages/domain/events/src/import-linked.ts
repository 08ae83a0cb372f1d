import { z } from 'zod';
import { CallAddress } from './call-started.ts';
import { count } from './node-shape.ts';

/**
 * How the call is known that led to an imported conversation: its file, or that of the call, names the two together; or the
 * conversation begins with a text that is an argument of that call's tool, and of no other call there.
 */
export const IMPORT_LINK_REASONS = ['said', 'argument'] as const;
export type ImportLinkReason = (typeof IMPORT_LINK_REASONS)[number];

/**
 * A call led to the conversation on a branch that was imported: it started a sub-agent. What somebody says ({@link ConversationLinked})
 * counts instead.
 */
export const ImportLinked = z.strictObject({
  type: z.literal('ImportLinked'),
  branchId: count,
  parent: CallAddress,
  why: z.enum(IMPORT_LINK_REASONS),
});
