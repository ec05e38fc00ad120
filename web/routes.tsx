import type { ComponentType } from "preact";
import { NotFoundPage } from "./pages/not-found.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { lazy } from "./parts/lazy.tsx";

type Params = Record<string, string>;

interface RouteDefinition {
  /** `:name` stands for one part of the address. */
  path: string;
  page: ComponentType<Params>;
  /** For people who have not signed in. */
  isPublic?: true;
  /** Operators belong to no organization: all other pages have nothing to show them. */
  isForOperators?: true;
  /** A mail leads there: who is signed in does not matter, and the language is the one that the page came with. */
  isMailed?: true;
}

const page = (load: () => Promise<ComponentType<never>>): ComponentType<Params> =>
  lazy(load as () => Promise<ComponentType<Params>>);

/** Every page of the console. */
const routes: readonly RouteDefinition[] = [
  { path: "/console/sign-in", page: SignInPage, isPublic: true },
  {
    path: "/console/activate",
    page: page(async () => (await import("./pages/activate.tsx")).ActivatePage),
    isPublic: true,
    isMailed: true,
  },
  {
    path: "/console/accept",
    page: page(async () => (await import("./pages/accept.tsx")).AcceptPage),
    isPublic: true,
    isMailed: true,
  },
  {
    path: "/console/reset",
    page: page(async () => (await import("./pages/reset.tsx")).ResetPage),
    isPublic: true,
    isMailed: true,
  },
  { path: "/console", page: page(async () => (await import("./pages/map.tsx")).MapPage) },
  { path: "/console/alarms", page: page(async () => (await import("./pages/alarms.tsx")).AlarmsPage) },
  { path: "/console/devices/:uid", page: page(async () => (await import("./pages/device.tsx")).DevicePage) },
  { path: "/console/people/:id", page: page(async () => (await import("./pages/person.tsx")).PersonPage) },
  { path: "/console/devices", page: page(async () => (await import("./pages/devices.tsx")).DevicesPage) },
  { path: "/console/people", page: page(async () => (await import("./pages/people.tsx")).PeoplePage) },
  { path: "/console/geofences", page: page(async () => (await import("./pages/geofences.tsx")).GeofencesPage) },
  { path: "/console/thresholds", page: page(async () => (await import("./pages/thresholds.tsx")).ThresholdsPage) },
  {
    path: "/console/account",
    page: page(async () => (await import("./pages/account.tsx")).AccountPage),
    isForOperators: true,
  },
  {
    path: "/console/operator",
    page: page(async () => (await import("./pages/operator.tsx")).OperatorPage),
    isForOperators: true,
  },
  { path: "/console/members/access", page: page(async () => (await import("./pages/access.tsx")).AccessPage) },
  { path: "/console/members", page: page(async () => (await import("./pages/members.tsx")).MembersPage) },
  {
    path: "/console/integrations",
    page: page(async () => (await import("./pages/integrations.tsx")).IntegrationsPage),
  },
  {
    path: "/console/integrations/:id",
    page: page(async () => (await import("./pages/integration.tsx")).IntegrationPage),
  },
  { path: "/console/audit", page: page(async () => (await import("./pages/audit.tsx")).AuditPage) },
  {
    path: "/console/organization",
    page: page(async () => (await import("./pages/organization.tsx")).OrganizationPage),
  },
];

export interface FoundRoute extends RouteDefinition {
  params: Params;
}

export function findRoute(path: string): FoundRoute {
  const parts = path.replace(/\/$/, "").split("/");
  for (const route of routes) {
    const wanted = route.path.split("/");
    if (wanted.length !== parts.length) continue;
    const params: Params = {};
    const fits = wanted.every((part, index) => {
      const given = parts[index] as string;
      if (!part.startsWith(":")) return part === given;
      params[part.slice(1)] = decodeURIComponent(given);
      return given !== "";
    });
    if (fits) return { ...route, params };
  }
  return { path, page: NotFoundPage, isForOperators: true, params: {} };
}
