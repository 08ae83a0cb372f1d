import { expect, test } from 'vitest';
import { openHistoryNames } from '../src/names-after-messages.ts';

const said = (content: string) => [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content },
];

test(
  'a history is named after what is said first, with a number or a hash where others are',
  { tags: ['calls§3.5'] },
  () => {
    const names = openHistoryNames();
    const parcel = said('Where is my parcel?');
    const proposed = names.proposed(parcel, 'one');
    expect(proposed).toEqual([
      'Where-is-my-parcel',
      'Where-is-my-parcel-2',
      'Where-is-my-parcel-3',
      'Where-is-my-parcel-4',
      expect.stringMatching(/^Where-is-my-parcel-[a-z2-7]{6}$/),
      null,
    ]);
    names.took('Where-is-my-parcel', 'one');
    // Sent again it finds its own; another one does not try what is taken.
    expect(names.proposed(parcel, 'one')).toEqual(proposed);
    expect(names.proposed(parcel, 'two')[0]).toBe('Where-is-my-parcel-2');
    expect(names.proposed(parcel, 'two').at(-2)).not.toBe(proposed.at(-2));
  },
);

test(
  'one word is not taken for the name of a history that somebody chose; without words there is no name',
  { tags: ['calls§3.5'] },
  () => {
    const names = openHistoryNames();
    expect(names.proposed(said('support'), 'one')[0]).toBe('chat-support');
    expect(names.proposed(said('…'), 'one')).toEqual([null]);
    expect(names.proposed([], 'one')).toEqual([null]);
  },
);
