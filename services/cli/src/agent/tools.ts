/** What a client must be allowed before it may use a tool that does more than read. */
export const PERMISSIONS = ['intervene', 'rerun'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** A command that language models use: as a tool of `stemma mcp`, and with `--output agent`. */
export type AgentTool = {
  /** The command, which is the name of the tool, too. */
  readonly command: string;
  /** Its options that a model may give, as the command line calls them; `own`: all but those that say who acts or name a file. */
  readonly options: readonly string[] | 'own';
  /** Options that must be given. */
  readonly required?: readonly string[];
  /** What may be asked after it; HISTORY is the one that was asked about. */
  readonly next?: readonly string[];
  readonly needs?: Permission;
  /** Arguments that a model may not give. */
  readonly fixed?: readonly string[];
  /** With this option it only says what it would do: so it runs unless the client is allowed to, and says `go`. */
  readonly plan?: string;
};

const CALL = 'call HISTORY @cN: what one call was shown, decided and got back';
const WHY = 'why HISTORY NODE: what brought a message in, changed or removed it';

const intervening = (command: string): AgentTool => ({
  command,
  options: 'own',
  required: ['notes'],
  needs: 'intervene',
  next: [CALL, 'branches HISTORY: the branches, with what came last'],
});

/** Every tool: a line names a command and what a model may give it. What it takes and prints is in the command's own file. */
export const TOOLS: readonly AgentTool[] = [
  {
    command: 'histories',
    options: ['figures', 'sort', 'group', 'limit', 'skip', 'since'],
    next: ['filmstrip HISTORY: every call of a history', 'grep WORDS: find a text in all histories'],
  },
  { command: 'filmstrip', options: ['branch', 'after', 'limit'], next: [CALL] },
  {
    command: 'grep',
    options: ['in', 'kind', 'role', 'since', 'until', 'limit', 'skip'],
    next: [CALL, WHY],
  },
  {
    command: 'calls',
    options: ['runs', 'limit'],
    next: [CALL, 'rerun HISTORY: run the recorded program again'],
  },
  {
    command: 'call',
    options: [],
    next: [WHY, 'thread HISTORY @cN: all that the call was shown', 'show HISTORY @cN NODE: a message whole'],
  },
  { command: 'thread', options: [], next: [WHY, 'blame HISTORY @cN: who wrote which bytes of it'] },
  { command: 'show', options: [], next: [WHY] },
  { command: 'diff', options: ['select', 'files', 'explain'], next: [WHY] },
  { command: 'compare', options: ['excerpt'], next: [CALL, WHY] },
  { command: 'why', options: ['file'], next: [CALL] },
  { command: 'blame', options: ['bytes'], next: [WHY] },
  { command: 'cache', options: ['all'], next: ['diff HISTORY @cN @cM --explain: what broke a prefix', CALL] },
  { command: 'tools', options: [], next: ['grep WORDS --kind tool: where a tool was called', CALL] },
  { command: 'bisect', options: ['good', 'bad', 'when', 'when-not'], next: [CALL, WHY] },
  { command: 'select', options: ['include-content'], next: [WHY] },
  { command: 'branches', options: [], next: ['compare HISTORY A B: how two branches differ'] },
  { command: 'interventions', options: ['type', 'actor'], next: [WHY] },
  { command: 'held', options: ['all'] },
  { command: 'breaks', options: [] },
  {
    command: 'rerun',
    options: ['run', 'on-difference', 'errors', 'values', 'tools', 'from', 'without', 'name'],
    next: ['compare HISTORY A B: how the forks of a rerun differ'],
    needs: 'rerun',
    fixed: ['command'],
    plan: 'dry-run',
  },
  ...['inject', 'insert', 'replace', 'remove', 'edit', 'fork', 'rollback', 'commit'].map(intervening),
  ...['break', 'unbreak', 'resume', 'abort', 'steer', 'save', 'annotate', 'label'].map(intervening),
];

export const toolOf = (command: string): AgentTool | undefined =>
  TOOLS.find((tool) => tool.command === command);

/** What may be asked next, about the history that was asked about. */
export const nextOf = ({ next = [] }: AgentTool, history: string | undefined): readonly string[] =>
  next.map((step) => (history === undefined ? step : step.replaceAll('HISTORY', history)));
