import { Type } from "@sinclair/typebox";
import { ok, type Route, route } from "../../http/route.ts";
import { measureDatabase } from "./database-size.ts";
import { listOperatorLog, operatorLogList } from "./operator-log.ts";
import { forOperators, operatorPath } from "./operator-routes-base.ts";
import type { OperatorServices } from "./operator-services.ts";
import { listGateways, listProcesses } from "./process-store.ts";
import { failedJobList, listFailedJobs, listQueues } from "./queue-store.ts";
import { listUnknownToOperators, unknownDeviceList } from "./unknown-device-list.ts";

/** A list that is whole: there are never more than a few of it. */
const whole = <T>(results: readonly T[]) => ok({ count: results.length, next: null, previous: null, results });

/** What the service is doing. Nothing here changes anything. */
export const serviceRoutes = ({ checkHealth }: OperatorServices): Route[] => [
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}processes/`,
    operationId: "operator_processes_list",
    summary: "Processes of the service, with their roles and leases",
    responses: { 200: Type.Any() },
    handle: async ({ db, now }) => whole(await listProcesses(db, now)),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}gateways/`,
    operationId: "operator_gateways_list",
    summary: "Gateways, with their connections and packet rates",
    responses: { 200: Type.Any() },
    handle: async ({ db, now }) => whole(await listGateways(db, now)),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}queues/`,
    operationId: "operator_queues_list",
    summary: "Work that waits, and how late the first of it is",
    responses: { 200: Type.Any() },
    handle: async ({ db, now }) => whole(await listQueues(db, now)),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}failed-jobs/`,
    operationId: "operator_failed_jobs_list",
    summary: "Mails and spoken texts that were given up, newest first",
    list: failedJobList,
    responses: { 200: Type.Any() },
    handle: async ({ db, list, page }) => page(await listFailedJobs(db, list()), (row) => row),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}database/`,
    operationId: "operator_database_retrieve",
    summary: "Size of the database, its tables and their partitions",
    responses: { 200: Type.Any() },
    handle: async ({ db }) => ok(await measureDatabase(db)),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}unknown-devices/`,
    operationId: "operator_unknown_devices_list",
    summary: "Ids of devices that tried to connect and nobody has registered",
    list: unknownDeviceList,
    responses: { 200: Type.Any() },
    handle: async ({ db, list, now, page }) => page(await listUnknownToOperators(db, list(), now), (row) => row),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}doctor/`,
    operationId: "operator_doctor_retrieve",
    summary: "The checks of `vigil doctor`, as this process sees them",
    responses: { 200: Type.Any() },
    handle: async () => ok(await checkHealth()),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}log/`,
    operationId: "operator_log_list",
    summary: "What operators did, newest first",
    list: operatorLogList,
    responses: { 200: Type.Any() },
    handle: async ({ db, list, page }) => page(await listOperatorLog(db, list()), (row) => row),
  }),
];
