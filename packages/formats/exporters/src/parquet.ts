import { jsonText, textOfContent } from '@stemma/model-apis';
import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { ExportedBranch, ExportedCall, Exporter, ExportSource } from './exporter.ts';
import { kindOfPart, listOf, objectOf, partsOf, textOf, thinkingText } from './fields.ts';
import { writeTable, type ParquetCell, type Columns } from './parquet-table.ts';
import { readTranscript } from './transcript.ts';

/** Two tables for DuckDB, pandas and whatever else reads Parquet: one row a call, one row a message (docs/parquet.md). */
export const parquet: Exporter = {
  name: 'parquet',
  summary: 'two tables, FILE.calls.parquet and FILE.messages.parquet, for DuckDB and pandas',
  isText: false,
  files: [
    {
      suffix: '.calls',
      write: (source) => writeTable(CALLS, rowsOfCalls(source)),
    },
    {
      suffix: '.messages',
      write: (source) => writeTable(MESSAGES, rowsOfMessages(source)),
    },
  ],
};

const WHERE = { history: 'text', history_name: 'text', branch: 'text' } as const satisfies Columns;

const CALLS = {
  ...WHERE,
  call: 'text',
  label: 'text',
  started_at: 'time',
  api: 'text',
  model: 'text',
  status: 'text',
  finish_reason: 'text',
  http_status: 'count',
  error: 'text',
  input_tokens: 'count',
  output_tokens: 'count',
  cached_tokens: 'count',
  cache_write_tokens: 'count',
  reasoning_tokens: 'count',
  cost: 'number',
  currency: 'text',
  first_byte_ms: 'count',
  duration_ms: 'count',
  shown_messages: 'count',
  tool_calls: 'count',
  answer: 'text',
  fidelity: 'text',
  parameters: 'text',
  tools: 'text',
} as const satisfies Columns;

const MESSAGES = {
  ...WHERE,
  number: 'count',
  role: 'text',
  text: 'text',
  chars: 'count',
  thinking: 'text',
  images: 'count',
  tool_calls: 'text',
  tool_call_id: 'text',
  tool_name: 'text',
  is_error: 'truth',
  made_at: 'time',
  call: 'text',
} as const satisfies Columns;

type Row<Of extends Columns> = { readonly [name in keyof Of]: ParquetCell };

const whereIn = ({ history, name }: ExportSource, branch: ExportedBranch): Row<typeof WHERE> => ({
  history,
  history_name: name,
  branch: branch.name,
});

async function* rowsOfCalls(source: ExportSource): AsyncGenerator<Row<typeof CALLS>> {
  for (const branch of source.branches)
    for await (const item of readTranscript(source, branch)) {
      if (item.kind !== 'call' || !item.isOwn) continue;
      const { call, shown, answer } = item;
      yield {
        ...whereIn(source, branch),
        ...factsOf(call),
        shown_messages: shown.length,
        tool_calls: listOf(answer?.['tool_calls']).length,
        answer: answer === null ? null : textOfContent(answer['content']),
      };
    }
}

const factsOf = (call: ExportedCall) => {
  const { usage, cost, parameters, tools, error } = call;
  return {
    call: call.attemptId,
    label: call.label,
    started_at: call.sentAt,
    api: call.api,
    model: call.model,
    status: call.status,
    finish_reason: call.finishReason,
    http_status: call.httpStatus,
    error: error?.message ?? null,
    input_tokens: usage?.input ?? null,
    output_tokens: usage?.output ?? null,
    cached_tokens: usage?.cached ?? null,
    cache_write_tokens: usage?.cacheWrite ?? null,
    reasoning_tokens: usage?.reasoning ?? null,
    cost: cost === null ? null : Number(cost.amount),
    currency: cost?.currency ?? null,
    first_byte_ms: call.firstByteMs,
    duration_ms: call.durationMs,
    fidelity: call.fidelity?.kind ?? null,
    parameters: jsonText(parameters),
    tools: tools === null ? null : jsonText([...tools]),
  };
};

async function* rowsOfMessages(source: ExportSource): AsyncGenerator<Row<typeof MESSAGES>> {
  for (const branch of source.branches) {
    const names = new Map<WideJson, string>();
    let number = 0;
    for await (const item of readTranscript(source, branch)) {
      if (item.kind === 'removed') continue;
      const message = item.kind === 'call' ? item.answer : item.message;
      if (message === null) continue;
      for (const call of listOf(message['tool_calls']).map(objectOf)) noteTool(names, call);
      if (item.isOwn)
        yield {
          ...whereIn(source, branch),
          number,
          ...messageRow(message, names),
          made_at: item.kind === 'call' ? item.call.sentAt : item.at,
          call: item.kind === 'call' ? item.call.attemptId : null,
        };
      number += 1;
    }
  }
}

/** So many calls of tools may wait for their results. */
const MOST_WAITING = 100_000;

const noteTool = (names: Map<WideJson, string>, { id, function: named, custom }: WideJsonObject): void => {
  const name = textOf(objectOf(named ?? custom)['name']);
  if (name === undefined || typeof id !== 'string') return;
  names.set(id, name);
  const [oldest] = names.keys();
  if (names.size > MOST_WAITING && oldest !== undefined) names.delete(oldest);
};

const messageRow = (message: WideJsonObject, names: ReadonlyMap<WideJson, string>) => {
  const { role, content, tool_calls: calls, tool_call_id: id, is_error: failed, name } = message;
  const parts = partsOf(content);
  const text = textOfContent(content);
  const thoughts = parts.filter((part) => kindOfPart(part) === 'thinking');
  const isResult = role === 'tool' || role === 'function';
  return {
    role: textOf(role) ?? null,
    text,
    chars: text.length,
    thinking: thoughts.length === 0 ? null : thoughts.map((part) => thinkingText(part) ?? '').join('\n\n'),
    images: parts.filter((part) => kindOfPart(part) === 'image').length,
    tool_calls: listOf(calls).length === 0 ? null : jsonText(calls ?? []),
    tool_call_id: textOf(id) ?? null,
    tool_name: isResult ? (textOf(name) ?? names.get(id ?? '') ?? null) : null,
    is_error: isResult ? failed === true : null,
  };
};
