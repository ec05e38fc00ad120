import type { Ready } from "./demo-command.ts";
import { demoSlug, demoStaff } from "./demo-organization.ts";

/** Before every event. */
const firstId = "00000000-0000-0000-0000-000000000000";

/** What a person reads when the demo is ready. */
export function explainDemo(
  demo: Ready,
  { speed, intervalMs, dataDir }: { speed: number; intervalMs: number; dataDir: string | undefined },
): string {
  const place = dataDir === undefined ? "" : ` --data-dir ${dataDir}`;
  const { http, devices, users, client_id, client_secret, owner, showcase, receiver } = demo;
  const [first = ""] = devices;
  return `vigil ready http=${http} gateway=${demo.gateway}

Demo organization "${demoSlug}": ${devices.length} simulated watches in Rome, ${users.length} people, ${demo.geofences} geofences, ${demo.thresholds} alert thresholds.
Everything in it is invented. A day of the people passes in ${24 / speed} hours, and their watches report every ${intervalMs / 1000} seconds.

  client id       ${client_id}
  client secret   ${client_secret}
  console         ${http}/console/
  sign in as      ${demoStaff.map(({ email, role }) => `${email} (${role})`).join(", ")}
  password        ${owner.password ?? "as an earlier demo has shown it"}
${receiver ? `  webhooks        ${receiver.page} shows what arrives at ${receiver.hook}\n` : ""}
The showcase watch ${showcase.caller} calls for help now, then raises every type of event within two minutes, and again every five.

Try it:

  TOKEN=$(curl -s -u ${client_id}:${client_secret} -d grant_type=client_credentials ${http}/o/token/ | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/${first}/locations/latest/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/${first}/telemetry/latest/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/${first}/ecg/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/events/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/partner/outbound-events/?types=alarm.sos,alarm.fall

For a program of yours, in its terminal:

  export VIGIL_URL=${http} VIGIL_CLIENT_ID=${client_id} VIGIL_CLIENT_SECRET=${client_secret}
  export VIGIL_WEBHOOK_SECRET=${demo.webhook_secret}

To send it every event as a webhook, in a third terminal, where you have started the demo:

  VIGIL_WEBHOOK_SECRET=${demo.webhook_secret} npx vigil webhooks listen --integration ${demo.integration_id} --forward http://127.0.0.1:3000/hook --since ${firstId}${place}

Indoors a watch sees few satellites: a position may take a minute, until its person goes out. So do events of geofences and thresholds.
Open ${http}/api/schema/swagger/ to read and try every call. Ctrl-C ends the demo; the next start goes on with the same data.
`;
}
