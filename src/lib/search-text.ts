/**
 * Folds text for case-insensitive search. Done here and not by the database, because lower() knows only ASCII under some
 * server locales, and a search must find "MÜLLER" on every server.
 */
export const foldForSearch = (text: string): string => text.normalize("NFC").toLowerCase();

/** What a record can be found by: its searchable fields, one per line so that no match spans two of them. */
export const searchText = (fields: readonly string[]): string => foldForSearch(fields.join("\n"));

/** A LIKE pattern that finds the text anywhere; wildcards in it stand for themselves. */
export const containsPattern = (search: string): string => `%${foldForSearch(search).replace(/[\\%_]/g, "\\$&")}%`;
