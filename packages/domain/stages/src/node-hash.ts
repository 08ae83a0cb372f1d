import { hashText, type Profile } from './profile.ts';

/** node_hash: the hash over the digests of all nodes, in order. */
export const nodeHashOf = (profile: Profile, nodes: readonly { readonly digest: string }[]): string =>
  hashText(profile, `[${nodes.map(({ digest }) => `"${digest}"`).join(',')}]`);
