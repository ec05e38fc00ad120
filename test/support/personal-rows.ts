import { newUuid, uuidV7 } from "../../src/lib/ids.ts";
import { hashSecret } from "../../src/oauth/client-secrets.ts";
import type { TestApi } from "./api.ts";
import type { TestOrganization } from "./world.ts";

interface Subject {
  email: string;
  firstName: string;
  lastName: string;
  uid: string;
  word: string;
  userId: string;
  deviceId: string;
}

/** What packets, workers and deliveries would have left of a device, in the tables that no call of the API writes. */
export async function insertDeviceRows(
  { db, clock }: TestApi,
  organization: TestOrganization,
  integrationId: string,
  { deviceId, uid, word, userId }: Subject,
): Promise<void> {
  const [now, org] = [clock.now(), organization.id];
  const bytes = Buffer.from(`${word} speaks`);
  const messageId = uuidV7(clock.nowMs());
  await db.run`
    insert into messages (device_id, id, organization_id, direction, message_type, status, text, mime_type, duration_ms,
      size_bytes, sender_name, ts, created_at, search)
    values (${deviceId}, ${messageId}, ${org}, 'inbound', 'voice', 'delivered', ${word}, 'audio/amr', 20, ${bytes.length},
      ${word}, ${now}, ${now}, ${word.toLowerCase()})`;
  await db.run`insert into message_audio values (${deviceId}, ${messageId}, ${org}, ${bytes})`;
  await db.run`
    insert into voice_transfers (device_id, transfer, organization_id, total, created_at, updated_at)
    values (${deviceId}, ${word}, ${org}, 2, ${now}, ${now})`;
  await db.run`insert into voice_parts values (${deviceId}, ${word}, 1, ${org}, ${bytes})`;
  await db.run`
    insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at)
    values (${newUuid()}, ${org}, ${deviceId}, 'iw', ${word}, ${bytes}, ${now})`;
  await db.run`insert into ingest_frames values (${deviceId}, ${now}, ${newUuid()}, ${now})`;
  await db.run`
    insert into place_jobs (device_id, id, organization_id, kind, payload, attempts, due_at, created_at)
    values (${deviceId}, ${newUuid()}, ${org}, 'address', ${{ note: word }}, 0, ${now}, ${now})`;
  await db.run`insert into device_media_days values (${deviceId}, ${now}, ${org}, 5)`;
  await db.run`insert into device_codes values (${deviceId}, ${org}, ${word}, ${now})`;
  await db.run`
    insert into device_capability_overrides values (${deviceId}, ${org}, 'restart', true, ${{ note: word }}, ${now})`;
  await db.run`insert into rule_states (device_id, organization_id, state) values (${deviceId}, ${org}, ${{ note: word }})`;
  await db.run`
    insert into device_sessions (device_id, organization_id, node_id, epoch, protocol, remote_addr, connected_at, disconnected_at)
    values (${deviceId}, ${org}, ${newUuid()}, 1, 'iw', '192.0.2.7', ${now}, ${now})`;
  await db.run`
    update device_state set is_online = true, last_seen_at = ${now}, last_status = ${{ note: word }},
      last_location = ${{ lat: 41.9, lng: 12.5, note: word, ts: now.toISOString() }}, sim_iccid = ${`8939${uid}`}
    where device_id = ${deviceId}`;
  await db.run`
    insert into unknown_devices (imei, protocol, remote_addr, count, first_seen_at, last_seen_at)
    values (${uid}, 'iw', '192.0.2.7', 1, ${now}, ${now})`;
  await insertOutbound(db, { org, integrationId, uid, word, userId, now });
}

interface Outbound {
  org: string;
  integrationId: string;
  uid: string;
  word: string;
  userId: string;
  now: Date;
}

async function insertOutbound(
  db: TestApi["db"],
  { org, integrationId, uid, word, userId, now }: Outbound,
): Promise<void> {
  for (const [type, sender] of [
    ["location.update", null],
    ["message.sent", userId],
  ] as const) {
    const id = uuidV7(now.getTime());
    const data = { text: word, sender_name: word, sender_user_id: sender };
    const body = JSON.stringify({ id, type, device: { uid, imei: uid }, data });
    await db.run`
      insert into outbound_events (integration_id, id, organization_id, device_uid, type, occurred_at, body)
      values (${integrationId}, ${id}, ${org}, ${uid}, ${type}, ${now}, ${body})`;
    await db.run`insert into deliveries values (${integrationId}, ${id}, ${org}, 1, 1, ${now})`;
    await db.run`insert into dead_letters values (${integrationId}, ${id}, ${org}, 5, ${`${word} was refused`}, ${now})`;
    // As rows of before, which name no device.
    await db.run`
      insert into delivery_attempts (integration_id, id, organization_id, event_id, attempt, started_at, duration_ms, error)
      values (${integrationId}, ${uuidV7(now.getTime() + 5)}, ${org}, ${id}, 1, ${now}, 5, ${word})`;
  }
  await db.run`
    insert into delivery_attempts (integration_id, id, organization_id, event_id, attempt, started_at, duration_ms, error,
      type, device_uid)
    values (${integrationId}, ${uuidV7(now.getTime())}, ${org}, ${newUuid()}, 1, ${now}, 5, ${word}, 'location.update', ${uid})`;
}

/** What sign-ins, links and mails leave of a person, also in an organization that has only invited them. */
export async function insertPersonRows(
  { db, clock }: TestApi,
  other: TestOrganization,
  { email, userId, word, firstName, lastName }: Subject,
): Promise<void> {
  const now = clock.now();
  const secret = (name: string): Buffer => hashSecret(`${name} ${userId}`);
  await db.run`
    insert into browser_sessions (id, token_hash, user_id, organization_id, joined_at, created_at, last_used_at, ip, user_agent)
    select ${newUuid()}, ${secret("session")}, user_id, organization_id, joined_at, ${now}, ${now}, '192.0.2.9', ${word}
    from memberships where user_id = ${userId}`;
  await db.run`
    insert into activation_tokens (token_hash, organization_id, user_id, created_at, expires_at)
    select ${secret("activation")}, organization_id, user_id, ${now}, ${now} from memberships where user_id = ${userId}`;
  await db.run`
    insert into password_resets (token_hash, user_id, created_at, expires_at)
    values (${secret("reset")}, ${userId}, ${now}, ${now})`;
  await db.run`
    insert into second_factors (user_id, sealed_secret, created_at) values (${userId}, ${word}, ${now})`;
  await db.run`insert into recovery_codes (user_id, code_hash) values (${userId}, ${secret("code")})`;
  await db.run`insert into alarm_mail_windows values (${userId}, ${now}, 3)`;
  await db.run`
    insert into rate_windows select id, 'minute', ${now}, 1 from memberships where user_id = ${userId}
    on conflict do nothing`;
  const mailId = uuidV7(clock.nowMs());
  await db.run`
    insert into mails (id, organization_id, kind, recipient, locale, params, status, next_attempt_at, last_error, created_at)
    values (${mailId}, ${other.id}, 'member_invitation', ${email}, 'en', ${{ link: word }}, 'queued', ${now},
      ${`550 ${email} is unknown`}, ${now})`;
  await db.run`
    insert into invitations (id, organization_id, email, kind, status, role, first_name, last_name, token_hash,
      is_partner_link, mail_id, mailed_at, search, created_at, updated_at, expires_at)
    values (${newUuid()}, ${other.id}, ${email}, 'member', 10, 10, ${firstName}, ${lastName}, ${secret("invitation")}, false,
      ${mailId}, ${now}, ${email}, ${now}, ${now}, ${now})`;
}
