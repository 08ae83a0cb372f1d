import { compareExact } from './code-points.ts';
import { STAGE_NAMES, type CollapseConfig, type StageName } from './config.ts';
import { countOf, type Whole } from './settings.ts';

/** What each stage drops and collapses of a stream (compiler-stages, Collapse policy). */
export type CollapsePolicy = {
  readonly kind: 'deterministic';
  readonly target: Whole | null;
  readonly mode: CollapseConfig['mode'];
  readonly kinds: readonly string[] | null;
  readonly ordering: 'append';
  readonly drop: readonly string[];
  readonly collapse: readonly string[];
  readonly node_count: number;
  readonly dropped: number;
  readonly collapsed: number;
  readonly stages: readonly StagePolicy[];
};

export type StagePolicy = {
  readonly stage: StageName;
  readonly target: Whole | null;
  readonly drop: readonly string[];
  readonly collapse: readonly string[];
  readonly node_count: number;
  readonly ordering: 'append';
};

/** Drops the oldest nodes beyond the target and collapses all that are left but the last. */
export const collapsePolicy = (
  nodes: readonly { readonly id: string; readonly kind: string }[],
  { target, mode, kinds }: CollapseConfig,
): CollapsePolicy => {
  const allowed = kinds === null ? null : new Set(kinds);
  const ids = nodes.filter(({ kind }) => allowed === null || allowed.has(kind)).map(({ id }) => id);
  const drop = target === null ? [] : ids.slice(0, Math.max(0, ids.length - countOf(target)));
  const gone = new Set(drop);
  const rest = ids.filter((id) => !gone.has(id));
  const collapse = mode === 'all_but_last' ? rest.slice(0, -1) : [];
  const stage = (name: StageName): StagePolicy => ({
    stage: name,
    target,
    drop: name === 'RAW' ? [] : drop,
    collapse: name === 'RAW' || name === 'SPEC' ? [] : collapse,
    node_count: ids.length,
    ordering: 'append',
  });
  return {
    kind: 'deterministic',
    target,
    mode,
    kinds: allowed === null ? null : [...allowed].sort(compareExact),
    ordering: 'append',
    drop,
    collapse,
    node_count: ids.length,
    dropped: drop.length,
    collapsed: collapse.length,
    stages: STAGE_NAMES.map(stage),
  };
};
