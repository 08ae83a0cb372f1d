// An agent's loop, recorded call by call into a home of its own: node packages/agents/recorder/example.ts [directory]
import { openRecorder } from './src/index.ts';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Message = { readonly role: string; readonly content: string };

/** Stands in for the model, so that this runs without one. */
const model = (messages: readonly Message[]): Message => ({
  role: 'assistant',
  content: `I was shown ${messages.length} messages; the last one says: ${messages.at(-1)?.content ?? ''}`,
});

const home = process.argv[2] ?? join(mkdtempSync(join(tmpdir(), 'stemma-example-')), 'home');
const ctx = await openRecorder({ home, history: 'support-4711', recorder: 'support-agent' });
let messages: Message[] = [{ role: 'system', content: 'You help with orders. Be brief.' }];
for (const question of [
  'Where is my order?',
  'It was due on Monday.',
  'Can I have it on Friday?',
  'Thanks!',
]) {
  // This agent forgets: it keeps its instructions and the last three messages.
  if (messages.length > 4) messages = [messages[0] as Message, ...messages.slice(-3)];
  messages.push({ role: 'user', content: question });
  const { label, kept, removed, inserted } = await ctx.recordCall(messages);
  console.log(`${label}: ${kept} kept, ${removed} left out, ${inserted} new`);
  messages.push(model(messages));
}
await ctx.close();
console.log(`\nNow ask: ./stemma cache support-4711 --home ${home}`);
