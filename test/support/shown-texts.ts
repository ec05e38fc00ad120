import type { Page } from "playwright-core";

/** Every text that a page shows or gives to a screen reader. */
export const shownTexts = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const texts = [document.title];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      if (!walk.currentNode.parentElement.closest("script, style, noscript")) texts.push(walk.currentNode.data.trim());
    }
    for (const element of document.querySelectorAll("[aria-label], [placeholder], [title]")) {
      for (const name of ["aria-label", "placeholder", "title"]) {
        const value = element.getAttribute(name);
        if (value) texts.push(value.trim());
      }
    }
    return texts.filter((text) => text !== "");
  })()`);
