import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { isList } from '../body.ts';
import { textOfContent, type PartForm } from '../write/content.ts';

/** What a block of a message is in the form of OpenAI's chat API: a call of a tool, the message with a result, or a part. */
export type ReadBlock =
  | { readonly kind: 'part'; readonly part: WideJson }
  | { readonly kind: 'call'; readonly call: WideJsonObject }
  | { readonly kind: 'result'; readonly message: WideJsonObject };

/** Reads the blocks of one message, in order. */
export type BlockReader = (block: WideJson) => ReadBlock;

/**
 * How an API holds a conversation whose messages are lists of blocks, calls and results of tools among them: Anthropic's
 * `{system, messages: [{role, content: [{type: 'text', text}]}]}`, Gemini's `{systemInstruction, contents: [{role, parts: [{text}]}]}`.
 */
export type BlockForm = {
  /** The list of messages. */
  readonly list: string;
  /** The names of the field with the system prompt; a body that has none gets the first. */
  readonly system: readonly [string, ...string[]];
  /** The field of a message that holds its blocks. */
  readonly blocks: string;
  /** What the API calls the assistant. */
  readonly assistant: string;
  /** Roles of other messages that may be read, by what they are. */
  readonly roles: Readonly<Record<string, 'user' | 'system' | 'developer'>>;
  /** True: a message without a role is the user's. */
  readonly mayLackRole: boolean;
  /** True: messages of the assistant that follow each other are pieces of one, as a stream brings them. */
  readonly joinsAssistants: boolean;
  /** True: a message may be a text instead of a list of blocks. */
  readonly hasTexts: boolean;
  readonly openReader: () => BlockReader;
  /** The content of the system's message. @throws E_INPUT_SHAPE */
  readonly readSystem: (system: WideJson) => WideJson;
  readonly writeCall: (call: WideJsonObject) => WideJson;
  /** @param content as the API takes the parts of a user */
  readonly writeResult: (message: WideJsonObject, content: WideJson | undefined) => WideJson;
  readonly textBlock: (text: string) => WideJsonObject;
  readonly parts: PartForm;
  /** The system prompt that some contents make up. */
  readonly writeSystem: (contents: readonly WideJson[]) => WideJson | undefined;
  /** Where the list of blocks of a system prompt is; undefined: it holds none. @param text of the whole body */
  readonly systemBlocksAt: (text: string, at: number) => number | undefined;
  /** The system prompt of some blocks, as JSON texts. */
  readonly systemOfBlocks: (blocks: readonly string[]) => string;
};

/** The blocks of some contents, for an API whose blocks of text are `{text}`; one that says nothing is none. */
export const textBlocksOf = (contents: readonly WideJson[]): readonly WideJson[] =>
  contents.flatMap((content): readonly WideJson[] => {
    if (isList(content)) return content;
    return content === '' || content === null ? [] : [{ text: textOfContent(content) }];
  });

/** The names that a tool message has for other things: a block with such a field is kept as a part. */
export const TAKEN_IN_RESULT: readonly string[] = [
  'role',
  'tool_call_id',
  'tool_calls',
  'function_call',
  'same_message',
  'message_fields',
];
