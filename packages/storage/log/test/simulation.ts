import { pack, unpackFrom } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { seeded } from '../src/contract/faults.ts';
import {
  acknowledgeDamage,
  checkpointAtStart,
  closedBy,
  encodeEnvelope,
  openMemoryLog,
  openRecord,
  readPartition,
  sealRecord,
  ZERO_HASH,
  type Checkpoint,
  type EventLog,
  type HeadState,
  type MemoryLog,
} from '../src/index.ts';
import { whatIsWrong } from './simulation-rules.ts';
import { HISTORIES, type Ablation, type Reader, type World } from './simulation-world.ts';

/**
 * One random life of a log: competing writers with lost acknowledgements, repeats and reordered batches, altered records,
 * garbage, a lost end, acknowledgements by an operator. Gives what went against the rules, or undefined.
 */
export const simulate = async (seed: number, ablation?: Ablation): Promise<string | undefined> => {
  const world = await newWorld(seed, ablation);
  const steps = 10 + world.int(14);
  for (let i = 0; i < steps; i++) await step(world);
  return judge(world);
};

const newReader = (): Reader => ({ checkpoint: undefined, heads: new Map(), served: [], sent: [] });

const newWorld = async (seed: number, ablation: Ablation | undefined): Promise<World> => {
  const random = seeded(seed);
  const log = await openMemoryLog();
  return {
    int: (below) => Math.floor(random() * below),
    log,
    seen: ablation === 'record hash' ? withoutHash(log) : log,
    ablation,
    writers: [newReader(), newReader()],
    readers: [newReader(), newReader()],
    genuine: new Set(log.records(0).map(({ bytes }) => hex(bytes.subarray(-32)))),
    acknowledged: [],
    altered: new Map(),
    commands: 0,
  };
};

/** Readers of a log whose records have no hash take them as they find them. */
const withoutHash = (log: MemoryLog): EventLog => ({
  ...log,
  read: async (partition, from, options) => {
    const batch = await log.read(partition, from, options);
    return {
      ...batch,
      records: batch.records.map((record) => ({ ...record, bytes: sealRecord(record.bytes.slice(0, -32)) })),
    };
  },
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const step = async (world: World): Promise<void> => {
  const dice = world.int(100);
  if (dice < 50) await write(world, pick(world, world.writers));
  else if (dice < 60) await sendAgain(world, pick(world, world.writers));
  else if (dice < 80)
    await readOn(world, pick(world, [...world.writers, ...world.readers]), 1 + world.int(6));
  else if (dice < 86) loseEnd(world);
  else if (dice < 92) alter(world);
  else if (dice < 95)
    await world.log.append(0, [{ key: pick(world, [...HISTORIES, 'nobody']), bytes: noise(world) }]);
  else await acknowledgeIt(world);
};

const pick = <T>(world: World, list: readonly T[]): T => list[world.int(list.length)] as T;

const noise = (world: World): Uint8Array =>
  Uint8Array.from({ length: 40 + world.int(40) }, () => world.int(256));

const FRESH: HeadState = { next: 0, prev: ZERO_HASH, state: 'open', stopped: null };

/** One or two commands, new or known, by a writer that may not have read everything. */
const write = async (world: World, writer: Reader): Promise<void> => {
  if (world.int(3) > 0) await readOn(world, writer, Infinity);
  const history = pick(world, HISTORIES);
  const head = writer.heads.get(history) ?? FRESH;
  if (head.state !== 'open' || !writer.checkpoint || closedBy(writer.checkpoint.state)) return;
  let { next: seq, prev } = head;
  const entries: { key: string; bytes: Uint8Array }[] = [];
  for (let i = world.int(4) === 0 ? 2 : 1; i > 0; i--) {
    const command = `${history}:${world.int(3) > 0 ? world.commands++ : world.int(world.commands + 1)}`;
    const known = [...writer.served, ...writer.sent].some((each) => each.command === command);
    if (known && world.ablation !== 'remembered commands') continue;
    const envelope = encodeEnvelope({ v: 1, history, seq, prev });
    const record = sealRecord(Buffer.concat([envelope, pack({ command })]));
    const hash = record.subarray(-32);
    world.genuine.add(hex(hash));
    writer.sent.push({ history, seq, hash: hex(hash), command, record });
    entries.push({ key: history, bytes: record });
    [seq, prev] = [seq + 1, hash];
  }
  await append(world, entries);
};

/** What was sent and has no outcome is sent again as it is. */
const sendAgain = (world: World, writer: Reader): Promise<void> =>
  append(
    world,
    writer.sent.map(({ history, record }) => ({ key: history, bytes: record })),
  );

/** Some batches are stored in another order, some only in part; nobody is told. */
const append = async (world: World, entries: { key: string; bytes: Uint8Array }[]): Promise<void> => {
  if (world.int(5) === 0) entries.reverse();
  const stored = world.int(6) === 0 ? entries.slice(1) : entries;
  if (stored.length > 0) await world.log.append(0, stored);
};

/** Goes on from its cursor as after a restart; rebuilds from nothing when the cursor is refused. */
const readOn = async (world: World, reader: Reader, atMost: number): Promise<void> => {
  const { seen } = world;
  try {
    const from = reader.checkpoint ?? (await checkpointAtStart(seen, 0));
    const until = from.cursor.offset + atMost;
    const heads = { load: () => reader.heads };
    const checkpoint = world.ablation === 'tail hashes' ? trusting(from) : from;
    reader.checkpoint = from;
    const atOnce = 1 + world.int(8);
    for await (const batch of readPartition(seen, {
      checkpoint,
      heads,
      until,
      maxRecords: () => atOnce,
    })) {
      for (const [history, head] of batch.heads) reader.heads.set(history, head);
      for (const frame of batch.accepted) {
        if (!frame.control)
          take(world, reader, frame.offset, frame.envelope, hex(frame.hash), commandOf(frame));
      }
      reader.checkpoint = batch.checkpoint;
    }
  } catch (error) {
    if (!isStemmaError(error, 'E_CURSOR_LOST')) throw error;
    Object.assign(reader, { checkpoint: undefined, heads: new Map(), served: [] });
    await readOn(world, reader, atMost);
  }
};

/** A cursor that is an offset and nothing else. */
const trusting = (checkpoint: Checkpoint): Checkpoint => ({
  ...checkpoint,
  cursor: { ...checkpoint.cursor, from: [], tail: new Uint8Array() },
});

const commandOf = ({ bytes, bodyAt }: { bytes: Uint8Array; bodyAt: number }): string => {
  try {
    return (unpackFrom(bytes, bodyAt).value as { command: string }).command;
  } catch {
    return 'unreadable';
  }
};

const take = (
  world: World,
  reader: Reader,
  offset: number,
  { history, seq }: { history: string; seq: number },
  hash: string,
  command: string,
): void => {
  const served = { history, seq, hash, offset, command };
  reader.served.push(served);
  // A writer that sees its own frame accepted tells its client; one that sees another's decides again another time.
  if (reader.sent.some((sent) => sent.hash === hash)) world.acknowledged.push(served);
  reader.sent = reader.sent.filter((sent) => sent.history !== history || sent.seq > seq);
};

/** A log that is no quorum loses what it acknowledged, and grows again. */
const loseEnd = (world: World): void => {
  const records = world.log.records(0);
  const left = Math.max(1, records.length - 1 - world.int(6));
  records.length = left;
  world.acknowledged = world.acknowledged.filter(({ offset }) => offset < left);
  for (const offset of world.altered.keys()) if (offset >= left) world.altered.delete(offset);
};

/** One byte of a record, or its key, becomes another. The log vouches for no key that it changed, and not for every other. */
const alter = (world: World): void => {
  const records = world.log.records(0);
  const offset = 1 + world.int(Math.max(1, records.length - 1));
  const record = records[offset];
  const open = record && !world.altered.has(offset) ? openRecord(record.bytes) : undefined;
  if (!record || !open) return;
  world.altered.set(offset, open.envelope.history);
  if (world.int(6) === 0) {
    records[offset] = { ...record, key: `${record.key ?? ''}x`, keyVouched: false };
    return;
  }
  const bytes = record.bytes.slice();
  const at = world.int(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << world.int(8));
  records[offset] = { ...record, bytes, keyVouched: world.int(2) === 0 };
};

const acknowledgeIt = async (world: World): Promise<void> => {
  const operator = newReader();
  await readOn(world, operator, Infinity);
  const closed = operator.checkpoint && closedBy(operator.checkpoint.state);
  if (!closed || !operator.checkpoint) return;
  const author = { at: 1n, actor: 'operator', command: `ack:${closed.offset}:${world.commands++}` };
  await acknowledgeDamage(
    world.seen,
    operator.checkpoint,
    { load: () => operator.heads },
    { from: closed.offset, to: closed.offset },
    author,
  );
  const last = world.log.records(0).at(-1);
  if (last) world.genuine.add(hex(last.bytes.subarray(-32)));
};

/** Holds what everybody was served against what really happened. */
const judge = async (world: World): Promise<string | undefined> => {
  const fresh = newReader();
  await readOn(world, fresh, Infinity);
  for (const reader of [...world.writers, ...world.readers]) await readOn(world, reader, Infinity);
  return whatIsWrong(world, fresh);
};
