import { excerptOf, type NodeDetail, positionAnswer, type TreeNodeAnswer } from '@stemma/api';
import {
  contentHash,
  depthAt,
  knownTime,
  NODE_KIND,
  parentIdAt,
  roleOf,
  type Headers,
} from '@stemma/context-tree';
import type { TreeAt, TreeView } from '@stemma/history-store';
import { isFailedBlock } from '@stemma/model-apis';
import { defined } from '@stemma/values';

/** Where the node at an index lies. */
const locationAt = (
  { tree }: TreeAt,
  i: number,
): Pick<TreeNodeAnswer, 'shape' | 'region' | 'parent' | 'depth'> => ({
  shape: SHAPES[tree.kinds[i] ?? NODE_KIND.block] ?? 'block',
  region: i >= tree.ah ? '^ah' : i >= tree.seq ? '^seq' : i >= tree.sys ? '^sys' : null,
  parent: parentIdAt(tree, i),
  depth: depthAt(tree, i),
});

const SHAPES: readonly TreeNodeAnswer['shape'][] = [
  'root',
  'region',
  'region',
  'region',
  'turn',
  'container',
  'block',
];

const headersAt = ({ tree }: TreeAt, i: number) => {
  const headers = tree.headers[i] as Headers;
  const { role, kind, key, removable, refs } = headers;
  return {
    id: headers.id,
    nodeType: headers.nodeType,
    offset: headers.offset,
    ttl: tree.ttls[i] ?? null,
    priority: headers.priority,
    cycle: headers.cycle,
    created_at_ns: headers.created_at_ns,
    created_at_iso: knownTime(headers.created_at_ns),
    creation_index: headers.creation_index,
    ...defined({ role, kind, key, removable }),
    ...(refs === undefined ? {} : { refs: refs === null ? null : [...refs] }),
  };
};

/** The node at an index as a list shows it, but for what is new in it. */
export const treeNodeAt = (
  view: TreeView,
  i: number,
  excerpt: number,
  inThread: boolean,
): Omit<TreeNodeAnswer, 'new' | 'changed'> => {
  const { tree, payloads } = view;
  const location = locationAt(view, i);
  const headers = headersAt(view, i);
  const ref = tree.payloads[i];
  const payload = location.shape === 'block' && ref ? payloads(ref) : null;
  const content = payload === null ? null : excerptOf(payload['content'], excerpt);
  return {
    index: i,
    ...headers,
    ...location,
    content,
    // Role and kind as the provider thread gives them (context-tree §4).
    thread: inThread
      ? {
          role: roleOf(headers, location.region === '^sys'),
          kind: headers.kind === undefined ? '' : headers.kind,
        }
      : null,
    ...(payload !== null && isFailedBlock(headers.role, payload) ? { failed: true } : {}),
  };
};

/** Everything about the node at an index. */
export const nodeDetailAt = (view: TreeView, i: number): NodeDetail => {
  const { tree, payloads } = view;
  const ref = tree.payloads[i];
  const payload = ref ? payloads(ref) : {};
  const location = locationAt(view, i);
  const headers = tree.headers[i] as Headers;
  const children: string[] = [];
  for (let child = i + 1; child < (tree.ends[i] ?? 0); child = tree.ends[child] ?? child + 1)
    children.push(tree.ids[child] ?? '');
  return {
    position: positionAnswer(view.position),
    ...location,
    headers: {
      ...headersAt(view, i),
      ...defined({ provenance: headers.provenance }),
      ...(location.shape === 'block' ? { content_hash: contentHash(headers, payload) } : {}),
    },
    expires: tree.expires[i] ?? null,
    children,
    payload: { ...payload },
  };
};
