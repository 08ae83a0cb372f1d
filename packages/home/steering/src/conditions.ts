import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import type { Breakpoint } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import { parseSelector } from '@stemma/selectors';
import type { NamedBreakpoint, SteeredHome } from './types.ts';

/** What breakpoints ask of a call: the branch's draft shows what would be sent. */
export type BreakpointFacts = {
  readonly branch: BranchRef;
  readonly cycle: number;
  readonly model: string | null;
  /** The messages that the call brings. */
  readonly brought: readonly WideJson[];
};

/** The breakpoints all of whose conditions are true. One that cannot be asked is none: `say` hears why. */
export const breakpointsHit = async (
  home: SteeredHome,
  breakpoints: readonly NamedBreakpoint[],
  facts: BreakpointFacts,
  say: (sentence: string) => void,
): Promise<readonly NamedBreakpoint[]> => {
  const hit: NamedBreakpoint[] = [];
  for (const each of breakpoints)
    try {
      if (await isTrue(home, each.breakpoint, facts)) hit.push(each);
    } catch (error) {
      if (!isStemmaError(error) || error.row.retriable) throw error;
      if (error.code !== 'E_SNAPSHOT_NOT_FOUND')
        say(`the breakpoint ${each.name} cannot be asked: ${error.message} (${error.code})`);
    }
  return hit;
};

const isTrue = async (
  home: SteeredHome,
  { when, cycle, model, tool, changed }: Breakpoint,
  facts: BreakpointFacts,
): Promise<boolean> => {
  if (cycle !== undefined && cycle !== facts.cycle) return false;
  if (model !== undefined && !fitsModel(model, facts.model)) return false;
  if (tool !== undefined && !facts.brought.some((message) => callsTool(message, tool))) return false;
  if (when !== undefined && (await home.select(facts.branch, when)).ids.length === 0) return false;
  return changed === undefined || hasChanged(home, facts.branch, changed);
};

const fitsModel = (pattern: string, model: string | null): boolean => {
  if (model === null) return pattern === '*';
  return pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern;
};

const callsTool = (message: WideJson, tool: string): boolean => {
  const calls = isJsonObject(message) ? message['tool_calls'] : undefined;
  return (
    Array.isArray(calls) &&
    (calls as readonly WideJson[]).some((call) => {
      if (!isJsonObject(call)) return false;
      const named = call['function'] ?? call['custom'] ?? null;
      return isJsonObject(named) && named['name'] === tool;
    })
  );
};

/** With a range, over its snapshots; without one, since the newest snapshot. */
const hasChanged = async (home: SteeredHome, branch: BranchRef, text: string): Promise<boolean> => {
  if (parseSelector(text).at.kind === 'range') {
    const { diffs } = await home.range(branch, text);
    return diffs.some(({ stats }) => stats.added + stats.removed + stats.changed > 0);
  }
  const { added, removed, changed } = await home.diff(branch, '@t0', '', text);
  return added.length + removed.length + changed.length > 0;
};

/** Refuses a breakpoint that could never be asked. @throws E_SELECTOR_INVALID */
export const checkConditions = ({ when, changed }: Breakpoint): void => {
  if (when !== undefined) parseSelector(when);
  if (changed !== undefined) parseSelector(changed);
};
