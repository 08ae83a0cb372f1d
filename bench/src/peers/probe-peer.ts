import { probe, type Probed } from '../probe.ts';

/** A measurement of a system that we compare with, and why there is none. */
export type FailedPeer = { readonly peer: string; readonly reason: string };

let failed: FailedPeer[] = [];

/** What failed since this was called last. */
export const takeFailedPeers = (): readonly FailedPeer[] => {
  const taken = failed;
  failed = [];
  return taken;
};

/**
 * What a peer's measurement gives, or nothing if it fails: then its figures are missing, and ours stand. The report names it.
 *
 * @param peer how people call it
 */
export const probePeer = async <T>(
  peer: string,
  name: string,
  input: unknown,
  run: typeof probe = probe,
): Promise<readonly Probed<T>[]> => {
  try {
    return [await run<T>(name, input)];
  } catch (error) {
    const [, reason = ''] = /^(?:the measurement .*\n)?([\s\S]*)$/.exec(messageOf(error)) ?? [];
    failed.push({ peer, reason: sentenceOf(reason) });
    return [];
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The line of what a process wrote that says what went wrong. */
const sentenceOf = (written: string): string => {
  const lines = written
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (
    lines.find((line) => /^\w*(?:Error|Exception)\b/.test(line)) ??
    lines[0] ??
    'it said nothing'
  ).slice(0, 200);
};
