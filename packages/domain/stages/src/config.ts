import { fail } from '@stemma/errors';
import { isExactList, isExactObject, member, type ExactJson, type ExactObject } from './exact-json.ts';
import type { Profile } from './profile.ts';
import { isTruthy, pythonStr, strip } from './python-text.ts';
import { sanitise } from './sanitise.ts';
import { flag, keywordOf, refuseOthers, wholeNumber, wrongSetting, type Whole } from './settings.ts';

/** How stages are compiled: what {@link readConfig} makes of `{selection?, header?, frozen?, collapse?, prompt_summary?}`. */
export type StagesConfig = {
  readonly selection: SelectionConfig;
  readonly header: HeaderConfig;
  readonly frozen: 'hash_only' | 'mirror';
  readonly collapse: CollapseConfig;
  /** The prompt summary in RAW; null for none. */
  readonly promptSummary: ExactJson;
};

export type SelectionConfig = {
  readonly kindAllowlist: readonly string[];
  readonly maxNodes: Whole | null;
  readonly maxTurns: Whole | null;
  readonly maxMessageChars: Whole | null;
  readonly pinLatestUserAssistant: boolean;
  readonly pinFirstSystem: boolean;
};

export type HeaderConfig = {
  readonly mode: HeaderMode;
  /** Code points; 0 does not cut. */
  readonly previewChars: Whole;
  readonly redactSecretLike: boolean;
};

export type HeaderMode = 'hash_only' | 'sanitized_content';

export type CollapseConfig = {
  readonly target: Whole | null;
  readonly mode: 'none' | 'all_but_last';
  /** Null for all kinds. */
  readonly kinds: readonly string[] | null;
};

/**
 * The configuration in a JSON value; null and `{}` are all defaults. `breadboard-0.1` accepts any value as the engine
 * does; in `stemma-1` a setting of the wrong type or name is an error (compiler-stages, Config).
 *
 * @throws E_STAGES_CONFIG naming the setting.
 */
export const readConfig = (profile: Profile, value: ExactJson): StagesConfig => {
  const config = section(profile, value, 'the configuration', [
    'selection',
    'header',
    'frozen',
    'collapse',
    'prompt_summary',
  ]);
  return {
    selection: readSelection(profile, member(config, 'selection')),
    header: readHeader(profile, member(config, 'header')),
    frozen: readFrozen(profile, member(config, 'frozen')),
    collapse: readCollapse(profile, member(config, 'collapse')),
    promptSummary: readPromptSummary(profile, member(config, 'prompt_summary')),
  };
};

/** A section's settings: none if it is null, or to the engine no object. */
const section = (
  { compat }: Profile,
  value: ExactJson,
  name: string,
  keys: readonly string[],
): ExactObject => {
  if (!isExactObject(value)) {
    if (value === null || compat) return {};
    throw wrongSetting(name, 'an object', value);
  }
  if (!compat) refuseOthers(name, value, keys);
  return value;
};

const readSelection = (profile: Profile, value: ExactJson): SelectionConfig => {
  const settings = section(profile, value, 'selection', [
    'kind_allowlist',
    'max_nodes',
    'max_turns',
    'max_message_chars',
    'pin_latest_user_assistant',
    'pin_first_system',
  ]);
  const limit = (key: string): Whole | null =>
    wholeNumber(profile, `selection.${key}`, member(settings, key));
  const pin = (key: string, fallback: boolean): boolean =>
    flag(profile, `selection.${key}`, member(settings, key), fallback);
  const maxMessageChars = limit('max_message_chars');
  return {
    kindAllowlist: readAllowlist(profile, member(settings, 'kind_allowlist')),
    maxNodes: limit('max_nodes'),
    maxTurns: limit('max_turns'),
    maxMessageChars: profile.compat && maxMessageChars === 0 ? null : maxMessageChars,
    pinLatestUserAssistant: pin('pin_latest_user_assistant', true),
    pinFirstSystem: pin('pin_first_system', false),
  };
};

const readAllowlist = (profile: Profile, value: ExactJson): readonly string[] => {
  const kinds = kindsOf(profile, 'selection.kind_allowlist', value);
  return kinds.length === 0 ? ['message'] : kinds;
};

/** The kinds of a list unchanged, without blank ones; a text is a list of one. */
const kindsOf = (profile: Profile, name: string, value: ExactJson): readonly string[] => {
  if (value === null) return [];
  const list = typeof value === 'string' ? [value] : value;
  if (!isExactList(list)) {
    if (profile.compat) return [];
    throw wrongSetting(name, 'a list of texts', value);
  }
  return list
    .map((kind) => {
      if (typeof kind !== 'string' && !profile.compat) throw wrongSetting(name, 'a list of texts', value);
      return pythonStr(kind);
    })
    .filter((kind) => strip(kind) !== '');
};

const readHeader = (profile: Profile, value: ExactJson): HeaderConfig => {
  const settings = section(profile, value, 'header', ['mode', 'preview_chars', 'redact_secret_like']);
  const mode = keywordOf(profile, 'header.mode', member(settings, 'mode'));
  // A negative number is no number to `wholeNumber`, and 160 only stands for one that is missing.
  const chars = member(settings, 'preview_chars');
  return {
    mode: mode === 'sanitized_content' ? mode : 'hash_only',
    previewChars: wholeNumber(profile, 'header.preview_chars', chars, { missing: 160, negative: 0 }) ?? 160,
    redactSecretLike: flag(
      profile,
      'header.redact_secret_like',
      member(settings, 'redact_secret_like'),
      true,
    ),
  };
};

const readFrozen = (profile: Profile, value: ExactJson): StagesConfig['frozen'] => {
  if (profile.compat) return 'mirror';
  const mode = keywordOf(profile, 'frozen.mode', member(section(profile, value, 'frozen', ['mode']), 'mode'));
  return mode === 'mirror' ? 'mirror' : 'hash_only';
};

const readCollapse = (profile: Profile, value: ExactJson): CollapseConfig => {
  const settings = section(profile, value, 'collapse', ['target', 'mode', 'kind_allowlist']);
  const kinds = kindsOf(profile, 'collapse.kind_allowlist', member(settings, 'kind_allowlist'));
  return {
    target: wholeNumber(profile, 'collapse.target', member(settings, 'target')),
    mode: keywordOf(profile, 'collapse.mode', member(settings, 'mode')) === 'none' ? 'none' : 'all_but_last',
    kinds: kinds.length === 0 ? null : kinds,
  };
};

const readPromptSummary = (profile: Profile, value: ExactJson): ExactJson => {
  if (!isTruthy(value)) return null;
  if (profile.compat) return value;
  if (!isExactObject(value)) throw wrongSetting('prompt_summary', 'an object', value);
  return sanitise(value);
};

/** One of the four stages by its name in any letter case. @throws E_STAGES_CONFIG for another name. */
export const stageNamed = (name: string): StageName => {
  const known = STAGE_NAMES.find((each) => each === strip(name).toUpperCase());
  if (known === undefined)
    throw fail(
      'E_STAGES_CONFIG',
      `${JSON.stringify(name)} is not a stage: use one of ${STAGE_NAMES.join(', ')}`,
    );
  return known;
};

export const STAGE_NAMES = ['RAW', 'SPEC', 'HEADER', 'FROZEN'] as const;

export type StageName = (typeof STAGE_NAMES)[number];
