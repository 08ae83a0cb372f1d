import { toolOf } from './agent/tools.ts';
import type { CommandSpec } from './command.ts';
import { shellQuoted } from './shell-quoted.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What every command takes. */
const GENERAL = ['--home', '--json', '--redact', '--help'] as const;

const FLAG = /--[a-z][a-z-]*/;

/** What those take that language models use, too. */
const FOR_AGENTS = ['--output', '--budget', '--cursor'] as const;

const flagsOf = ({ name, options }: CommandSpec): readonly string[] => [
  ...new Set([
    ...options.flatMap(([syntax]) => FLAG.exec(syntax)?.[0] ?? []),
    ...(toolOf(name) === undefined ? [] : FOR_AGENTS),
  ]),
  ...GENERAL,
];

const takesHistory = ({ arguments: [first] }: CommandSpec): boolean =>
  first !== undefined && /^[<[]history/.test(first[0]);

/** How names of histories are asked for: nothing is said where there is no home. */
const NAMES = 'stemma histories --names 2>/dev/null';

/** A script that a shell reads at its start. It asks `stemma` for the names of histories when they are wanted. */
export const completionScript = (shell: Shell, commands: readonly CommandSpec[]): string =>
  SCRIPTS[shell](commands);

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CommandSpec[]) => string>> = {
  bash: (commands) => `# Completions of stemma for bash: source <(stemma completion bash)
_stemma() {
  local word="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands.map(({ name }) => name).join(' ')} help'
  elif [[ "$word" == -* ]]; then
    case "$command" in
${commands.map((spec) => `      ${spec.name}) words='${flagsOf(spec).join(' ')}' ;;`).join('\n')}
    esac
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case "$command" in
      ${historyCommands(commands).join('|')}) words="$(${NAMES})" ;;
      help) words='${commands.map(({ name }) => name).join(' ')}' ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _stemma stemma
`,
  zsh: (commands) => `#compdef stemma
# Completions of stemma for zsh: source <(stemma completion zsh)
_stemma() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${shellQuoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
  elif [[ "$words[CURRENT]" == -* ]]; then
    case "$words[2]" in
${commands.map((spec) => `      ${spec.name}) compadd -- ${flagsOf(spec).join(' ')} ;;`).join('\n')}
    esac
  elif (( CURRENT == 3 )); then
    case "$words[2]" in
      ${historyCommands(commands).join('|')}) compadd -- \${(f)"$(${NAMES})"} ;;
      *) _files ;;
    esac
  else
    _files
  fi
}
compdef _stemma stemma
`,
  fish: (commands) => `# Completions of stemma for fish: stemma completion fish | source
${commands
  .map(
    ({ name, summary }) =>
      `complete -c stemma -n __fish_use_subcommand -f -a ${name} -d ${shellQuoted(summary)}`,
  )
  .join('\n')}
complete -c stemma -n "__fish_seen_subcommand_from ${historyCommands(commands).join(' ')}" -f -a "(${NAMES})"
${commands
  .flatMap(({ name, options }) =>
    options.flatMap(([syntax, description]) => {
      const flag = FLAG.exec(syntax)?.[0].slice(2);
      return flag === undefined
        ? []
        : [
            `complete -c stemma -n "__fish_seen_subcommand_from ${name}" -l ${flag} -d ${shellQuoted(description)}`,
          ];
    }),
  )
  .join('\n')}
`,
};

const historyCommands = (commands: readonly CommandSpec[]): readonly string[] =>
  commands.filter(takesHistory).map(({ name }) => name);

/** A text in single quotes, as shells read it. */
