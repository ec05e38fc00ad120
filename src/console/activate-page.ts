import { escapeHtml } from "../lib/html.ts";
import { minPasswordLength } from "../oauth/passwords.ts";
import type { Locale } from "../resources/organizations/organization-settings.ts";
import { type ActivateTexts, activateTexts } from "./activate-texts.ts";
import { htmlPage } from "./page.ts";
import { linkPageScript } from "./page-script.ts";

export const activateScriptAddress = "/console/assets/activate.js";
export const activateApiAddress = "/console/api/activate/";

/** What the page has to say when it is opened. Opening uses nothing up: programs that check mails open links too. */
export type ActivateView =
  | { kind: "open"; organizationName: string; email: string }
  | { kind: "invalid" }
  | { kind: "expired" };

export const activatePage = (locale: Locale, view: ActivateView): string =>
  passwordPage(locale, view, activateTexts[locale], activateApiAddress);

/** A page whose one task is a new password; the call it makes takes the token of the link and the password. */
export function passwordPage(locale: Locale, view: ActivateView, texts: ActivateTexts, target: string): string {
  switch (view.kind) {
    case "open": {
      const script = activateScriptAddress;
      return htmlPage({ locale, title: texts.title, content: form(texts, view, target), script });
    }
    case "invalid":
      return htmlPage({ locale, title: texts.invalidTitle, content: invalid(texts, "") });
    case "expired":
      return htmlPage({ locale, title: texts.expiredTitle, content: expired(texts, "") });
  }
}

function form(texts: ActivateTexts, view: { organizationName: string; email: string }, target: string): string {
  const intro = texts.intro.replace("{organization}", () => view.organizationName);
  return `<form id="activate" method="post" novalidate data-target="${target}" data-shortest="${minPasswordLength}"
  data-too-short="${escapeHtml(texts.tooShort)}" data-failed="${escapeHtml(texts.failed)}">
<h1>${escapeHtml(texts.title)}</h1>
<p>${escapeHtml(intro)}</p>
<noscript><p class="problem">${escapeHtml(texts.noScript)}</p></noscript>
<label for="email">${escapeHtml(texts.email)}</label>
<input id="email" type="email" autocomplete="username" readonly value="${escapeHtml(view.email)}">
<label for="password">${escapeHtml(texts.password)}</label>
<input id="password" type="password" autocomplete="new-password" required minlength="${minPasswordLength}" maxlength="1024"
  aria-describedby="hint problem" autofocus>
<p id="hint" class="hint">${escapeHtml(texts.hint)}</p>
<label class="choice"><input id="show" type="checkbox"> ${escapeHtml(texts.show)}</label>
<p id="problem" class="problem" role="alert"></p>
<button type="submit">${escapeHtml(texts.submit)}</button>
</form>
<section id="done" hidden>
<h1 tabindex="-1">${escapeHtml(texts.doneTitle)}</h1>
<p>${escapeHtml(texts.done)}</p>
</section>
${invalid(texts, " hidden")}
${expired(texts, " hidden")}`;
}

const invalid = (texts: ActivateTexts, attributes: string): string => `<section id="invalid"${attributes}>
<h1 tabindex="-1">${escapeHtml(texts.invalidTitle)}</h1>
<p>${escapeHtml(texts.invalid)}</p>
</section>`;

const expired = (texts: ActivateTexts, attributes: string): string => `<section id="expired"${attributes}>
<h1 tabindex="-1">${escapeHtml(texts.expiredTitle)}</h1>
<p>${escapeHtml(texts.expired)}</p>
</section>`;

export const activateScript = `${linkPageScript("activate")}

async function send() {
  const answer = await fetch(form.dataset.target, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token, password: password.value }),
  });
  if (answer.ok) return end("done");
  if (answer.status === 404) return end("invalid");
  const { errors = {} } = await answer.json();
  if (errors.token) return end("expired");
  complain(errors.password ? form.dataset.tooShort : form.dataset.failed);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  password.removeAttribute("aria-invalid");
  if ([...password.value].length < Number(form.dataset.shortest)) return complain(form.dataset.tooShort);
  button.disabled = true;
  try {
    await send();
  } catch {
    complain(form.dataset.failed);
  } finally {
    button.disabled = false;
  }
});
`;
