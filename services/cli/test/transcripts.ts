import { sized } from '@stemma/test-kit';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER =
  process.env['STEMMA_TRANSCRIPTS'] ?? join(import.meta.dirname, '../../../../shared/data/tau-airline');

export type Message = { readonly role: string; readonly [field: string]: unknown };
export type Transcript = { readonly file: string; readonly messages: readonly Message[] };

/** Recorded conversations of a real agent, where the checkout has them beside it. */
export const transcripts: readonly Transcript[] = existsSync(FOLDER)
  ? readdirSync(FOLDER)
      .filter((name) => name.endsWith('.json'))
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((name) => join(FOLDER, name))
      .map((file) => ({ file, messages: JSON.parse(readFileSync(file, 'utf8')) as Message[] }))
  : [];

/** All of them in a long run, else a trial of every second task. */
export const someTranscripts = transcripts.filter((_, i) => i % sized(8, 1) === 0);

/** What the model was shown at each call: the messages before each assistant message. */
export const callsOf = (messages: readonly Message[]): readonly (readonly Message[])[] =>
  messages.flatMap((message, i) => (message.role === 'assistant' ? [messages.slice(0, i)] : []));
