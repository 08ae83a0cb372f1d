import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { ModelAnswer } from './answer.ts';
import type { AnswerStream, StreamBlock } from './answer-stream.ts';
import type { AnswerWriter } from './answer-writer.ts';
import type { MessagePieces } from './blocks/read-blocks.ts';
import type { MessageLocation, OutgoingMessage } from './splicing/outgoing.ts';
import type { ParameterNames, ToolForm } from './write/fit-form.ts';

/** What a request asks for besides what its body says of the conversation. */
export type AskedFor = { readonly model: string | null; readonly stream: boolean };

/** The field of a body that is a list of items, read item by item where most requests begin as the one before. */
export type ItemList = {
  readonly items: string;
  /** The names of the field with the instructions. */
  readonly system: readonly string[];
  readonly ofSystem: (system: WideJson | undefined) => readonly WideJsonObject[];
  /** The messages of items, which stand behind `before`. */
  readonly ofItems: (items: readonly WideJson[], before: WideJson | undefined) => readonly WideJsonObject[];
  /** True if no message of the items before reaches into this one. */
  readonly begins: (item: WideJson) => boolean;
};

/** How requests hold their tools, where that is no list under `tools`. */
export type ToolField = {
  readonly field: string;
  /** The tools, and the body without them. */
  readonly take: (body: WideJsonObject) => {
    readonly tools: WideJson | undefined;
    readonly rest: WideJsonObject;
  };
  readonly put: (body: WideJsonObject, tools: readonly WideJson[]) => WideJsonObject;
};

/** An error as a client of the API expects it. */
export type ErrorToWrite = {
  readonly status: number;
  /** In the words of Anthropic's API. */
  readonly type: string;
  readonly code: string;
  readonly message: string;
};

/** All that is known of an API whose requests and answers are read: one record, one line in the catalogue. */
export type ApiFormat = {
  /** A mapping of messages to those of OpenAI's chat API; changed, it gets another version. */
  readonly mapping: `${string}@${number}`;
  /** True for the path of a request of the API, without a query and without a slash at its end. */
  readonly isPath: (path: string) => boolean;
  /** What the path of a request asks for; absent: `model` and `stream` of the body say it. */
  readonly ofPath?: (path: string) => AskedFor;
  /** True: an answer is streamed unless the request says `stream: false`. */
  readonly streamsUnlessSaid?: true;
  /** The fields that the messages come from. */
  readonly fields: readonly string[];
  /** @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN */
  readonly messages: (body: WideJsonObject, pieces?: MessagePieces) => readonly WideJsonObject[];
  /** What one item of the list becomes, where other items do not matter; absent: nothing is remembered. */
  readonly pieces?: MessagePieces;
  /** Null: a request holds no list. */
  readonly list: ItemList | null;
  /** Absent: a list under `tools`. */
  readonly tools?: ToolField;
  /** Fields of a request that name messages which its provider has: they stand in no request. */
  readonly namesKept: readonly string[];
  /** What a body says that is one JSON value. */
  readonly readAnswer: (body: WideJsonObject) => ModelAnswer;
  /** False: a body is no answer whose form is known, and only its bytes are kept. Absent: every body is. */
  readonly isKnownAnswer?: (body: WideJsonObject) => boolean;
  readonly openStream: () => AnswerStream;
  readonly openStreamBlocks: () => StreamBlock;
  /** How the events of a stream follow each other, besides server-sent events, which every API may send. */
  readonly framing: Framing;
  /** The fields of a body that hold these messages. @throws E_INPUT_SHAPE for messages that the API has no place for */
  readonly writeMessages: (messages: readonly WideJsonObject[]) => WideJsonObject;
  /** Parameters that every request must have. */
  readonly defaults?: WideJsonObject;
  readonly parameters: ParameterNames;
  readonly toolForm: ToolForm;
  /** Where each message of a request is in its body, in the order in which they are read. */
  readonly locations: (body: WideJsonObject) => readonly MessageLocation[];
  /** The text of a body with these messages. @throws E_INPUT_SHAPE for messages that the API has no place for */
  readonly splice: (
    text: string,
    locations: readonly MessageLocation[],
    messages: readonly OutgoingMessage[],
  ) => string;
  readonly writer: AnswerWriter;
  readonly errorBody: (error: ErrorToWrite) => WideJsonObject;
  /** How the API is called by those that ask a model themselves. */
  readonly client: {
    /** What stands before the colon in the name of a mind: `anthropic:MODEL`. */
    readonly mind: string;
    /** Behind the address of the provider's API. */
    readonly path: (model: string, stream: boolean) => string;
    /** What of a path its clients append to the address of an API. */
    readonly tail: RegExp;
  };
};

/**
 * `events`: server-sent events; `lines`: one JSON value a line; `list`: the items of a JSON list; `aws`: messages of AWS's event
 * stream.
 */
export type Framing = 'events' | 'lines' | 'list' | 'aws';
