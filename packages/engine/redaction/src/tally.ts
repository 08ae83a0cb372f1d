import type { Redaction } from '@stemma/history';

/** Where in a command the walk stands. */
export type SecretLocation = {
  readonly step: number | null;
  readonly node: number | string | null;
  /** The attribute of the node, or what the step calls it. */
  readonly field: string;
};

/** What was taken out, by location and rule. */
export type RedactionTally = {
  add(location: SecretLocation, rule: string): void;
  readonly entries: () => readonly Redaction[];
};

export const newTally = (): RedactionTally => {
  const counts = new Map<string, Redaction>();
  return {
    add: ({ step, node, field }, rule) => {
      const key = JSON.stringify([step, node, field, rule]);
      const count = (counts.get(key)?.count ?? 0) + 1;
      counts.set(key, { step, node, field, rule, count });
    },
    entries: () => [...counts.values()],
  };
};
