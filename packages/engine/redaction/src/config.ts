import { compareCodePoints, isForbiddenKey } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { SECRET_SPANS } from '@stemma/stages';
import { z } from 'zod';

/** The kinds of secrets that are recognised by their form, each with its name in placeholders. */
export const SECRET_KINDS: readonly string[] = [
  ...new Set([...SECRET_SPANS.map(({ kind }) => kind), 'private_key']),
].sort(compareCodePoints);

const ruleName = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/);

const RedactionConfig = z.strictObject({
  /** Which kinds of keys: all of them unless said. */
  kinds: z.union([z.literal('all'), z.array(z.enum(SECRET_KINDS as [string, ...string[]]))]).default('all'),
  /** Regular expressions in RE2's syntax; what group 1 matches is the secret, else the whole match. */
  patterns: z
    .array(z.strictObject({ name: ruleName, pattern: z.string().min(1).max(4096) }))
    .max(256)
    .default([]),
  // JSON pointers into the attributes of a node, `*` for any key or index: /content/*/password.
  fields: z.array(z.string().regex(/^\/./)).max(256).default([]),
  /** Names of headers and keys, in any letter case: what they are set to. */
  headers: z.array(z.string().min(1).max(256)).max(256).default([]),
  /** Placeholders carry a keyed label, so that equal secrets can be told from others. */
  labels: z.boolean().default(false),
});

/** What is taken out of commands before they are decided. */
export type RedactionConfig = z.input<typeof RedactionConfig>;
export type ReadRedactionConfig = z.output<typeof RedactionConfig>;

/** @throws E_REDACTION_INVALID naming the first fault */
export const readRedactionConfig = (value: unknown): ReadRedactionConfig => {
  const parsed = RedactionConfig.safeParse(value);
  if (parsed.success) {
    const fault = parsed.data.fields.find((field) => field.split('/').some(isForbiddenKey));
    if (fault === undefined) return parsed.data;
  }
  const issue = parsed.error?.issues[0];
  throw fail(
    'E_REDACTION_INVALID',
    `the rules of redaction: ${issue?.path.map(String).join('.') ?? 'fields'}: ${issue?.message ?? 'a forbidden key'}`,
  );
};
