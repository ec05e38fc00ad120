import { describe, expect, it } from "vitest";
import type { Role } from "../config.ts";
import { defaultLimits } from "../gateway/gateway-limits.ts";
import { dividedLimits, gatewaysIn, planProcesses } from "./process-plan.ts";

const all: Role[] = ["api", "gateway", "worker"];
const namesOf = (count: number, roles: Role[]): string[] => planProcesses(count, roles).map(({ name }) => name);

describe("the plan of processes", () => {
  it("gives every role a process as soon as there are enough", () => {
    expect(namesOf(1, all)).toEqual(["api-gateway-worker-1"]);
    expect(namesOf(2, all)).toEqual(["gateway-1", "api-worker-1"]);
    expect(namesOf(3, all)).toEqual(["gateway-1", "api-1", "worker-1"]);
    expect(namesOf(4, all)).toEqual(["gateway-1", "gateway-2", "api-1", "worker-1"]);
  });

  it("has as many processes as it was asked for, and only the roles that were named", () => {
    for (const roles of [
      all,
      ["api", "gateway"],
      ["gateway"],
      ["api"],
      ["worker"],
      ["api", "worker"],
      ["gateway", "worker"],
    ]) {
      for (let count = 1; count <= 16; count++) {
        const plan = planProcesses(count, roles as Role[]);
        expect(plan).toHaveLength(count);
        expect(new Set(plan.flatMap((one) => one.roles))).toEqual(new Set(roles));
        expect(new Set(plan.map(({ name }) => name)).size).toBe(count);
      }
    }
  });

  it("gives the datagrams to exactly one gateway", () => {
    for (let count = 1; count <= 16; count++) {
      expect(planProcesses(count, all).filter(({ takesDatagrams }) => takesDatagrams)).toHaveLength(1);
    }
    expect(planProcesses(4, ["api"]).some(({ takesDatagrams }) => takesDatagrams)).toBe(false);
  });

  it("divides what a gateway may take by the number of gateways", () => {
    const gateways = gatewaysIn(planProcesses(8, all));
    expect(gateways).toBe(4);
    expect(dividedLimits(defaultLimits, gateways)).toMatchObject({
      connections: 25_000,
      unlogged: 2500,
      refusedLoginsPerMinute: 7,
      slowedAnswersPerSecond: 0.5,
    });
  });
});
