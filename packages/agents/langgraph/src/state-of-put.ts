import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import type { WideJson } from '@stemma/canonical';
import { messagesIn, withWrites } from '@stemma/importers';
import type { StoredWrite } from './pending-writes.ts';
import { channelOf, valueOf, type Channel, type StateItem, type State } from './state.ts';
import { dump, load } from './typed-text.ts';

export type PutState = {
  readonly serde: SerializerProtocol;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  readonly newVersions: ChannelVersions;
  readonly parentId: string | null;
  readonly parent: State | null;
  /** What tasks wrote to the parent; asked for where a channel is made of it. */
  readonly writes: () => Promise<readonly StoredWrite[]>;
};

/**
 * The state that a put leaves. Of a channel that has no new version the parent's value stays; a copy of another checkpoint (`fork`)
 * brings all of its values.
 */
export const stateOfPut = async (put: PutState): Promise<Omit<State, 'node'>> => {
  const { serde, checkpoint, metadata, newVersions, parent } = put;
  const versionsBefore = parent === null ? {} : await versionsIn(serde, parent);
  const channels = new Map<string, Channel>();
  for (const [name, value] of Object.entries(checkpoint.channel_values)) {
    if (value === undefined) continue;
    const version = checkpoint.channel_versions[name];
    const kept = storedIn(parent, name);
    const isKept = hasValue(kept) && version !== undefined && versionsBefore[name] === version;
    if (Object.hasOwn(newVersions, name) || (!isKept && metadata.source === 'fork'))
      channels.set(name, channelOf(await dump(serde, value)));
    else if (isKept) channels.set(name, kept);
  }
  for (const name of Object.keys(checkpoint.channel_versions)) {
    if (channels.has(name)) continue;
    const kept = storedIn(parent, name);
    if (
      hasValue(kept) &&
      !Object.hasOwn(newVersions, name) &&
      versionsBefore[name] === checkpoint.channel_versions[name]
    )
      channels.set(name, kept);
    else if (!Object.hasOwn(checkpoint.channel_values, name)) {
      const shown = await shownMessages(name, kept, put);
      if (shown !== null) channels.set(name, shown);
    }
  }
  return {
    checkpoint: await dump(serde, { ...checkpoint, channel_values: {} }),
    metadata: await dump(serde, metadata),
    parent: put.parentId,
    channels,
  };
};

/** The messages of a channel of deltas: the checkpoint does not have them, they follow from the parent's and what its tasks wrote. */
const shownMessages = async (
  name: string,
  kept: Channel | undefined,
  { metadata, writes }: PutState,
): Promise<Channel | null> => {
  const isDelta =
    Object.hasOwn(metadata, COUNTERS) || (kept?.kind === 'messages' && (kept.isShown || kept.before !== ''));
  if (!isDelta || kept?.kind === 'value') return null;
  const before = kept?.messages ?? [];
  const given = (await writes()).flatMap(({ channel, value }) =>
    channel === name && value.type === 'json' ? [JSON.parse(value.text) as WideJson] : [],
  );
  const known = before.map(({ text }) => JSON.parse(text) as WideJson);
  const after = withWrites(messagesIn(known) ?? [], given);
  const messages = after.map(({ value }): StateItem => ({
    text: JSON.stringify(value),
    nodes: [],
    ordinal: -1,
  }));
  return messages.length === 0 ? null : { kind: 'messages', before: '', after: '', isShown: true, messages };
};

const hasValue = (channel: Channel | undefined): channel is Channel =>
  channel !== undefined && valueOf(channel) !== null;

/** A channel that has a value, or shows messages. */
const storedIn = (state: State | null, name: string): Channel | undefined => {
  const channel = state?.channels.get(name);
  return channel?.kind === 'value' && channel.value === null ? undefined : channel;
};

/** What LangGraph writes in the metadata of a checkpoint that has channels of deltas. */
const COUNTERS = 'counters_since_delta_snapshot';

const versionsIn = async (serde: SerializerProtocol, { checkpoint }: State): Promise<ChannelVersions> =>
  ((await load(serde, checkpoint)) as Checkpoint).channel_versions;
