import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { loadCommandsFor } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { rawSql, sql } from "../../src/db/sql.ts";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestAnswer } from "./api.ts";
import { makeEcg } from "./ecg.ts";
import { makeEvent } from "./events.ts";
import { addLocation, addTelemetry, makeHistoryPartitions } from "./history.ts";
import { insertDeviceRows, insertPersonRows } from "./personal-rows.ts";
import { logIn, makeOrganization, makePerson, openPartnerApi } from "./world.ts";

/** Somebody whose every word can be told from those of others. */
export interface Individual {
  email: string;
  firstName: string;
  lastName: string;
  phone: string;
  uid: string;
  /** Part of every text that they write or that is written about them. */
  word: string;
}

export interface Settled extends Individual {
  userId: string;
  deviceId: string;
  /** What a search of the whole database must not find when they are erased. */
  marks: string[];
}

export type PersonalWorld = Awaited<ReturnType<typeof openPersonalWorld>>;

/** An organization in which people live, made through the API wherever it can, and the command line on its database. */
export async function openPersonalWorld() {
  const partner = await openPartnerApi({ isPrivate: true, features: ["geofence_scoping", "managed_onboarding"] });
  const { api, organization, token, integration } = partner;
  const other = await makeOrganization(api, { features: ["managed_onboarding"] });
  const dataDir = await mkdtemp(join(tmpdir(), "vigil-personal-"));
  await makeHistoryPartitions(api);

  const call = async (method: string, path: string, body?: unknown, by = token): Promise<TestAnswer["body"]> => {
    const headers = { "idempotency-key": newUuid() };
    const answer = await api.call(method, `/api/v1${path}`, {
      token: by,
      body,
      ...(method === "POST" ? { headers } : {}),
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  async function vigil(args: string[], stdin = ""): Promise<{ code: number; stdout: string; stderr: string }> {
    const outcome = { stdout: "", stderr: "" };
    const code = await runCommandLine(args, await loadCommandsFor(args), {
      stdout: (text) => {
        outcome.stdout += text;
      },
      stderr: (text) => {
        outcome.stderr += text;
      },
      readStdin: async () => stdin,
      env: { DATABASE_URL: api.url, VIGIL_DATA_DIR: dataDir },
    });
    return { ...outcome, code };
  }

  /** A person with a device that they own, a life on it, and something in every table that holds personal data. */
  async function settle(who: Individual): Promise<Settled> {
    const { email, uid, word, phone } = who;
    const { id: userId, token: session } = await makePerson(api, organization, "ADMIN", email);
    await call("PATCH", `/auth/users/${userId}/`, {
      first_name: who.firstName,
      last_name: who.lastName,
      phone_number: phone,
    });
    const registered = { uid, device_model_slug: "iw-h10", name: `Watch of ${who.firstName}`, phone_number: phone };
    await call("POST", "/devices/", { ...registered, iccid: `8939${uid}`, tags: [word], metadata: { note: word } });
    await call("PATCH", `/devices/${uid}/`, { metadata: { note: `${word} again` } });
    await call("POST", `/devices/${uid}/assign/`, { user_id: userId, role: "owner" });
    const { id: deviceId } = await api.db.one<{ id: string }>`select id from devices where uid = ${uid}`;
    const device = { id: deviceId, uid, name: registered.name };

    const ts = api.clock.now().toISOString();
    await addLocation(api, organization, device, { ts, address: `${word} Street 5` });
    await addTelemetry(api, organization, device, { ts, data: { note: word } });
    await makeEcg(api, device);
    const eventId = await makeEvent(api, device, { message: `${word} pressed SOS`, data: { note: word } });
    await call("POST", `/events/${eventId}/acknowledge/`, { notes: `${word} was called` }, session);
    await call("POST", `/devices/${uid}/messages/send-text/`, { text: `${word} says hello` }, session);
    await call("POST", `/devices/${uid}/commands/`, { command_type: "send_message", params: { text: word } }, session);
    await call("POST", `/devices/${uid}/commands/`, {
      command_type: "set_sos_numbers",
      params: { numbers: [phone] },
    });

    const place = { center: { lat: 41.9, lng: 12.5 }, radius: 100 };
    await call("POST", "/geofences/", { ...place, name: `Home of ${word}`, scope: "user", user: userId });
    const fence = await call("POST", "/geofences/", { ...place, name: `School of ${word}`, scope: "device" });
    await call("POST", `/geofences/${fence.id}/devices/`, { device_uids: [uid] });
    await call("POST", "/alert-thresholds/", { scope: "User", user: userId, metric_key: "hr", high: 120 });
    await call("POST", "/alert-thresholds/", { scope: "Device", device: uid, metric_key: "hr", high: 121 });
    await call("POST", `/devices/${uid}/share/`, { email: `friend-${uid.slice(-1)}@example.org` }, session);
    await call(
      "POST",
      "/organizations/invitations/",
      { email: `guest-${uid.slice(-1)}@example.org`, role: "USER" },
      session,
    );
    await vigil(["integration", "set", integration.id, "--webhook-device-filter", uid]);
    await insertDeviceRows(api, organization, integration.id, { ...who, userId, deviceId });
    await insertPersonRows(api, other, { ...who, userId, deviceId });
    await mkdir(join(dataDir, "mail"), { recursive: true });
    await writeFile(join(dataDir, "mail", `${newUuid()}.eml`), `To: ${email}\r\nSubject: hello\r\n\r\nHello\r\n`);
    const marks = [email, who.firstName, who.lastName, phone, uid, word, userId, deviceId];
    return { ...who, userId, deviceId, marks };
  }

  return {
    ...partner,
    dataDir,
    call,
    vigil,
    settle,
    logIn: (email: string): Promise<string> => logIn(api, email, organization.slug),
    vigilJson: async <T = Record<string, unknown>>(args: string[]): Promise<T> => {
      const { code, stdout, stderr } = await vigil([...args, "--json"]);
      // On a slow machine the command says how far it has come.
      const remarks = stderr.replace(/^vigil: \w+ \d+ rows so far\n/gm, "");
      expect({ code, remarks }).toEqual({ code: 0, remarks: "" });
      return JSON.parse(stdout) as T;
    },
    /** Every row of every table as text. */
    dump: async (): Promise<string[]> => {
      const tables = await api.db.many<{ name: string }>`
        select oid::regclass::text as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`;
      const rows: string[] = [];
      for (const { name } of tables) {
        const found = await api.db.many<{ row: string }>(sql`select t::text as row from ${rawSql(name)} t`);
        rows.push(...found.map(({ row }) => `${name} ${row}`));
      }
      return rows;
    },
    close: async (): Promise<void> => {
      await api.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
