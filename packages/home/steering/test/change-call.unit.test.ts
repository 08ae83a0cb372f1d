import { temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';
import { assistant, contentsIn, open, openSteered, outgoing, sentBy, user } from './steered.ts';

const BY = { actor: 'ada', notes: 'what if' };

test('what is changed of one call is an intervention, and in the later ones too', async () => {
  using at = temporaryHome();
  const { open: openOne, start, eventsOf } = await openSteered(at.directory);
  const branch = await start('talk');
  const steering = openOne();
  const list = [user('one')];
  const edit = { what: 'replace', content: 'another' } as const;
  const first = { ...outgoing('call 1', branch, list), change: { by: BY, edit, set: null } };
  expect(contentsIn(await sentBy(steering, first))).toEqual(['another']);
  list.push(assistant('1'), user('two'));
  const inject = { what: 'inject', role: 'developer', text: 'be brief' } as const;
  const second = { ...outgoing('call 2', branch, list), change: { by: BY, edit: inject, set: null } };
  expect(contentsIn(await sentBy(steering, second))).toEqual(['another', '1', 'two', 'be brief']);
  list.push(assistant('2'), user('three'));
  const third = await sentBy(steering, outgoing('call 3', branch, list));
  expect(contentsIn(third)).toEqual(['another', '1', 'two', 'be brief', '2', 'three']);
  const events = await eventsOf(branch);
  const acts = events.filter((event) => event.type === 'InterventionRecorded');
  expect(acts.map((event) => 'notes' in event && event.notes)).toEqual(['what if', 'what if']);
});

test('a call that asks with other fields is recorded as it went, beside what came; nobody has to steer its branch', async () => {
  using at = temporaryHome();
  const { open: openOne, start, intervene, eventsOf } = await openSteered(at.directory);
  const branch = await start('talk');
  await intervene(branch, 'ada', { op: 'config', set: { steer: null } });
  const list = [user('one'), assistant('1'), user('two')];
  const call = outgoing('call 1', branch, list);
  const change = { by: BY, edit: null, set: { model: 'other', temperature: 0, top_p: null } };
  const went = JSON.parse(await sentBy(openOne(), { ...call, change })) as object;
  expect(went).toMatchObject({ model: 'other', temperature: 0, messages: list });
  const events = await eventsOf(branch);
  expect(events.filter((event) => event.type === 'CallStarted').at(-1)).toMatchObject({
    model: 'other',
    payload: { data_parameters: { temperature: 0 } },
  });
  expect(events.find((event) => event.type === 'CallSteered')).toMatchObject({
    request: { size: call.plain.length },
    changes: [],
  });
  expect(await openOne().isOn(branch)).toBe(false);
});

test('a call that has nothing to change does not go out as it came', async () => {
  using at = temporaryHome();
  const { open: openOne, start } = await openSteered(at.directory);
  const branch = await start('talk');
  const edit = { what: 'replace', content: 'another' } as const;
  const call = {
    ...outgoing('call 1', branch, [{ role: 'system', content: 'Be.' }]),
    change: { by: BY, edit, set: null },
  };
  expect(await openOne().call(call, open, (work) => work())).toEqual({
    kind: 'unsteered',
    reason: 'the call has no message of a user or a tool whose content could be another',
  });
});
