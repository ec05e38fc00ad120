import { escapeHtml } from "../lib/html.ts";
import type { Locale } from "../resources/organizations/organization-settings.ts";

/**
 * Small pages outside the console application: what a link in a mail opens. They are complete in themselves (no font, script or
 * image from elsewhere), and nothing in them runs that is not one of our own files.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  // Scripts send what is typed; a form that a browser submits by itself would put it into an address.
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const styleAddress = "/console/assets/page.css";

export interface Page {
  locale: Locale;
  title: string;
  /** HTML; the caller escapes what it puts in. */
  content: string;
  script?: string;
}

export const htmlPage = ({ locale, title, content, script }: Page): string => `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Vigil</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${styleAddress}">
${script === undefined ? "" : `<script src="${script}" defer></script>\n`}</head>
<body>
<main>
<p class="brand">Vigil</p>
${content}
</main>
</body>
</html>
`;

export const pageStyle = `:root {
  color-scheme: light dark;
  --ground: #f3f5f7; --sheet: #ffffff; --text: #18212b; --quiet: #55616e; --line: #7d8894;
  --accent: #0b6b5d; --on-accent: #ffffff; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10151a; --sheet: #1a2128; --text: #e9eef3; --quiet: #a9b4bf; --line: #7d8894;
    --accent: #58c9b4; --on-accent: #06231d; --bad: #ff8a80;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem;
  background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main {
  width: 100%; max-width: 26rem; padding: 2rem; background: var(--sheet);
  border-radius: 0.75rem; box-shadow: 0 1px 3px rgb(0 0 0 / 0.15), 0 8px 24px rgb(0 0 0 / 0.08);
}
.brand { margin: 0 0 1.25rem; font-weight: 700; letter-spacing: 0.06em; color: var(--accent); }
h1 { margin: 0 0 0.5rem; font-size: 1.5rem; line-height: 1.25; }
h1:focus { outline: none; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
label { display: block; font-weight: 600; }
input[type="email"], input[type="password"], input[type="text"] {
  width: 100%; margin: 0.25rem 0 1rem; padding: 0.625rem 0.75rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: 0.5rem;
}
input[type="email"][readonly] { padding: 0; border: 0; color: var(--quiet); }
#password { margin-bottom: 0.5rem; }
input[aria-invalid="true"] { border-color: var(--bad); }
.hint { color: var(--quiet); font-size: 0.875rem; margin-bottom: 0.75rem; }
.problem { color: var(--bad); font-weight: 600; }
.problem:empty { display: none; }
.choice { display: flex; align-items: center; gap: 0.5rem; font-weight: 400; margin-bottom: 1.25rem; }
.choice input { width: 1.125rem; height: 1.125rem; accent-color: var(--accent); }
button {
  display: block; width: 100%; padding: 0.75rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  color: var(--on-accent); background: var(--accent); border: 0; border-radius: 0.5rem; cursor: pointer;
}
button:disabled { opacity: 0.6; cursor: default; }
:is(input, button, a):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;
