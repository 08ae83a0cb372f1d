import { hashFlat } from '../src/index.ts';
import { expect, test } from 'vitest';
import {
  block,
  box,
  codeOf,
  COMMIT,
  exportOf,
  facts,
  imported,
  newSession,
  started,
  type TestSession,
} from '@stemma/test-kit';

const rootOf = (session: TestSession): object => (JSON.parse(session.export()) as { root: object }).root;

/** A history with every kind of node, sealed and open. */
const rich = (): TestSession => {
  const session = started();
  session.submit(
    block('rule', { under: '^sys', role: null, ttl: 4 }),
    box('core', ['said']),
    block('pre', { offset: -1, data_x: { b: 1, a: [null] } }),
    { op: 'commit', turn_id: 't1' },
  );
  session.submit(block('a', { ttl: 3, role: 'assistant', kind: 'text' }), { op: 'commit', turn_id: 't2' });
  session.submit(block('open', { content: 'é😀\u2028', refs: ['a'] }), block('none', { content: undefined }));
  return session;
};

test(
  'the thread is ^sys, turns oldest to newest, the head, each in canonical order, as canonical JSON of id, role, kind and content',
  { tags: ['context-tree§4:provider-thread'] },
  () => {
    const session = rich();
    session.submit(block('nulls', { role: null, kind: null, content: null }));
    expect(session.thread()).toBe(
      '[' +
        [
          '{"content":"rule","id":"rule","kind":"","role":null}',
          '{"content":"pre","id":"pre","kind":"","role":"user"}',
          '{"content":"","id":"said","kind":"","role":"user"}',
          '{"content":"a","id":"a","kind":"text","role":"assistant"}',
          '{"content":"\\u00e9\\ud83d\\ude00\\u2028","id":"open","kind":"","role":"user"}',
          '{"content":"","id":"none","kind":"","role":"user"}',
          '{"content":null,"id":"nulls","kind":null,"role":null}',
        ].join(',') +
        ']',
    );
    session.submit(block('bare', { under: '^sys', role: undefined }));
    expect(session.thread()).toContain('{"content":"bare","id":"bare","kind":"","role":"system"}');
  },
);

test(
  'the thread of a snapshot is always what the provider was sent in its cycle, however often and whenever it is read',
  { tags: ['context-tree§4:provider-thread', 'PACT-05§2.1', 'PACT-05§2.2', 'PACT-05§6.2'] },
  () => {
    const session = started();
    const sent: string[] = [];
    for (let cycle = 1; cycle <= 5; cycle++) {
      const { seq } = session.submit(block(`b${cycle}`, { ttl: cycle % 3 }), COMMIT);
      sent.push(session.thread(0, seq));
    }
    const ancestorSnapshots = [...session.history.ancestorSnapshots(0)].reverse();
    expect(ancestorSnapshots.map(({ branchId, seq }) => session.thread(branchId, seq))).toEqual(sent);
    expect(new Set(sent).size).toBe(5);
  },
);

test(
  'a thread of mode pre is ^sys and the pre-context of the newest turn, also when the commit sealed no turn',
  { tags: ['context-tree§4:thread-pre', 'context-tree§10.20'] },
  () => {
    const session = started('pre');
    const ids = (): string[] =>
      (JSON.parse(session.thread(0, null, 'pre')) as { id: string }[]).map(({ id }) => id);
    session.submit(block('rule', { under: '^sys' }), block('p1', { offset: -1 }), block('a1'), COMMIT);
    expect(ids()).toEqual(['rule', 'p1']);
    const second = session.submit(COMMIT);
    expect(ids()).toEqual(['rule', 'p1']);
    expect(second.snapshot?.threadHash).toEqual(
      hashFlat(session.tree(), session.history.payload, 'pre').threadHash,
    );
    session.submit(block('p2', { offset: -2 }), block('after', { offset: 1 }), COMMIT);
    expect(ids()).toEqual(['rule', 'p2']);
  },
);

test(
  'an export has every node with every header and attribute, children in canonical order, none on blocks',
  { tags: ['context-tree§4:export', 'PACT-05§3.1', 'PACT-05§6.4', 'PACT-06§5.1', 'PACT-06§7.4'] },
  () => {
    const session = started();
    session.submit(block('b', { offset: 1, data_x: 1, refs: ['a'] }), block('a', { role: 'user', ttl: 2 }));
    const plain = '"created_at_iso":"1970-01-01T00:00:00.000Z"';
    const region = (id: string, index: number, children: string): string =>
      `{"children":[${children}],${plain},"created_at_ns":0,"creation_index":${index},"cycle":0,"id":"${id}","nodeType":"^${id}","offset":0,"priority":0,"ttl":null}`;
    const a = `{"content":"a",${plain},"created_at_ns":2,"creation_index":1,"cycle":1,"id":"a","nodeType":"cb","offset":0,"priority":0,"role":"user","ttl":2}`;
    const b = `{"content":"b",${plain},"created_at_ns":2,"creation_index":0,"cycle":1,"data_x":1,"id":"b","nodeType":"cb","offset":1,"priority":0,"refs":["a"],"ttl":null}`;
    const regions = [region('sys', 0, ''), region('seq', 1, ''), region('ah', 2, `${a},${b}`)].join(',');
    expect(session.export().replaceAll('"created_at_ns":1,', '"created_at_ns":2,')).toBe(
      `{"cycle":0,"root":${region('root', 0, regions)},"spec_version":"PACT/0.1.0"}`,
    );
  },
);

test(
  'export, import, export gives the same bytes, thread and hashes, an open head included: nothing ages, seals or expires',
  {
    tags: [
      'context-tree§4:import',
      'context-tree§4:tree-hash',
      'PACT-05§3.2',
      'PACT-05§6.5',
      'PACT-06§5.2',
      'PACT-06§7.5',
    ],
  },
  () => {
    const session = rich();
    session.submit(block('due', { ttl: 0 }));
    const again = newSession({ op: 'import', name: null, export: session.export() });
    expect([again.export(), again.thread()]).toEqual([session.export(), session.thread()]);
    expect(hashFlat(again.tree(), again.history.payload)).toEqual(
      hashFlat(session.tree(), session.history.payload),
    );
    expect(again.history.applied[0]?.snapshot?.treeHash).toEqual(
      hashFlat(session.tree(), session.history.payload).treeHash,
    );
  },
);

test(
  'two trees that differ anywhere have different tree hashes and exports; how each came about makes no difference',
  { tags: ['context-tree§4:tree-hash'] },
  () => {
    const base = { id: 'b', nodeType: 'cb', content: 'x', ttl: 3 };
    const variants = [
      {},
      { content: 'y' },
      { content: '' },
      { content: undefined },
      { content: null },
      { ttl: 2 },
      { ttl: null },
      { role: 'user' },
      { refs: ['r', 'h'] },
      { refs: ['h', 'r'] },
      { data_x: 1 },
      { offset: 1 },
      { created_at_ns: 1 },
    ].map((change) => {
      const node = JSON.parse(JSON.stringify({ ...base, ...change })) as object;
      const session = imported({ id: 'r', children: [{ id: 'h', nodeType: '^ah', children: [node] }] });
      const { treeHash } = hashFlat(session.tree(), session.history.payload);
      return { text: session.export(), hash: Buffer.from(treeHash).toString('hex') };
    });
    for (const a of variants) for (const b of variants) expect(a.hash === b.hash).toBe(a.text === b.text);
    expect(new Set(variants.map(({ hash }) => hash)).size).toBe(variants.length);
  },
);

test(
  'reading thread, export, hashes and diffs does not change the next snapshot',
  { tags: ['context-tree§4:reading-changes-nothing', 'PACT-05§6.9', 'PACT-06§7.6'] },
  () => {
    const play = (read: boolean): string[] => {
      const session = rich();
      const texts: string[] = [];
      for (let cycle = 0; cycle < 4; cycle++) {
        const { seq } = session.submit(COMMIT);
        if (read) {
          session.thread(0, seq);
          session.thread(0, seq, 'pre');
          session.diff(1, seq);
          hashFlat(session.tree(0, seq), session.history.payload);
        }
        texts.push(session.export());
        expect(session.export()).toBe(texts.at(-1));
      }
      return texts;
    };
    expect(play(true)).toEqual(play(false));
  },
);

test(
  'an import makes the snapshot of the cycle in its export, or of cycle 0; the next commit seals the imported head without ageing it',
  { tags: ['context-tree§10.17', 'context-tree§4:import'] },
  () => {
    const head = (more: object): object => ({
      id: 'r',
      children: [{ id: 'h', nodeType: '^ah', children: [{ id: 'a', nodeType: 'cb', ttl: 2, ...more }] }],
    });
    const session = imported(head({}), 6);
    expect(session.history.ancestorSnapshots(0).map(({ cycle }) => cycle)).toEqual([6]);
    const { snapshot } = session.submit({ op: 'commit', turn_id: 't' });
    expect([snapshot?.cycle, session.ttls('a')]).toEqual([7, [2]]);
    session.submit(COMMIT);
    expect(session.ttls('a')).toEqual([1]);
    const bare = newSession({
      op: 'import',
      name: null,
      export: '{"spec_version":"PACT/0.1.0","root":{"id":"r"}}',
    });
    expect([bare.history.ancestorSnapshots(0)[0]?.cycle, bare.submit(COMMIT).snapshot?.cycle]).toEqual([
      0, 1,
    ]);
    const due = imported(head({ ttl: 0 }));
    expect([due.ttls('a'), facts(due.submit(COMMIT))]).toEqual([[0], ['NodeExpired a', 'SnapshotCommitted']]);
  },
);

test(
  'an import adds missing regions with fixed ids, prefixed with - while taken, and with the headers of a new history except the cycle; it ignores unknown keys beside root',
  { tags: ['context-tree§10.19', 'context-tree§4:import'] },
  () => {
    const session = newSession({
      op: 'import',
      name: null,
      export: `{"mood":[1],"spec_version":"PACT/0.1.0","cycle":4,"root":{"children":[
      {"id":"q","nodeType":"^seq","children":[{"id":"sys","nodeType":"mt","children":[{"id":"sys-","nodeType":"cb"}]}]}]}}`,
    });
    expect(session.tree().ids).toEqual(['root', 'sys--', 'q', 'sys', 'sys-', 'ah']);
    const plain = { offset: 0, ttl: null, priority: 0, cycle: 4, created_at_ns: 0n };
    expect([session.headers('root'), session.headers('sys--'), session.headers('ah')]).toEqual([
      { id: 'root', nodeType: '^root', ...plain, creation_index: 0 },
      { id: 'sys--', nodeType: '^sys', ...plain, creation_index: 0 },
      { id: 'ah', nodeType: '^ah', ...plain, creation_index: 2 },
    ]);
    expect(session.export()).not.toContain('mood');
  },
);

test.each([
  ['no root', '{"spec_version":"PACT/0.1.0","cycle":1}', 'E_EXPORT_INVALID'],
  ['another version', '{"spec_version":"PACT/2","cycle":1,"root":{"id":"r"}}', 'E_EXPORT_INVALID'],
  ['a cycle below 0', exportOf({ id: 'r' }, -1), 'E_EXPORT_INVALID'],
  ['a cycle that is no integer', exportOf({ id: 'r' }, 0.5), 'E_EXPORT_INVALID'],
  ['a text that is no JSON', '{"spec_version"]', 'E_INPUT_NOT_JSON'],
  ['a text that is cut off', '{"spec_version"', 'E_INPUT_TRUNCATED'],
])(
  'an export with %s is refused with a code',
  { tags: ['context-tree§4:import', 'context-tree§8:codes'] },
  (_what, text, code) => {
    expect(codeOf(() => newSession({ op: 'import', name: null, export: text }))).toBe(code);
  },
);

test(
  'the same commands give the same bytes and hashes in every run',
  { tags: ['PACT-05§2.2', 'PACT-06§6', 'PACT-06§7.7'] },
  () => {
    const [one, two] = [rich(), rich()];
    expect([one.export(), one.thread(), rootOf(one)]).toEqual([two.export(), two.thread(), rootOf(two)]);
    expect(one.history.applied.map(({ snapshot }) => snapshot?.treeHash)).toEqual(
      two.history.applied.map(({ snapshot }) => snapshot?.treeHash),
    );
    expect(one.diff(0, 3)).toEqual(two.diff(0, 3));
  },
);
