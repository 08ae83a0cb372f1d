import { fail } from '@stemma/errors';
import { describeNode, type NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import type { ReadPayload } from './header.ts';
import type { StreamNode } from './node.ts';
import type { Profile } from './profile.ts';
import { readLogLine } from './read-log.ts';

/** An event log that was read: its nodes, described, and the lines that are neither blank nor header nor event. */
export type StreamEventLog = {
  readonly nodes: readonly NodeFacts[];
  /** The payload of a place, for previews. @throws E_INTERNAL if payloads were not kept. */
  readonly payload: ReadPayload;
  /** For each node the 1-based number of its line. */
  readonly lineNumbers: readonly number[];
  readonly skipped: readonly SkippedLine[];
};

export type SkippedLine = { readonly line: number; readonly reason: string };

/** Reads an event log line by line, so that of a long one only a line is held as text. */
export type EventLogReader = {
  /** Takes the next line, without its end. */
  readonly add: (line: string) => void;
  /** What has been read so far. */
  readonly log: () => StreamEventLog;
};

/** @param keepPayloads needed for previews; else nothing of a payload is held once its node is described. */
export const openEventLogReader = (
  profile: Profile,
  { keepPayloads = false }: { readonly keepPayloads?: boolean } = {},
): EventLogReader => {
  const nodes: NodeFacts[] = [];
  const payloads: ExactJson[] = [];
  const lineNumbers: number[] = [];
  const skipped: SkippedLine[] = [];
  const ids = new Map<string, number>();
  let number = 0;
  const record = (node: StreamNode): void => {
    const facts = describeNode(profile, node, nodes.length);
    const earlier = ids.get(facts.id);
    if (earlier !== undefined && !profile.compat) {
      const reason = `line ${number} repeats the id ${JSON.stringify(facts.id.slice(0, 80))} of line ${earlier}`;
      skipped.push({ line: number, reason });
      return;
    }
    ids.set(facts.id, number);
    nodes.push(facts);
    if (keepPayloads) payloads.push(node.payload);
    lineNumbers.push(number);
  };
  const payload: ReadPayload = (index) => {
    if (!keepPayloads) throw fail('E_INTERNAL', 'the payloads of the log were not kept');
    return payloads[index] ?? null;
  };
  return {
    add: (text) => {
      number += 1;
      const line = readLogLine(profile, text, number);
      if (line.is === 'node') record(line.node);
      else if (line.is === 'skipped') skipped.push({ line: number, reason: line.reason });
    },
    log: () => ({ nodes, payload, lineNumbers, skipped }),
  };
};

/** Reads the lines of an event log, and keeps their payloads. */
export const readEventLog = (profile: Profile, lines: Iterable<string>): StreamEventLog => {
  const reader = openEventLogReader(profile, { keepPayloads: true });
  for (const line of lines) reader.add(line);
  return reader.log();
};
