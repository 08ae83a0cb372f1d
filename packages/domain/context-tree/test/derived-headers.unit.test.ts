import { isoTime } from '../src/index.ts';
import { expect, test } from 'vitest';
import {
  block,
  box,
  codeOf,
  COMMIT,
  exportedNodes,
  exportOf,
  imported,
  newSession,
  refused,
  started,
} from '@stemma/test-kit';

test(
  'creation_index numbers the insertions of a cycle, subtrees in pre-order; removals free no number, refusals use none, and the sealed turn gets the next one',
  { tags: ['context-tree§10.6'] },
  () => {
    const session = started();
    const index = (id: string): number => session.headers(id).creation_index;
    session.submit(box('m', ['x', 'y']), block('p', { offset: 1 }));
    session.submit({ op: 'remove', id: 'p' });
    expect(refused(session, block('m'))).toBe('E_NODE_EXISTS');
    session.submit(block('q', { offset: 1 }), { op: 'commit', turn_id: 't' });
    expect(['m', 'x', 'y', 'q', 't'].map(index)).toEqual([0, 1, 2, 4, 5]);
    session.submit(block('next'));
    expect(index('next')).toBe(0);
  },
);

test(
  'a sealed turn has default headers and the cycle and time of its commit; a command that makes no node does not advance the newest time',
  { tags: ['context-tree§10.7'] },
  () => {
    const { history, headers, submit } = started();
    history.submit(0, [block('a')], 10n);
    history.submit(0, [{ op: 'commit', turn_id: 't' }], 20n);
    expect(headers('t')).toEqual({
      id: 't',
      nodeType: 'mt',
      offset: 0,
      ttl: null,
      priority: 0,
      cycle: 1,
      created_at_ns: 20n,
      creation_index: 1,
    });
    history.submit(0, [COMMIT], 900n);
    history.submit(0, [block('b')], 1n);
    expect(headers('b').created_at_ns).toBe(21n);
    history.submit(0, [{ op: 'replace', id: 'b', set: { content: 'c' } }], 900n);
    history.submit(0, [{ op: 'move', id: 'b', parent: '^sys' }], 900n);
    history.submit(0, [{ op: 'remove', id: 'b' }], 900n);
    submit(block('c'));
    expect(headers('c').created_at_ns).toBe(22n);
  },
);

test(
  'created_at_iso is derived from created_at_ns and content_hash is computed: values in an import are ignored, and no export contains content_hash',
  { tags: ['context-tree§10.8'] },
  () => {
    const node = { id: 'b', nodeType: 'cb', content: 'x', created_at_ns: 1999999 };
    const lying = { ...node, created_at_iso: '2000-01-01T00:00:00.000Z', content_hash: '00'.repeat(32) };
    const texts = [node, lying].map((each) =>
      imported({ id: 'r', children: [{ id: 's', nodeType: '^sys', children: [each] }] }).export(),
    );
    expect(texts[1]).toBe(texts[0]);
    expect(texts[0]).toContain('"created_at_iso":"1970-01-01T00:00:00.001Z"');
    expect(texts[0]).not.toContain('content_hash');
    expect(isoTime(1724670000999999999n)).toBe('2024-08-26T11:00:00.999Z');
  },
);

test(
  'an integer in an import has one value however it is written; beyond 2^53 only headers may be integers, other values must be floats',
  { tags: ['context-tree§10.9'] },
  () => {
    const withNumbers = (content: string, header = '1'): string =>
      `{"spec_version":"PACT/0.1.0","cycle":1.0,"root":{"id":"r","children":[{"id":"s","nodeType":"^sys","children":[
      {"id":"b","nodeType":"cb","created_at_ns":${header},"content":${content}}]}]}}`;
    const taken = (text: string): string =>
      newSession({ op: 'import', name: null, export: text })
        .export()
        .replace(/.*"content":(\[.*?\]).*/, '$1');
    expect(taken(withNumbers('[1.0,1e3,-0.0,9007199254740991,1e16,1e+21,9007199254740994.0]'))).toBe(
      '[1,1000,0,9007199254740991,1e+16,1e+21,9007199254740994.0]',
    );
    expect(codeOf(() => taken(withNumbers('[9007199254740992]')))).toBe('E_INPUT_NUMBER');
    expect(codeOf(() => taken(withNumbers('[1]', '9007199254740993')))).toBe('taken');
  },
);

test(
  'replace keeps the attributes that it does not name, and null is a value; a diff shows the attributes of a container by their names',
  { tags: ['context-tree§10.10'] },
  () => {
    const session = started();
    session.submit(block('b', { data_a: 1, data_b: 2 }), box('m', [], { under: '^sys', data_m: 1 }), COMMIT);
    const { seq } = session.submit(block('c', { data_a: 1, data_b: 2 }));
    session.submit({ op: 'replace', id: 'c', set: { content: null, data_a: null } });
    session.submit({ op: 'replace', id: 'm', set: { data_m: 2, content_n: 3 } });
    expect(exportedNodes(session.export()).find(({ id }) => id === 'c')).toMatchObject({
      content: null,
      data_a: null,
      data_b: 2,
    });
    expect(session.diff(seq, seq + 2)).toEqual({
      added: [],
      removed: [],
      changed: [
        { id: 'm', fields: ['content_n', 'data_m'] },
        { id: 'c', fields: ['content_hash'] },
      ],
    });
  },
);

test.each([
  ['content', { content: 'a\ud800' }],
  ['a key', { data_x: { '\udc00': 1 } }],
  ['a header', { role: '\ud800' }],
])(
  'an unpaired surrogate in %s is refused, by commands as by imports',
  { tags: ['context-tree§2:surrogates'] },
  (_where, more) => {
    expect(refused(started(), block('x', more))).toBe('E_INPUT_SURROGATE');
    const root = {
      id: 'r',
      children: [{ id: 'h', nodeType: '^ah', children: [{ id: 'x', nodeType: 'cb', ...more }] }],
    };
    expect(codeOf(() => newSession({ op: 'import', name: null, export: exportOf(root) }))).toBe(
      'E_INPUT_SURROGATE',
    );
  },
);
