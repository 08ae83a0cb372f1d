import {
  flattenRecords,
  parseExport,
  type FixedName,
  type FixedRecords,
  type FlatTree,
  type NodeRecord,
  type Payload,
  type PayloadSource,
  type TurnLocation,
  type TurnRecord,
} from '@stemma/context-tree';

/** The tree that the text of an export describes, laid flat, with its payloads at hand. */
export const treeOfExport = (text: string): { tree: FlatTree; payloads: PayloadSource } => {
  const plan = parseExport(text);
  const payloads: Payload[] = plan.nodes.map((node) => node.payload);
  const names = new Map(Object.entries(plan.ids).map(([name, id]) => [id, name as FixedName]));
  const fixed: Partial<Record<FixedName, FixedRecords['root']>> = {};
  const turns: TurnRecord[] = [];
  const nodes: NodeRecord[] = [];
  const containers = new Set<string>();
  const places = new Map<string, NodeRecord['location']>([
    [plan.ids.sys, { kind: 'sys', number: 0 }],
    [plan.ids.ah, { kind: 'turn', cycle: plan.cycle + 1, ordinal: 0 }],
  ]);
  plan.nodes.forEach(({ headers, expires, ordinal, parent }, index) => {
    const payload = { seq: 0, index };
    const name = names.get(headers.id);
    if (name !== undefined) {
      fixed[name] = { headers, payload };
    } else if (ordinal !== undefined) {
      const place: TurnLocation = { kind: 'turn', cycle: plan.cycle, ordinal };
      places.set(headers.id, place);
      turns.push({ headers, expires, location: place, payload });
    } else {
      const place = places.get(parent ?? '') ?? { kind: 'sys', number: 0 };
      places.set(headers.id, place);
      const inContainer = containers.has(parent ?? '');
      containers.add(headers.id);
      nodes.push({ headers, expires, location: place, payload, parent: inContainer ? parent : null });
    }
  });
  return {
    tree: flattenRecords({ cycle: plan.cycle, fixed: fixed as FixedRecords, turns, nodes }),
    payloads: ({ index }) => payloads[index] ?? {},
  };
};
