import { grouped } from '@stemma/api';

export { grouped };

const two = (n: number): string => String(n).padStart(2, '0');

/** A time for a list: month, day and time of the reader's own clock. */
export const shortTime = (milliseconds: number): string => {
  const at = new Date(milliseconds);
  return `${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
};

export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** The beginning of an id, long enough to distinguish it from others. */
export const shortId = (id: string): string => (id.length > 10 ? id.slice(0, 8) + '…' : id);

export const plural = (n: number, one: string, many = one + 's'): string =>
  `${grouped(n)} ${n === 1 ? one : many}`;

/** What a call cost; undefined where it is not known. */
export const costWords = (
  call: { readonly cost: { readonly amount: string; readonly currency: string } | null } | null | undefined,
): string | undefined => (call?.cost == null ? undefined : `${call.cost.amount} ${call.cost.currency}`);

/** How long something took: 840 ms, 12.3 s. */
export const durationWords = (milliseconds: number | null): string =>
  milliseconds === null
    ? '–'
    : milliseconds < 10_000
      ? `${grouped(milliseconds)} ms`
      : `${(milliseconds / 1000).toFixed(1)} s`;

/** A number for a narrow column: 99,999, then 123k, 3.78M. */
export const shortNumber = (n: number): string =>
  n < 100_000 ? grouped(n) : n < 1_000_000 ? `${Math.floor(n / 1_000)}k` : `${(n / 1_000_000).toFixed(2)}M`;

/** How long something took, for a narrow column: 840ms, 12.3s. */
export const shortDuration = (milliseconds: number | null): string =>
  milliseconds === null
    ? '–'
    : milliseconds < 1_000
      ? `${milliseconds}ms`
      : `${(milliseconds / 1_000).toFixed(1)}s`;

type Call = { readonly name?: unknown; readonly arguments?: unknown };

/** A tool call in a JSON text, written as `name(arguments)`; undefined for anything else. */
export const callWords = (json: string): string | undefined => {
  try {
    const value = JSON.parse(json) as (Call & { readonly function?: Call }) | null;
    const call = value?.function ?? value;
    if (typeof call?.name !== 'string') return undefined;
    const given = call.arguments ?? '';
    return `${call.name}(${typeof given === 'string' ? given : JSON.stringify(given)})`;
  } catch {
    return undefined;
  }
};

/** What a message of a model says; empty for one that only calls tools, and for none. */
export const textOfMessage = (message: unknown): string => {
  const { content } = (message ?? {}) as { readonly content?: unknown };
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return parts
    .flatMap((part) => {
      const { text } = (part ?? {}) as { readonly text?: unknown };
      return typeof text === 'string' ? [text] : [];
    })
    .join('');
};
