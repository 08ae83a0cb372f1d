import { openMemoryContents } from '@stemma/contents';
import { isStemmaError } from '@stemma/errors';
import { commandDigest, type Command } from '@stemma/history';
import { openMemoryLog, openWriter, type Domain, type Writer } from '@stemma/log';
import { openProjector, type Projector } from '@stemma/projector';
import { openMemoryRowStore } from '@stemma/row-store';
import { openRowsDomain } from '../src/decision-sources.ts';
import { MOST_AHEAD } from '../src/decision-state.ts';

/** What became of a command: `written`, `repeated`, or the code of the error. */
export const write = async (writer: Writer<Command>, command: Command): Promise<string> => {
  const { id, history } = command;
  try {
    const { repeated } = await writer.write({ id, digest: commandDigest(command), history, command });
    return repeated ? 'repeated' : 'written';
  } catch (error) {
    return isStemmaError(error) ? error.code : 'another error';
  }
};

/** A writer whose rows stand still until the projector is asked to catch up. */
export const openWithoutRows = async (
  mostAhead = MOST_AHEAD,
  wrapped: (domain: Domain<Command>) => Domain<Command> = (domain) => domain,
): Promise<{ readonly projector: Projector; readonly writer: Writer<Command> }> => {
  const log = await openMemoryLog();
  const contents = openMemoryContents();
  const projector = openProjector({ log, contents, store: openMemoryRowStore() });
  const domain = openRowsDomain(
    log,
    projector,
    () => 1n,
    () => undefined,
    mostAhead,
  );
  const writer = openWriter(log, {
    domain: wrapped(domain),
    contents,
    random: () => 0,
    sleep: () => Promise.resolve(),
    now: () => 0,
  });
  return { projector, writer };
};
