import { fail } from '@stemma/errors';
import type { Cell, Value } from '@stemma/row-store';
import { profileNamed, startStream, type HashState, type StageStream } from '@stemma/stages';

/** What a stream has come to, and the ids of its messages that fill no row of `stage_ids` yet. */
export type Running = {
  readonly stream: StageStream;
  /** As in a JSON list. */
  readonly openIds: string;
};

/** Ids in a row of `stage_ids`. */
export const CHUNK = 64;

/** Histories are kept in our own profile; others are computed on demand. */
export const PROFILE = profileNamed('stemma-1');

export const EMPTY: Running = { stream: startStream(PROFILE), openIds: '' };

/** Rows of `stage_ids` that are full. */
export const chunksOf = ({ stream }: Running): number => Math.floor(stream.selected / CHUNK);

const KINDS = ['message', 'tool_call', 'tool_result', 'guardrail', 'lifecycle'] as const;

/** As it lies in rows. */
export const runningCells = ({ stream, openIds }: Running): readonly Cell[] => {
  const { kinds, user, assistant } = stream;
  return [
    ...KINDS.map((kind) => kinds[kind] ?? 0),
    stream.lastId,
    stateBytes(stream.nodes),
    stateBytes(stream.spec),
    stateBytes(stream.header),
    openIds,
    user?.[0] ?? null,
    user?.[1] ?? null,
    assistant?.[0] ?? null,
    assistant?.[1] ?? null,
  ];
};

/** The same, from the cells that begin at `from`. */
export const runningOf = (value: Value, from: number): Running => {
  const tally = value.slice(from, from + KINDS.length) as readonly number[];
  const [lastId, nodes, spec, header, openIds, user, userId, assistant, assistantId] = value.slice(
    from + KINDS.length,
  );
  const pin = (ordinal: Cell | undefined, id: Cell | undefined): StageStream['user'] =>
    typeof ordinal === 'number' && typeof id === 'string' ? [ordinal, id] : null;
  return {
    stream: {
      count: tally.reduce((sum, each) => sum + each, 0),
      lastId: lastId as string | null,
      kinds: Object.fromEntries(
        KINDS.map((kind, i) => [kind, tally[i] as number] as const).filter(([, count]) => count > 0),
      ),
      nodes: stateOf(nodes),
      spec: stateOf(spec),
      header: stateOf(header),
      selected: tally[0] as number,
      user: pin(user, userId),
      assistant: pin(assistant, assistantId),
    },
    openIds: openIds as string,
  };
};

const WORDS = 32;
const HEAD = WORDS + 8;

/** The words, the number of bytes, and those behind the last whole block. */
const stateBytes = ({ words, tail, length }: HashState): Uint8Array => {
  const bytes = Buffer.alloc(HEAD + tail.length);
  for (let i = 0; i < words.length; i++) bytes.writeInt32BE((words[i] as number) | 0, 4 * i);
  bytes.writeBigUInt64BE(BigInt(length), WORDS);
  bytes.write(tail, HEAD, 'latin1');
  return bytes;
};

const stateOf = (cell: Cell | undefined): HashState => {
  if (!(cell instanceof Uint8Array) || cell.length < HEAD)
    throw fail('E_INTERNAL', 'a row holds no hash state');
  const bytes = Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);
  return {
    algorithm: 'sha256',
    words: Array.from({ length: 8 }, (_, i) => bytes.readInt32BE(4 * i)),
    tail: bytes.toString('latin1', HEAD),
    length: Number(bytes.readBigUInt64BE(WORDS)),
  };
};
