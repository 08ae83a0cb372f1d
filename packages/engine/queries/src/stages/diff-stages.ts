import type { Position } from '@stemma/history-store';
import {
  hashText,
  printPlain,
  STAGE_NAMES,
  type CompilerOutput,
  type ExactJson,
  type Profile,
  type StageName,
} from '@stemma/stages';
import type { StageDifference, StagesDiff, StreamEntry } from './types.ts';

/** A compiled position with the nodes of its stream. */
type CompiledPosition = {
  readonly position: Position;
  readonly entries: readonly StreamEntry[];
  readonly output: CompilerOutput;
};

/** Which stages differ between two positions, in which parts, and the nodes that made them differ. */
export const diffStages = (profile: Profile, a: CompiledPosition, b: CompiledPosition): StagesDiff => {
  let shared = 0;
  while (shared < a.entries.length && a.entries[shared]?.id === b.entries[shared]?.id) shared++;
  return {
    a: a.position,
    b: b.position,
    profile: profile.name,
    shared,
    stages: STAGE_NAMES.map((stage) => stageDifference(profile, stage, a, b)),
  };
};

const stageDifference = (
  profile: Profile,
  stage: StageName,
  a: CompiledPosition,
  b: CompiledPosition,
): StageDifference => {
  const [before, after] = [a.output.stages[stage], b.output.stages[stage]];
  const [hashA, hashB] = [before, after].map((each) =>
    hashText(profile, printPlain(each as unknown as ExactJson)),
  );
  const moved = hashA !== hashB;
  const parts = moved ? differingParts(before, after) : [];
  const differingNodes = differing(nodesOfStage(stage, a), nodesOfStage(stage, b));
  // HEADER shows the node_hash too, so nodes that it does not list change it.
  const nodes =
    moved && differingNodes.added.length + differingNodes.removed.length === 0
      ? differing(a.entries, b.entries)
      : differingNodes;
  return { stage, a: hashA ?? '', b: hashB ?? '', moved, parts, ...nodes };
};

/** The single nodes that a stage lists. */
const nodesOfStage = (stage: StageName, { entries, output }: CompiledPosition): readonly StreamEntry[] => {
  if (stage === 'RAW') return entries;
  const ids = new Set(
    stage === 'SPEC'
      ? output.stages.SPEC.selection.selected_ids
      : output.stages[stage].messages.map((item) => item.node_id),
  );
  return entries.filter(({ id }) => ids.has(id));
};

const differing = (
  a: readonly StreamEntry[],
  b: readonly StreamEntry[],
): { readonly added: readonly StreamEntry[]; readonly removed: readonly StreamEntry[] } => {
  const [before, after] = [a, b].map((list) => new Set(list.map(({ id }) => id)));
  return {
    added: b.filter(({ id }) => before?.has(id) !== true),
    removed: a.filter(({ id }) => after?.has(id) !== true),
  };
};

const differingParts = (a: object, b: object): readonly string[] => {
  const [before, after] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  const text = (value: unknown): string => (value === undefined ? '' : printPlain(value as ExactJson));
  return keys.filter((key) => text(before.get(key)) !== text(after.get(key)));
};
