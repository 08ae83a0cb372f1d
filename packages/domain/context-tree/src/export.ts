import { canonicalJson, compareCodePoints, type WideJson } from '@stemma/canonical';
import { NODE_KIND, type FlatTree } from './flat-tree.ts';
import { isoTime } from './iso-time.ts';
import type { Headers, PayloadSource } from './node.ts';

const SPEC_VERSION = 'PACT/0.1.0';

/**
 * The export of a position (context-tree §4): canonical JSON, ASCII, with every node, every required header and every
 * other attribute, children in canonical order. Importing and exporting it again gives the same text.
 *
 * @throws Missing (payloads)
 */
export const exportTree = (tree: FlatTree, source: PayloadSource): string =>
  `{"cycle":${canonicalJson(tree.cycle)},"root":${nodeText(tree, 0, source)},"spec_version":"${SPEC_VERSION}"}`;

const nodeText = (tree: FlatTree, index: number, source: PayloadSource): string => {
  const attributes = exportedAttributes(tree, index, source);
  const names = Object.keys(attributes);
  const block = tree.kinds[index] === NODE_KIND.block;
  if (!block) names.push('children');
  names.sort(compareCodePoints);
  const entries = names.map((name) => {
    const text =
      name === 'children' && !block
        ? childrenText(tree, index, source)
        : canonicalJson(attributes[name] as WideJson);
    return `${canonicalJson(name)}:${text}`;
  });
  return `{${entries.join(',')}}`;
};

const childrenText = (tree: FlatTree, index: number, source: PayloadSource): string => {
  const texts: string[] = [];
  for (let i = index + 1; i < (tree.ends[index] as number); i = tree.ends[i] as number)
    texts.push(nodeText(tree, i, source));
  return `[${texts.join(',')}]`;
};

/** Every attribute of a node as its export shows it, except `children`. @throws Missing (payloads) */
const exportedAttributes = (
  tree: FlatTree,
  index: number,
  source: PayloadSource,
): { readonly [name: string]: WideJson } => {
  const headers = tree.headers[index] as Headers;
  const ref = tree.payloads[index] ?? null;
  return {
    ...(ref === null ? {} : source(ref)),
    ...headers,
    ttl: tree.ttls[index] ?? null,
    created_at_iso: isoTime(headers.created_at_ns),
  };
};
