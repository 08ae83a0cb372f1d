import type { WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import type { LiveSettings, ReadRun } from '@stemma/reruns';
import type { Context } from '../command.ts';
import { settingsIn, SET_OPTION } from '../mind-options.ts';
import { text } from '../options.ts';

/** The options that say what live calls ask with. */
export const LIVE_OPTIONS: readonly (readonly [syntax: string, description: string])[] = [
  ['--mind <mind>', 'with --from and the like: who is asked instead, as for `stemma retry`: openai:MODEL'],
  [SET_OPTION[0], 'with --from and the like: parameters of the live calls, as for `stemma retry`'],
];

/** What is to be another one in live calls. `model`: at the same provider. */
export type LiveChange = {
  readonly set: WideJsonObject;
  readonly mind?: string | undefined;
  readonly model?: string | undefined;
};

/** What --mind and --set change. @throws E_USAGE */
export const liveChange = (options: Readonly<Record<string, unknown>>): LiveChange => ({
  set: settingsIn(options),
  mind: text(options, 'mind'),
});

/**
 * What live calls ask with; null: as the agent does.
 *
 * @param from the labels of the first live calls
 * @throws E_USAGE for a mind of another API than that call's, and for fields that are no parameters; E_MIND_…
 */
export const liveSettings = async (
  { env }: Pick<Context, 'env'>,
  home: Pick<Home, 'calls'>,
  run: ReadRun,
  [from]: readonly string[],
  { set, mind: spec, model: named }: LiveChange,
): Promise<LiveSettings | null> => {
  if (spec === undefined && named === undefined && Object.keys(set).length === 0) return null;
  if (from === undefined)
    throw fail('E_USAGE', '--mind and --set change live calls: say from which one on, such as --from @c4');
  const attempt = await attemptOf(home, run, from);
  if ('stream' in set)
    throw fail('E_USAGE', 'stream is not set: the agent reads the answer as it asked for it');
  const { mindFor, settingsFor } = await import('@stemma/agent-loop');
  const { isStreamInPath } = await import('@stemma/model-apis');
  if (attempt.api === 'other') throw fail('E_USAGE', `${from} is a call that no reader understands`);
  settingsFor({ api: attempt.api }, attempt, set);
  if (spec === undefined) {
    if (named !== undefined && isStreamInPath(attempt.api))
      throw fail(
        'E_USAGE',
        `the path of a request of ${attempt.api} names its model: name another one as a mind`,
      );
    return { set: named === undefined ? set : { model: named, ...set }, mind: null };
  }
  const { mindEndpointOf } = await import('@stemma/model-clients');
  const { api, model } = mindFor(spec, attempt, { env });
  if (api !== attempt.api)
    throw fail(
      'E_USAGE',
      `${from} is in the form of ${attempt.api}, in which the agent reads its answer, and ${spec} takes ${api}: name a mind of that API`,
    );
  const to = (stream: boolean) => mindEndpointOf(spec, { env, stream });
  // Without a key there is none to ask, which is said at once.
  to(false);
  return { set: withModel(isStreamInPath(api), model, set), mind: { spec, api, to } };
};

/** The fields of the body that say which model is asked; the path says it in some APIs. */
const withModel = (isInPath: boolean, model: string, set: WideJsonObject): WideJsonObject =>
  isInPath ? set : { model, ...set };

const attemptOf = async (home: Pick<Home, 'calls'>, { recording, attempts }: ReadRun, label: string) => {
  const cycles = recording.conversations.flatMap((conversation) => conversation.cycles);
  const id = cycles.find((cycle) => cycle.label === label)?.attempts[0]?.id ?? '';
  return home.calls.find(attempts.get(id)?.history ?? '', id);
};
