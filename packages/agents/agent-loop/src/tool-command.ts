import { isUtf8 } from 'node:buffer';
import { spawn } from 'node:child_process';
import { KEY_VARIABLES } from '@stemma/model-clients';
import { canonicalArguments, type ToolCall } from './chat-message.ts';

/** What a command gave as the result of a tool. */
export type ToolOutput = { readonly content: string; readonly isError: boolean };

export type ToolCommandLimits = {
  /** Milliseconds until it is ended; default 60,000. */
  readonly timeout: number;
  /** Bytes that are read of what it writes; default 1 MiB. */
  readonly output: number;
};

const TOOL_COMMAND_LIMITS: ToolCommandLimits = { timeout: 60_000, output: 1024 * 1024 };

/**
 * Runs a command with a call of a tool as JSON on its stdin: `{"name", "arguments", "id"}`. What it writes to stdout is the
 * result; with another exit code than 0 the result is an error. It sees no key of a model.
 *
 * @throws the reason of the signal
 */
export const runToolCommand = async (
  command: string,
  call: ToolCall,
  {
    env,
    signal,
    limits = TOOL_COMMAND_LIMITS,
  }: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly signal: AbortSignal;
    readonly limits?: ToolCommandLimits;
  },
): Promise<ToolOutput> => {
  signal.throwIfAborted();
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !KEY_VARIABLES.includes(name)));
  // A group of its own: what the shell starts ends with it.
  const child = spawn(command, { shell: true, detached: true, env: own, stdio: ['pipe', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  let size = 0;
  let why: string | undefined;
  const end = (reason: string): void => {
    why ??= reason;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  const cancel = (): void => end('it was cancelled');
  const timer = setTimeout(
    () => end(`the tool did not end within ${limits.timeout / 1_000} s`),
    limits.timeout,
  );
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const code = await new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(127));
      child.on('close', resolve);
      child.stdout.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size > limits.output) end(`the tool wrote more than ${limits.output} bytes`);
        else pieces.push(piece);
      });
      // A command may end without reading what it is given.
      child.stdin.on('error', () => undefined);
      child.stdin.end(`${inputFor(call)}\n`);
    });
    signal.throwIfAborted();
    if (why !== undefined) return { content: why, isError: true };
    const bytes = Buffer.concat(pieces);
    if (!isUtf8(bytes)) return { content: 'the tool wrote bytes that are no UTF-8', isError: true };
    const text = bytes.toString().replace(/\r?\n$/, '');
    if (code === 0) return { content: text, isError: false };
    return { content: text === '' ? `the tool ended with exit code ${code ?? 'none'}` : text, isError: true };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
};

/** The arguments as JSON where they are JSON, else as the text that the model wrote. */
const inputFor = ({ id, name, arguments: text }: ToolCall): string => {
  const given = canonicalArguments(text);
  const json = isJson(given) ? given : JSON.stringify(text);
  return `{"name":${JSON.stringify(name)},"arguments":${json},"id":${JSON.stringify(id)}}`;
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
