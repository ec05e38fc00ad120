import type { ReceivedEvent } from "./demo-receiver.ts";

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const row = ({ received_at, type, id, device, is_verified, reason, body }: ReceivedEvent): string => `<tr>
<td>${escapeHtml(received_at.slice(11, 23))}</td>
<td><strong>${escapeHtml(type)}</strong></td>
<td>${escapeHtml(device)}</td>
<td class="${is_verified ? "good" : "bad"}">${is_verified ? "verified" : escapeHtml(`not verified: ${reason}`)}</td>
<td><details><summary>${escapeHtml(id)}</summary><pre>${escapeHtml(body)}</pre></details></td>
</tr>`;

/** What the receiver of the demo has got, the newest first. It reloads itself; there is no script. */
export const receiverPage = (events: readonly ReceivedEvent[], secret: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="3">
<title>Webhooks of the demo</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #1c1c1c; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.4rem 0.8rem; border-bottom: 1px solid #ddd; vertical-align: top; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 60rem; }
.good { color: #11632b; }
.bad { color: #a1120d; font-weight: bold; }
</style>
</head>
<body>
<h1>Webhooks of the demo</h1>
<p>${events.length} requests arrived, the newest first; ${new Set(events.map(({ type }) => type)).size} types. Secret: <code>${escapeHtml(secret)}</code></p>
<table>
<thead><tr><th>Time</th><th>Type</th><th>Device</th><th>Signature</th><th>Event</th></tr></thead>
<tbody>
${events.map(row).join("\n")}
</tbody>
</table>
</body>
</html>
`;
