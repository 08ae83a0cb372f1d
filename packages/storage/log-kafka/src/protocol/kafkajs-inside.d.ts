// The parts of kafkajs 2.2.4 below its public API that this folder and its tests build on (docs/decisions/0035).

declare module 'kafkajs/src/cluster/index.js' {
  import type Connection from 'kafkajs/src/network/connection.js';
  export type Broker = {
    readonly connectionPool: {
      send(request: {
        readonly request: object;
        readonly response: {
          decode(payload: Buffer): Promise<unknown>;
          parse(data: unknown): Promise<unknown>;
        };
        readonly requestTimeout?: number;
      }): Promise<unknown>;
      getConnection(index: number): Promise<Connection>;
    };
    disconnect(): Promise<void>;
    /** Of each API the versions that the broker speaks. */
    readonly versions: Readonly<Record<number, { readonly maxVersion: number }>> | null;
    describeConfigs(request: {
      readonly resources: readonly {
        readonly type: number;
        readonly name: string;
        readonly configNames: readonly string[];
      }[];
    }): Promise<{
      readonly resources: readonly {
        readonly configEntries: readonly { readonly configName: string; readonly configValue: string }[];
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
      sasl?: object;
    });
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    refreshMetadata(): Promise<void>;
    metadata(): Promise<unknown>;
    addTargetTopic(topic: string): Promise<void>;
    findBroker(destination: { readonly nodeId: string }): Promise<Broker>;
    findTopicPartitionMetadata(
      topic: string,
    ): readonly { readonly partitionId: number; readonly leader: number; readonly isr: readonly number[] }[];
    fetchTopicsOffset(
      topics: readonly {
        readonly topic: string;
        readonly partitions: readonly { readonly partition: number }[];
        readonly fromTimestamp: number;
      }[],
    ): Promise<
      readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]
    >;
  }
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    constructor(options: {
      readonly logger: unknown;
      readonly requestTimeout: number;
      readonly enforceRequestTimeout: boolean;
    });
    pending: readonly unknown[];
    checkPendingRequests(): void;
    push(request: {
      readonly entry: {
        readonly apiKey: number;
        readonly apiName: string;
        readonly apiVersion: number;
        readonly correlationId: number;
        readonly resolve: (answer: { readonly payload: Buffer }) => void;
        readonly reject: (error: unknown) => void;
      };
      readonly expectResponse: boolean;
      readonly requestTimeout: number | null;
      readonly sendRequest: () => void;
    }): void;
    maybeThrottle(milliseconds: number | undefined): void;
    destroy(): void;
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/network/connection.js' {
  import type RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
  import type { Socket } from 'node:net';
  export default class Connection {
    readonly clientId: string;
    readonly socket: Socket;
    readonly requestQueue: RequestQueue;
    authenticate(): Promise<void>;
    failIfNotConnected(): void;
    nextCorrelationId(): number;
    isConnected(): boolean;
    connect: (this: Connection) => Promise<unknown>;
    disconnect(): Promise<unknown>;
    readonly bytesBuffered: number;
    processData: (this: Connection, data: Buffer) => void;
    rejectRequests(error: unknown): void;
    send(request: {
      readonly request: {
        readonly apiKey: number;
        readonly apiVersion: number;
        readonly apiName: string;
        encode(): Promise<unknown>;
      };
      readonly response: {
        decode(payload: Buffer): Promise<unknown>;
        parse(data: unknown): Promise<unknown>;
      };
    }): Promise<unknown>;
  }
}

declare module 'kafkajs/src/network/connectionPool.js' {
  import type Connection from 'kafkajs/src/network/connection.js';
  export default class ConnectionPool {
    constructor(options: {
      readonly host: string;
      readonly port: number;
      readonly clientId: string;
      readonly connectionTimeout: number;
      readonly requestTimeout: number;
      readonly logger: unknown;
      readonly socketFactory: unknown;
    });
    getConnection(index?: number): Promise<Connection>;
    destroy(): Promise<unknown>;
  }
}

declare module 'kafkajs/src/protocol/encoder.js' {
  const Encoder: new () => { writeBufferInternal(bytes: Buffer): void };
  export default Encoder;
}

declare module 'kafkajs/src/protocol/decoder.js' {
  const Decoder: new (bytes: Buffer) => object;
  export default Decoder;
}

declare module 'kafkajs/src/protocol/recordBatch/v0/decoder.js' {
  export default function decodeBatch(decoder: object): Promise<{
    readonly records: readonly {
      readonly key: Buffer | null;
      readonly value: Buffer | null;
      readonly headers: Readonly<Record<string, Buffer | readonly Buffer[]>>;
    }[];
  }>;
}

declare module 'kafkajs/src/loggers/index.js' {
  const loggers: {
    createLogger(options: { level: number; logCreator: unknown }): { namespace(name: string): unknown };
  };
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

declare module 'kafkajs/src/protocol/requests/produce/v7/response.js' {
  const response: {
    decode(payload: Buffer): Promise<response.Produced>;
    parse(data: unknown): Promise<response.Produced>;
  };
  namespace response {
    type Produced = {
      readonly clientSideThrottleTime?: number;
      readonly topics: readonly {
        readonly topicName: string;
        readonly partitions: readonly {
          readonly partition: number;
          readonly baseOffset: string;
          readonly logStartOffset: string;
        }[];
      }[];
    };
  }
  export default response;
}

declare module 'kafkajs/src/protocol/recordBatch/crc32C/index.js' {
  export default function crc32C(bytes: Uint8Array): number;
}

declare module 'kafkajs/src/broker/saslAuthenticator/plain.js' {
  export default function provider(sasl: object): (request: {
    readonly saslAuthenticate: (request: object) => Promise<unknown>;
  }) => {
    authenticate(): Promise<void>;
  };
}

declare module 'kafkajs/src/broker/saslAuthenticator/scram256.js' {
  export default function provider(sasl: object): (request: {
    readonly saslAuthenticate: (request: object) => Promise<unknown>;
  }) => {
    authenticate(): Promise<void>;
  };
}

declare module 'kafkajs/src/broker/saslAuthenticator/scram512.js' {
  export default function provider(sasl: object): (request: {
    readonly saslAuthenticate: (request: object) => Promise<unknown>;
  }) => {
    authenticate(): Promise<void>;
  };
}

declare module 'kafkajs/src/broker/saslAuthenticator/oauthBearer.js' {
  export default function provider(sasl: object): (request: {
    readonly saslAuthenticate: (request: object) => Promise<unknown>;
  }) => {
    authenticate(): Promise<void>;
  };
}
