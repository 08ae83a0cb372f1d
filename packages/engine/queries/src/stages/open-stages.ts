import type { Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import {
  findSnapshotStages,
  listFrameNodes,
  listStream,
  payloadFrame,
  payloadOf,
  type StageNode,
} from '@stemma/read-models';
import {
  collapsePolicy,
  compileStages,
  describeNode,
  hashText,
  printCanonical,
  printPlain,
  profileNamed,
  readConfig,
  treeView,
  type CompilerOutput,
  type ExactJson,
  type NodeFacts,
  type Profile,
  type StagesConfig,
} from '@stemma/stages';
import { defined } from '@stemma/values';
import { LRUCache } from 'lru-cache';
import { diffStages } from './diff-stages.ts';
import { isFrameOfBranch } from './is-frame-of-branch.ts';
import { withoutText } from './summary-without-text.ts';
import type { StagesAnswer, StagesQuestions, StagesSettings, StreamEntry } from './types.ts';

/** A stream described by one profile. */
type DescribedStream = {
  readonly profile: Profile;
  readonly nodes: readonly StageNode[];
  readonly facts: readonly NodeFacts[];
  /** Present if it is known without hashing all digests. */
  readonly nodeHash?: string;
};

/** The number of nodes of streams and compiled stages that are kept for the next question. */
const MAX_CACHED_NODES = 100_000;
/** The most entries on one page of a stream. */
const MAX_ENTRIES = 1_000;

/** The questions about compiler stages, answered from rows; reads payloads only for another profile or a preview. */
export const openStages = (
  projection: Projection,
  { maxCachedNodes = MAX_CACHED_NODES }: { readonly maxCachedNodes?: number } = {},
): StagesQuestions => {
  // The newest is always kept: a stream that is too large stands for all there is room for.
  const sizeOf = ({ nodes }: DescribedStream): number => Math.min(nodes.length + 1, maxCachedNodes);
  const streams = new LRUCache<string, DescribedStream>({ maxSize: maxCachedNodes, sizeCalculation: sizeOf });
  const outputs = new LRUCache<string, CompilerOutput>({ maxSize: maxCachedNodes });
  const sha1s = new LRUCache<string, string>({ maxSize: maxCachedNodes, sizeCalculation: () => 1 });
  /** Streams with SHA-1, as long as the stream without is kept: a large one has more of them than `sha1s` keeps. */
  const streamsWithSha1 = new WeakMap<DescribedStream, DescribedStream>();

  const describe = async (position: Position, profile: Profile): Promise<DescribedStream> => {
    const key = `${profile.name} ${keyOf(position)}`;
    const known = streams.get(key);
    if (known !== undefined) return known;
    const found = await describeStream(projection, position, profile);
    streams.set(key, found);
    return found;
  };

  /**
   * The stream with the SHA-1 of payloads, which a tree view shows; reads the payloads whose SHA-1 is not known yet.
   */
  const withSha1 = async (position: Position, stream: DescribedStream): Promise<DescribedStream> => {
    if (stream.profile.name !== 'stemma-1') return stream;
    const before = streamsWithSha1.get(stream);
    if (before !== undefined) return before;
    const facts: NodeFacts[] = [];
    for (const [index, node] of stream.facts.entries()) {
      const known =
        sha1s.get(node.digest) ?? (await sha1At(projection, position.history, stream.nodes[index]));
      sha1s.set(node.digest, known);
      facts.push({ ...node, payloadSha1: known });
    }
    const found = { ...stream, facts };
    streamsWithSha1.set(stream, found);
    return found;
  };

  const compile = async (
    position: Position,
    stream: DescribedStream,
    config: StagesConfig,
  ): Promise<CompilerOutput> => {
    const key = `${stream.profile.name} ${printPlain(config)} ${keyOf(position)}`;
    const known = outputs.get(key);
    if (known !== undefined) return known;
    const output = compileStages({
      ...(await compilerInput(
        projection,
        position,
        stream,
        config,
        config.header.mode === 'sanitized_content',
      )),
    });
    outputs.set(key, output, { size: sizeOf(stream) });
    return output;
  };

  const answer = async (position: Position, settings: StagesSettings = {}): Promise<StagesAnswer> => {
    const { profile, config } = settingsOf(settings);
    const stream = await describe(position, profile);
    const output = await compile(position, stream, config);
    const last = stream.nodes.at(-1);
    return {
      position,
      profile: profile.name,
      snapshot: {
        schema_version: output.schema_version,
        node_count: output.node_count,
        event_count: output.event_count,
        last_id: stream.facts.at(-1)?.id ?? null,
        node_hash: output.hashes.node_hash,
      },
      lastNode: last === undefined ? null : entryOf(last, stream.facts.at(-1)),
      compiler: output,
      collapse: collapsePolicy(stream.facts, config.collapse),
    };
  };

  return {
    compile: answer,
    async tree(position, view, settings = {}) {
      const { profile, config } = settingsOf(settings);
      const stream = await withSha1(position, await describe(position, profile));
      return treeView(await compilerInput(projection, position, stream, config, view.includePreviews), view);
    },
    async stream(position, { offset, limit }) {
      const { nodes } = await describe(position, profileNamed('stemma-1'));
      const size = Math.min(limit, MAX_ENTRIES);
      const entries = nodes.slice(offset, offset + size).map((node) => entryOf(node));
      return { entries, offset, limit: size, total: nodes.length };
    },
    async *eventLog(position) {
      const { nodes } = await describe(position, profileNamed('stemma-1'));
      for (const node of nodes) {
        const payload = await payloadAt(projection, position.history, node);
        yield { kind: node.kind, payload, turn: node.turn, node_id: node.facts.id };
      }
    },
    includesFrame: (branchRef, frame) => projection.read((rows) => isFrameOfBranch(rows, branchRef, frame)),
    frame: async ({ history, branchId }, seq) =>
      projection.read((rows) => listFrameNodes(rows, history, branchId, seq).map((node) => entryOf(node))),
    async diff(a, b, settings = {}) {
      const { profile, config } = settingsOf(settings);
      const side = async (position: Position) => {
        const stream = await describe(position, profile);
        const entries = stream.nodes.map((node, i) => entryOf(node, stream.facts[i]));
        return { position, entries, output: await compile(position, stream, config) };
      };
      return diffStages(profile, await side(a), await side(b));
    },
  };
};

const keyOf = ({ history, branchId, seq }: Position): string => `${branchId} ${seq} ${history}`;

const settingsOf = ({
  profile: name = 'stemma-1',
  config = null,
}: StagesSettings): { readonly profile: Profile; readonly config: StagesConfig } => {
  const profile = profileNamed(name);
  const read = readConfig(profile, config);
  return { profile, config: { ...read, promptSummary: withoutText(read.promptSummary) } };
};

const describeStream = async (
  projection: Projection,
  position: Position,
  profile: Profile,
): Promise<DescribedStream> => {
  const { history, branchId, seq } = position;
  const { nodes, hashes } = await projection.read((rows) => ({
    nodes: listStream(rows, history, branchId, seq),
    hashes: findSnapshotStages(rows, history, branchId, seq),
  }));
  if (profile.name === 'stemma-1') {
    const facts = nodes.map((node) => node.facts);
    return { profile, nodes, facts, ...defined({ nodeHash: hashes?.nodeHash }) };
  }
  const facts: NodeFacts[] = [];
  for (const [ordinal, node] of nodes.entries()) {
    const payload = await payloadAt(projection, history, node);
    facts.push(describeNode(profile, { kind: node.kind, turn: node.turn, payload, id: null }, ordinal));
  }
  return { profile, nodes, facts };
};

const payloadAt = async (projection: Projection, history: string, node: StageNode): Promise<ExactJson> => {
  const seq = payloadFrame(node);
  return payloadOf(node, seq === null ? [] : await projection.payloads.events(history, seq));
};

const sha1At = async (
  projection: Projection,
  history: string,
  node: StageNode | undefined,
): Promise<string> =>
  node === undefined
    ? ''
    : hashText(profileNamed('breadboard-0.1'), printCanonical(await payloadAt(projection, history, node)));

/** The compiler's input. For previews, reads the payloads of the selected messages first. */
const compilerInput = async (
  projection: Projection,
  { history }: Position,
  { profile, nodes, facts, nodeHash }: DescribedStream,
  config: StagesConfig,
  previews: boolean,
): Promise<Parameters<typeof compileStages>[0]> => {
  const input = { profile, nodes: facts, config, ...defined({ nodeHash }) };
  if (!previews) return input;
  const plainConfig: StagesConfig = { ...config, header: { ...config.header, mode: 'hash_only' } };
  const selected = new Set(compileStages({ ...input, config: plainConfig }).stages.HEADER.selected_node_ids);
  const payloads = new Map<number, ExactJson>();
  for (const [index, node] of nodes.entries())
    if (node.kind === 'message' && selected.has(facts[index]?.id ?? ''))
      payloads.set(index, await payloadAt(projection, history, node));
  return { ...input, payload: (index) => payloads.get(index) ?? null };
};

/** The entry of a node; `facts` if another profile than that of the rows describes it. */
const entryOf = (node: StageNode, facts: NodeFacts = node.facts): StreamEntry => ({
  ordinal: node.ordinal,
  id: facts.id,
  kind: node.kind,
  turn: node.turn,
  label: facts.label,
  digest: facts.digest,
  payloadHash: facts.payloadHash,
  payloadShape: facts.payloadShape,
  payload: node.payload,
  seq: node.seq,
});
