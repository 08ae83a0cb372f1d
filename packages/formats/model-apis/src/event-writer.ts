import { textOrNull } from './body.ts';
import { jsonText } from './json-text.ts';
import type { AnswerWriter } from './answer-writer.ts';

/** Server-sent events, named for their `type`. @param end what stands behind the last one */
export const serverSentEvents = (end = ''): Pick<AnswerWriter, 'stream' | 'streamType'> => ({
  streamType: 'text/event-stream',
  stream: (events) => {
    const named = events.map((event) => {
      const type = textOrNull(event['type']);
      return `${type === null ? '' : `event: ${type}\n`}data: ${jsonText(event)}\n\n`;
    });
    return new TextEncoder().encode(named.join('') + end);
  },
});
