import type { Client, QueryArrayResult } from "pg";
import { type CopyRows, copyAnd, copyAndRun, copyStatements } from "../db/copy-in.ts";
import { onClient } from "../db/database.ts";
import { isRefusal } from "../db/node-watch.ts";
import { pipeline } from "../db/pipeline.ts";
import type { PipelineStatement } from "../db/pipeline-part.ts";
import { namedStatement } from "../db/sql.ts";
import { formatUuid, newUuid } from "../lib/ids.ts";
import { makeIsoTime } from "../lib/iso-time.ts";
import type { OutboundEntry } from "../outbox/outbound-entry.ts";
import { lanesOf, type ReadLane } from "../outbox/outbound-lanes.ts";
import { eventTypes } from "../resources/events/event-types.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { AcceptedPacket, BatchStep, PartRefusal } from "./batch-step.ts";
import {
  beginStatements,
  commitStatement,
  eventCopiesOf,
  markJumps,
  openingOf,
  packetCopiesOf,
  versionsOf,
} from "./batch-store.ts";
import type { DeviceHold, DeviceMemory } from "./device-memory.ts";
import { DeviceEvaluation, type EvaluateOptions } from "./evaluate.ts";
import { readNames } from "./event-store.ts";
import {
  askStatement,
  copyFrameKeys,
  isKnownKey,
  KnownReports,
  markKnown,
  positionsStatement,
  type ReportOfPacket,
  sortReports,
} from "./frame-keys.ts";
import { type BatchRows, noRows, type StateRow } from "./ingest-rows.ts";
import { isUnexpected, type OptimisticCommits, UnexpectedState } from "./optimistic-commits.ts";
import { outboundOf } from "./outbound-rows.ts";
import { type Packet, reportsOf } from "./packet.ts";
import { tracesOfDevices } from "./packet-traces.ts";
import { addPresenceEvents } from "./presence-events.ts";
import type { OrganizationRules, RuleView } from "./rules/organization-rules.ts";
import { mayHaveMissedAny, mayHaveMissedChange, type PastThresholds, readPast } from "./rules/past-thresholds.ts";
import type { RuleBook } from "./rules/rule-book.ts";
import { storeRules } from "./rules/rule-step.ts";
import { RulesMoved } from "./rules/rules-moved.ts";
import {
  expectedStatesStatement,
  inLockOrder,
  statesStatement,
  type WrittenRow,
  writtenStates,
} from "./state-store.ts";

/** Packets that are stored in one transaction, under one id however often it is tried. */
export interface Batch {
  readonly id: string;
  readonly packets: readonly Packet[];
  /** What the last attempt that may have committed was about to say. */
  pending: Committed | undefined;
  /** An attempt has met a known report that it took for new. */
  hasKnownReports: boolean;
  /** An attempt has found the database other than expected. */
  isUnexpected: boolean;
}

export interface Committed {
  memories: readonly (readonly [DeviceHold, DeviceMemory])[];
  duplicates: number;
  ruleEvaluations: number;
  /** What became of commands and messages. */
  outbound: readonly OutboundEntry[];
  /** Integrations that have rows to push. */
  pushed: readonly string[];
  /** The status of each ECG recording that is over. */
  recordings: readonly unknown[];
  /** Packets whose part of a recording was not taken. */
  refused: readonly { packet: Packet; reason: PartRefusal }[];
}

/** A newer connection holds these devices. Nothing of the batch was stored. */
export class StaleDevices extends Error {
  readonly holds: ReadonlySet<DeviceHold>;

  constructor(holds: readonly DeviceHold[]) {
    super(`${holds.length} devices have a newer connection`);
    this.holds = new Set(holds);
  }
}

export interface StoreOptions extends Omit<EvaluateOptions, "isScheduled" | "newEventId" | "iso"> {
  rules: RuleBook;
  /** In this order. */
  steps: readonly BatchStep[];
  tracer?: Tracer | undefined;
}

export interface AttemptOptions extends StoreOptions {
  isDistributed: boolean;
  /** A device that was heard so lately has not been found silent. */
  offlineAfterMs?: number;
  /** Undefined: every batch waits for the answers. So does each on a distributed database, which was not tried with it. */
  optimistic?: OptimisticCommits | undefined;
}

const ecgType = eventTypes.ecg_recorded.number;

export const makeBatch = (packets: readonly Packet[]): Batch => ({
  id: newUuid(),
  packets,
  pending: undefined,
  hasKnownReports: false,
  isUnexpected: false,
});

/**
 * One attempt, in one transaction. Throws without having stored anything, or with a connection that is lost: then the next
 * attempt finds out.
 */
export async function storeBatch(
  client: Client,
  batch: Batch,
  options: AttemptOptions,
  nowMs: number,
): Promise<Committed> {
  const organizationIds = [...new Set(batch.packets.map(({ hold }) => hold.device.organizationId))];
  const begin = beginStatements(batch.id, nowMs, organizationIds);
  const { rules: book } = options;
  const rules = new Map<string, OrganizationRules>();
  for (const id of organizationIds) rules.set(id, await book.atLeast(id, 0));
  const reports = reportsOfPackets(batch.packets);
  const sorted = sortReports(reports, batch.hasKnownReports);
  const holds = new Set(batch.packets.map(({ hold }) => hold));
  const isDoubtful = mayHaveMissedAny(holds, rules);
  // Most batches need no answer before their packets are evaluated: then the transaction begins with the message that stores states.
  const asks = sorted.asked.size > 0 ? [askStatement(sorted), positionsStatement(sorted)] : [];
  // While an earlier attempt may have committed, nothing that a node of the database could refuse stands before the answer.
  const isUncertain = batch.pending !== undefined;
  const opening =
    asks.length > 0 || isDoubtful || isUncertain
      ? await pipeline(client, isUncertain ? begin : [...begin, ...asks])
      : undefined;
  if (opening) {
    const versions = versionsOf(opening);
    if (!versions) return committedBefore(client, batch);
    batch.pending = undefined;
    for (const id of organizationIds) rules.set(id, await book.atLeast(id, versions.get(id) ?? 0));
  }
  const known = isUncertain && asks.length > 0 ? await pipeline(client, asks) : (opening?.slice(begin.length) ?? []);
  const duplicates = markKnown(sorted, known as QueryArrayResult[]);
  const { isNew, keys, unwritten, newestOf } = sorted;
  const past = isDoubtful ? await readPast(onClient(client), holds, rules) : new Map<string, PastThresholds>();
  const rows = noRows();
  const taken: Taken[] = [];
  const { newId } = options;
  const evaluateOptions: EvaluateOptions = {
    ...options,
    isScheduled: book.isScheduled,
    newEventId: (timeMs) => formatUuid(newId(timeMs)),
    iso: makeIsoTime(),
  };
  // Rules that change meanwhile do so in place.
  const usedVersions = new Map([...rules].map(([id, { version }]) => [id, version]));
  const evaluations = new Map<DeviceHold, DeviceEvaluation>();
  for (const hold of holds) {
    const view = viewOf(hold, rules.get(hold.device.organizationId) as OrganizationRules);
    const evaluation = new DeviceEvaluation(hold, rows, view, evaluateOptions);
    endInterrupted(evaluation, view, past);
    evaluations.set(hold, evaluation);
  }
  for (let index = 0; index < reports.length; index++) {
    const { packet, report } = reports[index] as ReportOfPacket;
    const { hold, receivedAtMs } = packet;
    const { messages } = report;
    const evaluation = evaluations.get(hold) as DeviceEvaluation;
    if (isNew[index]) {
      evaluation.take(messages, receivedAtMs, keys[index]);
      taken.push({ packet, hold, messages, receivedAtMs, refusal: undefined });
    } else evaluation.seen(messages, receivedAtMs);
  }
  for (const evaluation of evaluations.values()) evaluation.finish();
  for (const [hold, newestMs] of newestOf) evaluations.get(hold)?.noteNewest(newestMs);
  const states = inLockOrder(rows.states);
  const outcomes = [...evaluations.values()];
  const optimistic = options.isDistributed ? undefined : options.optimistic;
  const mayExpect =
    !opening &&
    !batch.isUnexpected &&
    isOrdinary(outcomes, rows, taken, options) &&
    wereHeard(holds, nowMs - (options.offlineAfterMs ?? 0)) &&
    optimistic?.take(batch.packets.length);
  const expectedLanes = mayExpect ? optimistic?.lanesOf(rules) : undefined;
  const finish = (lanes: readonly ReadLane[]): Finish => {
    const trace = options.tracer ? tracesOfDevices(batch.packets) : null;
    const { statements, pushed } = outboundOf(lanes, rows, nowMs, trace);
    batch.pending = committedOf(outcomes, rows, taken, { duplicates, pushed });
    return { statements: [...statements, commitStatement], hasOutbound: statements.length > 0 };
  };
  if (expectedLanes) {
    const copies = [copyFrameKeys(unwritten), ...packetCopiesOf(rows), ...eventCopiesOf(rows)];
    const stating = expectedStatesStatement(states, { ruleVersions: usedVersions, lanes: expectedLanes });
    await commit(batch, client, copies, finish(expectedLanes), {
      ...options,
      expected: [...openingOf(begin), stating],
    });
    optimistic?.succeeded();
    return batch.pending as unknown as Committed;
  }
  const reading = namedStatement("ingest_lanes", lanesOf(organizationIds));
  const stating = pipeline(client, [
    ...(opening ? [] : begin),
    statesStatement(states, options.isDistributed),
    reading,
  ]);
  // While the database writes the states; a row that cannot be written waits for their answer, as the connection does.
  const early = attempt(() => [copyFrameKeys(unwritten), ...packetCopiesOf(rows)]);
  const answers = await stating;
  if (!opening) {
    const versions = versionsOf(answers);
    if (!versions) return committedBefore(client, batch);
    await checkRules(book, usedVersions, versions);
  }
  // No earlier attempt has committed, or its id would be there.
  batch.pending = undefined;
  const { stale, moved, changes } = await writtenStates(client, states, answers.at(-2) as QueryArrayResult<WrittenRow>);
  if (stale.length > 0) throw new StaleDevices(stale);
  if (moved.length > 0) {
    for (const hold of moved) if (hold.state === "storing") hold.state = "moved";
    throw new RulesMoved();
  }
  await markJumps(client, rows.jumps);
  for (const step of options.steps) await step(client, taken, rows, nowMs);
  await storeRules(client, rows, outcomes, options.newId);
  if (changes.length > 0) addPresenceEvents(rows, changes, await readNames(client, changes), options.newId);
  const lanes = answers.at(-1)?.rows as ReadLane[];
  optimistic?.note(rules, lanes);
  const ending = finish(lanes);
  await commit(batch, client, [...early(), ...eventCopiesOf(rows)], ending, { ...options, expected: [] });
  return batch.pending as unknown as Committed;
}

type Taken = AcceptedPacket & { packet: Packet };

/** The last statements, the commit among them. */
interface Finish {
  statements: PipelineStatement[];
  hasOutbound: boolean;
}

/** Nothing follows from the packets that the answers of the database decide, as far as the program can see. */
const isOrdinary = (
  outcomes: readonly DeviceEvaluation[],
  { jumps, states }: BatchRows,
  taken: readonly Taken[],
  { steps }: StoreOptions,
): boolean =>
  jumps.length === 0 &&
  states.every(isSteady) &&
  outcomes.every(({ rules }) => rules.facts.length === 0 && !rules.hasMoved) &&
  !taken.some(({ messages }) => messages.some(({ kind }) => kind === "login")) &&
  steps.every((step) => step.concerns?.(taken) === false);

/** Of others a sweep may have found that they are offline, which their packets change. */
function wereHeard(holds: Iterable<DeviceHold>, sinceMs: number): boolean {
  for (const { memory } of holds) if (memory.lastSeenMs === null || memory.lastSeenMs <= sinceMs) return false;
  return true;
}

/** A device whose packets say nothing of its presence but that it is there. */
const isSteady = ({ presence }: StateRow): boolean => presence.length === 1 && presence[0]?.isOnline === true;

function committedOf(
  outcomes: readonly DeviceEvaluation[],
  rows: BatchRows,
  taken: readonly Taken[],
  { duplicates, pushed }: Pick<Committed, "duplicates" | "pushed">,
): Committed {
  return {
    memories: outcomes.map(({ hold, memory }) => [hold, memory] as const),
    duplicates,
    ruleEvaluations: outcomes.reduce((sum, { rules }) => sum + rules.evaluations, 0),
    outbound: rows.outbound,
    pushed,
    recordings: rows.events.flatMap(({ typeNumber, data }) => (typeNumber === ecgType ? [data.status] : [])),
    refused: taken.flatMap(({ packet, refusal }) => (refusal ? [{ packet, reason: refusal }] : [])),
  };
}

/**
 * Whoever else writes for these organizations waits from the first outbound row to the commit: all else is written before, and no
 * answer is waited for in between. With what is expected it is the whole transaction.
 */
async function commit(
  batch: Batch,
  client: Client,
  copies: readonly CopyRows[],
  { statements, hasOutbound }: Finish,
  { expected, isDistributed, optimistic }: AttemptOptions & { expected: readonly PipelineStatement[] },
): Promise<void> {
  try {
    if (!isDistributed) await pipeline(client, [...expected, ...copyStatements(copies), ...statements]);
    else if (hasOutbound) await copyAndRun(client, copies, statements);
    else await copyAnd(client, copies, "commit");
  } catch (error) {
    if (isRefusal(error)) batch.pending = undefined;
    if (expected.length > 0 && isUnexpected(error)) {
      optimistic?.failed();
      batch.isUnexpected = true;
      throw new UnexpectedState();
    }
    if (!isKnownKey(error)) throw error;
    batch.hasKnownReports = true;
    throw new KnownReports();
  }
}

async function committedBefore(client: Client, { id, pending }: Batch): Promise<Committed> {
  if (!pending) throw new Error(`batch ${id} is recorded as committed, but this process never attempted its commit`);
  await client.query("rollback");
  return pending;
}

/** Rules that were changed before the transaction began, and were not heard of yet: the next attempt has them. */
async function checkRules(
  book: RuleBook,
  used: ReadonlyMap<string, number>,
  versions: ReadonlyMap<string, number>,
): Promise<void> {
  const old = [...used].filter(([id, version]) => (versions.get(id) ?? 0) > version);
  if (old.length === 0) return;
  for (const [id] of old) await book.atLeast(id, versions.get(id) ?? 0);
  throw new RulesMoved();
}

function reportsOfPackets(packets: readonly Packet[]): ReportOfPacket[] {
  const reports: ReportOfPacket[] = [];
  for (const packet of packets) for (const report of reportsOf(packet.frame)) reports.push({ report, packet });
  return reports;
}

/** Does it now; what it returns or throws comes when it is asked for. */
function attempt<T>(work: () => T): () => T {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function viewOf(hold: DeviceHold, rules: OrganizationRules): RuleView {
  // Not that of rules which were forgotten and read again: it would keep the old ones in memory.
  if (hold.view?.version !== rules.version || hold.view.rules !== rules) hold.view = rules.viewOf(hold.device.id);
  return hold.view;
}

function endInterrupted(
  { hold, rules }: DeviceEvaluation,
  view: RuleView,
  past: ReadonlyMap<string, PastThresholds>,
): void {
  if (!mayHaveMissedChange(hold.memory.rules, view.rules)) return;
  const known = past.get(hold.device.organizationId);
  // Read ahead by a notification meanwhile.
  if (known?.version !== view.version) throw new RulesMoved();
  rules.takePast(hold.device.id, known.changes);
}
