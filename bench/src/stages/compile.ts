import { hash } from 'node:crypto';
import {
  compileStages,
  describeNode,
  profileNamed,
  readConfig,
  treeView,
  type ProfileName,
  type StreamNode,
} from '@stemma/stages';
import { median } from '../measure.ts';
import { prose, seeded, whole } from '../text.ts';

export type StagesInput = {
  readonly profile: ProfileName;
  readonly nodes: number;
  readonly repetitions: number;
};

/** Medians, in milliseconds. */
export type StagesFigures = {
  /** All payloads hashed once, and nothing else: the floor of describing. */
  readonly hashOnly: number;
  readonly describe: number;
  readonly compile: number;
  readonly tree: number;
};

const KINDS = ['message', 'tool_call', 'tool_result', 'message'] as const;
const ROLES = ['user', 'assistant', 'tool', 'assistant'] as const;

/** A stream of an agent with tools: four nodes a turn, payloads of about 600 characters. */
const stream = (count: number): readonly StreamNode[] => {
  const random = seeded(5);
  return Array.from({ length: count }, (_, at): StreamNode => {
    const step = at % 4;
    const content = prose(random, 200 + whole(random, 800));
    const payload =
      step === 1
        ? { call_id: `c${at}`, name: 'search', arguments: { query: content, limit: 10 } }
        : { role: ROLES[step] as string, content };
    return { kind: KINDS[step] as string, turn: Math.floor(at / 4), payload, id: null };
  });
};

/** Describes and compiles one stream. */
export const measureStages = (input: StagesInput): Promise<StagesFigures> => {
  const profile = profileNamed(input.profile);
  const nodes = stream(input.nodes);
  const config = readConfig(profile, null);
  const texts = nodes.map(({ payload }) => JSON.stringify(payload));
  const facts = nodes.map((node, at) => describeNode(profile, node, at));
  const time = (work: () => unknown): number =>
    median(
      Array.from({ length: input.repetitions }, () => {
        const started = performance.now();
        work();
        return performance.now() - started;
      }),
    );
  return Promise.resolve({
    hashOnly: time(() => texts.map((text) => hash(profile.algorithm, text))),
    describe: time(() => nodes.map((node, at) => describeNode(profile, node, at))),
    compile: time(() => compileStages({ profile, nodes: facts, config })),
    tree: time(() =>
      treeView({ profile, nodes: facts, config }, { stage: 'HEADER', includePreviews: false }),
    ),
  });
};
