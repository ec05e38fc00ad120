import type { LinkView } from "../api/types.ts";

export interface MailedLink {
  token: string;
  view: LinkView;
}

interface KeptState {
  token?: string;
}

/**
 * The link that opened this page. Its token leaves the address at once, so that it is seen by nobody who looks at the screen and
 * by no page that is opened from here; the entry of the history keeps it, for a reload. Undefined while the page is opened again
 * with the token of that entry, since only then the service can say what the link is worth.
 */
export function takeMailedLink(): MailedLink | undefined {
  const token = new URLSearchParams(location.search).get("token");
  const kept = (history.state as KeptState | null)?.token;
  if (token === null && kept !== undefined) {
    location.replace(`${location.pathname}?token=${encodeURIComponent(kept)}`);
    return undefined;
  }
  if (token !== null) history.replaceState({ token } satisfies KeptState, "", location.pathname);
  const said = document.querySelector('meta[name="vigil-link"]')?.getAttribute("content");
  return { token: token ?? "", view: said ? (JSON.parse(said) as LinkView) : { kind: "invalid" } };
}

/** A link that is used up is of no use to anybody. */
export const forgetMailedLink = (): void => history.replaceState(null, "", location.pathname);
