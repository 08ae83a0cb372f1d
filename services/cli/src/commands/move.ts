import { stepCommand, nodeId } from '../step-command.ts';

export const move = stepCommand(
  {
    name: 'move',
    summary: 'move a node and its children under another parent',
    group: 'Change a context',
    place: 5,
    example: 'stemma move mine note ^sys',
    arguments: [
      ['<id>', 'the node, by id'],
      ['<parent>', 'the new parent: ^ah, ^sys, or the id of a container'],
    ],
    options: [],
  },
  ([id, parent]) => ({ op: 'move', id: nodeId(id), parent: nodeId(parent) }),
);
