import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileStages,
  describeNode,
  hashText,
  printPlain,
  PROFILE_NAMES,
  profileNamed,
  readConfig,
  readSnapshot,
  snapshotOf,
  STAGE_NAMES,
  treeView,
  verifySnapshot,
  type ExactJson,
} from '../src/index.ts';
import { streamNodes } from './arbitraries.ts';

const limit = fc.option(fc.integer({ min: -1, max: 8 }));
const configs: fc.Arbitrary<ExactJson> = fc.record({
  selection: fc.record({
    kind_allowlist: fc.constantFrom(['message'], ['message', 'tool_call', 'k'], ['k'], []),
    max_nodes: limit,
    max_turns: limit,
    max_message_chars: fc.option(fc.integer({ min: -1, max: 60 })),
    pin_latest_user_assistant: fc.boolean(),
    pin_first_system: fc.boolean(),
  }),
  header: fc.record({ mode: fc.constantFrom('hash_only', 'sanitized_content'), preview_chars: fc.nat(20) }),
  collapse: fc.record({ target: limit, mode: fc.constantFrom('none', 'all_but_last') }),
});
const compilations = fc
  .tuple(streamNodes, configs, fc.constantFrom(...PROFILE_NAMES))
  .map(([stream, config, name]) => {
    const profile = profileNamed(name);
    return {
      profile,
      nodes: stream.map((node, at) => describeNode(profile, node, at)),
      config: readConfig(profile, config),
      payload: (place: number): ExactJson => stream[place]?.payload ?? null,
    };
  });

const without = (list: readonly string[], gone: readonly string[]): readonly string[] =>
  list.filter((each) => !gone.includes(each));

describe('laws of every stream and configuration', () => {
  it(
    'candidates are either selected or dropped, in append order, with pins selected where any room is left',
    { tags: ['compiler-stages:selection', 'compiler-stages:pins', 'compiler-stages:SPEC'] },
    () => {
      fc.assert(
        fc.property(compilations, (compilation) => {
          const { nodes, config } = compilation;
          const { selection, selected } = compileStages(compilation).stages.SPEC;
          const order = nodes.map(({ id }) => id);
          const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
          expect(selection.candidate_ids).toEqual(
            order.filter((id) => config.selection.kindAllowlist.includes(kinds.get(id) ?? '')),
          );
          expect(selection.dropped_ids).toEqual(without(selection.candidate_ids, selection.selected_ids));
          expect(selection.selected_ids).toEqual(order.filter((id) => selection.selected_ids.includes(id)));
          if (selection.selected_ids.length > 0)
            expect(without(selection.pinned_ids, selection.selected_ids)).toEqual([]);
          expect(selected.map(({ id }) => id)).toEqual(selection.selected_ids);
          const { maxNodes } = config.selection;
          if (typeof maxNodes === 'number' && maxNodes > 0)
            expect(without(selection.selected_ids, selection.pinned_ids).length).toBeLessThanOrEqual(
              maxNodes,
            );
        }),
      );
    },
  );

  it(
    'each hash is that of the plain text of its stage, and the output depends on nothing else',
    { tags: ['compiler-stages:hashes', 'compiler-stages:canonical-and-plain'] },
    () => {
      fc.assert(
        fc.property(compilations, (compilation) => {
          const { hashes, stages } = compileStages(compilation);
          const of = (stage: unknown): string =>
            hashText(compilation.profile, printPlain(stage as ExactJson));
          expect([hashes.z1, hashes.z2, hashes.z3]).toEqual([
            of(stages.RAW),
            of(stages.SPEC),
            of(stages.HEADER),
          ]);
          const { selection_sha256, ...selection } = stages.SPEC.selection;
          expect(selection_sha256).toBe(of(selection));
          expect(compileStages(compilation)).toEqual({ ...compileStages(compilation), hashes, stages });
        }),
      );
    },
  );

  it(
    'a preview is a beginning of its text in code points, and its length is that of the whole',
    { tags: ['compiler-stages:previews', 'compiler-stages:code-points', 'compiler-stages:HEADER'] },
    () => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(30), (content, chars) => {
          const profile = profileNamed('breadboard-0.1');
          const payload = { role: 'user', content };
          const nodes = [describeNode(profile, { kind: 'message', turn: 0, id: null, payload }, 0)];
          const config = readConfig(profile, { header: { mode: 'sanitized_content', preview_chars: chars } });
          const [item] = compileStages({ profile, nodes, config, payload: () => payload }).stages.HEADER
            .messages;
          const points = Array.from(content.replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
          expect(item).toMatchObject({
            content_len: Array.from(content).length,
            content_preview: (chars === 0 ? points : points.slice(0, chars)).join(''),
            content_preview_truncated: chars > 0 && points.length > chars,
          });
        }),
      );
    },
  );

  it(
    'the tree keeps what is not dropped and the last user and assistant, hides only what it dropped or collapsed, and every node hangs somewhere',
    {
      tags: [
        'compiler-stages:tree-selection',
        'compiler-stages:tree-nodes',
        'compiler-stages:collapse-policy',
      ],
    },
    () => {
      fc.assert(
        fc.property(
          compilations,
          fc.constantFrom(...STAGE_NAMES),
          fc.boolean(),
          (compilation, stage, previews) => {
            const { nodes, selection } = treeView(compilation, { stage, includePreviews: previews });
            expect(
              without(selection.candidate_ids, selection.dropped_ids).every((id) =>
                selection.kept_ids.includes(id),
              ),
            ).toBe(true);
            expect(without(selection.pinned_ids, selection.kept_ids)).toEqual([]);
            expect(without(selection.collapsed_ids, selection.kept_ids)).toEqual([]);
            expect(
              selection.pinned_ids.some(
                (id) => selection.dropped_ids.includes(id) || selection.collapsed_ids.includes(id),
              ),
            ).toBe(false);
            const ids = new Set(nodes.map(({ id }) => id));
            expect(nodes.filter(({ parent_id: parent }) => parent !== null && !ids.has(parent))).toEqual([]);
            const hidden =
              stage === 'RAW'
                ? []
                : [...selection.dropped_ids, ...(stage === 'SPEC' ? [] : selection.collapsed_ids)];
            const leaves = nodes.flatMap(({ id }) => (id.startsWith('ctrees:node:') ? [id.slice(12)] : []));
            expect(leaves).toEqual(
              without(
                compilation.nodes.map(({ id }) => id),
                hidden,
              ),
            );
            const folded = nodes.flatMap(({ kind, meta }) =>
              kind === 'collapsed' ? (meta['collapsed_ids'] as string[]) : [],
            );
            expect(new Set(folded)).toEqual(
              new Set(stage === 'HEADER' || stage === 'FROZEN' ? selection.collapsed_ids : []),
            );
          },
        ),
      );
    },
  );

  it(
    'a log matches its snapshot; a longer one has it as a prefix, a shorter one is cut, a changed one is found at the first node',
    { tags: ['compiler-stages:verify'] },
    () => {
      fc.assert(
        fc.property(compilations, fc.nat(), fc.boolean(), ({ profile, nodes }, at, listed) => {
          fc.pre(nodes.length > 0);
          const place = at % nodes.length;
          const known = (count: number): ReturnType<typeof readSnapshot> => {
            const some = nodes.slice(0, count);
            return readSnapshot({
              ...snapshotOf(profile, some),
              ...(listed ? { nodes: some.map(({ id, digest }) => ({ id, digest })) } : {}),
            });
          };
          const whole = known(nodes.length);
          expect(verifySnapshot(profile, nodes, whole)).toEqual({ verdict: 'match', nodes: nodes.length });
          expect(verifySnapshot(profile, nodes, known(place))).toEqual({
            verdict: 'prefix',
            nodes: place,
            beyond: nodes.length - place,
          });
          const shorter = verifySnapshot(profile, nodes.slice(0, place), whole);
          expect(shorter).toEqual(
            listed
              ? { verdict: 'truncated', nodes: place, missing: nodes.length - place }
              : { verdict: 'differs', at: null },
          );
          const changed = nodes.map((node, i) =>
            i === place ? { ...node, digest: `0${node.digest.slice(1)}x` } : node,
          );
          expect(verifySnapshot(profile, changed, whole)).toMatchObject(
            listed ? { verdict: 'differs', at: { ordinal: place } } : { verdict: 'differs', at: null },
          );
        }),
      );
    },
  );

  it.each([
    [{ node_hash: 'x', node_count: 1, nodes: [] }, 'its node_count is 1, and it lists 0 nodes'],
    [{ node_hash: 'x', nodes: [] }, 'its node_hash is not that of the nodes it lists'],
  ])(
    'a snapshot that contradicts itself is told from a log that differs: %j',
    { tags: ['compiler-stages:verify'] },
    (snapshot, reason) => {
      const profile = profileNamed('breadboard-0.1');
      expect(verifySnapshot(profile, [], readSnapshot(snapshot))).toEqual({
        verdict: 'inconsistent',
        reason,
      });
    },
  );

  it.each([
    [null],
    [{}],
    [{ node_hash: 1 }],
    [{ node_hash: 'x', nodes: 1 }],
    [{ node_hash: 'x', nodes: [{}] }],
    [{ node_hash: 'x', node_count: -1 }],
  ])('%j is no snapshot', { tags: ['compiler-stages:verify'] }, (value) => {
    expect(() => readSnapshot(value as ExactJson)).toThrow(
      expect.objectContaining({ code: 'E_INPUT_SHAPE' }) as Error,
    );
  });
});
