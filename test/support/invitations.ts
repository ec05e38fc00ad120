import type { TestAnswer, TestApi } from "./api.ts";
import { readMail } from "./fixtures.ts";

export const invitations = "/api/v1/organizations/invitations/";
export const weekMs = 7 * 24 * 3_600_000;

/** Shares the device with somebody who is no member; `mailed` is the token in the mail. */
export async function inviteByMail(
  api: TestApi,
  token: string,
  uid: string,
  person: { email: string; first_name?: string; last_name?: string },
): Promise<{ id: string; mailed: string }> {
  const answer = await api.call("POST", `/api/v1/devices/${uid}/share/`, { token, body: person });
  if (answer.status !== 202) throw new Error(`not invited: ${answer.text}`);
  return { id: answer.body.invitation.id, mailed: (await readMail(api, person.email)).token };
}

/** The route of people is not described, so it is called past the check of the description. */
export async function inviteMember(
  { app }: TestApi,
  token: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Pick<TestAnswer, "status" | "headers" | "body">> {
  const answer = await app.inject({
    method: "POST",
    url: invitations,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    payload: JSON.stringify(body),
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}
