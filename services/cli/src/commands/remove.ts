import { stepCommand, nodeId } from '../step-command.ts';

export const remove = stepCommand(
  {
    name: 'remove',
    summary: 'remove nodes and their children from the context; earlier snapshots keep them',
    group: 'Change a context',
    place: 6,
    example: 'stemma remove mine note',
    arguments: [['<id...>', 'the nodes, by id: all of them or none']],
    options: [],
  },
  ([ids]) => (typeof ids === 'string' ? [ids] : (ids ?? [])).map((id) => ({ op: 'remove', id: nodeId(id) })),
);
