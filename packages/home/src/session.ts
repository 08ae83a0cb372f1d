import { compareBytes } from '@stemma/canonical';
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
import type { Decision, HeadState, Remembered, Session } from '@stemma/log';

/** What the rows know of one history: one state of them, and never less than when the session began. */
export type HistoryFacts = {
  /** The `seq` behind the newest frame that the rows have, and that frame's SHA-256. */
  head(): Pick<HeadState, 'next' | 'prev'>;
  /** The lineage after the newest of its frames before `limit`, or, with `seq`, at that position. */
  lineage(strand: number, seq: number | null, limit: number): LineageState;
  /** Where a lineage stood before frame `limit`, without its tree. */
  standing(strand: number, limit: number): Standing | undefined;
  lineageNamed(name: string): number | undefined;
  idTaken(id: string): boolean;
  nameTaken(name: string): boolean;
  remembered(command: string): Remembered | undefined;
};

export type HistoryRows = {
  /** What `fn` gives on the rows as they are, with all payloads that it asks for. It may be called again. */
  ask<T>(fn: (facts: HistoryFacts, stored: PayloadSource) => T): Promise<T>;
  /** As `ask`, without rows. What `fn` gives is its only result: it is not called again behind it. */
  withPayloads<T>(fn: (stored: PayloadSource) => T): Promise<T>;
  /** Resolves when the rows have everything that is in the log now. */
  catchUp(): Promise<void>;
};

type Lineages = Pick<Sources, 'position' | 'lineage'>;

/** Thrown where a lineage has to be read first. */
class LineageUnread extends Error {
  readonly read: () => Promise<void>;
  constructor(read: () => Promise<void>) {
    super('a lineage has to be read first');
    this.read = read;
  }
}

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

  const lookupsIn = (facts: HistoryFacts): Lookups => ({
    idTaken: (id) => recent.ids.has(id) || facts.idTaken(id),
    lineageNamed: (name) =>
      recent.lineages.has(name) ? recent.lineages.get(name) : facts.lineageNamed(name),
    nameTaken: (name) => recent.names.has(name) || facts.nameTaken(name),
    command: (id) => recent.commands.get(id) ?? facts.remembered(id),
  });
  const payloadOver =
    (stored: PayloadSource): PayloadSource =>
    (ref) =>
      recent.payload(ref) ?? stored(ref);
  /** What the rows say; what they do not have yet they have after catching up. */
  const read = async <T>(fn: (facts: HistoryFacts) => T): Promise<T> => {
    try {
      return await rows.ask(fn);
    } catch (error) {
      if (!(error instanceof PositionNeeded)) throw error;
      await rows.catchUp();
      return rows.ask(fn);
    }
  };
  /**
   * Runs `fn` with lineages as the rows have them. One that is not at hand has no recent frames, so what the rows say of it is
   * all there is. It is read before, not inside of `fn`, which changes the state: a read may be done twice.
   */
  const withLineages = async <T>(fn: (lineages: Lineages) => Promise<T>): Promise<T> => {
    const known = new Map<string, unknown>();
    const once = <V>(key: string, look: (facts: HistoryFacts) => V): V => {
      if (known.has(key)) return known.get(key) as V;
      throw new LineageUnread(async () => void known.set(key, await read(look)));
    };
    const lineages: Lineages = {
      position: (strand, seq) =>
        once(`position ${strand} ${seq}`, (facts) => {
          if (seq !== null && seq >= facts.head().next) throw new PositionNeeded(strand, seq);
          return facts.lineage(strand, seq, state.next);
        }),
      lineage: (strand) => once(`standing ${strand}`, (facts) => facts.standing(strand, state.next)),
    };
    for (;;) {
      try {
        return await fn(lineages);
      } catch (error) {
        if (!(error instanceof LineageUnread)) throw error;
        await error.read();
      }
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
    remembered: async (id) => recent.commands.get(id) ?? rows.ask((facts) => facts.remembered(id)),
    decide: async (command): Promise<Decision> => {
      const at = clock();
      const decided = await withLineages((lineages) =>
        rows.ask((facts, stored) =>
          decide(state, command, at, {
            ...lineages,
            payload: payloadOver(stored),
            lookups: lookupsIn(facts),
          }),
        ),
      );
      return { author: command.by, at, lineage: decided.lineage, events: decided.events };
    },
    apply: async (frame: Frame, hash: Uint8Array) => {
      if (recent.size >= RECENT || state.lineages.size > LINEAGES)
        recent.forgetKnown(await rows.ask((facts) => facts.head()), before);
      if (recent.size === 0) settle(state, MOST_NODES, frame.body.lineage);
      const applied = await withLineages((lineages) =>
        rows.withPayloads((stored) =>
          applyFrame(state, frame, { ...lineages, payload: payloadOver(stored) }, { keep: true }),
        ),
      );
      recent.add(applied, before);
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
    /** Frames that the rows have: those up to theirs, if it is one of these. One sent ahead may not have been accepted. */
    forgetKnown: ({ next, prev }: Pick<HeadState, 'next' | 'prev'>, last: Uint8Array): void => {
      const count = next - (frames[0]?.applied.seq ?? next);
      if (count <= 0 || count > frames.length) return;
      if (compareBytes(frames[count]?.prev ?? last, prev) !== 0) return;
      for (const frame of frames.splice(0, count)) forget(frame);
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
