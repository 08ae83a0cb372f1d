import {
  CALL_APIS,
  CALL_MATCHES,
  CALL_STATUSES,
  LINK_REASONS,
  RecordedBody,
  type StemmaEvent,
} from '@stemma/events';
import { hasKeys, isCount, isCountOrNull, isId, isMap, isText, isTextOrNull } from './shaped-values.ts';
import type { RawEvent } from './upcast.ts';

const isLocation = (value: unknown): boolean =>
  isMap(value) && isCount(value['seq']) && isCount(value['index']) && hasKeys(value, 2);

const isLocationOrNull = (value: unknown): boolean => value === null || isLocation(value);

const isHex = (value: unknown, length: number): boolean =>
  typeof value === 'string' && value.length === length && /^[0-9a-f]*$/.test(value);

const isCounted = (values: unknown, least: number, most: number): boolean =>
  Array.isArray(values) && values.length >= least && values.length <= most && values.every(isCount);

const ENCODINGS: ReadonlySet<unknown> = new Set(RecordedBody.shape.encoding.options);

const isBase = (base: unknown): boolean =>
  isMap(base) &&
  isCount(base['seq']) &&
  isCount(base['index']) &&
  isCount(base['size']) &&
  isCount(base['ordinal']) &&
  isCounted(base['frames'], 0, Infinity) &&
  hasKeys(base, 5);

const isBody = (body: unknown): boolean =>
  isMap(body) &&
  isHex(body['sha256'], 64) &&
  isCount(body['size']) &&
  (body['base'] === null || isBase(body['base'])) &&
  Array.isArray(body['pieces']) &&
  body['pieces'].every((piece) => isCounted(piece, 1, 2)) &&
  ENCODINGS.has(body['encoding']) &&
  hasKeys(body, 5);

const MATCHES: ReadonlySet<unknown> = new Set(CALL_MATCHES);
const APIS: ReadonlySet<unknown> = new Set(CALL_APIS);
const STATUSES: ReadonlySet<unknown> = new Set(CALL_STATUSES);

const REASONS: ReadonlySet<unknown> = new Set(LINK_REASONS);

const isOrigin = (origin: unknown): boolean =>
  isMap(origin) &&
  isId(origin['history']) &&
  isCount(origin['branchId']) &&
  isId(origin['attemptId']) &&
  ((origin['kind'] === 'called' && REASONS.has(origin['why']) && hasKeys(origin, 5)) ||
    (origin['kind'] === 'assigned' && hasKeys(origin, 4)));

const isPrompt = (prompt: unknown): boolean =>
  isMap(prompt) &&
  isText(prompt['scope']) &&
  MATCHES.has(prompt['match']) &&
  isHex(prompt['list'], 32) &&
  Array.isArray(prompt['brings']) &&
  prompt['brings'].every((message) => isHex(message, 16)) &&
  (prompt['origin'] === null || isOrigin(prompt['origin'])) &&
  hasKeys(prompt, 5);

const isUsage = (usage: unknown): boolean =>
  isMap(usage) &&
  isCountOrNull(usage['input']) &&
  isCountOrNull(usage['output']) &&
  isCountOrNull(usage['cached']) &&
  isCountOrNull(usage['cacheWrite']) &&
  isCountOrNull(usage['reasoning']) &&
  (usage['cacheWrite1h'] === undefined
    ? hasKeys(usage, 5)
    : isCount(usage['cacheWrite1h']) && hasKeys(usage, 6));

const isError = (error: unknown): boolean =>
  isMap(error) && isTextOrNull(error['code']) && isText(error['message']) && hasKeys(error, 2);

const isSent = (sent: unknown): boolean =>
  isMap(sent) &&
  isCountOrNull(sent['at']) &&
  isTextOrNull(sent['origin']) &&
  isTextOrNull(sent['path']) &&
  isTextOrNull(sent['contentType']) &&
  isTextOrNull(sent['coding']) &&
  hasKeys(sent, 5);

const isHead = (head: unknown): boolean =>
  isMap(head) &&
  isTextOrNull(head['contentType']) &&
  isTextOrNull(head['coding']) &&
  isTextOrNull(head['retryAfter']) &&
  hasKeys(head, 3);

/** The values of a payload are whatever JSON can say. */
const isPayload = (payload: unknown): boolean =>
  isMap(payload) &&
  !Object.hasOwn(payload, '__proto__') &&
  !Object.hasOwn(payload, 'constructor') &&
  !Object.hasOwn(payload, 'prototype') &&
  !(payload instanceof Uint8Array);

/** @see shapedEvent */
export const callStarted = (event: RawEvent): StemmaEvent | undefined => {
  const { type, attemptId, branchId, seq, cycle, api, model, toolsAt, request, prompt, sent, payload } =
    event;
  const fits =
    isId(attemptId) &&
    isCount(branchId) &&
    isCount(seq) &&
    isCount(cycle) &&
    APIS.has(api) &&
    isTextOrNull(model) &&
    isLocationOrNull(toolsAt) &&
    (request === null || isBody(request)) &&
    (prompt === null || isPrompt(prompt)) &&
    (sent === null || isSent(sent)) &&
    isPayload(payload) &&
    hasKeys(event, 12);
  return fits
    ? ({
        type,
        attemptId,
        branchId,
        seq,
        cycle,
        api,
        model,
        toolsAt,
        request,
        prompt,
        sent,
        payload,
      } as never)
    : undefined;
};

/** @see shapedEvent */
export const callFinished = (event: RawEvent): StemmaEvent | undefined => {
  const { type, attemptId, status, httpStatus, finishReason, model, usage } = event;
  const { choices, sentAt, firstByteMs, durationMs, response, head, error, payload } = event;
  const fits =
    isId(attemptId) &&
    STATUSES.has(status) &&
    (httpStatus === null ||
      (isCount(httpStatus) && (httpStatus as number) >= 100 && (httpStatus as number) <= 999)) &&
    isTextOrNull(finishReason) &&
    isTextOrNull(model) &&
    (usage === null || isUsage(usage)) &&
    isCountOrNull(choices) &&
    isCountOrNull(sentAt) &&
    isCountOrNull(firstByteMs) &&
    isCountOrNull(durationMs) &&
    (response === null || isBody(response)) &&
    (head === null || isHead(head)) &&
    (error === null || isError(error)) &&
    isPayload(payload) &&
    hasKeys(event, 15);
  return fits
    ? ({
        ...{ type, attemptId, status, httpStatus, finishReason, model, usage },
        ...{ choices, sentAt, firstByteMs, durationMs, response, head, error, payload },
      } as never)
    : undefined;
};
