/** A call of a tool that a scripted model makes. */
export type ScriptedCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
};

/** What a scripted model answers; null: no such part. */
export type ScriptedAnswer = {
  readonly thinking: string | null;
  readonly text: string | null;
  readonly calls: readonly ScriptedCall[];
};

/** What an answer depends on. */
export type Asked = {
  /** How many requests came before. */
  readonly number: number;
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
  /** How many results of tools the request has. */
  readonly results: number;
  readonly thinks: boolean;
};

/** What is called with the n-th result at hand; afterwards the model answers in words. */
const CALLS: Readonly<Record<string, readonly ScriptedCall['arguments'][]>> = {
  bash: [{ command: 'echo "one two"' }, { command: 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT' }],
  weather: [{ city: 'Zürich' }],
};

/** Calls a tool while there is something to find out, then answers. */
export const scriptedAnswer = ({ number, tools, results, thinks }: Asked): ScriptedAnswer => {
  const thinking = thinks ? `What is asked in request ${number}? I look, then I answer. “Ja.”` : null;
  const [name] = tools;
  const given = name === undefined ? undefined : CALLS[name]?.[results];
  if (name !== undefined && given !== undefined)
    return { thinking, text: null, calls: [{ id: `${number}_${results}`, name, arguments: given }] };
  return { thinking, text: `Answer ${number}: in Zürich it is 21 °C ☀️, and "dry".`, calls: [] };
};

/** A text in pieces of a few characters, as models stream it. */
export const inPieces = (text: string): readonly string[] => text.match(/.{1,7}/gsu) ?? [];

/** What a scripted provider sends back. */
export type ScriptedBody = { readonly contentType: string; readonly body: string };

/** A body as the documentation of the providers prints it. */
export const json = (value: unknown): ScriptedBody => ({
  contentType: 'application/json',
  body: JSON.stringify(value, null, 2),
});

export const eventStream = (body: string): ScriptedBody => ({
  contentType: 'text/event-stream; charset=utf-8',
  body,
});

/** A field of a request, of which nothing is known. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
