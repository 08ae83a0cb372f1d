import { fail } from '@stemma/errors';
import { openChatItems, type ChatItems } from './chat-items.ts';
import { textOf } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/** How a session begins in the file. */
const START = /^# aider chat started at (.*)$/;

/**
 * Chats of Aider, `.aider.chat.history.md`: `# aider chat started at 2026-09-01 10:00:00`, what the user said after `####`, what Aider printed after `>`, and
 * between them what the model said. Each session is a conversation, each answer a call. Times in it have no zone, and are not taken.
 */
export const aider: ForeignReader = {
  name: 'aider',
  mapping: 'aider@1',
  summary: 'chats of Aider: .aider.chat.history.md',
  versions: 'Aider 0.50 to 0.86 (aider/io.py: append_chat_history)',
  recognises: (first) => typeof first === 'string' && START.test(first),
  async *read(units): AsyncIterable<ForeignItem> {
    let chat: Chat | null = null;
    for await (const { value, where } of units) {
      const line = textOf(value);
      if (line === undefined) throw fail('E_INPUT_SHAPE', `${where} is no line of a chat`);
      const started = START.exec(line);
      if (started !== null) {
        if (chat !== null) yield* chat.end();
        yield { kind: 'conversation', key: null, title: line.slice(2) };
        chat = openChat(openChatItems());
      } else if (chat !== null) yield* chat.line(line);
    }
    if (chat !== null) yield* chat.end();
  },
};

type Chat = {
  readonly line: (line: string) => Iterable<ForeignItem>;
  readonly end: () => Iterable<ForeignItem>;
};

const openChat = (items: ChatItems): Chat => {
  let role: 'user' | 'assistant' = 'assistant';
  let lines: string[] = [];
  let printed = 0;
  function* flush(): Iterable<ForeignItem> {
    const content = lines.join('\n').trim();
    lines = [];
    if (content !== '') yield items.add({ role, content });
  }
  function* turn(to: 'user' | 'assistant'): Iterable<ForeignItem> {
    if (role !== to) yield* flush();
    role = to;
  }
  return {
    *line(line) {
      if (line.startsWith('#### ')) {
        yield* turn('user');
        lines.push(line.slice(5).trimEnd());
      } else if (line.startsWith('> ') || line === '>') {
        printed += 1;
        yield* flush();
        role = 'assistant';
      } else if (role === 'user' && line.trim() === '') yield* turn('assistant');
      else {
        yield* turn('assistant');
        lines.push(line);
      }
    },
    *end() {
      yield* flush();
      if (printed > 0) yield { kind: 'dropped', what: 'line printed by Aider', count: printed };
    },
  };
};
