/** Commands by what people do, in the order of the help. A command that stands nowhere is among the last. */
export const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Record and import', ['record', 'import', 'start', 'continue', 'retry']],
  ['Look', ['up', 'open', 'histories', 'snapshots', 'calls', 'call', 'thread', 'show', 'log', 'branches']],
  [
    'Ask why',
    [
      'diff',
      'compare',
      'why',
      'select',
      'blame',
      'cache',
      'bisect',
      'watch',
      'stages',
      'interventions',
      'analyse',
    ],
  ],
  ['Steer a running agent', ['steer', 'break', 'breaks', 'unbreak', 'held', 'resume', 'abort', 'assign']],
  ['Run a pool of messages', ['pool', 'run', 'ask']],
  ['Save, fork, return', ['save', 'list', 'load', 'fork', 'rollback', 'name', 'annotate']],
  [
    'Change a context',
    ['inject', 'edit', 'insert', 'replace', 'move', 'remove', 'commit', 'config', 'configure', 'experiment'],
  ],
  ['Export, back up, erase', ['export', 'backup', 'restore', 'copy', 'erase']],
  ['Check and mend', ['doctor', 'verify', 'replay', 'checkpoint', 'salvage', 'ack', 'stats']],
  ['Run services', ['projector', 'relay']],
  ['This program', ['completion', 'help']],
];

const OTHERS = 'More';

/** The heading that a command stands under. */
export const groupOf = (name: string): string =>
  `${GROUPS.find(([, names]) => names.includes(name))?.[0] ?? OTHERS}:`;

/** The commands in the order of the help. */
export const inHelpOrder = <T extends { readonly name: string }>(commands: readonly T[]): readonly T[] => {
  const order = GROUPS.flatMap(([, names]) => names);
  const rank = ({ name }: T): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...commands].sort((a, b) => rank(a) - rank(b));
};

/** One example for each command. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  record: 'stemma record -- python agent.py',
  import: "stemma import runs/ --history 'run-{file}'",
  start: 'stemma start --name desk',
  continue: 'stemma continue mine:what-if --calls 3 --mind openai:gpt-4o',
  retry: 'stemma retry mine @c7 --set temperature=0 --times 5',
  up: 'stemma up --sample',
  open: 'stemma open mine @c7',
  histories: 'stemma histories --since 24h',
  snapshots: 'stemma snapshots mine',
  calls: 'stemma calls mine',
  call: 'stemma call mine @c7 --raw request',
  thread: 'stemma thread mine @c7',
  show: 'stemma show mine @c7 m3',
  log: 'stemma log mine --from 40',
  branches: 'stemma branches mine',
  diff: 'stemma diff mine @c6 @c7 --explain',
  compare: 'stemma compare mine main what-if',
  why: 'stemma why mine m3',
  select: 'stemma select mine "@c7 .cb[role=\'tool\']"',
  blame: 'stemma blame mine @c7',
  cache: 'stemma cache mine',
  bisect: "stemma bisect mine --good @c1 --bad @c12 --when '#m9'",
  watch: 'stemma watch mine "^ah .cb[role=\'tool\']"',
  stages: 'stemma stages mine @c7',
  interventions: 'stemma interventions mine --actor ada',
  analyse: 'stemma analyse compare before.npy after.npy',
  pool: 'stemma pool init sea --messages seeds.txt',
  run: 'stemma run sea --rounds 100 --checkpoint-every 25',
  ask: "stemma ask sea 'What do they agree on?'",
  save: 'stemma save mine before-refund',
  list: 'stemma list mine',
  load: 'stemma load mine before-refund',
  steer: 'stemma steer mine on',
  break: 'stemma break mine --when "^ah .cb[role=\'tool\']" --timeout 10m',
  breaks: 'stemma breaks mine',
  unbreak: 'stemma unbreak mine b1',
  held: 'stemma held',
  resume: 'stemma resume mine',
  abort: "stemma abort mine --message 'not today'",
  assign: 'stemma assign mine@c3 --to other',
  edit: "stemma edit mine m3 --content 'Be brief.'",
  fork: "stemma fork mine @c5 --name what-if --notes 'another prompt'",
  rollback: 'stemma rollback mine @c5',
  name: 'stemma name mine all-facts',
  annotate: "stemma annotate mine 'asked twice' --at @c5",
  inject: "stemma inject mine 'Answer in one sentence.' --role system",
  insert: "stemma insert mine --parent ^sys --content 'Be brief.'",
  replace: "stemma replace mine m0 --content 'Be brief.'",
  move: 'stemma move mine m3 ^sys',
  remove: 'stemma remove mine m3',
  commit: 'stemma commit mine',
  config: 'stemma config get mine',
  configure: 'stemma configure mine \'{"max_blocks":200,"keep_turns":4,"pins":[]}\'',
  experiment: 'stemma experiment export mine @c7 > experiment.json',
  export: 'stemma export mine @c7',
  backup: 'stemma backup ../backup',
  restore: 'stemma restore ../backup --home ./restored',
  copy: 'stemma copy --from .stemma --to kafka://127.0.0.1:9092/stemma',
  erase: 'stemma erase mine',
  doctor: 'stemma doctor --secrets',
  verify: 'stemma verify --rows',
  replay: 'stemma replay --verify',
  checkpoint: 'stemma checkpoint > monday.checkpoint',
  salvage: 'stemma salvage mine',
  ack: 'stemma ack 0@4711',
  stats: 'stemma stats',
  projector: 'stemma projector --read-model audit',
  relay: 'stemma relay --to kafka://127.0.0.1:9092/events',
  completion: 'source <(stemma completion bash)',
};
