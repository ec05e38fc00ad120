import type { TestApi } from "./api.ts";

/** The ids of every page of a cursor list: by `next` to the end, then by `previous` back to the beginning, in list order. */
export async function followPages(
  api: TestApi,
  path: string,
  token: string,
): Promise<{ forward: string[][]; backward: string[][] }> {
  const walk = async (
    link: string | null,
    direction: "next" | "previous",
    pages: string[][],
  ): Promise<string | null> => {
    let [at, last] = [link, null as string | null];
    while (at !== null) {
      const { pathname, search } = new URL(at, "http://localhost");
      const { status, body, text } = await api.call("GET", pathname + search, { token });
      if (status !== 200) throw new Error(text);
      const ids = body.results.map(({ id }: { id: string }) => id);
      if (direction === "next") pages.push(ids);
      else pages.unshift(ids);
      last = body.previous;
      at = body[direction];
    }
    return last;
  };
  const forward: string[][] = [];
  const backward: string[][] = [];
  await walk(await walk(path, "next", forward), "previous", backward);
  return { forward, backward };
}
