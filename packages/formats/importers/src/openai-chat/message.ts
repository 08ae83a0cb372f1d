import type { WideJson, WideJsonObject } from '@stemma/canonical';

/** A message as the API takes it. */
export type ChatMessage = Record<string, WideJson>;

/** A block of the thread with all its recorded attributes. */
export type RecordedBlock = {
  readonly id: string;
  readonly role: string | null;
  readonly kind: string | null;
  /** `content` (absent is not null) and the other attributes. */
  readonly payload: WideJsonObject;
};
