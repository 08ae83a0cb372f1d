import { isJsonObject, parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { completeIds, FIXED_NAMES, FIXED_TYPES, fixedHeaders, type FixedIds } from './fixed.ts';
import { NODE_KIND } from './flat-tree.ts';
import { expiryOnImport } from './lifetime.ts';
import {
  checkId,
  givenHeaders,
  integer,
  natural,
  parseNodeInput,
  payloadOf,
  type InputErrorContext,
} from './node-input.ts';
import type { FixedName, Headers, Payload, Region } from './node.ts';
import { compareSiblings } from './order.ts';
import { refuseCoreOffset, refuseLevels, refuseSecondCore, type NodePlacement } from './placement.ts';

/** A node of an export with all its headers, ready for insertion. */
export type PlannedNode = {
  readonly parent: string | null;
  readonly headers: Headers;
  readonly payload: Payload;
  readonly expires: number | null;
  /** For turns: distinguishes the turns of one import, in canonical order. */
  readonly ordinal: number | undefined;
};

/**
 * The result of parsing an export. `nodes`: the root, then all others in document order, containers before their
 * children.
 */
export type ImportPlan = {
  readonly cycle: number;
  readonly ids: FixedIds;
  readonly nodes: readonly PlannedNode[];
};

const code = 'E_EXPORT_INVALID';
const MAX_NANOSECONDS = 2n ** 63n - 1n;

/**
 * The plan of an import from an untrusted text (context-tree §4, §10.5, §10.8, §10.9, §10.17, §10.19): the exported
 * state unchanged, with missing headers and regions added.
 *
 * @throws E_EXPORT_INVALID, E_TWO_CORES, E_PLACEMENT, E_KEY_TOO_LONG, E_INPUT_…
 */
export const parseExport = (text: string): ImportPlan => planExport(parseWideJson(text, 'the export'));

/** As {@link parseExport}, of a value that was parsed. */
export const planExport = (value: WideJson): ImportPlan => {
  if (!isJsonObject(value)) throw fail(code, 'an export is an object');
  if (value['spec_version'] !== 'PACT/0.1.0') throw fail(code, 'the spec_version of an export is PACT/0.1.0');
  const cycle = natural(value['cycle'], 0, 'cycle', { code, what: 'the export' });
  const { root } = value;
  if (!isJsonObject(root)) throw fail(code, 'the root of an export is an object');
  if (root['nodeType'] !== undefined && root['nodeType'] !== '^root')
    throw fail(code, 'the nodeType of the root is ^root');
  const regions = regionsOf(root);
  const taken = idsBelow(regions);
  const ids = completeIds(givenIds(root, regions), (id) => taken.has(id));
  return planOf(cycle, ids, root, regions);
};

type GivenRegions = {
  readonly [name in Exclude<FixedName, 'root'>]?: { readonly value: WideJsonObject; readonly at: number };
};

const listOf = (value: WideJsonObject, what: string): readonly WideJson[] => {
  const { children = [] } = value;
  if (!Array.isArray(children)) throw fail(code, `${what}: children is not a list`);
  return children as WideJson[];
};

const regionsOf = (root: WideJsonObject): GivenRegions => {
  const regions: { -readonly [name in keyof GivenRegions]: GivenRegions[name] } = {};
  listOf(root, 'the root').forEach((value, at) => {
    if (!isJsonObject(value)) throw fail(code, `child ${at} of the root is not an object`);
    const name = (['sys', 'seq', 'ah'] as const).find((each) => FIXED_TYPES[each] === value['nodeType']);
    if (name === undefined) throw fail(code, `child ${at} of the root is none of ^sys, ^seq, ^ah`);
    if (regions[name] !== undefined) throw fail(code, `there are two regions ${FIXED_TYPES[name]}`);
    regions[name] = { value, at };
  });
  return regions;
};

const givenIds = (root: WideJsonObject, regions: GivenRegions): Partial<FixedIds> => {
  const ids: { -readonly [name in FixedName]?: string } = {};
  for (const name of FIXED_NAMES) {
    const value = name === 'root' ? root : regions[name]?.value;
    if (value?.['id'] !== undefined) ids[name] = checkId(value['id'], { code, what: FIXED_TYPES[name] });
  }
  return ids;
};

/** The ids of all nodes below the regions, so that no region gets one of them. */
const idsBelow = (regions: GivenRegions): ReadonlySet<WideJson> => {
  const ids = new Set<WideJson>();
  const visit = (value: WideJson): void => {
    if (!isJsonObject(value)) return;
    if (value['id'] !== undefined) ids.add(value['id']);
    if (Array.isArray(value['children'])) for (const child of value['children'] as WideJson[]) visit(child);
  };
  for (const region of Object.values(regions))
    for (const child of listOf(region.value, 'a region')) visit(child);
  return ids;
};

const planOf = (cycle: number, ids: FixedIds, root: WideJsonObject, regions: GivenRegions): ImportPlan => {
  const seen = new Set<string>();
  const nodes: PlannedNode[] = [];
  const add = (node: PlannedNode): void => {
    if (seen.has(node.headers.id)) throw fail(code, `the id ${node.headers.id} stands twice in the export`);
    seen.add(node.headers.id);
    nodes.push(node);
  };
  const addFixed = (name: FixedName, value: WideJsonObject | undefined, at: number): void => {
    const fresh = fixedHeaders(name, ids[name], cycle);
    const blame: InputErrorContext = { code, what: ids[name] };
    if (value?.['content'] !== undefined) throw fail(code, `${ids[name]} is a region: it has no content`);
    const headers =
      value === undefined
        ? fresh
        : {
            ...givenHeaders(value, fresh.nodeType, blame),
            ...creationHeaders(value, ids[name], cycle, at, blame),
          };
    const payload = value === undefined ? {} : payloadOf(value, blame);
    add({ parent: name === 'root' ? null : ids.root, headers, payload, expires: null, ordinal: undefined });
  };
  addFixed('root', root, 0);
  for (const name of ['sys', 'seq', 'ah'] as const) {
    const given = regions[name];
    addFixed(name, given?.value, given?.at ?? 0);
    if (given === undefined) continue;
    const region = FIXED_TYPES[name];
    const around = { region, parent: ids[name], levels: 0, cycle, core: region === '^ah' };
    for (const child of planChildren(listOf(given.value, ids[name]), around))
      addSubtree(child, ids[name], region, cycle, add);
  }
  return { cycle, ids, nodes };
};

/** A child with its headers, before its own children are parsed. */
type Child = {
  readonly headers: Headers;
  readonly payload: Payload;
  readonly kind: number;
  readonly children: readonly WideJson[];
  readonly ordinal: number | undefined;
  readonly levels: number;
};

type Surroundings = {
  readonly region: Region;
  readonly parent: string;
  readonly levels: number;
  readonly cycle: number;
  /** True under a turn and `^ah`, which have a core. */
  readonly core: boolean;
};

/** Children in canonical order, checked against each other and against their parent. */
const planChildren = (values: readonly WideJson[], around: Surroundings): Child[] => {
  // A turn does not count as a nested container.
  refuseLevels(around.levels - (around.region === '^seq' ? 1 : 0), around.parent);
  const children = values
    .map((value, at) => planChild(value, at, around))
    .sort((a, b) => compareSiblings(a.headers, b.headers));
  if (around.core) {
    const placed = children.map(({ headers, kind }): NodePlacement => ({
      id: headers.id,
      kind,
      offset: headers.offset,
    }));
    for (const node of placed) refuseCoreOffset(node, around.parent);
    const core = placed.find((node) => node.kind === NODE_KIND.container);
    if (core !== undefined) refuseSecondCore(placed, core, around.parent);
  }
  return children.map((child, ordinal) => (child.kind === NODE_KIND.turn ? { ...child, ordinal } : child));
};

const planChild = (value: WideJson, at: number, around: Surroundings): Child => {
  const input = parseNodeInput(value, { code, what: `child ${at} of ${around.parent}` });
  if (input.id === undefined) throw fail(code, `child ${at} of ${around.parent} has no id`);
  const inSeq = around.region === '^seq' && around.levels === 0;
  if ((input.type === 'mt') !== inSeq)
    throw fail('E_PLACEMENT', `${input.id}: only turns may be under ^seq, and turns only there`, {
      id: input.id,
    });
  const blame: InputErrorContext = { code, what: input.id };
  return {
    headers: {
      ...input.headers,
      ...creationHeaders(value as WideJsonObject, input.id, around.cycle, at, blame),
    },
    payload: input.payload,
    kind: input.type === 'mt' ? NODE_KIND.turn : input.type === 'mc' ? NODE_KIND.container : NODE_KIND.block,
    children: input.children,
    ordinal: undefined,
    levels: around.levels + 1,
  };
};

const addSubtree = (
  child: Child,
  parent: string,
  region: Region,
  cycle: number,
  add: (node: PlannedNode) => void,
): void => {
  const { headers, payload, ordinal } = child;
  add({ parent, headers, payload, expires: expiryOnImport(headers.ttl, cycle, region), ordinal });
  if (child.kind === NODE_KIND.block) return;
  const core = child.kind === NODE_KIND.turn;
  const kids = planChildren(child.children, {
    region,
    parent: headers.id,
    levels: child.levels,
    cycle,
    core,
  });
  for (const kid of kids) addSubtree(kid, headers.id, region, cycle, add);
};

/**
 * The headers fixed at a node's creation, with defaults (context-tree §2); `created_at_iso` and `content_hash` are
 * derived.
 */
const creationHeaders = (
  value: WideJsonObject,
  id: string,
  cycle: number,
  at: number,
  blame: InputErrorContext,
): Pick<Headers, 'id' | 'cycle' | 'created_at_ns' | 'creation_index'> => ({
  id,
  cycle: integer(value['cycle'], cycle, 'cycle', blame),
  created_at_ns: nanosecondsOf(value['created_at_ns'], blame),
  creation_index: natural(value['creation_index'], at, 'creation_index', blame),
});

const nanosecondsOf = (value: WideJson | undefined, blame: InputErrorContext): bigint => {
  if (value === undefined) return 0n;
  const whole =
    typeof value === 'bigint' ? value : Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
  if (whole === undefined || whole < 0n || whole > MAX_NANOSECONDS)
    throw fail(blame.code, `${blame.what}: created_at_ns is an integer of nanoseconds since 1970`);
  return whole;
};
