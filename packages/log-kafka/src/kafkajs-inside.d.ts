// The parts of kafkajs 2.2.4 below its public API that client.ts builds on (docs/decisions/0035).

declare module 'kafkajs/src/cluster/index.js' {
  export type Broker = {
    readonly versions: Readonly<Record<number, { readonly maxVersion: number }>>;
    readonly connectionPool: {
      send(request: {
        readonly request: object;
        readonly response: {
          decode(payload: Buffer): Promise<unknown>;
          parse(data: unknown): Promise<unknown>;
        };
        readonly requestTimeout?: number;
      }): Promise<unknown>;
      getConnection(index: number): Promise<unknown>;
    };
    disconnect(): Promise<void>;
    joinGroup(request: {
      readonly groupId: string;
      readonly sessionTimeout: number;
      readonly rebalanceTimeout: number;
      readonly memberId: string;
      readonly groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
    }): Promise<{
      readonly generationId: number;
      readonly leaderId: string;
      readonly memberId: string;
      readonly members: readonly { readonly memberId: string }[];
    }>;
    syncGroup(request: {
      readonly groupId: string;
      readonly generationId: number;
      readonly memberId: string;
      readonly groupAssignment: readonly { readonly memberId: string; readonly memberAssignment: Buffer }[];
    }): Promise<{ readonly memberAssignment: Buffer }>;
    heartbeat(request: {
      readonly groupId: string;
      readonly groupGenerationId: number;
      readonly memberId: string;
    }): Promise<unknown>;
    leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
    produce(request: {
      readonly topicData: readonly {
        readonly topic: string;
        readonly partitions: readonly {
          readonly partition: number;
          readonly messages: readonly {
            readonly key: Buffer | string | null;
            readonly value: Buffer | null;
            readonly timestamp?: string;
            readonly headers?: object;
          }[];
        }[];
      }[];
      readonly acks: number;
      readonly timeout: number;
      readonly compression: number;
    }): Promise<{
      readonly topics: readonly {
        readonly topicName: string;
        readonly partitions: readonly { readonly partition: number; readonly baseOffset: string }[];
      }[];
    }>;
  };
  export default class Cluster {
    constructor(options: {
      logger: unknown;
      socketFactory: unknown;
      brokers: readonly string[];
      clientId: string;
      connectionTimeout: number;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      metadataMaxAge: number;
      retry: { retries: number };
      allowAutoTopicCreation: boolean;
      maxInFlightRequests: number | null;
      isolationLevel: number;
    });
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    refreshMetadata(): Promise<void>;
    addTargetTopic(topic: string): Promise<void>;
    findBroker(destination: { readonly nodeId: string }): Promise<Broker>;
    findGroupCoordinator(group: { readonly groupId: string }): Promise<Broker>;
    findTopicPartitionMetadata(
      topic: string,
    ): readonly { readonly partitionId: number; readonly leader: number; readonly isr: readonly number[] }[];
    fetchTopicsOffset(
      topics: readonly {
        readonly topic: string;
        readonly partitions: readonly { readonly partition: number }[];
        readonly fromTimestamp: number;
      }[],
    ): Promise<readonly { readonly partitions: readonly { readonly offset: string }[] }[]>;
  }
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/network/connection.js' {
  export default class Connection {
    isConnected(): boolean;
    connect: (this: Connection) => Promise<unknown>;
    disconnect(): Promise<unknown>;
    processData: (this: Connection, data: Buffer) => void;
    rejectRequests(error: unknown): void;
  }
}

declare module 'kafkajs/src/consumer/assignerProtocol.js' {
  const protocol: {
    readonly MemberMetadata: {
      encode(member: { readonly version: number; readonly topics: readonly string[] }): Buffer;
    };
    readonly MemberAssignment: {
      encode(dealt: {
        readonly version: number;
        readonly assignment: Readonly<Record<string, readonly number[]>>;
      }): Buffer;
      decode(bytes: Buffer): { readonly assignment: Readonly<Record<string, readonly number[]>> } | null;
    };
  };
  export default protocol;
}

declare module 'kafkajs/src/network/socketFactory.js' {
  export default function createSocketFactory(): unknown;
}

declare module 'kafkajs/src/loggers/index.js' {
  const loggers: { createLogger(options: { level: number; logCreator: unknown }): unknown };
  export default loggers;
}

declare module 'kafkajs/src/protocol/requests/fetch/v11/request.js' {
  export default function request(options: {
    readonly replicaId: number;
    readonly isolationLevel: number;
    readonly maxWaitTime: number;
    readonly minBytes: number;
    readonly maxBytes: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        readonly partition: number;
        readonly fetchOffset: number;
        readonly maxBytes: number;
      }[];
    }[];
  }): object;
}

declare module 'kafkajs/src/protocol/recordBatch/crc32C/index.js' {
  export default function crc32C(bytes: Uint8Array): number;
}
