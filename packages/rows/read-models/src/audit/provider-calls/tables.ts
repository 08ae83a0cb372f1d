import { defineTable, type Table } from '@stemma/row-store';
import { ANSWER_COLUMNS } from '../calls/answer-cells.ts';

export const PROVIDER_CALLS = defineTable({
  name: 'provider_calls',
  about:
    'A call of a provider’s API that carries no messages, such as POST /v1/embeddings: the event `index` of frame `seq`, which lies on a branch and belongs to no cycle of it. `at`: when the request went out, or was recorded, if nobody saw that; `origin` and `path`: where to; `…_type` and `…_coding`: content types and codings; `run`: the run of a program that made it. Tokens and milliseconds as recorded.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [
    ['attempt_id', 'text'],
    ['branch_id', 'uint'],
    ['at', 'wide'],
    ['run', 'text', 'null'],
    ['method', 'text'],
    ['origin', 'text', 'null'],
    ['path', 'text', 'null'],
    ['model', 'text', 'null'],
    ['request_sha256', 'bytes', 'null'],
    ['request_size', 'uint', 'null'],
    ['request_type', 'text', 'null'],
    ['request_coding', 'text', 'null'],
    ['status', 'text'],
    ['http_status', 'uint', 'null'],
    ...ANSWER_COLUMNS,
    ['response_type', 'text', 'null'],
    ['response_coding', 'text', 'null'],
    ['retry_after', 'text', 'null'],
    ['error_code', 'text', 'null'],
    ['error_message', 'text', 'null'],
  ],
});

export const PROVIDER_CALL_IDS = defineTable({
  name: 'provider_call_ids',
  about: 'The event that recorded a call without messages, by the id of the call.',
  key: [
    ['history', 'text'],
    ['attempt_id', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
});

export const PROVIDER_CALL_TABLES: readonly Table[] = [PROVIDER_CALLS, PROVIDER_CALL_IDS];
