/** The headings of the help, in its order. */
export const GROUPS = [
  'Record and import',
  'Look',
  'Ask why',
  'Steer a running agent',
  'Run a pool of messages',
  'Save, fork, return',
  'Change a context',
  'Export, back up, erase',
  'Check and mend',
  'Run services',
  'This program',
] as const;

export type HelpGroup = (typeof GROUPS)[number];

/** A heading as the help prints it. */
export const headingOf = (group: HelpGroup): string => `${group}:`;

type Listed = { readonly group: HelpGroup; readonly place?: number };

/** The commands in the order of the help: by groups, in a group by places, then as they come. */
export const inHelpOrder = <T extends Listed>(commands: readonly T[]): readonly T[] =>
  commands.toSorted(
    (a, b) =>
      GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group) ||
      (a.place ?? Number.MAX_SAFE_INTEGER) - (b.place ?? Number.MAX_SAFE_INTEGER),
  );
