import type { EventRef, Payload, PayloadSource } from '@stemma/context-tree';
import type { Frame, HistoryEvent } from '@stemma/events';
import {
  applyFrame,
  decide,
  openHistory,
  payloadIn,
  PositionNeeded,
  revertFrame,
  settle,
  type AppliedFrame,
  type Command,
  type LineageState,
  type Lookups,
  type Sources,
  type Standing,
} from '@stemma/history';
import type { Decision, Remembered, Session } from '@stemma/log';

/** What the rows know of one history, as they are when asked: never less than when the session began. */
export type HistoryRows = {
  /** The `seq` behind the newest frame that the rows have. */
  next(): number;
  /** The lineage after the newest of its frames before `limit`, or, with `seq`, at that position. */
  lineage(strand: number, seq: number | null, limit: number): LineageState;
  /** Where a lineage stood before frame `limit`, without its tree. */
  standing(strand: number, limit: number): Standing | undefined;
  lineageNamed(name: string): number | undefined;
  idTaken(id: string): boolean;
  nameTaken(name: string): boolean;
  remembered(command: string): Remembered | undefined;
  /** Runs `fn` until it has all the payloads it asks for. */
  withPayloads<T>(fn: (source: PayloadSource) => T): Promise<T>;
  /** Resolves when the rows have everything that is in the log now. */
  catchUp(): Promise<void>;
};

export type SessionStart = {
  readonly history: string;
  readonly next: number;
  readonly prev: Uint8Array;
  readonly asOf: number;
  readonly rows: HistoryRows;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
};

/** When so many frames are ahead of what the rows were known to have, they are asked again. */
const RECENT = 64;
/** Nodes of the trees that a session keeps: about 250 MB. Those of more lineages are read from the rows again. */
const MOST_NODES = 300_000;
/** A lineage more than this at hand, and the rows are asked again at every frame: their trees can go only then. */
const LINEAGES = 4;

/**
 * The decision state of one history for the writer: what the rows say, and on top of it the frames that came since.
 * Those are forgotten when the rows have them.
 */
export const openSession = ({ history, next, prev, asOf, rows, clock }: SessionStart): Session<Command> => {
  const state = openHistory(history, next);
  const recent = recentFrames();
  let before = prev;

  // A lineage that is not at hand has no recent frames, so what the rows say of it is all there is.
  const position = (strand: number, seq: number | null): LineageState => {
    if (seq !== null && seq >= rows.next()) throw new PositionNeeded(strand, seq);
    return rows.lineage(strand, seq, state.next);
  };
  const lineage = (strand: number): Standing | undefined => rows.standing(strand, state.next);
  const lookups: Lookups = {
    idTaken: (id) => recent.ids.has(id) || rows.idTaken(id),
    lineageNamed: (name) => (recent.lineages.has(name) ? recent.lineages.get(name) : rows.lineageNamed(name)),
    nameTaken: (name) => recent.names.has(name) || rows.nameTaken(name),
    command: (id) => recent.commands.get(id) ?? rows.remembered(id),
  };
  const run = async <T>(fn: (sources: Sources) => T): Promise<T> => {
    const attempt = (): Promise<T> =>
      rows.withPayloads((stored) =>
        fn({ position, lineage, payload: (ref) => recent.payload(ref) ?? stored(ref) }),
      );
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PositionNeeded)) throw error;
      await rows.catchUp();
      return attempt();
    }
  };

  return {
    get next() {
      return state.next;
    },
    get prev() {
      return before;
    },
    asOf,
    remembered: (id) => lookups.command(id),
    decide: async (command): Promise<Decision> => {
      const at = clock();
      const decided = await run((sources) => decide(state, command, at, { ...sources, lookups }));
      return { author: command.by, at, lineage: decided.lineage, events: decided.events };
    },
    apply: async (frame: Frame, hash: Uint8Array) => {
      if (recent.size >= RECENT || state.lineages.size > LINEAGES) recent.forgetBefore(rows.next());
      if (recent.size === 0) settle(state, MOST_NODES, frame.body.lineage);
      recent.add(await run((sources) => applyFrame(state, frame, sources, { keep: true })), before);
      before = hash;
    },
    undo: () => {
      const { applied, prev: previous } = recent.takeLast();
      revertFrame(state, applied);
      before = previous;
    },
  };
};

type Recent = { readonly applied: AppliedFrame; readonly prev: Uint8Array };

/** Frames in order, with what is looked up in them. */
const recentFrames = () => {
  const frames: Recent[] = [];
  const ids = new Set<string>();
  const names = new Set<string>();
  /** Lineages by the names that recent frames gave or took. */
  const lineages = new Map<string, number | undefined>();
  const commands = new Map<string, Remembered>();
  const forget = ({ applied }: Recent): void => {
    for (const id of idsOf(applied.events)) ids.delete(id);
    for (const name of namesOf(applied.events)) names.delete(name);
    if (applied.started !== null) nameLineages();
    commands.delete(applied.command);
  };
  const nameLineages = (): void => {
    lineages.clear();
    for (const { applied } of frames) noteNames(applied, lineages);
  };
  return {
    lineages: lineages as ReadonlyMap<string, number | undefined>,
    ids: ids as ReadonlySet<string>,
    names: names as ReadonlySet<string>,
    commands: commands as ReadonlyMap<string, Remembered>,
    get size() {
      return frames.length;
    },
    payload: ({ seq, index }: EventRef): Payload | undefined => {
      const event = frames[seq - (frames[0]?.applied.seq ?? seq)]?.applied.events[index];
      return event === undefined ? undefined : payloadIn(event);
    },
    add: (applied: AppliedFrame, prev: Uint8Array): void => {
      frames.push({ applied, prev });
      for (const id of idsOf(applied.events)) ids.add(id);
      for (const name of namesOf(applied.events)) names.add(name);
      noteNames(applied, lineages);
      commands.set(applied.command, { seq: applied.seq, digest: applied.digest });
    },
    takeLast: (): Recent => {
      const last = frames.pop();
      if (last === undefined) throw new RangeError('there is no frame to take back');
      forget(last);
      return last;
    },
    forgetBefore: (seq: number): void => {
      const known = frames.findIndex(({ applied }) => applied.seq >= seq);
      for (const frame of frames.splice(0, known === -1 ? frames.length : known)) forget(frame);
    },
  };
};

const idsOf = (events: readonly HistoryEvent[]): readonly string[] =>
  events.flatMap((event): readonly string[] => {
    switch (event.type) {
      case 'NodeInserted':
      case 'NodeImported':
        return [event.node.id];
      case 'TurnSealed':
        return [event.turn.id];
      case 'HistoryStarted':
        return Object.values(event.ids);
      default:
        return [];
    }
  });

const namesOf = (events: readonly HistoryEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'PositionNamed' ? [event.name] : []));

const noteNames = ({ events, lineage }: AppliedFrame, names: Map<string, number | undefined>): void => {
  for (const event of events) {
    if (event.type !== 'LineageStarted') continue;
    if (event.name !== null) names.set(event.name, lineage);
    if (event.abandoned !== null) names.set(event.abandoned, event.parent);
  }
};
