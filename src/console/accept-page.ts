import { escapeHtml } from "../lib/html.ts";
import { minPasswordLength } from "../oauth/passwords.ts";
import type { Locale } from "../resources/organizations/organization-settings.ts";
import { type AcceptTexts, acceptTexts } from "./accept-texts.ts";
import { htmlPage } from "./page.ts";
import { linkPageScript } from "./page-script.ts";

export const acceptScriptAddress = "/console/assets/accept.js";
export const acceptApiAddress = "/console/api/accept/";

export interface OpenInvitation {
  kind: "share" | "member";
  organizationName: string;
  email: string;
  firstName: string;
  lastName: string;
  /** A person with a password gives it; anybody else chooses one. */
  hasPassword: boolean;
  /** A member has a name already. */
  isMember: boolean;
}

/** What the page has to say when it is opened. Opening uses nothing up: programs that check mails open links too. */
export type AcceptView =
  | { kind: "open"; invitation: OpenInvitation }
  /** Unknown, used or revoked. */
  | { kind: "invalid" }
  | { kind: "expired" };

export function acceptPage(locale: Locale, view: AcceptView): string {
  const texts = acceptTexts(locale);
  switch (view.kind) {
    case "open": {
      const content = form(texts, view.invitation);
      return htmlPage({ locale, title: texts.title, content, script: acceptScriptAddress });
    }
    case "invalid":
      return htmlPage({ locale, title: texts.invalidTitle, content: ending("invalid", texts, "") });
    case "expired":
      return htmlPage({ locale, title: texts.expiredTitle, content: ending("expired", texts, "") });
  }
}

function form(texts: AcceptTexts, invitation: OpenInvitation): string {
  const { hasPassword, isMember } = invitation;
  const intro = texts[invitation.kind].replace("{organization}", () => invitation.organizationName);
  const minLength = hasPassword ? 1 : minPasswordLength;
  const messages = { tooShort: texts.tooShort, failed: texts.failed, wrong: texts.wrongPassword, many: texts.tooMany };
  return `<form id="accept" method="post" novalidate data-target="${acceptApiAddress}" data-shortest="${minLength}"
  data-messages="${escapeHtml(JSON.stringify(messages))}">
<h1>${escapeHtml(texts.title)}</h1>
<p>${escapeHtml(intro)}</p>
<noscript><p class="problem">${escapeHtml(texts.noScript)}</p></noscript>
<label for="email">${escapeHtml(texts.email)}</label>
<input id="email" type="email" autocomplete="username" readonly value="${escapeHtml(invitation.email)}">
${isMember ? "" : nameField("first_name", "given-name", texts.firstName, invitation.firstName)}
${isMember ? "" : nameField("last_name", "family-name", texts.lastName, invitation.lastName)}
<label for="password">${escapeHtml(hasPassword ? texts.currentPassword : texts.password)}</label>
<input id="password" name="password" type="password" required maxlength="1024" aria-describedby="hint problem"
  autocomplete="${hasPassword ? "current-password" : "new-password"}">
<p id="hint" class="hint">${escapeHtml(hasPassword ? texts.currentHint : texts.hint)}</p>
<label class="choice"><input id="show" type="checkbox"> ${escapeHtml(texts.show)}</label>
<p id="problem" class="problem" role="alert"></p>
<button type="submit">${escapeHtml(texts.submit)}</button>
</form>
${ending("done", texts, " hidden")}
${ending("invalid", texts, " hidden")}
${ending("expired", texts, " hidden")}`;
}

const nameField = (name: string, autocomplete: string, label: string, value: string): string =>
  `<label for="${name}">${escapeHtml(label)}</label>
<input id="${name}" name="${name}" type="text" maxlength="100" autocomplete="${autocomplete}" value="${escapeHtml(value)}">`;

const ending = (
  kind: "done" | "invalid" | "expired",
  texts: AcceptTexts,
  attributes: string,
): string => `<section id="${kind}"${attributes}>
<h1 tabindex="-1">${escapeHtml(texts[`${kind}Title`])}</h1>
<p>${escapeHtml(texts[kind])}</p>
</section>`;

export const acceptScript = `${linkPageScript("accept")}
const messages = JSON.parse(form.dataset.messages);

async function send() {
  const answer = await fetch(form.dataset.target, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token, ...Object.fromEntries(new FormData(form)) }),
  });
  if (answer.ok) return end("done");
  if (answer.status === 404 || answer.status === 409) return end("invalid");
  if (answer.status === 401) return complain(messages.wrong);
  if (answer.status === 429) return complain(messages.many);
  const { code, errors = {} } = await answer.json();
  if (code === "invitation_expired") return end("expired");
  complain(errors.password ? messages.tooShort : messages.failed);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  password.removeAttribute("aria-invalid");
  if ([...password.value].length < Number(form.dataset.shortest)) return complain(messages.tooShort);
  button.disabled = true;
  try {
    await send();
  } catch {
    complain(messages.failed);
  } finally {
    button.disabled = false;
  }
});
`;
