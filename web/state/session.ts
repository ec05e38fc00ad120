import { call, get, post, setSessionEndHandler } from "../api/client.ts";
import type { Me, Preferences, Role } from "../api/types.ts";
import { chosenZone } from "../texts/format.ts";
import { chooseLocale } from "../texts/locale.ts";
import { navigate } from "./router.ts";
import { makeStore } from "./store.ts";

/** Who is signed in. Undefined while nobody is, or while it is not known yet. */
export interface Session {
  me: Me;
  preferences: Preferences;
}

export const session = makeStore<Session | undefined>(undefined);

const signInPath = "/console/sign-in";
const isSignIn = (): boolean => location.pathname.startsWith(signInPath);

setSessionEndHandler(() => {
  session.set(undefined);
  if (!isSignIn()) navigate(`${signInPath}?next=${encodeURIComponent(location.pathname + location.search)}`);
});

export async function loadSession(): Promise<void> {
  const [me, preferences] = await Promise.all([
    get<Me>("/console/api/me/"),
    get<Preferences>("/console/api/preferences/"),
  ]);
  chooseLocale(preferences.locale);
  chosenZone.set(preferences.timezone);
  session.set({ me, preferences });
}

/** What the person has just chosen holds at once. */
export function applyPreferences(preferences: Preferences): void {
  chooseLocale(preferences.locale);
  chosenZone.set(preferences.timezone);
  session.update((before) => before && { ...before, preferences });
}

export interface SignIn {
  email: string;
  password: string;
  organization?: string;
  otp?: string;
}

export async function signIn(credentials: SignIn): Promise<void> {
  await post("/console/api/session/", credentials);
  await loadSession();
}

export async function signOut(): Promise<void> {
  await call("DELETE", "/console/api/session/");
  session.set(undefined);
  navigate(signInPath);
}

/** Whether the reader runs the service, and belongs to no organization. */
export const isOperator = (): boolean => session.get()?.me.operator === true;

const rank: Readonly<Record<Role, number>> = { VIEWER: 10, USER: 20, ADMIN: 30, OWNER: 40 };
export const hasRole = (min: Role): boolean => rank[session.get()?.me.role ?? "VIEWER"] >= rank[min];
