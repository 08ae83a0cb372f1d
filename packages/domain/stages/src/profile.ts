import { fail } from '@stemma/errors';
import { hash } from 'node:crypto';
import { ENGINE_SECRETS, OWN_SECRETS, type SecretPatterns } from './secrets.ts';

/**
 * The rules by which stages are computed. `stemma-1` is our own: SHA-256, and safe where the engine departs from its
 * own contract. `breadboard-0.1` is that of the engine: SHA-1, bit for bit (compiler-stages, The node stream).
 */
export type Profile = {
  readonly name: ProfileName;
  readonly algorithm: 'sha256' | 'sha1';
  /** Does what the engine does even where that looks like a defect. */
  readonly compat: boolean;
  readonly secrets: SecretPatterns;
};

export type ProfileName = 'stemma-1' | 'breadboard-0.1';

const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  'stemma-1': { name: 'stemma-1', algorithm: 'sha256', compat: false, secrets: OWN_SECRETS },
  'breadboard-0.1': { name: 'breadboard-0.1', algorithm: 'sha1', compat: true, secrets: ENGINE_SECRETS },
};

/** The names of the profiles: our own, then the engine's. */
export const PROFILE_NAMES: readonly ProfileName[] = ['stemma-1', 'breadboard-0.1'];

/** The profile of a name. @throws E_USAGE for another name. */
export const profileNamed = (name: string): Profile => {
  const known = PROFILE_NAMES.find((each) => each === name);
  if (known === undefined)
    throw fail(
      'E_USAGE',
      `${JSON.stringify(name)} is not a profile: use one of ${PROFILE_NAMES.join(' or ')}`,
    );
  return PROFILES[known];
};

/** H: the profile's hash of a text, in lower-case hex. */
export const hashText = ({ algorithm }: Profile, text: string): string => hash(algorithm, text, 'hex');
