import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { common } from "../texts/common.ts";

/** The frame of a page that a mail leads to; nobody is signed in. */
export const LinkPage = ({ children }: { children: ComponentChildren }) => (
  <main class="sheet" id="content">
    <p class="brand">Vigil</p>
    {children}
  </main>
);

/** What a link has come to. Its heading is read out, since it replaces what was there. */
export function Ending({ title, text }: { title: string; text: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Vigil`;
    heading.current?.focus();
  }, [title]);
  return (
    <LinkPage>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <p>{text}</p>
      <p>
        <a href="/console/sign-in">{common("signIn")}</a>
      </p>
    </LinkPage>
  );
}
