import { isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';
import type { CallAddress, EffectCause } from '@stemma/events';

/** A tool call of an answer, with the texts of its arguments. */
export type ToolCallOfRun = {
  readonly id: string | null;
  readonly name: string;
  readonly texts: readonly string[];
};

/** A call of a run. Times are milliseconds since 1970. */
export type CallOfRun = {
  readonly address: CallAddress;
  readonly at: number;
  /** When its answer began, and was there; null: not known. */
  readonly answeredAt: number | null;
  readonly endedAt: number | null;
  /** When the next call of its conversation was made, which had the results of its tool calls; null: there is none. */
  readonly nextAt: number | null;
  /** Its tools started other conversations, which have tool calls of their own. */
  readonly hasLed: boolean;
  readonly toolCalls: readonly ToolCallOfRun[];
};

/** A time in which files changed: from the look at the files before to the end of the one that found it. */
export type ChangeWindow = { readonly since: number; readonly endedAt: number };

/** The calls whose tools may have run in a window. */
export const callsWithin = <Call extends Pick<CallOfRun, 'at' | 'answeredAt' | 'nextAt'>>(
  { since, endedAt }: ChangeWindow,
  calls: readonly Call[],
): readonly Call[] =>
  calls.filter(
    ({ at, answeredAt, nextAt }) => (answeredAt ?? at) <= endedAt && (nextAt === null || nextAt > since),
  );

/** The newest call that was made by the beginning of a window, and the first one by whose answer it was over. */
export const boundsOf = (
  { since, endedAt }: ChangeWindow,
  calls: readonly CallOfRun[],
): { readonly from: CallAddress | null; readonly until: CallAddress | null } => {
  const inOrder = [...calls].sort((a, b) => a.at - b.at);
  const from = inOrder.findLastIndex(({ at }) => at <= since);
  const until = inOrder.find(({ endedAt: ended }, i) => i > from && (ended ?? Infinity) >= endedAt);
  return { from: inOrder[from]?.address ?? null, until: until?.address ?? null };
};

/** @param calls those within the window. @param root of the workspace. @returns for a path, what its change is put down to */
export const putDown = (calls: readonly CallOfRun[], root: string): ((path: string) => EffectCause) => {
  const made = calls.flatMap(({ address, hasLed, toolCalls }) =>
    toolCalls.map((toolCall) => ({ address, hasLed, toolCall })),
  );
  // A tool that started an agent changed what that agent's tools did.
  const own = made.filter(({ hasLed }) => !hasLed);
  const candidates = own.length > 0 ? own : made;
  return (path) => {
    const naming = candidates.filter(({ toolCall }) =>
      toolCall.texts.some((text) => namesPath(text, path, root)),
    );
    const found = naming.at(-1) ?? (candidates.length === 1 ? candidates[0] : undefined);
    if (found === undefined)
      return { why: 'none', call: null, toolCall: null, tool: null, of: candidates.length };
    const { address, toolCall } = found;
    return {
      why: naming.length > 0 ? 'argument' : 'only',
      call: address,
      ...{ toolCall: toolCall.id, tool: toolCall.name },
      of: naming.length > 0 ? naming.length : 1,
    };
  };
};

/** True if a text has a path as a whole: `src/a.ts`, `./src/a.ts` or with the root before it, and not `my-src/a.ts`. */
const namesPath = (text: string, path: string, root: string): boolean => {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    if (isPartOfName(text.slice(at + path.length, at + path.length + 2))) continue;
    const before = text.slice(0, at);
    if (before.endsWith(`${root}/`) || /(?:^|[^\w./-])(?:\.\/)?$/u.test(before.slice(-4))) return true;
  }
  return false;
};

/** True if a name goes on so: `a.ts` in `a.tsx` and `a.ts.old`, not at the end of a sentence. */
const isPartOfName = (after: string): boolean => /^(?:[\w/-]|\.\w)/u.test(after);

/** The tool calls of an answer. */
export const toolCallsIn = (answer: WideJson | null): readonly ToolCallOfRun[] => {
  const made = isJsonObject(answer) ? answer['tool_calls'] : undefined;
  if (!Array.isArray(made)) return [];
  return (made as readonly WideJson[]).flatMap((call) => {
    if (!isJsonObject(call)) return [];
    const inner = call['function'] ?? call['custom'];
    if (!isJsonObject(inner)) return [];
    const { id } = call;
    const { name } = inner;
    const said = inner['arguments'] ?? inner['input'] ?? '';
    return [
      {
        id: typeof id === 'string' ? id : null,
        name: typeof name === 'string' ? name : '?',
        texts: textsIn(typeof said === 'string' ? parsedOf(said) : said),
      },
    ];
  });
};

const parsedOf = (text: string): WideJson => {
  try {
    return parseWideJson(text);
  } catch {
    return text;
  }
};

const textsIn = (value: WideJson): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return (value as readonly WideJson[]).flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
};
