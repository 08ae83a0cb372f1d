import { sha256Hex } from '@stemma/canonical';
import { hash } from 'node:crypto';
import type { RunningHashes } from './running-hashes.ts';
import { NODE_KINDS } from './stream-node.ts';

/** Hashes of a snapshot's stages: SHA-256, lower-case hex. */
export type SnapshotStageHashes = {
  readonly nodeHash: string;
  readonly z1: string;
  readonly z2: string;
  readonly z3: string;
};

/*
 * The list of ids stands in SPEC three times, and SPEC's selection is hashed on its own and as a part of it. It is
 * written here once, as bytes, and copied: a list of 10,000 ids has 220 KB. Written over at every call; all is ASCII.
 */
let text = Buffer.allocUnsafe(16 * 1024);
let end = 0;

const write = (part: string): void => {
  ensureRoom(part.length);
  end += text.write(part, end, 'latin1');
};

const ensureRoom = (length: number): void => {
  if (end + length <= text.length) return;
  const larger = Buffer.allocUnsafe(2 * (end + length));
  text.copy(larger, 0, 0, end);
  text = larger;
};

/** Writes again the bytes between two offsets. */
const repeatText = (from: number, to: number): void => {
  ensureRoom(to - from);
  text.copyWithin(end, from, to);
  end += to - from;
};

/** The hashes at this point; more nodes can be added afterwards. */
export const hashesOf = (running: RunningHashes): SnapshotStageHashes => {
  const nodeHash = running.digests.copy().update(']').digest('hex');
  const selectionHash = writeSpec(running);
  const z2 = running.spec.copy().update(text.subarray(0, end)).digest('hex');
  end = 0;
  write(`],"node_hash":"${nodeHash}","policy":"messages_only","schema_version":"0.1","selected_node_ids":[`);
  write(running.ids);
  write(`],"selection_sha256":"${selectionHash}"}`);
  const z3 = running.header.copy().update(text.subarray(0, end)).digest('hex');
  return { nodeHash, z1: sha256Hex(rawText(running, nodeHash)), z2, z3 };
};

const BY_NAME = NODE_KINDS.map((kind, i) => ({ kind, i })).sort((a, b) => (a.kind < b.kind ? -1 : 1));

const rawText = ({ kindCounts, count }: RunningHashes, nodeHash: string): string => {
  let kinds = '';
  for (const { kind, i } of BY_NAME) {
    const some = kindCounts[i] as number;
    if (some > 0) kinds += `${kinds === '' ? '' : ','}"${kind}":${some}`;
  }
  return `{"event_count":${count},"kind_counts":{${kinds}},"node_count":${count},"node_hash":"${nodeHash}","schema_version":"0.1"}`;
};

const BEFORE_SELECTION = '],"selection":';

/** Writes SPEC from the end of its items on, and returns the hash of the selection in it. */
const writeSpec = (running: RunningHashes): string => {
  const count = running.kindCounts[0] as number;
  end = 0;
  write(`${BEFORE_SELECTION}{"candidate_count":${count},"candidate_ids":[`);
  const from = end;
  write(running.ids);
  const to = end;
  write(
    `],"collapsed_count":0,"collapsed_ids":[],"dropped_count":0,"dropped_ids":[],"kept_count":${count},"kept_ids":[`,
  );
  repeatText(from, to);
  const pins = pinsOf(running);
  write(
    `],"kind_allowlist":["message"],"max_message_chars":null,"max_nodes":null,"max_turns":null,${pins},"selected_count":${count},"selected_ids":[`,
  );
  repeatText(from, to);
  write(']}');
  const selection = hash('sha256', text.subarray(BEFORE_SELECTION.length, end), 'hex');
  end--;
  write(`,"selection_sha256":"${selection}"}}`);
  return selection;
};

/** Ids begin with the ordinal; of two the longer has the greater one. */
const pinsOf = ({ lastUser, lastAssistant }: RunningHashes): string => {
  if (lastUser === '' || lastAssistant === '') {
    const only = lastUser + lastAssistant;
    return only === '' ? '"pinned_count":0,"pinned_ids":[]' : `"pinned_count":1,"pinned_ids":["${only}"]`;
  }
  const userFirst =
    lastUser.length === lastAssistant.length
      ? lastUser < lastAssistant
      : lastUser.length < lastAssistant.length;
  const [first, last] = userFirst ? [lastUser, lastAssistant] : [lastAssistant, lastUser];
  return `"pinned_count":2,"pinned_ids":["${first}","${last}"]`;
};
