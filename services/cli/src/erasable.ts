import { fail } from '@stemma/errors';
import { text } from './options.ts';

/** Options of the commands that start a history. */
export const ERASABLE_OPTIONS: readonly (readonly [syntax: string, description: string])[] = [
  ['--erasable', 'frames are sealed under a key of the history, which `stemma erase` destroys'],
  ['--subject <name>', 'whom the history is about, for `stemma erase --subject`; with --erasable'],
];

type Erasable = { readonly erasable?: { readonly subject: string | null } };

/** @throws E_USAGE for a subject alone */
export const erasableOf = (options: Readonly<Record<string, unknown>>): Erasable => {
  const subject = text(options, 'subject');
  if (options['erasable'] === true) return { erasable: { subject: subject ?? null } };
  if (subject !== undefined) throw fail('E_USAGE', '--subject needs --erasable');
  return {};
};
