import { fail } from '@stemma/errors';
import { setTimeout as delay } from 'node:timers/promises';
import { endpointOf, pathOf, type MindEndpoint } from './endpoint.ts';
import { limitsOf, type MindLimits } from './limits.ts';
import type { Mind, MindSurroundings, MindTarget } from './mind.ts';
import { openOfflineMind } from './offline/offline-mind.ts';
import { parseMind } from './parse-mind.ts';
import { openRemoteMind, remoteTargetOf } from './remote-mind.ts';

export type MindOptions = Partial<MindSurroundings> & {
  /** They count before those of the environment. */
  readonly limits?: Partial<MindLimits>;
};

/** The process that this is, where nothing else is said. */
export const mindSurroundings = ({ env, now, sleep, random }: MindOptions = {}): MindSurroundings => ({
  env: env ?? process.env,
  now: now ?? (() => performance.now()),
  sleep: sleep ?? ((milliseconds, signal) => delay(milliseconds, undefined, { signal })),
  random: random ?? Math.random,
});

/**
 * A mind by its name: `openai:MODEL`, `anthropic:MODEL`, `gemini:MODEL` …, with `@URL` or not, or `offline`. Keys
 * come from the environment.
 *
 * @throws E_MIND_INVALID, E_MIND_KEY_MISSING, E_USAGE for a limit that is none
 */
export const openMind = (spec: string, options: MindOptions = {}): Mind => {
  const around = mindSurroundings(options);
  const name = parseMind(spec);
  if (name.kind === 'offline') return openOfflineMind(spec, name.seed);
  return openRemoteMind(spec, name, { ...limitsOf(around.env), ...options.limits }, around);
};

/**
 * Where the requests of a mind go, and with which headers, among them its key: nothing shows them.
 *
 * @throws E_MIND_INVALID for one that is offline, E_MIND_KEY_MISSING
 */
export const mindEndpointOf = (
  spec: string,
  { stream = false, ...options }: MindOptions & { readonly stream?: boolean } = {},
): Pick<MindEndpoint, 'url' | 'headers'> => {
  const name = parseMind(spec);
  if (name.kind === 'offline') throw fail('E_MIND_INVALID', `${spec} has no address to which requests go`);
  const path = pathOf(name.api, name.model, stream);
  const { url, headers } = endpointOf({ ...name, path }, mindSurroundings(options).env);
  return { url, headers };
};

/**
 * Where the mind of this name would be asked, whether or not there is a key for it; null: nowhere, it is offline.
 *
 * @throws E_MIND_INVALID
 */
export const mindTargetOf = (spec: string, options: MindOptions = {}): MindTarget | null => {
  const name = parseMind(spec);
  return name.kind === 'offline' ? null : remoteTargetOf(name, mindSurroundings(options).env);
};
