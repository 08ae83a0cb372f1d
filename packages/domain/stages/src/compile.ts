import type { StagesConfig } from './config.ts';
import type { NodeFacts } from './describe-node.ts';
import { frozenStage } from './frozen.ts';
import { headerStage, type HeaderStage, type ReadPayload } from './header.ts';
import { nodeHashOf } from './node-hash.ts';
import { printPlain } from './print-exact.ts';
import { hashText, type Profile } from './profile.ts';
import { countKinds, rawStage, SCHEMA_VERSION, type RawStage } from './raw.ts';
import { selectNodes, type StageSelection } from './select.ts';
import { specStage, type SpecStage } from './spec.ts';

/** A described stream, and how to compile it. */
export type Compilation = {
  readonly profile: Profile;
  readonly nodes: readonly NodeFacts[];
  readonly config: StagesConfig;
  /** The hash over all digests, if known already; else it is computed. */
  readonly nodeHash?: string;
  /** Returns the payload at an index; needed if HEADER has previews. */
  readonly payload?: ReadPayload;
};

/** The whole output of the compiler, in the engine's order. */
export type CompilerOutput = {
  readonly kind: 'ctree_compiler';
  readonly compiler_version: string;
  readonly schema_version: string;
  readonly node_count: number;
  readonly event_count: number;
  readonly has_prompt_summary: boolean;
  readonly hashes: StageHashes;
  readonly stages: Stages;
};

export type Stages = {
  readonly RAW: RawStage;
  readonly SPEC: SpecStage;
  readonly HEADER: HeaderStage;
  readonly FROZEN: HeaderStage;
};

export type StageHashes = {
  readonly node_hash: string;
  readonly z1: string;
  readonly z2: string;
  readonly z3: string;
};

/** The four stages of a stream and their hashes, from descriptions alone (compiler-stages, compile). */
export const compileStages = (compilation: Compilation): CompilerOutput => compileWith(compilation).output;

/** Like {@link compileStages}, with the selected indexes. */
export const compileWith = (
  compilation: Compilation,
): { readonly output: CompilerOutput; readonly selection: StageSelection } => {
  const { profile, nodes, config, payload } = compilation;
  const nodeHash = compilation.nodeHash ?? nodeHashOf(profile, nodes);
  const selection = selectNodes(profile, nodes, config.selection);
  const raw = rawStage(nodes.length, nodeHash, countKinds(nodes), config.promptSummary);
  const spec = specStage(nodes, selection);
  const header = headerStage(profile, nodes, nodeHash, selection, config.header, payload);
  const stages: Stages = {
    RAW: raw,
    SPEC: spec,
    HEADER: header,
    FROZEN: frozenStage(nodes, selection, header, config.frozen),
  };
  return { output: outputOf(profile, stages, nodes.length), selection };
};

const outputOf = (profile: Profile, stages: Stages, count: number): CompilerOutput => ({
  kind: 'ctree_compiler',
  compiler_version: SCHEMA_VERSION,
  schema_version: SCHEMA_VERSION,
  node_count: count,
  event_count: count,
  has_prompt_summary: stages.RAW.prompt_summary !== undefined,
  hashes: {
    node_hash: stages.RAW.node_hash,
    z1: stageHash(profile, stages.RAW),
    z2: stageHash(profile, stages.SPEC),
    z3: stageHash(profile, stages.HEADER),
  },
  stages,
});

/** H(plain(stage)). */
const stageHash = (profile: Profile, stage: RawStage | SpecStage | HeaderStage): string =>
  hashText(profile, printPlain(stage));
