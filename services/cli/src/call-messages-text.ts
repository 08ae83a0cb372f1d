import { callMessages, followingOf, type Excerpt } from '@stemma/api';
import { parseWideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { answersOf } from './answers.ts';
import { contentWords } from './excerpts.ts';
import { oneLine } from './output.ts';

/** Nodes from the front and the end of a tree, where the newest are, and characters of a content that are read. */
const FRONT = 60;
const TAIL = 600;
const EXCERPT = 2_000;
/** Characters of a message that are shown. */
const LINE = 400;

type Message = {
  readonly id: string;
  readonly content: Excerpt | null;
  readonly role?: string | null | undefined;
  readonly kind?: string | null | undefined;
  readonly failed?: true | undefined;
  readonly cause?: string | null;
};

/** What a call was shown since the call before, what it decided, and what came back: by the messages of the history. */
export const callMessagesText = async (
  home: Home,
  { branch }: BranchRef,
  cycle: number,
  width: number,
): Promise<string> => {
  const { byName } = await answersOf(home);
  const asked = { history: branch, limit: FRONT, tail: TAIL, excerpt: EXCERPT };
  const page = await byName.tree({ ...asked, at: `@c${cycle}` });
  const { left, changed, fresh, asBefore } = callMessages(page);
  const next = await byName.tree({ ...asked, at: `@c${cycle + 1}` }).catch((error: unknown) => {
    // The newest call: what came since is in the working state.
    if (isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) return byName.tree(asked);
    throw error;
  });
  const { decided, back } = followingOf(next);
  const lines = (title: string, sign: string, messages: readonly Message[]): string =>
    messages.length === 0
      ? ''
      : `${title} (${messages.length})\n${messages.map((each) => `${messageLine(sign, each, width)}\n`).join('')}`;
  return [
    lines('left', '-', left),
    lines('changed', '~', changed),
    lines('new', '+', fresh),
    asBefore.length === 0 ? '' : `as before (${asBefore.length})\n`,
    page.nodes.length < page.total
      ? `${page.total - page.nodes.length} nodes in the middle of a long context are not looked at: the thread has them\n`
      : '',
    lines('decided', '>', decided),
    lines('got back', '<', back),
  ].join('');
};

const messageLine = (
  sign: string,
  { id, role, kind, failed, cause, content }: Message,
  width: number,
): string =>
  oneLine(
    [
      `${sign} #${id}`,
      [role, kind === 'text' ? null : kind]
        .filter((word) => typeof word === 'string' && word !== '')
        .join('/'),
      failed === true ? 'FAILED' : '',
      cause ?? '',
      content === null ? '' : wordsOf(content),
    ]
      .filter((part) => part !== '')
      .join('  '),
    Math.min(width, LINE),
  );

const wordsOf = ({ text, form, complete }: Excerpt): string =>
  form === 'json' && complete ? contentWords(parseWideJson(text, 'the content')) : text;
