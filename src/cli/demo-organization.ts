import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../db/database.ts";
import { newUuid, randomToken } from "../lib/ids.ts";
import { hashPassword } from "../oauth/passwords.ts";
import { allScopes } from "../oauth/scopes.ts";
import { allWebhookEventTypes } from "../outbox/webhook-event-types.ts";
import {
  createIntegration,
  type Integration,
  listIntegrations,
  setIntegrationStatus,
  updateIntegration,
} from "../resources/organizations/integration-store.ts";
import { organizationFeatures } from "../resources/organizations/organization-features.ts";
import { organizationDefaults } from "../resources/organizations/organization-settings.ts";
import {
  createOrganization,
  findOrganizationBySlug,
  type Organization,
  updateOrganization,
} from "../resources/organizations/organization-store.ts";
import { rotateClientSecret } from "../resources/organizations/secret-rotation.ts";
import { newWebhookSecret } from "../resources/organizations/webhook-secret.ts";
import { addMember } from "../resources/users/member-store.ts";
import { openSecretBox } from "../roles/secret-key.ts";
import { romeTimezone } from "../simulator/fleet.ts";
import type { CommandContext } from "./command.ts";
import { operatorIn } from "./operator.ts";

export const demoSlug = "vigil-demo";
const integrationName = "Demo app";
export const demoOwner = "owner@demo.example";

/** Who can sign in to the console of the demo. */
export const demoStaff = [
  { email: demoOwner, role: "OWNER" },
  { email: "admin@demo.example", role: "ADMIN" },
  { email: "carer@demo.example", role: "USER" },
  { email: "family@demo.example", role: "VIEWER" },
] as const;

export interface DemoAccess {
  organization: Organization;
  integrationId: string;
  clientId: string;
  clientSecret: string;
  /** Null: it was set by a demo whose notes are not here, and only its person can change it. */
  ownerPassword: string | null;
  /** Signs what goes to the receiver of the demo. */
  webhookSecret: string;
}

/** What the demo wrote down for its next start, so that scripts that were copied from it go on working. */
interface Notes {
  organization_id: string;
  client_id: string;
  client_secret: string;
  owner_password: string | null;
  webhook_secret?: string;
}

const everything = {
  scopes: allScopes,
  // Named one by one, because an empty list leaves the additive ones out.
  webhookEventTypes: allWebhookEventTypes.filter((type) => type !== "webhook.test"),
  messagingEnabled: true,
};

/** The organization of the demo with an integration that may do everything and a person who owns it; made, or found again. */
export async function openDemo(db: Database, context: CommandContext): Promise<DemoAccess> {
  const file = join(context.config.dataDir, "demo.json");
  const organization = await openOrganization(db, context);
  const notes = await readNotes(file, organization.id);
  const client = await openClient(db, context, organization, notes);
  const ownerPassword = (await addStaff(db, context, organization)) ?? notes?.owner_password ?? null;
  const webhookSecret = notes?.webhook_secret ?? newWebhookSecret();
  await writeNotes(file, {
    organization_id: organization.id,
    client_id: client.clientId,
    client_secret: client.clientSecret,
    owner_password: ownerPassword,
    webhook_secret: webhookSecret,
  });
  return { organization, ...client, ownerPassword, webhookSecret };
}

/** Simulated watches change their SIM at will. */
const demoFeatures = organizationFeatures.filter((feature) => feature !== "pin_sim");

function openOrganization(db: Database, { clock }: CommandContext): Promise<Organization> {
  return db.transaction(async (tx) => {
    const known = await findOrganizationBySlug(tx, demoSlug);
    if (known) {
      const features = { features: demoFeatures };
      return (await updateOrganization(tx, known.id, features, operatorIn(known.id), clock.now())) ?? known;
    }
    const settings = {
      ...organizationDefaults,
      name: "Vigil demo",
      slug: demoSlug,
      timezone: romeTimezone,
      features: demoFeatures,
    };
    return createOrganization(tx, settings, operatorIn(newUuid()), clock.now());
  });
}

type Client = Pick<DemoAccess, "integrationId" | "clientId" | "clientSecret">;

/** A secret that nobody wrote down is replaced by a new one; the old one works for another day. */
function openClient(
  db: Database,
  { clock, config }: CommandContext,
  organization: Organization,
  notes: Notes | undefined,
): Promise<Client> {
  const box = openSecretBox(config);
  const actor = operatorIn(organization.id);
  const now = clock.now();
  return db.transaction(async (tx): Promise<Client> => {
    const known = (await listIntegrations(tx, organization.id)).find(isDemoApp);
    if (!known) {
      const settings = {
        ...everything,
        name: integrationName,
        webhookUrl: null,
        webhookDeviceFilter: [],
        linkHosts: [],
      };
      const made = await createIntegration(tx, organization.id, settings, actor, now, box);
      return {
        integrationId: made.integration.id,
        clientId: made.integration.clientId,
        clientSecret: made.clientSecret,
      };
    }
    await updateIntegration(tx, organization.id, known.id, everything, actor, now, box);
    await setIntegrationStatus(tx, organization.id, known.id, "active", actor, now);
    const client = { integrationId: known.id, clientId: known.clientId };
    if (notes?.client_id === known.clientId) return { ...client, clientSecret: notes.client_secret };
    const rotation = await rotateClientSecret(tx, organization.id, known.id, actor, now);
    if (!rotation) throw new Error("the integration of the demo disappeared while it was locked");
    return { ...client, clientSecret: rotation.secret };
  });
}

const isDemoApp = ({ name }: Integration): boolean => name === integrationName;

/** One person of each role, all with the same password; the password, if this call has set it. */
async function addStaff(db: Database, { clock }: CommandContext, { id }: Organization): Promise<string | undefined> {
  const password = randomToken(12);
  const passwordHash = await hashPassword(password);
  const stored: boolean[] = [];
  for (const { email, role } of demoStaff) {
    const member = { email, role, passwordHash };
    const added = await db.transaction((tx) => addMember(tx, id, member, operatorIn(id), clock.now()));
    stored.push(added.kind !== "already_member" && added.passwordStored);
  }
  return stored.every(Boolean) ? password : undefined;
}

async function readNotes(file: string, organizationId: string): Promise<Notes | undefined> {
  try {
    const notes = JSON.parse(await readFile(file, "utf8")) as Notes;
    // Of another database that was used with the same folder: worth nothing here.
    return notes.organization_id === organizationId ? notes : undefined;
  } catch {
    return undefined;
  }
}

async function writeNotes(file: string, notes: Notes): Promise<void> {
  await writeFile(file, `${JSON.stringify(notes)}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
}
