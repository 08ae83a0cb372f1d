import { FAKE_SECRETS } from '@stemma/test-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileStages,
  describeNode,
  isSecretLike,
  printCanonical,
  printPlain,
  PROFILE_NAMES,
  profileNamed,
  readConfig,
  STAGE_NAMES,
  treeView,
  type ExactJson,
  type StreamNode,
} from '../src/index.ts';

const OWN = profileNamed('stemma-1');
const ENGINE = profileNamed('breadboard-0.1');

const HARMLESS = [
  'a basic economy ticket, Basic Economy, basic understanding of bearers',
  'The bearer of this letter may pass.',
  'Authorization was given by the board.',
  'task-management-and-planning-of-everything, risk-averse-behaviour-in-markets',
  'sk-fading-circle and SK-II',
  'Your reservation ABC123 costs $1,234.56; flight HAT083 on 2024-05-15.',
  'user_id: mia_li_3668, payment_id: gift_card_7091239',
  'password? I have no password.',
  'the token limit; secret recipes; a key: value pair',
  'AKIAK is a place; AIzawa is a name.',
  'https://example.com:8080/path@home',
  '0123456789abcdef0123456789abcdef01234567',
];

const previewed = (content: string, previewChars = 160): string => {
  const node = describeNode(
    OWN,
    { kind: 'message', turn: 1, id: null, payload: { role: 'user', content } },
    0,
  );
  const config = readConfig(OWN, { header: { mode: 'sanitized_content', preview_chars: previewChars } });
  return printPlain(
    compileStages({
      profile: OWN,
      nodes: [node],
      config,
      payload: () => ({ role: 'user', content }),
    }),
  );
};

describe('secrets', () => {
  it.each(FAKE_SECRETS)(
    '%s: no part of it is shown, wherever it stands and the preview is cut',
    { tags: ['compiler-stages:secrets', 'compiler-stages:previews'] },
    (_name, fake) => {
      const texts = [
        fake,
        `before ${fake} after`,
        `${'x '.repeat(500)}${fake}`,
        `a\r\n${fake}\rb`,
        `("${fake}")`,
      ];
      for (const text of texts)
        for (const chars of [0, 5, 12, 160]) {
          const shown = previewed(text, chars);
          expect(shown).toContain('"content_preview":"***REDACTED***"');
          expect(shown).not.toContain(fake.slice(0, 6).replace(/["\n]/g, '?'));
        }
    },
  );

  it.each(HARMLESS)('no secret is found in: %s', { tags: ['compiler-stages:secrets'] }, (text) => {
    expect(isSecretLike(OWN.secrets, text)).toBe(false);
  });

  it(
    'are exactly those of the engine in the engine’s own profile',
    { tags: ['compiler-stages:secrets', 'compiler-stages:profiles'] },
    () => {
      const caught = (text: string): boolean => isSecretLike(ENGINE.secrets, text);
      expect(
        [
          'sk' + '-' + 'a'.repeat(20),
          'API' + 'KEY \u2003= x',
          'author' + 'ization\n:\nx',
          'BEARER' + ' ' + 'a.b-c_d'.repeat(2),
          '-----begin x private key',
          // In any letter case, as Python has it: the sign for kelvin is a K.
          'api_\u212aey: x',
        ].map(caught),
      ).toEqual([true, true, true, true, true, true]);
      expect(
        [
          'sk' + '-' + 'a'.repeat(19),
          'gh' + 'p_' + 'aB3dE6gH9j'.repeat(4),
          'SK' + '-' + 'a'.repeat(20),
          'bear' + 'er short',
          'api key: x',
        ].map(caught),
      ).toEqual([false, false, false, false, false]);
    },
  );

  it.each([
    ['sk-'.repeat(300_000)],
    [' eyJ'.repeat(250_000)],
    [`api_key${' '.repeat(1_000_000)}`],
    ['basic '.repeat(160_000)],
    ['://a:'.repeat(200_000)],
    ['1'.repeat(1_000_000)],
  ])('are found in time linear in the text: %#', { tags: ['compiler-stages:secrets'] }, (text) => {
    const started = performance.now();
    isSecretLike(OWN.secrets, text);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

/** Texts that can only come from a message or a result: no other part of a stage looks like them. */
const telling = fc.stringMatching(/^TELL[A-Z]{8}$/);
const tellingNodes: fc.Arbitrary<readonly StreamNode[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('message', 'tool_call', 'tool_result', 'transcript', 'guardrail', 'lifecycle'),
    turn: fc.integer({ min: 0, max: 3 }),
    id: fc.constant(null),
    payload: fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'assistant'), content: telling, extra: telling }),
      fc.record({ content: fc.array(telling), tool_calls: fc.array(fc.record({ arguments: telling })) }),
      fc.array(telling),
      telling,
    ),
  }),
  { minLength: 1, maxLength: 8 },
);

describe('safety', () => {
  it(
    'no stage and no tree holds any text of a payload unless previews are asked for, and then only HEADER',
    {
      tags: [
        'compiler-stages:safety',
        'compiler-stages:HEADER',
        'compiler-stages:SPEC',
        'compiler-stages:RAW',
      ],
    },
    () => {
      fc.assert(
        fc.property(tellingNodes, fc.constantFrom(...PROFILE_NAMES), (stream, name) => {
          const profile = profileNamed(name);
          const nodes = stream.map((node, at) => describeNode(profile, node, at));
          const payload = (place: number): ExactJson => stream[place]?.payload ?? null;
          const all = { kind_allowlist: ['message', 'tool_call', 'tool_result', 'transcript'] };
          const quiet = { profile, nodes, payload, config: readConfig(profile, { selection: all }) };
          expect(printPlain(compileStages(quiet) as never)).not.toContain('TELL');
          for (const stage of STAGE_NAMES)
            expect(printPlain(treeView(quiet, { stage, includePreviews: false }) as never)).not.toContain(
              'TELL',
            );
          // What describes a node is kept in rows, so it is no leak either.
          expect(JSON.stringify(nodes)).not.toContain('TELL');
          const loud = {
            ...quiet,
            config: readConfig(profile, { selection: all, header: { mode: 'sanitized_content' } }),
          };
          const { RAW, SPEC, FROZEN } = compileStages(loud).stages;
          expect(printPlain([RAW, SPEC, ...(profile.compat ? [] : [FROZEN])] as never)).not.toContain('TELL');
        }),
      );
    },
  );

  it(
    'values of secret keys reach no digest: nodes that differ only there are equal',
    { tags: ['compiler-stages:digest', 'compiler-stages:sanitise'] },
    () => {
      fc.assert(
        fc.property(fc.string(), fc.string(), fc.constantFrom(...PROFILE_NAMES), (a, b, name) => {
          const digest = (key: string): string =>
            describeNode(
              profileNamed(name),
              {
                kind: 'tool_call',
                turn: 1,
                id: null,
                payload: { args: [{ Api_Key: key, seq: key.length }] },
              },
              0,
            ).digest;
          expect(digest(a)).toBe(digest(b));
        }),
      );
      expect(printCanonical({ authorization: 'x' })).not.toContain('"x"');
    },
  );
});
