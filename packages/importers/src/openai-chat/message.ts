import type { WideJson, WideJsonObject } from '@stemma/canonical';

/** A message as the API takes it. */
export type ChatMessage = Record<string, WideJson>;

/** A block of the thread with everything that was recorded of it. */
export type RecordedBlock = {
  readonly id: string;
  readonly role: string | null;
  readonly kind: string | null;
  /** `content` (absent is not null) and the other attributes. */
  readonly payload: WideJsonObject;
};
