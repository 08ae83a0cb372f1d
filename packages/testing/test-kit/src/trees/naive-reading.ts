import { canonicalJson, pack, sha256, shake128, type Packable, type WideJson } from '@stemma/canonical';
import { millisecondsOf } from '@stemma/values';
import { all, isBlock, sorted, typeOf, type NaiveNode, type NaiveState } from './naive-tree.ts';

const isoOf = (time: WideJson): string => new Date(millisecondsOf(time as bigint)).toISOString();
const attributesOf = (node: NaiveNode): Record<string, WideJson> => ({
  ...node.attributes,
  created_at_iso: isoOf(node.attributes['created_at_ns'] as WideJson),
});

export const exportNaive = (state: NaiveState): string => {
  const json = (node: NaiveNode): WideJson =>
    isBlock(node) ? attributesOf(node) : { ...attributesOf(node), children: node.children.map(json) };
  return canonicalJson({ spec_version: 'PACT/0.1.0', cycle: state.cycle, root: json(sorted(state.root)) });
};

/** Blocks below a node, with the role that its region gives by default. */
const entries = (node: NaiveNode, role: string): WideJson[] =>
  all(node)
    .filter((seen) => isBlock(seen.node))
    .map(({ node: { attributes } }) => {
      const { id, kind = '', content = '' } = attributes;
      return {
        id: id as string,
        kind,
        content,
        role: attributes['role'] === undefined ? role : attributes['role'],
      };
    });

export const slicesNaive = (state: NaiveState, mode: 'full' | 'pre'): WideJson[][] => {
  const [sys, seq, ah] = sorted(state.root).children as [NaiveNode, NaiveNode, NaiveNode];
  const turns = seq.children;
  if (mode === 'full')
    return [entries(sys, 'system'), ...turns.map((turn) => entries(turn, 'user')), entries(ah, 'user')];
  const pre = (turns.at(-1)?.children ?? []).filter((child) => (child.attributes['offset'] as number) < 0);
  return [entries(sys, 'system'), pre.flatMap((child) => entries(child, 'user'))];
};

export const threadNaive = (state: NaiveState, mode: 'full' | 'pre'): string =>
  canonicalJson(slicesNaive(state, mode).flat());

export const threadHashNaive = (state: NaiveState, mode: 'full' | 'pre'): Uint8Array =>
  sha256(Buffer.concat(slicesNaive(state, mode).map((slice) => sha256(canonicalJson(slice)))));

/** The tree hash straight from its definition (snapshots: tree hash), out of what the export shows. */
export const treeHashNaive = (state: NaiveState): Uint8Array => {
  const { cycle } = state;
  const hashed = (node: NaiveNode, frozen: boolean): Record<string, Packable> => {
    const { content, ttl, ...rest } = attributesOf(node);
    const hashedTtl: WideJson =
      ttl === null || frozen ? (ttl as WideJson) : ttl === 0 ? 'due' : cycle + 1 + (ttl as number);
    return {
      ...(rest as Record<string, Packable>),
      ttl: hashedTtl,
      ...(content === undefined ? {} : { content: sha256(canonicalJson(content)) }),
    };
  };
  const digest = (node: NaiveNode, frozen: boolean): Uint8Array =>
    sha256(pack([hashed(node, frozen), node.children.map((child) => digest(child, frozen))]));
  const root = sorted(state.root);
  const lanes = new Array<number>(1024).fill(0);
  for (const top of root.children)
    for (const child of top.children) {
      const bytes = shake128(pack([typeOf(top), digest(child, typeOf(top) === '^sys')]), 2048);
      for (let i = 0; i < 1024; i++)
        lanes[i] =
          ((lanes[i] as number) + (bytes[2 * i] as number) + 256 * (bytes[2 * i + 1] as number)) % 65_536;
    }
  const sum = Uint8Array.from(lanes.flatMap((lane) => [lane % 256, Math.floor(lane / 256)]));
  return sha256(pack([1, cycle, [root, ...root.children].map((node) => hashed(node, true)), sum]));
};
