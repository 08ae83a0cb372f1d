import kafkajs from 'kafkajs';

/** Sets settings of a topic as somebody with Kafka's tools does; those that are not named go back to their defaults. */
export const setTopic = async (
  brokers: readonly string[],
  topic: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> => {
  const admin = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name: topic,
          configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
        },
      ],
    });
  } finally {
    await admin.disconnect();
  }
};
