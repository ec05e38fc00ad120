import { Type } from "@sinclair/typebox";
import type { Caller, PersonPrincipal } from "../http/principal.ts";
import { noContent, ok, type Route, route } from "../http/route.ts";
import { invalidToken, notFound, validationError } from "../lib/errors.ts";
import { endBrowserSession, listBrowserSessions, moveBrowserSession } from "../oauth/browser-sessions.ts";
import { locales, parseTimezone } from "../resources/organizations/organization-settings.ts";
import { findUser, toUser } from "../resources/users/user-record.ts";
import { humanOf, operatorUser } from "./operator-account.ts";
import { alarmMailChoices, findPreferences, storePreferences } from "./preferences-store.ts";
import { clearSessionCookie } from "./session-cookie.ts";

export const accountTag = "Console";

/** A member of an organization; routes that operators may call ask for a human instead. */
export function personOf(caller: Caller): PersonPrincipal {
  if (caller.kind !== "person") throw invalidToken();
  return caller;
}

/** Which members may call a route of the console; partners never do, and the description does not name it. */
export const forPeople = { tag: accountTag, partners: "never" } as const;

/** What everybody does with the own account. */
export const forEveryone = { ...forPeople, people: "VIEWER", operators: true } as const;

const Preferences = Type.Object({
  locale: Type.Optional(Type.Unsafe<string | null>({ type: "string", nullable: true, enum: [...locales, null] })),
  timezone: Type.Optional(Type.Unsafe<string | null>({ type: "string", nullable: true, maxLength: 64 })),
  alarm_mail: Type.Optional(
    Type.Unsafe<(typeof alarmMailChoices)[number]>({ type: "string", enum: [...alarmMailChoices] }),
  ),
});

/** What a person sees and changes of the own account: who they are, their sessions, what they prefer. */
export function accountRoutes(baseUrl: () => string): Route[] {
  return [
    route({
      ...forEveryone,
      method: "GET",
      path: "/console/api/me/",
      operationId: "console_me",
      summary: "The signed-in person",
      responses: { 200: Type.Any() },
      async handle({ caller, db }) {
        if (caller.kind === "operator") {
          return ok({ user: operatorUser(caller.operator), organization: null, role: null, operator: true });
        }
        const { organization, person, id } = personOf(caller);
        const row = await findUser(db, organization.id, id);
        if (!row) throw invalidToken();
        const { name, slug, timezone } = organization;
        return ok({ user: toUser(row), organization: { name, slug, timezone }, role: person.role, operator: false });
      },
    }),
    route({
      ...forEveryone,
      method: "PATCH",
      path: "/console/api/me/",
      operationId: "console_me_update",
      summary: "Change language, zone and alarm mails",
      body: Preferences,
      responses: { 200: Type.Any() },
      async handle({ caller, body, db, now }) {
        const { id } = humanOf(caller);
        const { timezone } = body;
        const zone = typeof timezone === "string" ? parseTimezone(timezone) : timezone;
        if (typeof timezone === "string" && zone === undefined) {
          throw validationError({ timezone: ["This is not an IANA time zone."] });
        }
        await storePreferences(db, id, { ...body, timezone: zone }, now);
        return ok(await findPreferences(db, id));
      },
    }),
    route({
      ...forEveryone,
      method: "GET",
      path: "/console/api/preferences/",
      operationId: "console_preferences",
      summary: "Language, zone, alarm mails and organizations of the person",
      responses: { 200: Type.Any() },
      handle: async ({ caller, db }) => ok(await findPreferences(db, humanOf(caller).id)),
    }),
    route({
      ...forEveryone,
      method: "DELETE",
      path: "/console/api/session/",
      operationId: "console_session_end",
      summary: "Sign out",
      responses: { 204: null },
      async handle({ caller, db }) {
        const { id, browserSessionId } = humanOf(caller);
        if (browserSessionId !== null) await endBrowserSession(db, id, browserSessionId);
        return { ...noContent(), headers: { "Set-Cookie": clearSessionCookie(baseUrl()) } };
      },
    }),
    route({
      ...forPeople,
      method: "POST",
      path: "/console/api/session/organization/",
      operationId: "console_session_organization",
      summary: "Work in another organization",
      people: "VIEWER",
      body: Type.Object({ organization: Type.String({ minLength: 1, maxLength: 100 }) }),
      responses: { 204: null },
      async handle({ principal, body, db }) {
        const { id, browserSessionId } = personOf(principal);
        if (browserSessionId === null) {
          throw validationError({ organization: ["Sign in to the other organization to get a token for it."] });
        }
        const slug = body.organization.trim().toLowerCase();
        if (!(await moveBrowserSession(db, id, browserSessionId, slug))) throw notFound();
        return noContent();
      },
    }),
    route({
      ...forEveryone,
      method: "GET",
      path: "/console/api/sessions/",
      operationId: "console_sessions_list",
      summary: "The person's own sessions",
      responses: { 200: Type.Any() },
      async handle({ caller, db, now }) {
        const { id, browserSessionId } = humanOf(caller);
        const sessions = await listBrowserSessions(db, id, now);
        return ok(sessions.map((session) => ({ ...session, current: session.id === browserSessionId })));
      },
    }),
    route({
      ...forEveryone,
      method: "DELETE",
      path: "/console/api/sessions/:id/",
      operationId: "console_sessions_end",
      summary: "End one of your own sessions",
      params: { id: "uuid" },
      responses: { 204: null },
      async handle({ caller, params, db }) {
        if ((await endBrowserSession(db, humanOf(caller).id, params.id as string)) === 0) throw notFound();
        return noContent();
      },
    }),
  ];
}
