import type { ComponentChildren } from "preact";
import { navigate } from "../state/router.ts";

interface LinkProps {
  to: string;
  class?: string;
  isCurrent?: boolean;
  "aria-label"?: string;
  children: ComponentChildren;
}

/** A real link, so that it can be opened in another tab; a plain click stays on the page. */
export function Link({ to, isCurrent, children, ...rest }: LinkProps) {
  const onClick = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a href={to} onClick={onClick} {...(isCurrent ? { "aria-current": "page" as const } : {})} {...rest}>
      {children}
    </a>
  );
}
