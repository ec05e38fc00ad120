/** What a peer may cost. Addresses are counted generously: a mobile network shows thousands of devices behind one. */
export interface GatewayLimits {
  connections: number;
  connectionsPerAddress: number;
  newPerAddressPerMinute: number;
  /** Connections without an accepted login: of one network, of all, and the bytes each may leave undecoded. */
  unloggedPerAddress: number;
  unlogged: number;
  unloggedBytes: number;
  /** More refused logins than this in a minute, and logins of the network are answered slowly for a while. */
  refusedLoginsPerMinute: number;
  slowedMs: number;
  slowedAnswersPerSecond: number;
  /** From the first byte's connection to an accepted login. */
  loginTimeoutMs: number;
  idleTimeoutMs: number;
  /** From the connection of a proxy to the end of its header. */
  proxyHeaderTimeoutMs: number;
  /** Bytes without a recognised protocol. */
  undecidedBytes: number;
  /** Bytes without a frame (section 26.1, 23.3). */
  bytesWithoutFrame: number;
  maxConsecutiveMalformed: number;
  /** Frames and bytes of one connection that wait for their commit, before it is no longer read. */
  waitingFrames: number;
  waitingBytes: number;
  /** A device that sends more is read more slowly. */
  packetsPerMinute: number;
  packetBurst: number;
  /**
   * Frames and bytes of the devices of one organization. From there one frame is decoded of each device of which none waits, and
   * from twice as many none. For what is read, bytes that are not decoded count as well: from there no device is read that has
   * something waiting or a backlog, and from twice as many none.
   */
  tenantFrames: number;
  tenantBytes: number;
  /** Frames and bytes of all connections together, with those that are not decoded, before none is read. */
  queuedFrames: number;
  queuedBytes: number;
  /** Answers that a peer does not read. */
  unreadBytes: number;
  unreadTimeoutMs: number;
  /** Of one UDP datagram. */
  datagramBytes: number;
  /** UDP peers whose login is being looked up. */
  unsettledPeers: number;
  /** Datagrams of one peer that wait because it is not read, and the bytes of all that wait. */
  waitingDatagrams: number;
  waitingDatagramBytes: number;
  /** How long a UDP peer is taken to be reachable after its last datagram. */
  addressFreshMs: number;
  /** How often idle, silent and slow connections are looked for. */
  sweepEveryMs: number;
  /** How long closing waits for commits and answers. */
  drainMs: number;
}

export const defaultLimits: GatewayLimits = {
  connections: 100_000,
  connectionsPerAddress: 20_000,
  newPerAddressPerMinute: 12_000,
  unloggedPerAddress: 2000,
  unlogged: 10_000,
  unloggedBytes: 2048,
  refusedLoginsPerMinute: 30,
  slowedMs: 15 * 60_000,
  slowedAnswersPerSecond: 2,
  loginTimeoutMs: 30_000,
  idleTimeoutMs: 30 * 60_000,
  proxyHeaderTimeoutMs: 5000,
  undecidedBytes: 256,
  bytesWithoutFrame: 8192,
  maxConsecutiveMalformed: 20,
  waitingFrames: 64,
  waitingBytes: 256 * 1024,
  packetsPerMinute: 600,
  packetBurst: 1200,
  tenantFrames: 5000,
  tenantBytes: 16 * 1024 * 1024,
  queuedFrames: 20_000,
  queuedBytes: 64 * 1024 * 1024,
  unreadBytes: 256 * 1024,
  unreadTimeoutMs: 30_000,
  datagramBytes: 8192,
  unsettledPeers: 2000,
  waitingDatagrams: 64,
  waitingDatagramBytes: 16 * 1024 * 1024,
  // A router keeps the way back open for two minutes at least (RFC 4787, REQ-5).
  addressFreshMs: 120_000,
  sweepEveryMs: 1000,
  drainMs: 10_000,
};
