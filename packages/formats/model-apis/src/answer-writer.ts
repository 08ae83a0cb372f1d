import { parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';

export type ToolCallToWrite = { readonly id: string; readonly name: string; readonly arguments: string };

/** What an answer says that no model gave. */
export type AnswerContent = {
  readonly model: string;
  /** What its ids end with. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly calls: readonly ToolCallToWrite[];
};

export type EventToWrite = { readonly [name: string]: WideJson };

/** An answer in the form of an API. */
export type AnswerWriter = {
  readonly whole: (said: AnswerContent) => WideJsonObject;
  readonly events: (said: AnswerContent) => readonly EventToWrite[];
  /** The bytes of a stream with these events. */
  readonly stream: (events: readonly EventToWrite[]) => Uint8Array;
  /** The content type of a stream. */
  readonly streamType: string;
};

/** The arguments of a call as an object, as some APIs have them. */
export const inputOf = (text: string): WideJson => {
  try {
    return parseWideJson(text);
  } catch (error) {
    if (isStemmaError(error)) return {};
    throw error;
  }
};

/** True if the answer has a text: one that only calls tools has none. */
export const hasText = ({ text, calls }: Pick<AnswerContent, 'text' | 'calls'>): boolean =>
  text !== '' || calls.length === 0;
