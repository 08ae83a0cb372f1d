import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  collapsePolicy,
  compileStages,
  describeNode,
  printPlain,
  PROFILE_NAMES,
  profileNamed,
  readConfig,
  readEventLog,
  readExactJson,
  treeView,
  type CompilerOutput,
  type ProfileName,
} from '../src/index.ts';

const OWN = profileNamed('stemma-1');
const ENGINE = profileNamed('breadboard-0.1');

const message = (role: unknown, content: unknown, turn: unknown = 1, more = {}): string =>
  JSON.stringify({ kind: 'message', payload: { role, content, ...more }, turn });

const TALK = [
  message('system', 'Keep the log.', 0),
  message('user', 'Where is the lamp?', 1),
  message('assistant', 'On the shelf.', 1),
  message('user', 'And the key?', 2),
  message('assistant', 'In the drawer.', 2),
];

const compiled = (name: ProfileName, lines: readonly string[], config = '{}'): CompilerOutput => {
  const profile = profileNamed(name);
  const { nodes, payload } = readEventLog(profile, lines);
  return compileStages({ profile, nodes, payload, config: readConfig(profile, readExactJson(config)) });
};

const selected = (name: ProfileName, lines: readonly string[], config: string): readonly number[] =>
  compiled(name, lines, config).stages.SPEC.selection.selected_ids.map((id) => Number(id.slice(1, 9)));

describe('the profiles', () => {
  it(
    'hash with SHA-256 and with SHA-1, and make ids of the digest',
    { tags: ['compiler-stages:profiles', 'compiler-stages:digest'] },
    () => {
      const text = '{"kind":"note","payload":{"a":1.0},"turn":null}';
      const [line] = ['{"kind":"note","payload":{"a":1.0,"seq":3}}'];
      for (const [profile, algorithm] of [
        [OWN, 'sha256'],
        [ENGINE, 'sha1'],
      ] as const) {
        const [node] = readEventLog(profile, [line]).nodes;
        const digest = createHash(algorithm).update(text).digest('hex');
        expect(node).toMatchObject({ digest, id: `n00000000_${digest.slice(0, 8)}` });
        expect(node?.payloadSha1).toBe(createHash('sha1').update('{"a":1.0}').digest('hex'));
      }
    },
  );

  it(
    'skip and report the same broken lines, and ours also kinds and ids that are no texts, and repeated ids',
    { tags: ['compiler-stages:reading', 'compiler-stages:node-stream', 'compiler-stages:compat'] },
    () => {
      const lines = [
        '{"_type":"ctree_eventlog_header"}',
        '{"kind":7}',
        '{"kind":"a","node_id":7}',
        '{"kind":"a","node_id":"x"}',
        '{"kind":"a","node_id":"x"}',
        '{"kind":"a","node_id":""}',
        '{',
        '\ufeff{"kind":"a"}',
      ];
      const own = readEventLog(OWN, lines);
      expect(own.skipped).toEqual([
        { line: 2, reason: 'line 2 has a kind that is no text' },
        { line: 3, reason: 'line 3 has a node_id that is no text' },
        { line: 5, reason: 'line 5 repeats the id "x" of line 4' },
        { line: 7, reason: 'line 7 ends in the middle of a value' },
        { line: 8, reason: 'line 8 begins with a byte order mark' },
      ]);
      expect(own.lineNumbers).toEqual([4, 6]);
      const engine = readEventLog(ENGINE, lines);
      expect(engine.skipped.map(({ line }) => line)).toEqual([7, 8]);
      expect(engine.nodes.map(({ id, kind }) => [id.slice(0, 9), kind])).toEqual([
        ['n00000000', '7'],
        ['7', 'a'],
        ['x', 'a'],
        ['x', 'a'],
        ['n00000004', 'a'],
      ]);
    },
  );

  it(
    'list the keys of a payload before sanitising, and ours after it',
    { tags: ['compiler-stages:shape'] },
    () => {
      const line = '{"kind":"a","payload":{"seq":1,"b":1,"api_key":2,"timestamp":0}}';
      const shape = (profile: typeof OWN): unknown => readEventLog(profile, [line]).nodes[0]?.payloadShape;
      expect(shape(ENGINE)).toEqual(['api_key', 'b', 'seq', 'timestamp']);
      expect(shape(OWN)).toEqual(['api_key', 'b']);
    },
  );

  it(
    'treat a limit of 0 as no limit, and ours as 0',
    { tags: ['compiler-stages:selection', 'compiler-stages:compat'] },
    () => {
      const all = [0, 1, 2, 3, 4];
      for (const limit of ['max_nodes', 'max_turns', 'max_message_chars'])
        expect(selected('breadboard-0.1', TALK, `{"selection":{"${limit}":0}}`)).toEqual(all);
      expect(selected('stemma-1', TALK, '{"selection":{"max_nodes":0}}')).toEqual([]);
      expect(selected('stemma-1', TALK, '{"selection":{"max_turns":0}}')).toEqual([]);
      expect(selected('stemma-1', TALK, '{"selection":{"max_message_chars":0}}')).toEqual([3, 4]);
      for (const limit of ['max_nodes', 'max_turns', 'max_message_chars'])
        expect(selected('stemma-1', TALK, `{"selection":{"${limit}":-1}}`)).toEqual(all);
    },
  );

  it(
    'keep pins, which come back from any limit that leaves something',
    { tags: ['compiler-stages:pins'] },
    () => {
      const config = '{"selection":{"max_nodes":1,"pin_first_system":true}}';
      for (const name of PROFILE_NAMES) expect(selected(name, TALK, config)).toEqual([0, 3, 4]);
      const padded = [
        message(' user ', 'a'),
        message('User', 'b'),
        message(' assistant\t', 'c'),
        message('tool', 'd'),
      ];
      for (const name of PROFILE_NAMES)
        expect(selected(name, padded, '{"selection":{"max_nodes":1}}')).toEqual([0, 2, 3]);
    },
  );

  it(
    'accept booleans as turns and anything as a role, and ours refuses both',
    { tags: ['compiler-stages:compat'] },
    () => {
      const lines = [message('user', 'a', true), message(7, 'b', false), message(['x'], 'c', 2)];
      const last = '{"selection":{"max_turns":1,"pin_latest_user_assistant":false}}';
      expect(selected('breadboard-0.1', lines, last)).toEqual([2]);
      expect(selected('stemma-1', lines, last)).toEqual([2]);
      const roles = (name: ProfileName): unknown =>
        compiled(name, lines).stages.HEADER.messages.map((item) => ('role' in item ? item.role : '?'));
      expect(roles('breadboard-0.1')).toEqual(['user', '7', "['x']"]);
      expect(roles('stemma-1')).toEqual(['user', null, null]);
      const turns = (name: ProfileName): unknown => {
        const profile = profileNamed(name);
        const view = treeView(
          { profile, nodes: readEventLog(profile, lines).nodes, config: readConfig(profile, null) },
          { stage: 'RAW', includePreviews: false },
        );
        return view.nodes.filter(({ kind }) => kind === 'turn').map(({ id }) => id);
      };
      expect(turns('breadboard-0.1')).toEqual(['ctrees:turn:False', 'ctrees:turn:True', 'ctrees:turn:2']);
      expect(turns('stemma-1')).toEqual(['ctrees:turn:2']);
    },
  );

  it(
    'mirror HEADER in FROZEN, and ours only where that is configured',
    { tags: ['compiler-stages:FROZEN'] },
    () => {
      const previews = '{"header":{"mode":"sanitized_content"}}';
      const engine = compiled('breadboard-0.1', TALK, previews).stages;
      expect(engine.FROZEN).toEqual(engine.HEADER);
      const own = compiled('stemma-1', TALK, previews).stages;
      expect(own.FROZEN).toEqual(compiled('stemma-1', TALK).stages.HEADER);
      expect(printPlain(own.HEADER)).toContain('Where is the lamp?');
      const mirrored = compiled(
        'stemma-1',
        TALK,
        '{"header":{"mode":"sanitized_content"},"frozen":{"mode":"mirror"}}',
      ).stages;
      expect(mirrored.FROZEN).toEqual(mirrored.HEADER);
    },
  );

  it(
    'put a prompt summary into RAW and z1, and ours sanitises it',
    { tags: ['compiler-stages:prompt_summary', 'compiler-stages:RAW'] },
    () => {
      const summary = '{"prompt_summary":{"sha256":"ab","seq":1,"api_key":"k"}}';
      expect(compiled('breadboard-0.1', TALK, summary).stages.RAW.prompt_summary).toEqual({
        sha256: 'ab',
        seq: 1,
        api_key: 'k',
      });
      expect(compiled('stemma-1', TALK, summary).stages.RAW.prompt_summary).toEqual({
        sha256: 'ab',
        api_key: '***REDACTED***',
      });
      for (const name of PROFILE_NAMES) {
        const without = compiled(name, TALK);
        expect(compiled(name, TALK, '{"prompt_summary":{}}')).toEqual(without);
        expect(compiled(name, TALK, summary).hashes.z1).not.toBe(without.hashes.z1);
        expect(without.stages.RAW).not.toHaveProperty('prompt_summary');
      }
    },
  );

  it.each([
    ['{"selection":{"max_nodes":"3"}}', 'selection.max_nodes is a whole number, not "3"'],
    ['{"selection":{"max_nodes":1.0}}', 'selection.max_nodes is a whole number, not 1.0'],
    ['{"selection":{"max_turns":true}}', 'selection.max_turns is a whole number, not true'],
    ['{"selection":{"pin_first_system":1}}', 'selection.pin_first_system is true or false, not 1'],
    ['{"selection":{"kind_allowlist":[1]}}', 'selection.kind_allowlist is a list of texts, not [1]'],
    ['{"selection":[]}', 'selection is an object, not []'],
    ['{"header":{"mode":7}}', 'header.mode is a text, not 7'],
    ['{"header":{"preview_chars":{}}}', 'header.preview_chars is a whole number, not an object'],
    ['{"collapse":{"target":"x"}}', 'collapse.target is a whole number, not "x"'],
    ['{"prompt_summary":"text"}', 'prompt_summary is an object, not "text"'],
    ['{"selection":{"max_node":3}}', 'selection has no setting "max_node"'],
    ['{"previews":true}', 'the configuration has no setting "previews"'],
    ['[]', 'the configuration is an object, not []'],
  ])(
    "refuse %s in ours, and take it in the engine's",
    { tags: ['compiler-stages:config'] },
    (config, sentence) => {
      expect(() => readConfig(OWN, readExactJson(config))).toThrow(
        expect.objectContaining({
          code: 'E_STAGES_CONFIG',
          message: expect.stringContaining(sentence) as string,
        }) as Error,
      );
      expect(() => readConfig(ENGINE, readExactJson(config))).not.toThrow();
    },
  );

  it(
    "read numbers of the configuration as Python does, in the engine's",
    { tags: ['compiler-stages:config'] },
    () => {
      const limit = (value: string): string =>
        printPlain(
          readConfig(ENGINE, readExactJson(`{"selection":{"max_nodes":${value}}}`)).selection.maxNodes,
        );
      const cases: readonly (readonly [string, string])[] = [
        ['" 3 "', '3'],
        ['"+07"', '7'],
        ['"1_000"', '1000'],
        ['"0"', '0'],
        ['"00"', '0'],
        ['"0_0_7"', '7'],
        ['"1__0"', 'null'],
        ['"_1"', 'null'],
        ['"3.0"', 'null'],
        ['""', 'null'],
        ['2.9', '2'],
        ['-0.5', '0'],
        ['1e20', '100000000000000000000'],
        ['true', '1'],
        ['[]', 'null'],
        ['-1', 'null'],
        ['"-0"', '0'],
        ['123456789012345678901', '123456789012345678901'],
      ];
      expect(cases.map(([value]) => [value, limit(value)])).toEqual(cases);
    },
  );

  it(
    'collapse all but the last and drop the oldest, by stage',
    { tags: ['compiler-stages:collapse-policy'] },
    () => {
      const nodes = ['a', 'b', 'c', 'd'].map((id) => ({ id, kind: 'k' }));
      const policy = collapsePolicy(nodes, { target: 3, mode: 'all_but_last', kinds: null });
      expect(policy.stages.map(({ stage, drop, collapse }) => [stage, drop, collapse])).toEqual([
        ['RAW', [], []],
        ['SPEC', ['a'], []],
        ['HEADER', ['a'], ['b', 'c']],
        ['FROZEN', ['a'], ['b', 'c']],
      ]);
      expect(collapsePolicy(nodes, { target: 1, mode: 'all_but_last', kinds: null }).collapse).toEqual([]);
      expect(collapsePolicy(nodes, { target: null, mode: 'none', kinds: ['x'] })).toMatchObject({
        node_count: 0,
        kinds: ['x'],
      });
    },
  );

  it(
    'name a task by its trimmed id, and ours files its nodes there too',
    { tags: ['compiler-stages:tree-nodes', 'compiler-stages:compat'] },
    () => {
      const parent = (name: ProfileName): unknown => {
        const profile = profileNamed(name);
        const node = describeNode(
          profile,
          { kind: 'task_event', turn: 1, id: null, payload: { task_id: ' t ' } },
          0,
        );
        return treeView(
          { profile, nodes: [node], config: readConfig(profile, null) },
          { stage: 'RAW', includePreviews: false },
        ).nodes.at(-1)?.parent_id;
      };
      expect(parent('breadboard-0.1')).toBe('ctrees:turn:1');
      expect(parent('stemma-1')).toBe('ctrees:task:t');
    },
  );
});
