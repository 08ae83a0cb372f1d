import { fail } from '@stemma/errors';
import { describeNode, type NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import type { ReadPayload } from './header.ts';
import type { StreamNode } from './node.ts';
import type { Profile } from './profile.ts';
import { readLogLine } from './read-log.ts';

/** An event log that was read: its described nodes, and the lines that are neither blank, header nor event. */
export type StreamEventLog = {
  readonly nodes: readonly NodeFacts[];
  /** The payload of a node by its index, for previews. @throws E_INTERNAL if payloads were not kept. */
  readonly payload: ReadPayload;
  /** The 1-based line number of each node. */
  readonly lineNumbers: readonly number[];
  readonly skipped: readonly SkippedLine[];
};

export type SkippedLine = { readonly line: number; readonly reason: string };

/** Reads an event log line by line, so that only one line is in memory as text. */
export type EventLogReader = {
  /** Adds the next line, without its end. */
  readonly add: (line: string) => void;
  /** The log as read so far. */
  readonly log: () => StreamEventLog;
};

/** @param keepPayloads needed for previews; else a payload is dropped once its node is described. */
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

/** The event log of these lines, with its payloads. */
export const readEventLog = (profile: Profile, lines: Iterable<string>): StreamEventLog => {
  const reader = openEventLogReader(profile, { keepPayloads: true });
  for (const line of lines) reader.add(line);
  return reader.log();
};
