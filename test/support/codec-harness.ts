import type { Codec, Decoded, DecodedFrame, DecodeProblem, Session, SessionDevice } from "../../src/codecs/codec.ts";

/** For the tests of codecs: plays the part of the connection, and damages what it feeds in the ways that networks do. */

export interface HarnessWorld {
  codec: Codec;
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

function endsWithLogin(decoded: Decoded): boolean {
  return decoded.frames.at(-1)?.messages.at(-1)?.kind === "login";
}

/** Hands the pieces over as a connection does: with the rest in front, and once more after every login that it accepts. */
export function feed(world: HarnessWorld, session: Session, pieces: Iterable<Buffer>): Fed {
  const fed: Fed = { frames: [], problems: [], rest: Buffer.alloc(0) };
  for (const piece of pieces) {
    let bytes = fed.rest.length === 0 ? piece : Buffer.concat([fed.rest, piece]);
    for (;;) {
      const decoded = world.codec.decode(bytes, session);
      fed.frames.push(...decoded.frames);
      fed.problems.push(...decoded.problems);
      fed.rest = decoded.rest;
      if (!endsWithLogin(decoded)) break;
      session.device ??= world.device;
      bytes = decoded.rest;
    }
  }
  return fed;
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
