import { ImportSummary } from '@stemma/events';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { boundNames, cutName, MOST_NAMES, recordableName, withNames } from '../decide/import-names.ts';
import { defineStep } from './step.ts';

/** What an import says of the file that it read: its format and version, its title, its counts. */
export type ImportFacts = {
  /** The name of the format: `claude-code`. */
  readonly format: string;
  readonly version?: string | undefined;
  readonly title?: string | undefined;
  readonly summary: ImportSummary;
};

/** Texts come whole, and are cut when they have lost their secrets: so no part of one is left. */
const LONGEST_TEXT = 65_536;
const text = z.string().max(LONGEST_TEXT);

/**
 * Records what the file has that the history was imported from: the last command of an import. Names, version and title are bounded;
 * {@link importStep} makes a step of what a hostile file may say, and {@link boundImport} gives what is recorded of it.
 *
 * @throws E_COMMAND_INVALID
 */
export const recordImport = defineStep({
  op: 'record_import',
  schema: z.strictObject({
    op: z.literal('record_import'),
    format: z.string().regex(/^[a-z0-9][a-z0-9@.-]{0,63}$/),
    version: text.optional(),
    title: text.optional(),
    summary: ImportSummary.extend({
      warnings: z
        .array(
          z.strictObject({
            code: z.string().regex(/^W_[A-Z0-9_]{1,60}$/),
            count: z.int().min(0),
            first: text,
          }),
        )
        .max(MOST_NAMES)
        .optional(),
    }),
  }),
  on: 'its branch',
  kind: 'edit',
  alone: true,
  secrets: {
    version: { as: 'version' },
    title: { as: 'title' },
    summary: { within: withNames, as: 'summary' },
    format: 'none',
  },
  *decide(_pending, { op: _op, ...facts }) {
    yield { type: 'ImportRecorded', ...boundImport(facts) };
  },
});

/** What is recorded of an import: at most 200 names in a list (the counts of others together) and 200 characters of a text. */
export const boundImport = ({ format, version, title, summary }: ImportFacts): ImportFacts => ({
  format,
  ...defined({
    version: version === undefined ? undefined : cutName(version),
    title: title === undefined ? undefined : cutName(title),
  }),
  summary: boundNames(summary),
});

/** The step for what a file says: with the texts of a hostile one, also such as no record can hold. */
export const importStep = ({
  format,
  version,
  title,
  summary,
}: ImportFacts): z.infer<typeof recordImport.schema> => ({
  op: 'record_import',
  format,
  ...defined({ version: version && recordableText(version), title: title && recordableText(title) }),
  summary: withNames(summary, recordableName),
});

const recordableText = (said: string): string => said.slice(0, LONGEST_TEXT).toWellFormed();
