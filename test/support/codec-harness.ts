import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { Piece, ProtocolDefinition, Session, SessionDevice } from "../../src/codecs/protocol-definition.ts";
import { type DecodedFrame, type DecodeProblem, StreamDecoder } from "../../src/codecs/stream-decoder.ts";

/** For the tests of codecs: plays the part of the connection, and damages what it feeds in the ways that networks do. */

export interface HarnessWorld {
  protocol: ProtocolDefinition;
  nowMs: number;
  /** The device of a connection that has logged in. */
  device: SessionDevice;
}

export interface Fed {
  frames: DecodedFrame[];
  problems: DecodeProblem[];
  rest: Buffer;
}

export function loggedIn(world: HarnessWorld): Session {
  return { nowMs: world.nowMs, device: world.device, memory: new Map() };
}

export function fresh(world: HarnessWorld): Session {
  return { nowMs: world.nowMs, device: undefined, memory: new Map() };
}

/** Hands the pieces over as a connection does, and reads on after every login, which it accepts. */
export function feed(world: HarnessWorld, session: Session, pieces: Iterable<Buffer>): Fed {
  const decoder = new StreamDecoder(world.protocol);
  const fed: Fed = { frames: [], problems: [], rest: Buffer.alloc(0) };
  for (const piece of pieces) {
    decoder.push(piece);
    for (;;) {
      const { frames, problems } = decoder.decode(session);
      fed.frames.push(...frames);
      fed.problems.push(...problems);
      if (frames.at(-1)?.messages.at(-1)?.kind !== "login") break;
      session.device ??= world.device;
    }
  }
  fed.rest = Buffer.from(decoder.pending);
  return fed;
}

/** One reading of the bytes, up to a login. */
export function decode(protocol: ProtocolDefinition, bytes: Buffer, session: Session): Fed {
  const decoder = new StreamDecoder(protocol);
  decoder.push(bytes);
  const { frames, problems } = decoder.decode(session);
  return { frames: [...frames], problems: [...problems], rest: Buffer.from(decoder.pending) };
}

/** How many bytes the protocol looks at to find the pieces of a stream. Frames are not read. */
export function bytesScanned(world: HarnessWorld, session: Session, pieces: Iterable<Buffer>): number {
  let scanned = 0;
  const count = (bytes: number): void => {
    scanned += bytes;
  };
  const protocol: ProtocolDefinition = {
    ...world.protocol,
    nextPiece: (bytes, at, scannedTo, own, carried): Piece =>
      world.protocol.nextPiece(watched(bytes, count), at, scannedTo, own, carried),
    readFrame: () => ({ messages: [{ kind: "heartbeat" }], replies: [] }),
  };
  feed({ ...world, protocol }, session, pieces);
  return scanned;
}

/** The same bytes; tells how many of them are read, by index or by a method. */
function watched(bytes: Buffer, count: (bytes: number) => void): Buffer {
  return new Proxy(bytes, {
    get(target, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) count(1);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name === "subarray") return (from?: number, to?: number) => watched(target.subarray(from, to), count);
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        count(bytesRead(target, String(name), args, result));
        return result;
      };
    },
  });
}

function bytesRead(bytes: Buffer, method: string, args: readonly unknown[], result: unknown): number {
  if (/^read/.test(method)) return 8;
  const [start, end] = method === "toString" ? args.slice(1) : args.slice(1, 2);
  const from = Math.min(bytes.length, typeof start === "number" ? start : 0);
  if (method.endsWith("ndexOf") && typeof result === "number" && result >= 0) return Math.abs(result - from) + 1;
  return Math.max(0, Math.min(bytes.length, typeof end === "number" ? end : bytes.length) - from);
}

/** What must not depend on how the bytes were cut: the frames, and why frames were skipped. Stray bytes may be told in parts. */
export function essence(fed: Fed): unknown {
  return {
    frames: fed.frames.map(({ messages, replies, raw }) => ({
      messages,
      replies: replies.map((reply) => reply.toString("latin1")),
      raw: raw.toString("latin1"),
    })),
    skipped: fed.problems.filter((problem) => problem.isFrame).map((problem) => problem.reason),
    rest: fed.rest.toString("latin1"),
  };
}

/** As `toEqual`, which takes a hundred times as long for the many comparisons of one stream cut in every way. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** The bytes in two pieces, for every place between them. */
export function* cutOnce(bytes: Buffer): Generator<[Buffer, Buffer]> {
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
}

export function* byteByByte(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1);
}

/** Numbers from 0 up to 1 that are the same in every run with the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function randomBytes(random: () => number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
}

/** A good input with a few bytes changed, lost or doubled. */
export function damaged(random: () => number, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes);
  for (let count = 1 + Math.floor(random() * 4); count > 0 && result.length > 0; count--) {
    const at = Math.floor(random() * result.length);
    const kind = Math.floor(random() * 4);
    if (kind === 0) result[at] = Math.floor(random() * 256);
    else if (kind === 1) result = Buffer.concat([result.subarray(0, at), result.subarray(at + 1)]);
    else if (kind === 2) result = Buffer.concat([result.subarray(0, at), randomBytes(random, 3), result.subarray(at)]);
    else result = Buffer.concat([result.subarray(0, at), result.subarray(Math.floor(random() * at))]);
  }
  return result;
}

/** Feeds random and damaged input in random pieces until `isOver`; returns the number of inputs. The codec must not throw. */
export function fuzz(
  world: HarnessWorld,
  corpus: readonly Buffer[],
  random: () => number,
  isOver: () => boolean,
): number {
  let inputs = 0;
  for (; !isOver(); inputs++) {
    const parts = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
      const good = corpus[Math.floor(random() * corpus.length)] ?? Buffer.alloc(0);
      const kind = random();
      if (kind < 0.3) return randomBytes(random, Math.floor(random() * 300));
      return kind < 0.8 ? damaged(random, good) : good;
    });
    const bytes = Buffer.concat(parts);
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + Math.floor(random() * 200);
      pieces.push(bytes.subarray(at, end));
      at = end;
    }
    const fed = feed(world, random() < 0.2 ? fresh(world) : loggedIn(world), pieces);
    if (fed.rest.length > bytes.length) throw new Error("the codec made up bytes");
  }
  return inputs;
}
