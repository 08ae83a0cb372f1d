import type { ExportedCall, Exporter, ExportSource } from './exporter.ts';
import { isoTime } from './fields.ts';
import type { Losses } from './losses.ts';
import { readCalls } from './transcript.ts';

/** Cassettes of VCR.py: each call with its bytes as they were on the wire. Calls that have none are left out by name. */
export const vcr: Exporter = {
  name: 'vcr',
  summary: 'a YAML cassette of VCR.py: calls whose bytes are recorded',
  isText: true,
  files: [
    {
      suffix: '',
      async *write(source, lost) {
        let isFirst = true;
        for await (const { call } of readCalls(source, lost)) {
          const interaction = await interactionOf(source, call, lost);
          if (interaction === null) continue;
          yield `${isFirst ? 'interactions:\n' : ''}${interaction}`;
          isFirst = false;
        }
        yield `${isFirst ? 'interactions: []\n' : ''}version: 1\n`;
      },
    },
  ],
};

const interactionOf = async (
  { body }: ExportSource,
  call: ExportedCall,
  lost: Losses,
): Promise<string | null> => {
  const { attemptId, path, origin, httpStatus, sentAt, durationMs, requestHead, responseHead } = call;
  const without = (what: string): null => {
    lost.add(`call without ${what}`);
    return null;
  };
  const request = call.request === null ? null : await body(attemptId, 'request');
  if (request === null) return without('the bytes of its request');
  if (path === null) return without('an address');
  const response = call.response === null ? null : await body(attemptId, 'response');
  if (response === null || httpStatus === null) return without('the bytes of its answer');
  const at = isoTime(sentAt);
  return (
    '- request:\n' +
    `    body: ${scalar(request)}\n` +
    headers(requestHead) +
    '    method: POST\n' +
    `    uri: ${quoted((origin ?? '') + path)}\n` +
    '  response:\n' +
    `    body:\n      string: ${scalar(response)}\n` +
    headers(responseHead) +
    `    status:\n      code: ${httpStatus}\n      message: ${quoted(httpStatus < 400 ? 'OK' : 'Error')}\n` +
    (durationMs === null ? '' : `    duration: "${durationMs}ms"\n`) +
    (at === undefined ? '' : `  recorded_at: ${quoted(at)}\n`)
  );
};

const headers = ({ contentType, coding }: ExportedCall['requestHead']): string => {
  const lines =
    (contentType === null ? '' : `      content-type:\n      - ${quoted(contentType)}\n`) +
    (coding === null ? '' : `      content-encoding:\n      - ${quoted(coding)}\n`);
  return lines === '' ? '    headers: {}\n' : `    headers:\n${lines}`;
};

/** Bytes as a text of YAML, or in base64 if they are none. */
const scalar = (bytes: Uint8Array): string => {
  const text = textOf(bytes);
  return text === null ? `!!binary "${base64(bytes)}"` : quoted(text);
};

/** The text whose UTF-8 the bytes are; null: there is none. */
const textOf = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};

/** In double quotes, in ASCII: what stands there in JSON means the same in YAML. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
