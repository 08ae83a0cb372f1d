import { openHome } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordExchange } from '../src/index.ts';

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const reads = [0, 1, 2].flatMap((n) => [
  { role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${n}`, name: 'read', input: { n } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${n}`, content: `file ${n}` }] },
]);

test(
  'what a provider cleared before the model saw it is not shown, also where the call is assigned to',
  { tags: ['calls§1.12'] },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-edits-'));
    const home = await openHome({ directory, create: true });
    try {
      const wire = { form: 'wire', contentType: 'application/json', coding: null } as const;
      const { branch } = await recordExchange(home, {
        ...{ id: 'c', by: { recorder: 'test' }, scope: { run: 'r' } },
        request: {
          ...{ ...wire, method: 'POST', path: '/v1/messages' },
          body: bytesOf({
            ...{ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Read.' }, ...reads] },
          }),
        },
        end: {
          ...{ status: 'answered', firstByteMs: null, durationMs: null, error: null },
          response: {
            ...{ ...wire, httpStatus: 200 },
            body: bytesOf({
              ...{ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'One file.' }] },
              ...{ model: 'm', stop_reason: 'end_turn' },
              context_management: {
                applied_edits: [
                  { type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 48 },
                ],
              },
            }),
          },
        },
      });
      const said =
        'the provider cleared 2 tool uses (48 tokens) before the model: the oldest go first, so these may be toolu_0, toolu_1';
      expect((await home.calls.find(branch.history, 'c')).notShown).toBe(said);
      const [assigned] = await home.calls.assignCall(
        { history: branch.history, attemptId: 'c' },
        { newHistory: null },
        { by: { actor: 'ann' }, notes: 'it is another' },
      );
      const { history, attemptId } = assigned?.to ?? { history: '', attemptId: '' };
      expect((await home.calls.find(history, attemptId)).notShown).toBe(said);
    } finally {
      await home.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
