import type { Difference } from './difference/difference.ts';
import { openLivePositions, type LivePosition, type LivePositions } from './live-positions.ts';
import type { Match, ServedHow } from './matches.ts';
import { openKnownPrefixes } from './known-prefixes.ts';
import { EMPTY_LIST, openMessageTree } from './message-tree.ts';
import type { RerunOptions } from './options.ts';
import {
  openCallReader,
  openNumbers,
  type CallReader,
  type ReadCall,
  type ReadMessage,
} from './read-call.ts';
import type { RerunCall } from './rerun-call.ts';
import { callAt, readRecording, type RecordedCalls } from './recorded-calls.ts';
import type { Recording } from './recording.ts';
import type { WorldDifference } from './report/call-results.ts';
import type { RerunComparison } from './compare-calls.ts';
import { emptyLedger } from './values/ledger.ts';
import type { Binding } from './values/bindings.ts';
import { maskMatcher } from './values/mask-pattern.ts';
import { foldersOf, openTokenizer, type Tokenizer } from './values/tokens.ts';

/** A call that came, as far as it is judged. */
export type LiveEntry = {
  readonly number: number;
  readonly read: ReadCall;
  readonly at: bigint;
  how: ServedHow | 'differs' | 'extra' | 'not kept' | 'live';
  /** The recorded call that it is, or that it was compared with. */
  call: RerunCall | null;
  bindings: readonly Binding[];
  difference: Difference | null;
  /** What was said of it, which is said again if it is repeated. */
  match: Match | null;
};

/** All that a rerun holds. */
export type RerunState = {
  readonly options: RerunOptions;
  readonly recorded: RecordedCalls;
  readonly comparison: RerunComparison;
  /** Reads the calls that come. */
  readonly reader: CallReader;
  /** The list of the messages of a call among those of the recording, masked; undefined: no recorded list is like it. */
  readonly listOf: (call: ReadCall) => number | undefined;
  readonly recordedTokens: Tokenizer;
  readonly positions: LivePositions;
  readonly positionOf: Map<number, LivePosition>;
  readonly entries: LiveEntry[];
  /** Recorded calls that are not to be served: their conversation has left the recording before them. */
  readonly leftOut: Set<RerunCall>;
  /** Live calls whose answers called tools and from which none went on, the newest last. */
  readonly waiting: Set<LivePosition>;
  readonly world: WorldDifference[];
  /** The greatest place of a recorded call that was served. */
  latest: number;
  readonly counts: { lookUps: number };
};

/** @throws E_INPUT_SHAPE for a label that is no call's or two calls', and for a mask that cannot be used */
export const openState = (recording: Recording, options: RerunOptions): RerunState => {
  const counts = { lookUps: 0 };
  const counted = (): void => {
    counts.lookUps++;
  };
  const masks = options.masks.map(maskMatcher);
  const tokenizers = {
    recorded: openTokenizer(foldersOf(options.folders, 'recorded'), masks),
    now: openTokenizer(foldersOf(options.folders, 'now'), masks),
  };
  const numbers = openNumbers();
  const tree = openMessageTree(counted);
  const recordedReader = openCallReader(numbers, tokenizers.recorded, options.tools);
  const recorded = readRecording(recording, recordedReader, tree);
  const offsets = {
    recorded: milliseconds(options.offsets.recorded),
    now: milliseconds(options.offsets.now),
  };
  const lists = openKnownPrefixes<ReadMessage, number | null>();
  const state: RerunState = {
    options,
    recorded,
    comparison: {
      options,
      tokenizers,
      ledger: emptyLedger(idsOf(recorded), offsets),
      matched: new Map(),
    },
    reader: openCallReader(numbers, tokenizers.now, options.tools),
    listOf: ({ messages }) => {
      const path = lists(messages, ({ masked }, before = EMPTY_LIST) =>
        before === null ? null : (tree.follow(before, masked) ?? null),
      );
      return path.length === 0 ? EMPTY_LIST : (path.at(-1) ?? undefined);
    },
    recordedTokens: tokenizers.recorded,
    positions: openLivePositions(counted),
    positionOf: new Map(),
    entries: [],
    leftOut: new Set(),
    waiting: new Set(),
    world: [],
    latest: -1,
    counts,
  };
  for (const label of options.from) leaveOut(state, callAt(recorded.byLabel, label));
  return state;
};

const milliseconds = (minutes: number | null): number | null => (minutes === null ? null : minutes * 60_000);

const idsOf = ({ all }: RecordedCalls): ReadonlySet<string> => {
  const seen = new Set<number>();
  const ids = new Set<string>();
  for (const { read } of all)
    for (const each of [read.head, ...read.messages]) {
      if (seen.has(each.exact)) continue;
      seen.add(each.exact);
      for (const id of each.ids) ids.add(id);
    }
  return ids;
};

/** From a recorded call on nothing of its conversation is served, and nothing that this leads to. */
export const leaveOut = ({ recorded, leftOut }: RerunState, first: RerunCall): void => {
  const open = [first];
  for (let call = open.pop(); call !== undefined; call = open.pop()) {
    if (leftOut.has(call)) continue;
    leftOut.add(call);
    for (const next of call.next) open.push(next);
    for (const next of recorded.ledToBy.get(call.cycle.label)?.unmatched() ?? []) open.push(next);
  }
};
