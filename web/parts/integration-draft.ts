import { allScopes } from "../../src/oauth/scopes.ts";
import type { Integration } from "../api/types.ts";

/** An integration as its form holds it: lists of free words are texts. */
export interface IntegrationDraft {
  name: string;
  scopes: readonly string[];
  webhookUrl: string;
  types: readonly string[];
  devices: string;
  hosts: string;
  hasMessaging: boolean;
}

export const newDraft: IntegrationDraft = {
  name: "",
  scopes: allScopes,
  webhookUrl: "",
  types: [],
  devices: "",
  hosts: "",
  hasMessaging: false,
};

export const draftOf = (integration: Integration): IntegrationDraft => ({
  name: integration.name,
  scopes: integration.scopes,
  webhookUrl: integration.webhook_url ?? "",
  types: integration.webhook_event_types,
  devices: integration.webhook_device_filter.join(", "),
  hosts: integration.link_hosts.join(", "),
  hasMessaging: integration.messaging_enabled,
});

/** The words of a text, however they are separated. */
export const wordsOf = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== "");

export const bodyOf = (draft: IntegrationDraft) => ({
  name: draft.name,
  scopes: draft.scopes,
  webhook_url: draft.webhookUrl.trim() || null,
  webhook_event_types: draft.types,
  webhook_device_filter: wordsOf(draft.devices),
  link_hosts: wordsOf(draft.hosts),
  messaging_enabled: draft.hasMessaging,
});
