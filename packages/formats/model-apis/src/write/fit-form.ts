import type { WideJson } from '@stemma/canonical';

/** What the parameters that most APIs have are called in one: the first name is written, all are read. */
export type ParameterNames = {
  /** The object that holds them: `generationConfig`; absent: they are fields of the request. */
  readonly within?: string;
  readonly limit?: readonly string[];
  readonly temperature?: string;
  readonly topP?: string;
  /** Texts that end an answer. */
  readonly stop?: string;
  /** True: `stop` is a list, and never one text. */
  readonly isStopList?: true;
};

/** What a tool is that a client runs. */
export type ToolToWrite = {
  readonly name: string;
  readonly description?: string;
  readonly schema: WideJson;
};

/** Which tool a model may or must call: `auto`, `none`, `required`, or the one of a name. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** How an API writes tools that its clients run. */
export type ToolForm = {
  readonly tool: (tool: ToolToWrite) => WideJson;
  /** The parameter that says which tool is to be called; null: the API has none for this choice. */
  readonly choice: (choice: ToolChoice) => { readonly name: string; readonly value: WideJson } | null;
};
