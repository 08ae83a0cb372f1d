import { fail } from '@stemma/errors';
import { retryAttempts } from '@stemma/machine';
import type Cluster from 'kafkajs/src/cluster/index.js';
import type { KafkaSecurity } from '../security/settings.ts';
import { openCluster, openSockets, turned, type Sockets } from './connections.ts';
import { needing, refuseFinal, unreachable } from './kafka-errors.ts';
import { Lost, unlessLost } from './unless-lost.ts';

/** Milliseconds before the third try and later ones. The second comes at once, because the client has just looked up the leaders. */
const PAUSES = { first: 20, longest: 500 };

export type SteadyClusterOptions = {
  readonly brokers: readonly string[];
  readonly security: KafkaSecurity;
  readonly topic: string;
  /** Milliseconds after which a request is given up. */
  readonly deadline: number;
};

/** The connections to the brokers of a topic: after a failure the leaders are looked up again, on new ones if necessary. */
export class SteadyCluster {
  readonly #options: SteadyClusterOptions;
  readonly #sockets: Sockets;
  #cluster: Cluster;
  /** The leaders of the topic are known on these connections. */
  #known = false;
  #renewing: Promise<void> | undefined;
  #made = 0;
  #epoch = 0;
  #closed = false;

  constructor(options: SteadyClusterOptions) {
    this.#options = options;
    this.#sockets = openSockets(options.security, () => {
      this.#epoch++;
    });
    this.#cluster = openCluster(options.brokers, this.#sockets);
  }

  get now(): Cluster {
    return this.#cluster;
  }

  /** A number that rises when a connection was lost or a leader may have changed. */
  get epoch(): number {
    return this.#epoch;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Repeats an attempt until it succeeds, cannot succeed, or the deadline is over. @throws E_BROKERS_UNREACHABLE, E_LOG_CLOSED */
  async trying<T>(attempt: (cluster: Cluster) => Promise<T>): Promise<T> {
    const { brokers, deadline } = this.#options;
    let mine = this.#cluster;
    const once = async (): Promise<T> => {
      this.#refuseClosed();
      mine = this.#cluster;
      if (!this.#known) await this.renew();
      mine = this.#cluster;
      return unlessLost(attempt(mine));
    };
    return retryAttempts(once, {
      pauses: PAUSES,
      atOnce: 1,
      deadline,
      onFailure: async ({ error, failed, isLate }) => {
        if (error instanceof Lost) this.leave(mine);
        this.#refuseClosed();
        refuseFinal(error, failed === 1);
        if (isLate) throw unreachable(brokers, error);
        await this.renew().catch(() => undefined);
      },
    });
  }

  /** Looks up the leaders again, once for all who ask meanwhile. */
  renew(): Promise<void> {
    return (this.#renewing ??= this.#renewNow().finally(() => (this.#renewing = undefined)));
  }

  /** From now on new connections are used. */
  leave(old: Cluster): void {
    if (old !== this.#cluster) return;
    this.#known = false;
    this.#cluster = openCluster(turned(this.#options.brokers, ++this.#made), this.#sockets);
    void old.disconnect().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sockets.end();
    await this.#cluster.disconnect().catch(() => undefined);
  }

  #refuseClosed(): void {
    if (this.#closed) throw fail('E_LOG_CLOSED', 'the log was closed');
  }

  #describing(asked: Promise<void>): Promise<void> {
    return needing('DESCRIBE', this.#options, unlessLost(asked));
  }

  async #renewNow(): Promise<void> {
    this.#epoch++;
    const mine = this.#cluster;
    try {
      if (this.#known) {
        await this.#describing(mine.refreshMetadata());
        return;
      }
      await unlessLost(mine.connect());
      await this.#describing(mine.addTargetTopic(this.#options.topic));
      this.#known = true;
    } catch (error) {
      this.leave(mine);
      throw error;
    }
  }
}
