import { type Catalog, loadCatalog } from "../../src/resources/catalog/catalog.ts";

let catalog: Catalog | undefined;

/** It never changes, and reading it takes a while: the files of a worker share it. */
export function testCatalog(): Catalog {
  catalog ??= loadCatalog();
  return catalog;
}
