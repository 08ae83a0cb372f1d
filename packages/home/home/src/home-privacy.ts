import type { HomeServices } from './home-services.ts';

/** What must not be kept or shown: secrets, and what somebody may have erased. */
export type HomePrivacy = {
  /** The histories that were started as erasable, about a subject, and are not erased. */
  erasable(subject: string): Promise<readonly string[]>;
  /** About whom a history was started that can be erased here; undefined: it cannot. */
  erasableAs(history: string): Promise<{ readonly subject: string | null } | undefined>;
  /** The histories whose keys were destroyed here, by id. */
  erased(): Promise<readonly string[]>;
  /** True if rules take secrets out of what is recorded. */
  readonly redacts: boolean;
  /** A text about an input, as the message of an error is, without what the home redacts. */
  redactText(text: string): string;
};

export const openPrivacy = ({ keyring, redactor }: HomeServices): HomePrivacy => ({
  erasable: async (subject) => keyring.about(subject),
  erasableAs: async (history) => keyring.subjectOf(history),
  erased: async () => keyring.erased(),
  redacts: redactor !== undefined,
  redactText: (text) => redactor?.text(text) ?? text,
});
