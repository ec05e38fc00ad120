import { Type } from "@sinclair/typebox";
import type { PersonPrincipal, Principal } from "../http/principal.ts";
import { noContent, ok, type Route, route } from "../http/route.ts";
import { invalidToken, notFound, validationError } from "../lib/errors.ts";
import { endBrowserSession, listBrowserSessions, moveBrowserSession } from "../oauth/browser-sessions.ts";
import { locales, parseTimezone } from "../resources/organizations/organization-settings.ts";
import { findUser, toUser } from "../resources/users/user-record.ts";
import { alarmMailChoices, findPreferences, storePreferences } from "./preferences-store.ts";
import { clearSessionCookie } from "./session-cookie.ts";

export const accountTag = "Console";

/** Routes of the console are for people alone, so the caller is one. */
export function personOf(principal: Principal): PersonPrincipal {
  if (principal.kind !== "person") throw invalidToken();
  return principal;
}

/** Which members may call a route of the console; partners never do, and the description does not name it. */
export const forPeople = { tag: accountTag, partners: "never" } as const;

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
      ...forPeople,
      method: "GET",
      path: "/console/api/me/",
      operationId: "console_me",
      summary: "The signed-in person",
      people: "VIEWER",
      responses: { 200: Type.Any() },
      async handle({ principal, db }) {
        const { organization, person, id } = personOf(principal);
        const row = await findUser(db, organization.id, id);
        if (!row) throw invalidToken();
        const { name, slug, timezone } = organization;
        return ok({ user: toUser(row), organization: { name, slug, timezone }, role: person.role });
      },
    }),
    route({
      ...forPeople,
      method: "PATCH",
      path: "/console/api/me/",
      operationId: "console_me_update",
      summary: "Change language, zone and alarm mails",
      people: "VIEWER",
      body: Preferences,
      responses: { 200: Type.Any() },
      async handle({ principal, body, db, now }) {
        const { id } = personOf(principal);
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
      ...forPeople,
      method: "GET",
      path: "/console/api/preferences/",
      operationId: "console_preferences",
      summary: "Language, zone, alarm mails and organizations of the person",
      people: "VIEWER",
      responses: { 200: Type.Any() },
      handle: async ({ principal, db }) => ok(await findPreferences(db, personOf(principal).id)),
    }),
    route({
      ...forPeople,
      method: "DELETE",
      path: "/console/api/session/",
      operationId: "console_session_end",
      summary: "Sign out",
      people: "VIEWER",
      responses: { 204: null },
      async handle({ principal, db }) {
        const { id, browserSessionId } = personOf(principal);
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
      ...forPeople,
      method: "GET",
      path: "/console/api/sessions/",
      operationId: "console_sessions_list",
      summary: "The person's own sessions",
      people: "VIEWER",
      responses: { 200: Type.Any() },
      async handle({ principal, db, now }) {
        const { id, browserSessionId } = personOf(principal);
        const sessions = await listBrowserSessions(db, id, now);
        return ok(sessions.map((session) => ({ ...session, current: session.id === browserSessionId })));
      },
    }),
    route({
      ...forPeople,
      method: "DELETE",
      path: "/console/api/sessions/:id/",
      operationId: "console_sessions_end",
      summary: "End one of your own sessions",
      params: { id: "uuid" },
      people: "VIEWER",
      responses: { 204: null },
      async handle({ principal, params, db }) {
        if ((await endBrowserSession(db, personOf(principal).id, params.id as string)) === 0) throw notFound();
        return noContent();
      },
    }),
  ];
}
