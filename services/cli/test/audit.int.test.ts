import { flattenTree, hashFlat } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import {
  applyFrame,
  branchParts,
  loadBranch,
  openHistory,
  payloadIn,
  POSITIONS,
  type BranchParts,
  type Command,
  type Sources,
  type Step,
} from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import type { Intervention, LoggedEvent } from '@stemma/queries';
import { missing } from '@stemma/suspend';
import { expect, test } from 'vitest';
import { importFile } from '../src/import-file.ts';
import { temporaryFolder } from './run-stemma.ts';
import { transcripts } from './transcripts.ts';

/** All 40 transcripts and 1,000 interventions with STEMMA_AUDIT=full; a part of it else. */
const FULL = process.env['STEMMA_AUDIT'] === 'full';
const TRANSCRIPTS = FULL ? 40 : 4;
const INTERVENTIONS = FULL ? 1_000 : 60;
const SEED = Number(process.env['STEMMA_SEED'] ?? 7);

/** Mulberry32 (T. Ettinger): the same numbers for the same seed. */
const seeded = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
};

type Random = ReturnType<typeof seeded>;

const randomSteps = async (
  home: Home,
  random: Random,
  history: string,
  branchId: number,
): Promise<Step[]> => {
  const { tree } = await home.read.tree(await home.position({ history, branchId, branch: history }));
  const id = tree.ids[random(tree.count)] ?? 'none';
  const past = async (): Promise<{ branchId: number; seq: number }> => {
    const snapshots = await home.read.snapshots({ history, branchId, branch: history });
    const { branchId: at, seq } = snapshots[random(snapshots.length)] ?? { branchId: 0, seq: 0 };
    return { branchId: at, seq };
  };
  const node = { nodeType: 'cb', content: `note ${random(1_000)}`, ttl: [null, 0, 1, 3][random(4)] ?? null };
  const kinds: readonly (() => Promise<Step[]> | Step[])[] = [
    () => [{ op: 'inject', text: `hint ${random(1_000)}` }],
    () => [{ op: 'inject', text: 'for a while', ttl: 2 }, { op: 'commit' }],
    () => [{ op: 'insert', parent: random(2) === 0 ? '^sys' : '^ah', node }],
    () => [
      { op: 'insert', parent: '^ah', node: { ...node, role: 'assistant', refs: [id] } },
      { op: 'commit' },
    ],
    () => [{ op: 'remove', id }],
    () => [{ op: 'replace', id, set: { content: 'another' } }],
    () => [{ op: 'move', id, parent: '^ah' }],
    () => [{ op: 'commit' }],
    () => [{ op: 'policy', policy: { max_blocks: 20 + random(20), keep_turns: 2, pins: [] } }],
    () => [{ op: 'config', set: { temperature: random(10), seed: random(100) } }],
    () => [{ op: 'save', description: 'a place' }],
    () => [{ op: 'annotate', note: 'seen' }],
    () => [{ op: 'query', question: 'why?', answer: 'so', mind: 'm' }],
    async () => [{ op: 'fork', at: await past() }],
    async () => [{ op: 'rollback', to: await past() }],
  ];
  return (kinds[random(kinds.length)] ?? (() => []))();
};

/** Random interventions of three people on random branches; what the rules refuse is tried no more. */
const intervene = async (home: Home, histories: readonly string[], random: Random): Promise<number> => {
  let done = 0;
  for (let tries = 0; done < INTERVENTIONS && tries < INTERVENTIONS * 4; tries++) {
    const history = histories[random(histories.length)] ?? '';
    const { branches } = await home.read.history(history);
    const branchId = branches[random(branches.length)]?.branchId ?? 0;
    const actor = ['ana', 'ben', 'cleo'][random(3)] ?? 'ana';
    const steps = await randomSteps(home, random, history, branchId);
    const command: Command = {
      id: `act-${tries}`,
      history,
      branchId,
      by: { actor },
      notes: `try ${tries}`,
      steps,
    };
    try {
      await home.submit(command);
      done++;
    } catch (error) {
      if (!isStemmaError(error) || error.code === 'E_INTERNAL') throw error;
    }
  }
  return done;
};

type Replayed = {
  readonly at: (branchId: number, seq: number) => BranchParts;
  readonly around: ReadonlyMap<number, { readonly before: string; readonly after: string }>;
  readonly payload: Sources['payload'];
};

/** The history from its first frame on, in memory, by the fold alone: every position, and the two around each intervention. */
const replayFromZero = async (home: Home, history: string): Promise<Replayed> => {
  const frames: LoggedEvent[][] = [];
  for (let from = 0; ; from = frames.length) {
    const page = await home.read.events(history, { from, limit: 500 });
    if (page.length === 0) break;
    for (const event of page) (frames[event.seq] ??= []).push(event);
  }
  const copies = new Map<number, BranchParts[]>();
  const at = (branchId: number, seq: number): BranchParts => {
    const own = copies.get(branchId)?.findLast((copy) => copy.seq <= seq);
    if (own !== undefined) return own;
    const parent = copies.get(branchId)?.[0]?.parent;
    if (parent == null) throw missing(POSITIONS, [{ branchId, seq }]);
    return at(parent.branchId, Math.min(seq, parent.at));
  };
  const payload: Sources['payload'] = ({ seq, index }) => payloadIn(frames[seq]![index]!.event);
  const branchState = (branchId: number) => copies.get(branchId)?.at(-1);
  const sources: Sources = {
    payload,
    branchTip: branchState,
    position: (branchId, seq) => loadBranch(at(branchId, seq ?? Infinity)),
  };
  const state = openHistory(history, 0);
  const heads = new Map<number, number>();
  const around = new Map<number, { before: string; after: string }>();
  for (const [seq, logged] of frames.entries()) {
    const { branchId, author, command } = logged[0]!;
    const events = logged.map(({ event }) => event);
    const envelope = { v: 1, history, seq, prev: new Uint8Array(32) };
    const body = { ...author, command, digest: new Uint8Array(32), at: 0n, branchId, events };
    const { state: branchState } = applyFrame(state, { envelope, body }, sources);
    copies.set(branchId, [...(copies.get(branchId) ?? []), { ...branchParts(branchState), seq }]);
    const started = events.find((event) => event.type === 'BranchStarted');
    const changed = events.some(({ type }) => !/^(Intervention|Position)/.test(type));
    const head = heads.get(started?.parent ?? branchId) ?? -1;
    if ('actor' in author)
      around.set(seq, {
        before: `@s${started?.how === 'fork' ? started.at : head}`,
        after: `@s${started === undefined ? (changed ? seq : head) : started.at}`,
      });
    heads.set(branchId, seq);
  }
  return { at, around, payload };
};

const hexOf = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');

test(
  `an audit is complete: the positions around each intervention equal those of a replay from the start, and every difference between them is attributed to it`,
  { tags: ['long', 'pool:Interventions', 'context-tree§3:one-cause'], timeout: 900_000 },
  async (context) => {
    if (transcripts.length === 0)
      context.skip('no recorded transcripts lie beside the checkout (STEMMA_TRANSCRIPTS)');
    using folder = temporaryFolder();
    const home = await openHome({ directory: folder.path, create: true });
    const histories: string[] = [];
    const { signal } = new AbortController();
    for (const { file } of transcripts.slice(0, TRANSCRIPTS)) {
      const { imported } = await importFile(home, file, { format: 'auto', name: null, signal });
      if (imported !== undefined) histories.push(imported.history);
    }
    const done = await intervene(home, histories, seeded(SEED));
    expect(done).toBe(INTERVENTIONS);

    let told = 0;
    let attributed = 0;
    for (const history of histories) {
      const branchRef = await home.find(history);
      const replayed = await replayFromZero(home, history);
      const found: Intervention[] = [];
      for await (const one of home.queries.audit.eachIntervention(branchRef)) found.push(one);
      expect(found.map(({ seq }) => seq)).toEqual([...replayed.around.keys()]);
      told += found.length;
      for (const one of found) {
        const { seq, snapshot_before: before, snapshot_after: after } = one;
        expect({ before, after }).toEqual(replayed.around.get(seq));
        for (const ref of [before, after]) {
          const { tree, payloads, position } = await home.read.view(
            await home.position(branchRef, ref ?? ''),
          );
          const copy = loadBranch(replayed.at(position.branchId, position.seq)).tree;
          expect(hexOf(hashFlat(tree, payloads).treeHash)).toBe(
            hexOf(hashFlat(flattenTree(copy), replayed.payload).treeHash),
          );
        }
        if (before === null || before === after) continue;
        const { entries } = await home.queries.causes.explain(
          await home.position(branchRef, before),
          await home.position(branchRef, after),
        );
        // What a rollback took back is explained by what had been done, marked as undone.
        const back = one.intervention_type === 'rollback';
        for (const { causes, id, fields, change } of entries) {
          expect(causes.length, id).toBeGreaterThan(0);
          if (back) expect(causes.map(({ undone }) => undone)).toEqual(causes.map(() => true));
          else expect(causes.every((cause) => cause.seq === seq && cause.command === one.id)).toBe(true);
          if (change === 'changed')
            expect(new Set(causes.flatMap((cause) => cause.fields))).toEqual(new Set(fields));
          attributed++;
        }
      }
    }
    expect(told).toBe(done);
    expect(attributed).toBeGreaterThan(done / 4);
    expect(await home.operations.replay({ verify: true, batches: [1, 50] })).toMatchObject({
      differences: 0,
    });
    await home.close();
  },
);
