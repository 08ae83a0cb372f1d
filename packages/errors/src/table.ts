/** What one code means to a program (HTTP status, exit code, worth retrying) and to a person (help). */
export type ErrorRow = {
  readonly status: number;
  readonly exit: number;
  readonly retriable: boolean;
  readonly help: string;
};

const row = (status: number, exit: number, retriable: boolean, help: string): ErrorRow => ({
  status,
  exit,
  retriable,
  help,
});

/**
 * Every error that Stemma raises. Exit codes: 1 failed, 2 cancelled, 3 conflict, 4 not allowed,
 * 5 verification failed, 64 usage, 74 input or output. A code, once published, keeps its meaning.
 */
// prettier-ignore
export const ERRORS = {
  // usage and input
  E_USAGE: row(400, 64, false, 'Run the command with --help to see what it takes.'),
  E_CANCELLED: row(499, 2, false, 'The operation was cancelled; what was acknowledged before stays.'),
  E_INPUT_NOT_JSON: row(400, 1, false, 'The input must be one JSON document, or JSON documents one a line.'),
  E_INPUT_TRUNCATED: row(400, 1, false, 'The input ends in the middle of a value; get the whole file and try again.'),
  E_INPUT_TOO_DEEP: row(400, 1, false, 'Values may be nested 512 levels deep at the most, contents 300.'),
  E_INPUT_TOO_LARGE: row(413, 1, false, 'Split the input, or leave the oversized value out.'),
  E_INPUT_FORBIDDEN_KEY: row(400, 1, false, 'Objects may not have the keys __proto__, constructor or prototype.'),
  E_INPUT_SURROGATE: row(400, 1, false, 'Texts must be well-formed Unicode: no unpaired surrogates.'),
  E_INPUT_NUMBER: row(400, 1, false, 'Integers beyond ±(2^53−1) cannot be kept exactly: write them as texts.'),
  E_INPUT_ENCODING: row(400, 1, false, 'The input must be UTF-8; convert the file and try again.'),
  E_INPUT_CHANGED: row(409, 74, true, 'The file was written to while it was read; import it when it rests.'),
  E_INPUT_SHAPE: row(400, 1, false, 'The input is JSON but not of the expected shape.'),
  E_FORMAT_UNKNOWN: row(400, 1, false, 'Name the format with --format; `stemma import --help` lists them.'),
  E_ROLE_UNKNOWN: row(400, 1, false, 'A message has one of the roles system, developer, user, assistant, tool, function.'),
  E_CONTENT_TOO_LARGE: row(413, 1, false, 'One content may be 64 MiB at the most.'),
  // the tree
  E_NODE_INVALID: row(400, 1, false, 'See docs/glossary.md for the headers a node has.'),
  E_NODE_NOT_FOUND: row(404, 1, false, '`stemma show H @t0` lists the nodes there are.'),
  E_NODE_EXISTS: row(409, 3, false, 'Ids are unique in the whole history; choose another.'),
  E_PLACEMENT: row(409, 1, false, 'Insert under ^ah or ^sys, or attach a block (offset ≠ 0) to a sealed turn.'),
  E_TWO_CORES: row(409, 1, false, 'A turn has one core: either one mc, or blocks at offset 0.'),
  E_SEALED: row(409, 1, false, 'Sealed turns keep their core; only blocks attached to them (offset ≠ 0) come and go.'),
  E_HEADER_IMMUTABLE: row(409, 1, false, 'Remove the node and insert it under a new id.'),
  E_POLICY_INVALID: row(400, 1, false, 'A policy is {max_blocks, keep_turns, pins}.'),
  E_EXPORT_INVALID: row(400, 1, false, 'An export is {spec_version, cycle, root} as `stemma export` prints it.'),
  E_NAME_INVALID: row(400, 64, false, 'Names are letters, digits, _ . - and at most 128 characters.'),
  E_NAME_TAKEN: row(409, 3, false, 'A name names one position, or one branch, of a history; choose another.'),
  E_SELECTOR_INVALID: row(400, 64, false, 'A selector is [@position] and steps such as ^seq .cb[role=\'tool\'] or #id; a position is @t0 @t-1 @c3 @s57 @name:NAME.'),
  E_SNAPSHOT_NOT_FOUND: row(404, 1, false, '`stemma snapshots H` lists the snapshots there are.'),
  E_SNAPSHOT_RANGE_KIND_MISMATCH: row(400, 64, false, 'Both ends of a range are @t or both are @c.'),
  E_SNAPSHOT_RANGE_WILDCARD: row(400, 64, false, '@* stands alone, never in a range.'),
  E_BISECT_ENDS: row(409, 64, false, 'A search leads from a snapshot where the selector does not hold to another where it does.'),
  E_SNAPSHOT_RANGE_LIMIT: row(400, 64, false, 'Ask for fewer snapshots, or raise maxSnapshots.'),
  // compiler stages
  E_STAGES_CONFIG: row(400, 64, false, 'A configuration is {selection?, header?, frozen?, collapse?, prompt_summary?}; see docs/stages.md.'),
  E_STAGES_DIFFER: row(409, 5, false, 'The log is not the one that the snapshot was taken of, or was changed since.'),
  // histories and commands
  E_HOME_NOT_FOUND: row(404, 1, false, 'Import something first, or name the home with --home or STEMMA_HOME.'),
  E_HISTORY_NOT_FOUND: row(404, 1, false, '`stemma histories` lists the histories there are.'),
  E_HISTORY_AMBIGUOUS: row(409, 64, false, 'Give more characters of the id.'),
  E_HISTORY_EXISTS: row(409, 3, false, 'Import under another name, or leave the history as it is.'),
  E_BRANCH_NOT_FOUND: row(404, 1, false, '`stemma histories` lists histories and their branches.'),
  E_NOT_ON_ANCESTOR_PATH: row(409, 1, false, 'A rollback goes to an earlier position of the same branch; `stemma fork` goes on from any other.'),
  E_EXPERIMENT_INVALID: row(400, 1, false, 'An experiment is a file that `stemma experiment export` wrote.'),
  E_EXPERIMENT_PARTED: row(409, 5, false, '`stemma compare` shows what is different; the history that was made stays.'),
  E_INTERVENTION_NOT_FOUND: row(404, 1, false, '`stemma interventions H` lists the interventions there are.'),
  E_COMMAND_REUSED: row(409, 3, false, 'A command id belongs to one command; make a new id.'),
  E_COMMAND_INVALID: row(400, 64, false, 'See docs/formats/ for the shape of commands.'),
  E_CONFLICT: row(409, 3, true, 'Another writer was first: look at the history as it is now and try again.'),
  E_OUTCOME_UNKNOWN: row(503, 3, true, 'Send the same command again with the same id: it has one effect at most.'),
  // the record
  E_RECORD_DAMAGED: row(500, 5, false, 'Restore the record from a copy, or `stemma salvage` the history.'),
  E_PARTITION_CLOSED: row(503, 5, false, '`stemma verify` names the record; `stemma ack PARTITION@OFFSET` opens the partition.'),
  E_HISTORY_DAMAGED: row(409, 5, false, 'Restore the record from a copy, or `stemma salvage` the history.'),
  E_HISTORY_DEFECTIVE: row(409, 5, false, '`stemma verify` names the frame; `stemma salvage` goes on from the last good snapshot.'),
  E_VERSION_NEEDED: row(501, 1, false, 'The log was written by a newer Stemma: upgrade this one.'),
  E_FRAME_INVALID: row(500, 5, false, 'The bytes are not a frame in canonical form.'),
  E_FRAME_TOO_LARGE: row(413, 1, false, 'Split the command.'),
  E_CONTENT_MISSING: row(500, 5, false, 'Put the missing file back into the contents store (from a copy).'),
  E_CONTENT_DAMAGED: row(500, 5, false, 'Restore the file in the contents store from a copy.'),
  E_CURSOR_LOST: row(409, 5, false, 'The log lost its end and grew again: rebuild the rows with `stemma replay`.'),
  E_CURSOR_MOVED: row(409, 3, true, 'Another projector has moved on; load the cursor again.'),
  E_LOG_BUSY: row(503, 74, true, 'Another process holds the log; end it or wait.'),
  E_LOG_MISMATCH: row(409, 74, false, 'The directory holds another log than the one expected.'),
  E_LOG_CLOSED: row(503, 74, false, 'The log was closed.'),
  E_LOG_NOT_FOUND: row(404, 74, false, 'Import something first, or name another log with STEMMA_LOG.'),
  E_LOG_NOT_EMPTY: row(409, 3, false, 'Choose an empty target, or one that holds a part of the same.'),
  E_BROKERS_UNREACHABLE: row(503, 74, true, 'Look whether the brokers run, and whether STEMMA_LOG names them.'),
  E_BROKERS_REFUSED: row(503, 74, false, 'Ask whoever runs the brokers what this client may do.'),
  E_IO: row(500, 74, true, 'The disk or the file system refused.'),
  E_NOTHING_TO_ACK: row(404, 1, false, '`stemma verify` lists the damaged records.'),
  E_NOTHING_TO_SALVAGE: row(409, 1, false, 'The history is whole: go on with it.'),
  // rows
  E_ROWS_DAMAGED: row(500, 74, false, 'Delete the folder `rows` of the home: it is made again from the log.'),
  E_ROWS_VERSION: row(409, 74, false, 'Rebuild the rows with `stemma replay`.'),
  E_ROWS_BEHIND: row(503, 74, true, 'Look whether the projectors run and how far they are (`stemma doctor`); the same can be asked again.'),
  E_ROWS_DIFFER: row(500, 5, false, 'Rebuild the rows with `stemma replay`; keep the old ones for a report.'),
  E_DATABASE_UNREACHABLE: row(503, 74, true, 'Look whether the database runs and STEMMA_ROWS names it; the same can be asked again.'),
  E_DATABASE_UNTRUSTED: row(503, 74, false, 'The certificate of the database must come from an authority known here (sslrootcert) and name its host.'),
  E_DATABASE_REFUSED: row(503, 74, false, 'Look at the user, the password and the name of the database in STEMMA_ROWS, and at what the user may do.'),
  E_DATABASE_VERSION: row(501, 1, false, 'The database was made by a newer Stemma: upgrade this one.'),
  E_KEY_TOO_LONG: row(400, 1, false, 'Ids may have 512 UTF-8 bytes at the most.'),
  E_READ_MODEL_UNKNOWN: row(404, 64, false, 'The catalogue of read models lists what there is.'),
  // serving
  E_NOT_FOUND: row(404, 1, false, 'See /openapi.json for what there is.'),
  E_NOT_ALLOWED: row(403, 4, false, 'The server answers requests for its own address only.'),
  E_ACTOR_REQUIRED: row(403, 4, false, 'Name who acts: --actor, STEMMA_ACTOR, or git config user.name.'),
  E_ACTOR_INVALID: row(400, 64, false, 'An actor has 1 to 256 bytes of UTF-8 and no control characters.'),
  E_NOTES_INVALID: row(400, 64, false, 'Notes have at most 64 KiB and no control characters but tab and newline.'),
  E_CONFIG_INVALID: row(400, 64, false, 'A key begins with a letter, then letters, digits, _ . - (128 at most); values are JSON, 64 KiB in all.'),
  E_NOT_OBSERVED: row(409, 1, false, '`stemma config set H observe=true` makes a history record who looks at it.'),
  E_STREAM_GONE: row(409, 1, true, 'The stream no longer reaches back that far: load the page again.'),
  E_STREAM_SLOW: row(503, 1, true, 'Read the stream faster, or resume it behind the last id.'),
  E_BUSY: row(503, 74, true, 'Try again in a moment.'),
  E_ADDRESS_IN_USE: row(500, 74, false, 'Choose another port with --port.'),
  E_INTERNAL: row(500, 1, false, 'This is a fault of Stemma; please report it.'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
