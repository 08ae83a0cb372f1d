import { readBodyAt } from '@stemma/call-bodies';
import type { EventRef } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import { readFrameEvents, type LoggedEvent } from '@stemma/queries';
import { listFrameSummaries, listHistories } from '@stemma/read-models';
import { secretsInBody, secretsInText } from '@stemma/redaction';
import { nameOfKind, secretKind } from '@stemma/stages';
import type { Finding } from './finding.ts';
import type { Services } from './services.ts';
import { withoutCoding } from './verify-calls/request-bytes.ts';

/** Which frames to search: all of them, or a sample that takes about a second. */
export type SecretsScope = 'all' | 'sample';

/** How many frames of each history a sample has: the first ones, which hold prompts and settings, and the newest. */
const SAMPLE = { first: 20, newest: 20, milliseconds: 1_000 };
/** How many frame summaries to read at a time. */
const PAGE = 500;

/** Finds contents that look like keys. A finding says how many there are and of which kind, never the text itself. */
export async function* findSecrets(
  { projection }: Pick<Services, 'projection'>,
  scope: SecretsScope,
  now: () => number = () => performance.now(),
): AsyncGenerator<Finding> {
  const until = scope === 'all' ? Infinity : now() + SAMPLE.milliseconds;
  const histories = await projection.read((view) =>
    listHistories(view).map(({ history, frames }) => ({ history, frames })),
  );
  let [looked, total] = [0, 0];
  for (const { history, frames } of histories) {
    total += frames;
    const kinds = new Map<string, number>();
    for await (const seq of framesOf(projection, history, frames, scope)) {
      if (now() > until) break;
      looked++;
      // Other findings report frames that cannot be read.
      const events = await readFrameEvents(projection, history, seq).catch(() => []);
      for (const { event, index } of events) {
        const found = [...textsIn(event)].map(kindInText).filter((kind) => kind !== null);
        const inBody = await kindsInBody(projection, history, event, { seq, index });
        for (const kind of [...found, ...inBody.filter((each) => !found.includes(each))])
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }
    if (kinds.size === 0) continue;
    const found = [...kinds].map(([kind, count]) => `${count} × ${kind}`).join(', ');
    yield { level: 'warning', message: `the history ${history} has texts that look like secrets: ${found}` };
  }
  if (looked < total)
    yield {
      level: 'note',
      message: `${looked} of ${total} frames were searched for secrets: \`stemma doctor --secrets\` searches all`,
    };
}

/** What kind of secret is in a text, encoded or not. */
const kindInText = (text: string): string | null => {
  const plain = secretKind(text);
  if (plain !== null) return plain;
  const [coded] = secretsInText(text);
  return coded === undefined ? null : nameOfKind(coded);
};

/**
 * What is in the body of an event, also cut into the events of a stream. A request that was read is not looked at: its messages
 * are.
 */
const kindsInBody = async (
  projection: Services['projection'],
  history: string,
  event: LoggedEvent['event'],
  location: EventRef,
): Promise<readonly string[]> => {
  const isUnread = event.type === 'CallStarted' && event.api === 'other' && event.request !== null;
  if (!isUnread && (event.type !== 'CallFinished' || event.response === null)) return [];
  try {
    const bytes = withoutCoding(await readBodyAt(location, projection.payloads.framesOf(history)));
    return [...new Set(secretsInBody(new TextDecoder().decode(bytes)).map(nameOfKind))];
  } catch (error) {
    // Bodies that are damaged or not kept are told of by others.
    if (isStemmaError(error)) return [];
    throw error;
  }
};

async function* framesOf(
  projection: Services['projection'],
  history: string,
  frames: number,
  scope: SecretsScope,
): AsyncGenerator<number> {
  const gap = scope === 'all' ? frames : SAMPLE.first;
  for (let from = 0; from < frames;) {
    const limit = Math.min(PAGE, from < gap ? gap - from : PAGE);
    const start = from;
    const page = await projection.read((view) => listFrameSummaries(view, history, { from: start, limit }));
    if (page.length === 0) return;
    for (const { seq } of page) yield seq;
    from = (page.at(-1)?.seq ?? from) + 1;
    if (from >= gap) from = Math.max(from, scope === 'all' ? from : frames - SAMPLE.newest);
  }
}

/** Every text in a value, with its key in front if the key is short. */
function* textsIn(value: unknown, key = ''): Generator<string> {
  if (typeof value === 'string') yield key === '' || key.length > 64 ? value : `${key}: ${value}`;
  else if (Array.isArray(value)) for (const each of value) yield* textsIn(each);
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value)) yield* textsIn(each, name);
}
